import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Which requests start a refresh, and where do they go after it?
@Suite struct RefreshRuleTests {
  private let org = TestOrg()

  /// A transport to the test org on which the OAuth and identity endpoints refuse an expired token as
  /// the platform does.
  private func strict(_ org: TestOrg) -> ScriptedTransport {
    let inner = org.transport()
    return ScriptedTransport { request in
      let path = request.url.path()
      let isOfOAuth =
        path.hasPrefix("/id/") || path.contains("/services/oauth2/userinfo")
      let accepted = org.state.withLock { "Bearer \($0.accessToken)" }
      if isOfOAuth, request.headers[.authorization] != accepted {
        return RestResponse(status: 403, body: Array("Bad_OAuth_Token".utf8))
      }
      return try await inner.send(request)
    }
  }

  @Test(
    .covers("CO-120.4"),
    arguments: [
      ("https://login.salesforce.com/services/oauth2/userinfo", true),
      ("https://acme.my.site.com/shop/services/oauth2/userinfo?format=json", true),
      ("HTTPS://login.salesforce.com/services/oauth2/userinfo", true),
      ("https://acme.my.salesforce.com/services/data/v66.0/limits", false),
      ("https://acme.my.salesforce.com/x?next=/services/oauth2/userinfo", false),
      ("https://acme.my.salesforce.com/x#/services/oauth2/userinfo", false),
    ])
  func `the platform's word counts on a whole address, too`(
    address: String, refreshes: Bool
  ) {
    let response = RestResponse(status: 403, body: Array("Bad_OAuth_Token".utf8))
    #expect(response.asksForRefresh(of: RestRequest(path: address)) == refreshes)
  }

  @Test(.covers("CO-120.4"))
  func `a request with a whole OAuth address is sent again after a refresh`()
    async throws
  {
    org.state.withLock { $0.accessToken = "access-9" }
    let transport = strict(org)
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let request = RestRequest(path: "https://login.salesforce.com/services/oauth2/userinfo")
    #expect(try await client.send(request).json()["name"]?.string == "Jane")
    #expect(org.state.withLock { $0.refreshes } == 1)
  }

  @Test(.covers("CO-120.3"))
  func `a request with a token of its own starts no refresh and keeps the session`()
    async throws
  {
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    var request = RestRequest.limits()
    request.headers[.authorization] = "Bearer mine"
    let error = await #expect(throws: RestError.self) { try await client.send(request) }
    #expect(error?.code == .unauthorized)
    #expect(transport.requests.count == 1)
    #expect(org.state.withLock { $0.refreshes } == 0)
    #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
  }

  @Test(.covers("CO-121.3"))
  func `a request to another host keeps its host when the instance changes`()
    async throws
  {
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.instance = "https://acme2.my.salesforce.com"
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    try await manager.confirmMove(
      of: TestOrg.identity, to: try LoginServer("https://acme2.my.salesforce.com"))
    let client = RestClient(account: org.account(), accounts: manager, transport: transport)
    let address = "https://login.salesforce.com/services/data/"
    _ = try await client.send(RestRequest(path: address))
    #expect(
      transport.requests.map(\.url.absoluteString) == [
        address, "https://login.salesforce.com/services/oauth2/token", address,
      ])
    #expect(
      await manager.account(for: TestOrg.identity)?.apiURL?.host() == "acme2.my.salesforce.com")
  }

  @Test(.covers("CO-123.2"))
  func `identity, one-time addresses, pictures and requests share one refresh`()
    async throws
  {
    let folder = try TemporaryFolder()
    let org = TestOrg { request in
      request.url.path().hasSuffix("singleaccess")
        ? RestResponse(json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/f"}"#)
        : RestResponse(json: "{}")
    }
    org.state.withLock { $0.accessToken = "access-9" }
    org.tokenLatch.close()
    let transport = strict(org)
    var account = org.account()
    account.credentials.identityURL = URL(
      string: "https://acme.my.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    account.profile = UserProfile(
      username: "jane",
      raw: ["photos": ["thumbnail": "https://acme.my.salesforce.com/profilephoto/T"]])
    let manager = try await org.manager([account], transport: transport)
    let client = RestClient(account: account, accounts: manager, transport: transport)
    let pictures = UserPictures(
      accounts: manager,
      stores: KeyValueStores(
        folders: UserFolders(root: folder.url), keys: KeyGenerator(InMemorySecretStore()),
        accounts: manager), transport: transport)
    async let sent = client.send(.limits()).status
    async let profile = manager.refreshProfile(of: TestOrg.identity).username
    async let page = manager.oneTimeLoginURL(to: "/x", for: TestOrg.identity).path()
    async let picture = pictures.refresh(of: TestOrg.identity)
    await until { await manager.waitingForRefresh(of: TestOrg.identity) == 4 }
    org.tokenLatch.open()
    #expect(try await sent == 200)
    #expect(try await profile == "jane@example.com")
    #expect(try await page == "/f")
    #expect(try await picture == Array("{}".utf8))
    #expect(org.state.withLock { $0.refreshes } == 1)
  }
}
