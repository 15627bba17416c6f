import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-106, CO-107, CO-109: users of communities.
@Suite struct CommunityTests {
  private static let site = "https://acme.my.site.com/shop"
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  private func stub(id: String = "0DB000000000001") -> LoginServerStub {
    let tokens: LoginServerStub.Answer = { _ in
      LoginServerStub.tokens([
        "sfdc_community_id": id, "sfdc_community_url": Self.site, "refresh_token": "r",
      ])
    }
    let stub = LoginServerStub([
      "/shop/services/oauth2/token": tokens, "/services/oauth2/token": tokens,
    ])
    stub.set("/shop/id/00D000000000001EAA/005000000000001AAA") { _ in
      RestResponse(json: #"{"username":"jane@example.com"}"#)
    }
    return stub
  }

  @Test(.covers("CO-106", "CO-107.1", "CO-109", "CO-76.2", "CO-58"))
  func `a member's requests and refreshes go to the community`()
    async throws
  {
    let stub = stub()
    stub.set("/shop/services/data/v66.0/limits") { request in
      RestResponse(status: request.headers[.authorization] == "Bearer access-1" ? 200 : 401)
    }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(
      .browser(
        to: try LoginServer("acme.my.site.com/shop/"), app: TestOrg.app, presenter: presenter))
    #expect(account.communityId == "0DB000000000001")
    #expect(account.apiURL?.absoluteString == Self.site)
    // The instance is known as well.
    #expect(account.credentials.instanceURL?.host() == "acme.my.salesforce.com")
    let client = RestClient(account: account, accounts: manager, transport: transport)
    _ = try await client.send(.limits())
    try await manager.refresh(account.identity)
    #expect(
      transport.requests.map(\.url.absoluteString).allSatisfy {
        $0.hasPrefix("\(Self.site)/services/") || $0.hasPrefix("\(Self.site)/id/")
          || $0.hasSuffix("auth-configuration")
      })
  }

  @Test(.covers("CO-107.2"), arguments: ["000000000000000AAA", "000000000000000"])
  func `the id that stands for no community is none, in both forms`(id: String)
    async throws
  {
    let stub = stub(id: id)
    let manager = try await stub.manager(stub.transport())
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.communityId == nil)
    #expect(account.apiURL?.host() == "acme.my.salesforce.com")
    #expect(UserFolders.Scope.community(account).fileSuffix.hasSuffix("_internal"))
    // It is no move to or from a community either.
    var before = account
    before.credentials.communityId = nil
    #expect(AccountChanges(from: before, to: account) == [])
    var long = account
    long.credentials.communityId = "0DB000000000001GAA"
    var short = account
    short.credentials.communityId = "0DB000000000001"
    #expect(AccountChanges(from: short, to: long) == [])
    #expect(AccountChanges(from: account, to: long) == .communityId)
  }

  @Test(.covers("CO-37.4", "CO-84.2"))
  func `the logout of a member goes to the community, whose id the event has`()
    async throws
  {
    let stub = stub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(
      .browser(to: try LoginServer("acme.my.site.com/shop"), app: TestOrg.app, presenter: presenter)
    )
    let events = manager.events()
    try await manager.logOut(account.identity)
    #expect(
      transport.requests.last?.url.absoluteString == "\(Self.site)/services/oauth2/revoke")
    await manager.close()
    var last: UserAccount?
    for await event in events {
      if case .didLogOut = event.kind { last = event.account }
    }
    #expect(last?.communityId == "0DB000000000001")
    #expect(last?.credentials.refreshToken == nil)
  }

  @Test(.covers("CO-107.3", "CO-111.1"))
  func `a refresh that moves a user to a community is reported`() async throws {
    let stub = stub()
    let manager = try await stub.manager(stub.transport(), [TestOrg().account()])
    try await manager.confirmMove(of: TestOrg.identity, to: try LoginServer(Self.site))
    let events = manager.events()
    try await manager.refresh(TestOrg.identity)
    await manager.close()
    var changes: [AccountChanges] = []
    for await event in events { changes.append(event.changes) }
    #expect(changes.first?.contains(.communityId) == true)
  }

  @Test(.covers("CO-86.1", "CO-110.1", "CO-112"))
  func `the last account of an org tells so when it goes`() async throws {
    let stub = LoginServerStub()
    let first = TestOrg().account(), org = first.organizationId
    let second = TestOrg().account(
      identity: UserAccountIdentity(userId: "005000000000002AAA", organizationId: org))
    let manager = try await stub.manager(stub.transport(), [first, second])
    try await manager.setCurrent(second.identity)
    let events = manager.events()
    try await manager.logOut(first.identity)
    #expect(await manager.current == second)
    try await manager.logOut(second.identity)
    await manager.close()
    var kinds: [String] = []
    for await event in events { kinds.append("\(event.kind)".prefix { $0 != "(" }.description) }
    #expect(
      kinds == [
        "willLogOut", "didLogOut", "willLogOut", "didResignCurrent", "didLogOut",
        "didLogOutOrganization",
      ])
  }
}
