import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What is kept of an account, and where?
@Suite struct AccountContentTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()

  /// An account that has a value in every place.
  private func whole(_ user: String = "005000000000001AAA") -> UserAccount {
    var account = account(user)
    account.credentials.usesHybridGrants = false
    account.credentials.apiInstanceURL = URL(string: "https://api.salesforce.com")
    account.credentials.identityURL = URL(
      string: "https://login.salesforce.com/id/00D000000000001EAA/\(user)")
    account.credentials.tokenFormat = "jwt"
    account.credentials.additionalFields = ["shard": "7", "region": "eu"]
    for name in OAuthKeys.webSession { account.credentials.webSession[name] = "value of \(name)" }
    account.customData = ["mine": [1, nil]]
    account.dataKeepers = ["Notes"]
    return account
  }

  @Test(.covers("CO-60.1"))
  func `every part of an account survives a restart`() async throws {
    let folder = try TemporaryFolder()
    let account = whole()
    try await persister(folder.url).save(account)
    #expect(try await manager(folder.url).accounts == [account])
  }

  @Test(.covers("CO-61.1"))
  func `each secret of a login has the platform's service name`() async throws {
    let folder = try TemporaryFolder()
    let account = whole()
    try await persister(folder.url).save(account)
    let names = try secrets.list().filter { $0.service.contains(".oauth.") }
    #expect(names.allSatisfy { $0.account == account.credentials.identifier })
    #expect(
      names.map(\.service).sorted() == [
        "com.salesforce.mobilesdk.oauth.access",
        "com.salesforce.mobilesdk.oauth.beaconChildConsumerKey",
        "com.salesforce.mobilesdk.oauth.beaconChildConsumerSecret",
        "com.salesforce.mobilesdk.oauth.contentSid",
        "com.salesforce.mobilesdk.oauth.cookieClientSrc",
        "com.salesforce.mobilesdk.oauth.cookieSidClient",
        "com.salesforce.mobilesdk.oauth.csrf",
        "com.salesforce.mobilesdk.oauth.lightningSid",
        "com.salesforce.mobilesdk.oauth.parentSid",
        "com.salesforce.mobilesdk.oauth.refresh",
        "com.salesforce.mobilesdk.oauth.vfSid",
      ])
    func secret(_ service: String) throws -> String? {
      try secrets.read(
        SecretName(
          service: "com.salesforce.mobilesdk.oauth.\(service)",
          account: account.credentials.identifier)
      ).map { text($0) }
    }
    #expect(try secret("refresh") == account.credentials.refreshToken)
    #expect(try secret("vfSid") == "value of visualforce_sid")
    #expect(try secret("csrf") == "value of csrf_token")
  }

  @Test(.covers("BX-23.2"))
  func `the key and the secret of a child app are in no file`() async throws {
    let folder = try TemporaryFolder()
    let account = whole()
    try await persister(folder.url).save(account)
    let document = text(try AccountDocument.text(of: account, secrets: []))
    let file = try Data(
      contentsOf: folder.url.appending(
        path: "00D000000000001EAA/005000000000001AAA/UserAccount.sealed"))
    for name in ["beacon_child_consumer_key", "beacon_child_consumer_secret"] {
      #expect(!document.contains("value of \(name)"))
      #expect(file.range(of: Data("value of \(name)".utf8)) == nil)
    }
    // What is no secret stands in the encrypted file.
    #expect(document.contains("value of sidCookieName"))
  }

  @Test(.covers("CO-94.3"))
  func `an account whose ids have other prefixes is found and deleted`() async throws {
    let folder = try TemporaryFolder()
    let portal = account("Portal", org: "X1")
    try await persister(folder.url).save(portal)
    #expect(try await manager(folder.url).accounts == [portal])
    try await persister(folder.url).delete(portal)
    #expect(try await manager(folder.url).accounts.isEmpty)
    #expect(try files(folder.url).isEmpty)
  }

  @Test(.covers("CO-5.2"))
  func `stored tokens let a manager start without a request`() async throws {
    let folder = try TemporaryFolder()
    let account = whole()
    try await persister(folder.url).save(account)
    let transport = ScriptedTransport([])
    let manager = try await UserAccountManager(
      persister: persister(folder.url), transport: transport)
    try await manager.setCurrent(account.identity)
    #expect(try await manager.session(of: account.identity) == account)
    #expect(await manager.current == account)
    #expect(transport.requests.isEmpty)
  }

  @Test(
    .covers("CO-60.2"),
    arguments: [
      ("https://login.salesforce.com/id/00D1/0051", "00D1", "0051"),
      ("https://acme.my.site.com/shop/id/00D1/0051?a=/b/c#/d", "00D1", "0051"),
      ("https://login.salesforce.com/00D1/0051/", "00D1", "0051"),
      ("https://login.salesforce.com/0051", nil, nil), ("https://login.salesforce.com/", nil, nil),
      ("https://login.salesforce.com", nil, nil), ("", nil, nil),
    ] as [(String, String?, String?)])
  func `user and org are the last two parts of an identity address`(
    address: String, organization: String?, user: String?
  ) {
    let identity = UserAccountIdentity(identityURL: address)
    #expect(identity?.organizationId == organization)
    #expect(identity?.userId == user)
  }
}
