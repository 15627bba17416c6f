import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// What a login checks, keeps and tells besides its tokens.
@Suite struct LoginRulesTests {
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  private func stub(_ members: [String: String] = [:]) -> LoginServerStub {
    LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens(members) }])
  }

  private static let identityPath = "/id/00D000000000001EAA/005000000000001AAA"

  @Test(.covers("CO-53", "BX-24", "CO-13.2"))
  func `users for integrations are refused on wish`() async throws {
    let stub = stub()
    stub.set("/services/oauth2/userinfo") { request in
      #expect(request.url.host() == "acme.my.salesforce.com")
      return RestResponse(json: #"{"is_salesforce_integration_user":true}"#)
    }
    let transport = stub.transport()
    // Off: no request is sent.
    try await stub.manager(transport).logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(!transport.requests.contains { $0.url.path().hasSuffix("userinfo") })
    var options = UserAccountManager.Options()
    options.refusesIntegrationUsers = true
    let manager = try await stub.manager(transport, options: options)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.code == .accessDenied)
    #expect(await manager.accounts.isEmpty)
    // A question that fails fails the login too.
    stub.set("/services/oauth2/userinfo") { _ in throw TransportError(.unreachable, "gone") }
    await #expect(throws: TransportError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    stub.set("/services/oauth2/userinfo") { _ in RestResponse(json: "{}") }
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
  }

  @Test(.covers("CO-18", "BX-28.1"), arguments: ["true", #""true""#])
  func `an org can demand a managed device`(value: String) async throws {
    let stub = stub()
    stub.set(Self.identityPath) { _ in
      RestResponse(
        json: """
          {"username":"j","custom_permissions":{"must_be_managed_app":\(value)},
          "custom_attributes":{"region":"north"}}
          """)
    }
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.code == .managedAppRequired)
    #expect(await manager.accounts.isEmpty)
    var options = UserAccountManager.Options()
    options.isManagedApp = true
    let managed = try await stub.manager(stub.transport(), options: options)
    let account = try await managed.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.profile.customAttributes?["region"] == "north")
  }

  @Test(.covers("CO-19"))
  func `further members are kept, and further parameters sent with each refresh`()
    async throws
  {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let stub = stub(["shard": "7", "secret_sauce": "x", "refresh_token": "r"])
    let transport = stub.transport()
    var options = UserAccountManager.Options()
    options.additionalTokenFields = ["shard", "", "absent"]
    options.additionalRefreshParameters = ["tenant": "a&b", "": "dropped"]
    let persister = EncryptedAccountDirectory(root: folder, secrets: InMemorySecretStore())
    let manager = try await UserAccountManager(
      persister: persister, transport: transport, options: options)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.additionalFields == ["shard": "7"])
    stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens(["access_token": "access-2"]) }
    try await manager.refresh(account.identity)
    let sent = try #require(transport.requests.last)
    #expect(form(sent)["tenant"] == "a&b")
    #expect(form(sent)["shard"] == nil)
    #expect(text(sent.body).contains("tenant=a%26b"))
    let stored = try await persister.fetch(account.identity)
    #expect(stored?.credentials.additionalFields == ["shard": "7"])
  }

  @Test(.covers("CO-69.1", "BX-11.2"))
  func `what the identity call lacks is reported at once`() async throws {
    var credentials = TestOrg().account(accessToken: nil).credentials
    credentials.scopes = ["api"]
    let transport = LoginServerStub().transport()
    let service = OAuthService(transport: transport, userAgent: UserAgent())
    let error = await #expect(throws: OAuthError.self) {
      try await service.identity(of: credentials)
    }
    #expect(error?.identityNumber == 770)
    for word in ["access token", "identity URL", "scope id"] {
      #expect(error?.message.contains(word) == true, "\(word)")
    }
    #expect(transport.requests.isEmpty)
  }

  @Test(
    .covers("CO-70"),
    arguments: [
      (403, "Bad_OAuth_Token", 769, "Bad_OAuth_Token"), (404, "Inactive", 769, "Inactive"),
      (406, "Invalid_Version", 769, "Invalid_Version"), (200, "", 767, nil), (200, "[]", 768, nil),
      (302, "<html>", 769, nil),
    ] as [(Int, String, Int, String?)])
  func `an error of the identity service is reported with its cause`(
    status: Int, body: String, number: Int, cause: String?
  ) async throws {
    let stub = stub()
    stub.set(Self.identityPath) { _ in RestResponse(status: status, body: Array(body.utf8)) }
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.identityNumber == number)
    #expect(error?.serverError == cause)
    #expect(await manager.accounts.isEmpty)
  }

  @Test(.covers("CO-70"))
  func `a token that the identity service refuses is refreshed once, and no more`()
    async throws
  {
    let stub = stub(["refresh_token": "r"])
    stub.set(Self.identityPath) { request in
      request.headers[.authorization] == "Bearer access-2"
        ? RestResponse(json: #"{"username":"jane@example.com"}"#)
        : RestResponse(status: 403, body: Array("Bad_OAuth_Token".utf8))
    }
    stub.set("/services/oauth2/token") { request in
      LoginServerStub.tokens([
        "access_token": form(request)["code"] == nil ? "access-2" : "access-1",
        "refresh_token": "r",
      ])
    }
    let transport = stub.transport()
    let account = try await stub.manager(transport).logIn(
      .browser(app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.accessToken == "access-2")
    stub.set(Self.identityPath) { _ in RestResponse(status: 403) }
    let count = transport.requests.count
    let manager = try await stub.manager(transport)
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    // Code, identity, refresh, identity; then the tokens are ended.
    #expect(transport.requests.count == count + 5)
    #expect(transport.requests.last?.url.path() == "/services/oauth2/revoke")
  }

  @Test(.covers("CO-71"))
  func `a login can be kept without a profile, on wish`() async throws {
    let stub = stub()
    stub.set(Self.identityPath) { _ in RestResponse(status: 500) }
    var options = UserAccountManager.Options()
    options.keepsLoginWithoutProfile = true
    let manager = try await stub.manager(stub.transport(), options: options)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.identity == TestOrg.identity)
    #expect(account.username.isEmpty && !account.isSessionValid)
    stub.set(Self.identityPath) { _ in RestResponse(json: #"{"username":"jane"}"#) }
    #expect(try await manager.refreshProfile(of: account.identity).username == "jane")
  }

  @Test(.covers("CO-35.4", "CO-66"))
  func `a login without a refresh token is warned of and not refused`()
    async throws
  {
    let stub = stub()
    let account = try await stub.manager(stub.transport()).logIn(
      .browser(app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.refreshToken == nil && account.loginState == .loggedIn)
  }

  @Test(.covers("BX-23.1", "CO-31.2"))
  func `refreshes go by the consumer key that the org issued to the login`()
    async throws
  {
    let stub = stub(["beacon_child_consumer_key": "child", "refresh_token": "r"])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    try await manager.refresh(account.identity)
    #expect(form(try #require(transport.requests.last))["client_id"] == "child")
  }

  @Test(.covers("CO-57", "CO-110.1", "CO-25.1"))
  func `logins tell how they go, and can be cancelled from outside`()
    async throws
  {
    let stub = stub()
    let manager = try await stub.manager(stub.transport())
    let events = await manager.loginEvents()
    #expect(await manager.cancelLogin() == false)
    let latch = Latch(), shown = Latch()
    let slow = ScriptedLoginPresenter { _ in
      shown.open()
      try await latch.wait()
      return ""
    }
    let login = Task { try await manager.logIn(.browser(app: TestOrg.app, presenter: slow)) }
    try await shown.wait()
    #expect(await manager.cancelLogin())
    latch.open()
    await #expect(throws: CancellationError.self) { try await login.value }
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .browser(app: TestOrg.app, presenter: ScriptedLoginPresenter { _ in "elsewhere" }))
    }
    await manager.close()
    var kinds: [String] = []
    for await event in events {
      #expect(event.server == .production && event.type == .webServer)
      kinds.append("\(event.kind)".prefix { $0 != "(" }.description)
    }
    #expect(
      kinds == [
        "willLogIn", "willShowPage", "didCancel", "willLogIn", "willShowPage", "didLogIn",
        "willLogIn", "willShowPage", "didFail",
      ])
  }

  @Test(.covers("CO-82.1"))
  func `a login that fails leaves the current user as it was`() async throws {
    let stub = stub()
    let other = TestOrg().account(
      identity: UserAccountIdentity(userId: "005000000000009AAA", organizationId: "00D9"))
    let manager = try await stub.manager(stub.transport(), [other])
    try await manager.setCurrent(other.identity)
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .browser(app: TestOrg.app, presenter: ScriptedLoginPresenter { _ in "x" }))
    }
    #expect(await manager.current == other)
    let added = try await manager.logIn(
      .browser(app: TestOrg.app, presenter: presenter), makesCurrent: false)
    #expect(await manager.current == other)
    #expect(await manager.accounts.count == 2)
    try await manager.setCurrent(added.identity)
    #expect(await manager.current == added)
  }

  @Test(.covers("CO-52", "BX-15"))
  func `an account moves to another app, its data and the others stay`()
    async throws
  {
    let stub = stub(["access_token": "new", "refresh_token": "refresh-new"])
    stub.set("/services/oauth2/singleaccess") { request in
      #expect(request.headers[.authorization] == "Bearer access-1")
      return RestResponse(json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/f?otp=1"}"#)
    }
    let revoked = Mutex<[String: String]>([:])
    stub.set("/services/oauth2/revoke") { request in
      revoked.withLock { $0 = form(request) }
      return RestResponse(status: 200)
    }
    let other = TestOrg().account(
      identity: UserAccountIdentity(userId: "005000000000009AAA", organizationId: "00D9"))
    let manager = try await stub.manager(stub.transport(), [TestOrg().account(), other])
    try await manager.setCurrent(other.identity)
    try await manager.setCustomData("kept", forKey: "mine", of: TestOrg.identity)
    let app = ConnectedApp(clientId: "client-2", redirectURI: "a://b")
    let pages = Mutex<[String]>([])
    let moved = try await manager.migrate(
      TestOrg.identity, to: app,
      presenter: ScriptedLoginPresenter { attempt in
        let page = try await attempt.loginPage()
        pages.withLock { $0.append(page.absoluteString) }
        return "a://b?code=x&state=\(attempt.state)"
      })
    #expect(pages.withLock { $0 } == ["https://acme.my.salesforce.com/f?otp=1"])
    #expect(moved.credentials.clientId == "client-2")
    #expect(moved.credentials.refreshToken == "refresh-new")
    #expect(moved.customData["mine"] == "kept")
    #expect(
      revoked.withLock { $0 } == ["token": "refresh-1", "revoke_reason": "refresh_token_rotated"])
    #expect(await manager.current == other)
    // Another user at the page: the account is as it was.
    stub.set("/services/oauth2/token") { _ in
      LoginServerStub.tokens([
        "id": "https://login.salesforce.com/id/00D000000000009EAA/005000000000009AAA"
      ])
    }
    stub.set("/services/oauth2/singleaccess") { _ in
      RestResponse(json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/f"}"#)
    }
    let error = await #expect(throws: OAuthError.self) {
      try await manager.migrate(
        TestOrg.identity, to: app,
        presenter: ScriptedLoginPresenter { "a://b?code=x&state=\($0.state)" })
    }
    #expect(error?.code == .accessDenied)
    #expect(await manager.account(for: TestOrg.identity) == moved)
  }

  @Test(.covers("CO-42.1", "BX-16"))
  func `a page opens once with the account's session, refreshed if need be`()
    async throws
  {
    let stub = stub(["access_token": "fresh"])
    stub.set("/services/oauth2/singleaccess") { request in
      guard request.headers[.authorization] == "Bearer fresh" else {
        return RestResponse(status: 401)
      }
      #expect(form(request) == ["redirect_uri": "/lightning/page/home?x=1"])
      return RestResponse(json: #"{"frontdoor_uri":"https://acme.my.salesforce.com/f?otp=1"}"#)
    }
    let manager = try await stub.manager(stub.transport(), [TestOrg().account()])
    let url = try await manager.oneTimeLoginURL(
      to: "/lightning/page/home?x=1", for: TestOrg.identity)
    #expect(url.absoluteString == "https://acme.my.salesforce.com/f?otp=1")
  }

  @Test(.covers("CO-55", "BX-21"))
  func `an OpenID token comes from a refresh whose tokens are kept`()
    async throws
  {
    let stub = stub(["access_token": "fresh", "refresh_token": "rotated", "id_token": "a.b.c"])
    let manager = try await stub.manager(stub.transport(), [TestOrg().account()])
    #expect(try await manager.openIDToken(of: TestOrg.identity) == "a.b.c")
    let account = await manager.account(for: TestOrg.identity)
    #expect(account?.credentials.refreshToken == "rotated")
    stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens(["access_token": "other"]) }
    #expect(try await manager.openIDToken(of: TestOrg.identity) == nil)
  }

  @Test(.covers("CO-40.1", "CO-41.1", "BX-29.1"))
  func `each error has the effect that the table names`() {
    let effects: [(String, OAuthEffect)] = [
      ("surprise", .startAgain), ("auth_timeout", .tryLater), ("malformed_response", .startAgain),
      ("access_denied", .startAgain), ("invalid_client_id", .startAgain),
      ("invalid_client", .startAgain), ("invalid_client_credentials", .startAgain),
      ("invalid_grant", .sessionEnded), ("invalid_request", .startAgain),
      ("inactive_user", .startAgain), ("inactive_org", .startAgain),
      ("rate_limit_exceeded", .tryLater), ("unsupported_response_type", .startAgain),
      ("wrong_version", .appChanged), ("browser_launch_failed", .startAgain),
      ("unknown_advanced_auth_config", .startAgain), ("jwt_launch_failed", .startAgain),
    ]
    for (word, effect) in effects {
      #expect(OAuthError.Code(serverError: word).effect == effect, "\(word)")
    }
    #expect(OAuthError.Code.badManagedConfiguration.effect == .configurationWrong)
    #expect(OAuthError.Code.cancelled.effect == .silent)
    #expect(OAuthError.Code.refreshFailed.effect == .tryLater)
    #expect(OAuthError.Code.invalidLoginURL.effect == .hostUnreachable)
  }

  @Test(.covers("CO-60.4", "CO-64", "BX-33.1"))
  func `credentials can be cleared in two steps`() {
    var credentials = TestOrg().account().credentials
    credentials.webSession = ["lightning_sid": "x"]
    credentials.communityId = "0DB1"
    credentials.communityURL = URL(string: "https://acme.my.site.com")
    credentials.apiInstanceURL = URL(string: "https://api.salesforce.com")
    credentials.identityURL = URL(string: "https://login.salesforce.com/id/00D1/0051")
    credentials.issuedAtMilliseconds = 1
    credentials.scopes = ["api"]
    credentials.tokenFormat = "jwt"
    let identifier = credentials.identifier
    credentials.removeAccessToken()
    #expect(credentials.accessToken == nil && credentials.refreshToken == "refresh-1")
    #expect(credentials.webSession == ["lightning_sid": "x"])
    credentials.removeSession()
    #expect(credentials.refreshToken == nil && credentials.webSession.isEmpty)
    #expect(credentials.instanceURL == nil && credentials.apiInstanceURL == nil)
    #expect(credentials.communityId == nil && credentials.communityURL == nil)
    #expect(credentials.identityURL == nil && credentials.issuedAtMilliseconds == nil)
    #expect(credentials.scopes.isEmpty && credentials.tokenFormat == nil)
    #expect(
      credentials.identifier == identifier && credentials.redirectURI == TestOrg.app.redirectURI)
    #expect(credentials.clientId == "client-1" && credentials.loginServer == .production)
  }
}
