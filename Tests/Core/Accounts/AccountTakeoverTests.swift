import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// A server of an attacker, which claims the ids of a user who is logged in at another server.
@Suite struct AccountTakeoverTests {
  private static let genuine = "https://acme.my.salesforce.com"
  private static let fake = "https://fake.example:8443"
  private static let ids = "/id/00D000000000001EAA/005000000000001AAA"

  /// Every way in which tokens of a new login reach the manager.
  enum Flow: CaseIterable, Sendable {
    case webServer, userAgent, device, assertion, clientCredentials, headless, accessToken
    case bridge, assertionWithPage, migration, identityProvider
  }

  /// Serves both servers, and records what each receives.
  private final class Network: Sendable {
    let requests = Mutex<[TransportRequest]>([])
    /// The members of the genuine server's next token responses.
    let genuineTokens = Mutex<[String: String]>([:])
    /// The ids that the fake server claims.
    let claimed = Mutex(ids)

    func sent(to server: String) -> [TransportRequest] {
      requests.withLock { $0.filter { $0.url.absoluteString.hasPrefix(server) } }
    }

    func transport() -> ScriptedTransport {
      ScriptedTransport { request in
        self.requests.withLock { $0.append(request) }
        let isFake = request.url.absoluteString.hasPrefix(fake)
        let server = isFake ? fake : genuine
        let ids = isFake ? self.claimed.withLock { $0 } : ids
        let named = Array(ids.split(separator: "/").suffix(2))
        switch request.url.path() {
        case "/services/oauth2/token" where form(request)["response_type"] == "device_code":
          return RestResponse(
            json: """
              {"device_code":"d","user_code":"ABCD","verification_uri":"\(fake)/x","interval":1}
              """)
        case "/services/oauth2/token":
          var members = ["instance_url": server, "id": server + ids, "refresh_token": "refresh-x"]
          if !isFake { members.merge(self.genuineTokens.withLock { $0 }) { $1 } }
          members["access_token"] = isFake ? "fake-token" : "genuine-token"
          return LoginServerStub.tokens(members)
        case "/services/oauth2/authorize": return RestResponse(json: #"{"code":"c"}"#)
        case "/services/oauth2/singleaccess":
          return RestResponse(json: #"{"frontdoor_uri":"\#(server)/frontdoor"}"#)
        case "/services/oauth2/userinfo", ids:
          return RestResponse(
            json: """
              {"user_id":"\(named[1])","organization_id":"\(named[0])",
              "username":"jane@example.com","preferred_username":"jane@example.com",
              "sub":"\(server)\(ids)"}
              """)
        default: return RestResponse(json: "{}")
        }
      }
    }
  }

  private func account() throws -> UserAccount {
    UserAccount(
      identity: TestOrg.identity,
      credentials: OAuthCredentials(
        clientId: "client-1", redirectURI: TestOrg.app.redirectURI,
        loginServer: try LoginServer(Self.genuine), accessToken: "access-1",
        refreshToken: "refresh-1", instanceURL: URL(string: Self.genuine)),
      profile: UserProfile(username: "jane@example.com"))
  }

  @Test(arguments: [(genuine, true), (fake, false)])
  func `an account whose session was removed goes to the server that its login server names`(
    loginServer: String, isAccepted: Bool
  ) async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    var cleared = try account()
    cleared.credentials.removeSession()
    cleared.loginState = .notLoggedIn
    try await persister.save(cleared)
    network.genuineTokens.withLock { $0 = ["instance_url": "https://new.example"] }
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport())
    do {
      try await logIn(manager, .webServer, at: loginServer, network)
      #expect(isAccepted)
    } catch let error as AccountError {
      #expect(error.code == .foreignServer && !isAccepted)
    }
    let account = try #require(await manager.account(for: TestOrg.identity))
    #expect(
      account.credentials.instanceURL?.absoluteString == (isAccepted ? "https://new.example" : nil))
  }

  /// Another app of the device, which says where its code is to be exchanged.
  private struct OtherApp: LoginPresenter {
    let server: LoginServer
    var loginType: LoginType? { .identityProvider }

    func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
      let uri = attempt.app.redirectURI
      return LoginRedirect(
        address: "\(uri)?code=x&state=\(attempt.state)", redirectURI: uri, server: server)
    }
  }

  private func bridge(_ server: String) throws -> BridgeLogin {
    let start = PercentEncoding.encode("/services/oauth2/authorize?client_id=client-1&state=s")
    let json: JSONObject = [
      "frontdoor_bridge_url": .string("\(server)/secur/frontdoor.jsp?startURL=\(start)"),
      "pkce_code_verifier": "proof",
    ]
    return try BridgeLogin(
      scanned: "https://acme.example/login/qr?bridgeJson="
        + PercentEncoding.encode(JSONValue.object(json).text))
  }

  private func logIn(
    _ manager: UserAccountManager, _ flow: Flow, at address: String, _ network: Network
  ) async throws {
    let server = try LoginServer(address)
    let app = TestOrg.app
    let codes = ScriptedLoginPresenter { attempt in
      _ = try await attempt.loginPage()
      return "\(app.redirectURI)?code=x&state=\(attempt.state)"
    }
    switch flow {
    case .webServer: try await manager.logIn(.browser(to: server, app: app, presenter: codes))
    case .userAgent:
      let tokens = ScriptedLoginPresenter { attempt in
        let members = [
          ("access_token", "fake-token"), ("refresh_token", "r"), ("instance_url", address),
          ("id", address + Self.ids), ("state", attempt.state),
        ]
        return "\(app.redirectURI)#" + PercentEncoding.form(members.map { (name: $0, value: $1) })
      }
      try await manager.logIn(
        .browser(to: server, app: app, presenter: tokens, options: LoginOptions(flow: .userAgent)))
    case .device: try await manager.logIn(.device(to: server, app: app) { _ in })
    case .assertion:
      try await manager.logIn(
        .grant(.assertion(clientId: "client-1") { _ in "signed" }, to: server))
    case .clientCredentials:
      try await manager.logIn(
        .grant(.clientCredentials(clientId: "client-1", clientSecret: "s"), to: server))
    case .headless:
      try await manager.logIn(
        .password(username: "jane@example.com", password: "geheim12", to: server, app: app))
    case .accessToken:
      try await manager.logIn(.tokens(accessToken: "fake-token", instance: server, app: app))
    case .bridge: try await manager.logIn(.scanned(bridge(address), app: app, presenter: codes))
    case .assertionWithPage:
      try await manager.logIn(
        .grant(
          .assertion(clientId: "client-1") { _ in "signed" }, to: server, app: app,
          presenter: codes))
    case .identityProvider:
      // The login begins at the genuine server; the other app names the one that exchanges the code.
      try await manager.logIn(
        .browser(
          to: LoginServer(Self.genuine), app: app, presenter: OtherApp(server: server)))
    case .migration:
      // The genuine server, or an attacker in between, names another one.
      network.genuineTokens.withLock { $0 = ["instance_url": address] }
      try await manager.migrate(TestOrg.identity, to: app, presenter: codes)
    }
  }

  @Test(arguments: Flow.allCases)
  func `a login at another server that claims the same ids never replaces the account`(
    flow: Flow
  ) async throws {
    let network = Network()
    let transport = network.transport()
    let persister = InMemoryAccountPersister()
    let account = try account()
    try await persister.save(account)
    let manager = try await UserAccountManager(
      persister: persister, transport: transport, clock: PatientClock())
    await #expect(throws: (any Error).self) {
      try await logIn(manager, flow, at: Self.fake, network)
    }
    #expect(await manager.account(for: TestOrg.identity) == account)
    #expect(try await persister.fetch(TestOrg.identity) == account)
    // Nothing was revoked at the genuine server, and the next request goes there.
    let revocations = network.sent(to: Self.genuine).filter {
      $0.url.path() == "/services/oauth2/revoke"
    }
    #expect(revocations.allSatisfy { form($0)["token"] != "refresh-1" })
    let client = RestClient(account: account, accounts: manager, transport: transport)
    _ = try await client.send(.limits())
    let last = try #require(network.requests.withLock { $0.last })
    #expect(last.url.absoluteString.hasPrefix(Self.genuine))
    #expect(last.headers[.authorization] == "Bearer access-1")
    for request in network.sent(to: Self.fake) {
      #expect(request.headers[.authorization] != "Bearer access-1")
      #expect(!text(request.body).contains("refresh-1"))
    }
  }

  @Test(
    arguments: [
      "/id/00d000000000001eaa/005000000000001aaa", "/id/00D000000000001/005000000000001",
    ],
    [false, true])
  func `a login at another server that spells the ids in another way never replaces the account`(
    claimed: String, isMadeLater: Bool
  ) async throws {
    for flow in [Flow.device, .assertion, .headless, .accessToken] {
      let network = Network()
      network.claimed.withLock { $0 = claimed }
      let folder = try TemporaryFolder()
      let persister = EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore())
      let account = try account()
      if !isMadeLater { try await persister.save(account) }
      let manager = try await UserAccountManager(
        persister: persister, transport: network.transport(), clock: PatientClock())
      // By another process.
      if isMadeLater { try await persister.save(account) }
      let error = await #expect(throws: AccountError.self) {
        try await logIn(manager, flow, at: Self.fake, network)
      }
      #expect(error?.code == .foreignServer, "\(flow)")
      #expect(await manager.accounts == (isMadeLater ? [] : [account]))
      #expect(try await persister.fetchAll().accounts == [account])
    }
  }

  @Test(
    arguments: [
      "/id/locks/005000000000001AAA", "/id/00D000000000001EAA/current-user",
      "/id/current-user.json/005000000000001AAA", "/id/00D000000000001EAB/005000000000001AAA",
      "/id/00d000000000001/005000000000001", "/id/005000000000001AAA/00D000000000001EAA",
      "/id/00D000000000001EAA/001000000000001AAA", "/id/00D000000000001EAA/005000000000001AAA%20",
      // Too short, too long, and a suffix that does not fit the case of the letters.
      "/id/00D00000000001/005000000000001AAA", "/id/00D000000000001EAA/0050000000000010",
      "/id/00D000000000001EAA/005000000000001AAA0", "/id/00DaB0000000001EAA/005000000000001AAA",
      "/id/00D000000000001EAA/005xY0000000001AAA",
    ])
  func `a login whose ids are not those of a user and an org makes no account`(
    claimed: String
  ) async throws {
    for flow in [Flow.webServer, .device, .assertion, .clientCredentials, .headless, .accessToken] {
      let network = Network()
      network.claimed.withLock { $0 = claimed }
      let folder = try TemporaryFolder()
      let manager = try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore()),
        transport: network.transport(), clock: PatientClock())
      let error = await #expect(throws: OAuthError.self) {
        try await logIn(manager, flow, at: Self.fake, network)
      }
      #expect(error?.code == .malformedResponse, "\(flow)")
      #expect(await manager.accounts.isEmpty)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }
  }

  @Test(arguments: [
    ("00DaB0000000001UAA", "005xY0000000001QAA"), ("00dab0000000001uaa", "005xy0000000001qaa"),
    ("00DAB0000000001UAA", "005XY0000000001QAA"), ("00DaB0000000001", "005xY0000000001"),
    ("00DaB0000000001uaa", "005xY0000000001qaa"),
  ])
  func `a login accepts the ids of a user and an org in each of their forms`(
    organization: String, user: String
  ) async throws {
    let network = Network()
    network.claimed.withLock { $0 = "/id/\(organization)/\(user)" }
    let folder = try TemporaryFolder()
    let manager = try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore()),
      transport: network.transport(), clock: PatientClock())
    try await logIn(manager, .device, at: Self.fake, network)
    let path = "00DaB0000000001UAA/005xY0000000001QAA/UserAccount.sealed"
    #expect(FileManager.default.fileExists(atPath: folder.file(path).path))
  }

  @Test func `the folder of a new account has the usual spelling of its ids`() async throws {
    let network = Network()
    network.claimed.withLock { $0 = "/id/00d000000000001eaa/005000000000001aaa" }
    let folder = try TemporaryFolder()
    let manager = try await UserAccountManager(
      persister: EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore()),
      transport: network.transport(), clock: PatientClock())
    try await logIn(manager, .device, at: Self.fake, network)
    let path = "00D000000000001EAA/005000000000001AAA/UserAccount.sealed"
    #expect(FileManager.default.fileExists(atPath: folder.file(path).path))
  }

  @Test func `an account of an earlier version keeps its ids and logs in again`() async throws {
    let network = Network()
    network.claimed.withLock { $0 = "/id/00D1/0051" }
    let folder = try TemporaryFolder()
    let persister = EncryptedAccountDirectory(root: folder.url, secrets: InMemorySecretStore())
    let account = UserAccount(
      identity: UserAccountIdentity(userId: "0051", organizationId: "00D1"),
      credentials: OAuthCredentials(
        clientId: "client-1", redirectURI: TestOrg.app.redirectURI,
        loginServer: try LoginServer(Self.fake), accessToken: "access-1",
        instanceURL: URL(string: Self.fake)),
      profile: UserProfile(username: "jane@example.com"))
    try await persister.save(account)
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport(), clock: PatientClock())
    #expect(await manager.accounts == [account])
    try await logIn(manager, .device, at: Self.fake, network)
    #expect(
      try await persister.fetch(account.identity)?.credentials.accessToken == "fake-token")
  }

  @Test(arguments: ["../../x", "UserAccount.sealed", "0DB000000000001GAB", "0DB1"])
  func `a login that names a community by anything but an id is refused`(
    community: String
  ) async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport(), clock: PatientClock())
    network.genuineTokens.withLock { $0 = ["sfdc_community_id": community] }
    let error = await #expect(throws: OAuthError.self) {
      try await logIn(manager, .webServer, at: Self.genuine, network)
    }
    #expect(error?.code == .malformedResponse)
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `a refresh whose response names no user is refused`() async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    try await persister.save(try account())
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport())
    network.genuineTokens.withLock { $0 = ["id": "\(Self.genuine)/elsewhere"] }
    await #expect(throws: OAuthError.self) { try await manager.refresh(TestOrg.identity) }
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.accessToken == "access-1")
  }

  @Test(arguments: Flow.allCases.filter { ![.migration, .bridge].contains($0) })
  func `a login moves an account to a server that the caller confirmed, and to no other`(
    flow: Flow
  ) async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    try await persister.save(try account())
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport(), clock: PatientClock())
    try await manager.confirmMove(
      of: TestOrg.identity, to: try LoginServer("https://other.example"))
    let error = await #expect(throws: AccountError.self) {
      try await logIn(manager, flow, at: Self.fake, network)
    }
    #expect(error?.code == .foreignServer)
    try await manager.confirmMove(of: TestOrg.identity, to: try LoginServer(Self.fake))
    try await logIn(manager, flow, at: Self.fake, network)
    #expect(
      await manager.account(for: TestOrg.identity)?.apiURL?.absoluteString == Self.fake)
    await #expect(throws: AccountError.self) {
      try await manager.confirmMove(
        of: UserAccountIdentity(userId: "005x", organizationId: "00Dx"),
        to: try LoginServer(Self.fake))
    }
  }

  @Test func `a login at the app's other addresses of the same org goes on as before`() async throws
  {
    let network = Network()
    let persister = InMemoryAccountPersister()
    var account = try account()
    account.credentials.loginServer = .production
    try await persister.save(account)
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport(), clock: PatientClock())
    for server in [Self.genuine, "https://login.salesforce.com"] {
      try await logIn(manager, .webServer, at: server, network)
    }
    #expect(
      await manager.account(for: TestOrg.identity)?.credentials.accessToken == "genuine-token")
  }

  @Test(arguments: ["instance_url", "api_instance_url", "sfdc_community_url", "id"])
  func `a refresh that names another server does not move the account there`(
    member: String
  ) async throws {
    let network = Network()
    let transport = network.transport()
    let persister = InMemoryAccountPersister()
    try await persister.save(try account())
    let manager = try await UserAccountManager(persister: persister, transport: transport)
    let path = member == "id" ? Self.ids : ""
    network.genuineTokens.withLock {
      $0 = [member: Self.fake + path, "sfdc_community_id": "0DB000000000001GAA"]
    }
    let refreshed = try await manager.refresh(TestOrg.identity)
    // The tokens are the only ones that are still good.
    #expect(refreshed.credentials.accessToken == "genuine-token")
    #expect(refreshed.credentials.refreshToken == "refresh-x")
    let client = RestClient(account: refreshed, accounts: manager, transport: transport)
    _ = try await client.send(.limits())
    try await manager.refresh(TestOrg.identity)
    #expect(network.sent(to: Self.fake).isEmpty)
    let elsewhere = try #require(URL(string: Self.fake + "/x"))
    #expect(
      !(try #require(await manager.account(for: TestOrg.identity)).credentials.owns(elsewhere)))
  }

  @Test func `the token of a refused login is revoked at the server that gave it`() async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    try await persister.save(try account())
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport(), clock: PatientClock())
    network.genuineTokens.withLock {
      $0 = ["sfdc_community_url": Self.fake, "sfdc_community_id": "0DB000000000001GAA"]
    }
    let error = await #expect(throws: AccountError.self) {
      try await logIn(manager, .webServer, at: Self.genuine, network)
    }
    #expect(error?.code == .foreignServer)
    for request in network.sent(to: Self.fake) {
      #expect(!text(request.body).contains("refresh-x"), "\(request.url)")
    }
    let revoked = network.sent(to: Self.genuine)
      .filter { $0.url.path() == "/services/oauth2/revoke" }.map { form($0)["token"] }
    #expect(revoked == ["refresh-x"])
  }

  @Test func `a refresh whose response names another user is refused`() async throws {
    let network = Network()
    let persister = InMemoryAccountPersister()
    try await persister.save(try account())
    let manager = try await UserAccountManager(
      persister: persister, transport: network.transport())
    network.genuineTokens.withLock {
      $0 = ["id": "\(Self.genuine)/id/00D000000000001EAA/005000000000002AAA"]
    }
    await #expect(throws: OAuthError.self) { try await manager.refresh(TestOrg.identity) }
    #expect(
      try await persister.fetch(TestOrg.identity)?.credentials.accessToken == "access-1")
  }

  @Test(arguments: ["user_id", "organization_id"])
  func `an identity response about another user than its address names is refused`(
    member: String
  ) async throws {
    for keeps in [false, true] {
      var options = UserAccountManager.Options()
      options.keepsLoginWithoutProfile = keeps
      let stub = LoginServerStub([
        "/services/oauth2/token": { _ in LoginServerStub.tokens() },
        Self.ids: { _ in
          RestResponse(
            json: #"{"username":"jane@example.com","\#(member)":"00X000000000009AAA"}"#)
        },
        "/services/oauth2/userinfo": { _ in
          RestResponse(
            json: """
              {"user_id":"005000000000001AAA","organization_id":"00D000000000001EAA",
              "preferred_username":"jane@example.com",
              "sub":"\(Self.genuine)/id/00D000000000001EAA/005000000000009AAA"}
              """)
        },
      ])
      let manager = try await stub.manager(stub.transport(), options: options)
      await #expect(throws: OAuthError.self) {
        try await manager.logIn(
          .browser(
            app: TestOrg.app,
            presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }))
      }
      await #expect(throws: OAuthError.self) {
        try await manager.logIn(
          .tokens(accessToken: "access-1", instance: try LoginServer(Self.genuine)))
      }
      #expect(await manager.accounts.isEmpty)
    }
  }

  @Test(arguments: [
    "https://fake.example", "https://salesforce.com.fake.example", "https://fakesalesforce.com",
    "https://fake.example%2f.salesforce.com", "https://acme.my.salesforce.com:8443",
    "https://-.salesforce.com", "http://127.0.0.1:8080",
  ])
  func `a scanned login leads to the platform alone`(server: String) throws {
    #expect(throws: OAuthError.self) { try bridge(server) }
    #expect(throws: Never.self) { try bridge(Self.genuine) }
  }
}
