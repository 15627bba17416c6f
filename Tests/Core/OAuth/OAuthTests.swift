import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-23 to CO-40: the web-server flow with PKCE, as pure functions and as a whole login.
@Suite struct OAuthTests {
  private func attempt(
    app: ConnectedApp = TestOrg.app, server: LoginServer = .production, hint: String? = nil,
    brand: String? = nil
  ) -> AuthorizationSession {
    AuthorizationSession(
      app: app, server: server, deviceId: "device 1", loginHint: hint, brand: brand)
  }

  private func query(_ url: URL) -> [String: String] {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems ?? []
    return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
  }

  @Test(.covers("CO-26", "CO-11.2", "CO-39", "CO-48.1", "BX-1", "HT-92.2", "CO-23.1"))
  func `the login page's address, every value encoded`()
    throws
  {
    let app = ConnectedApp(
      clientId: "3MVG&=+é", redirectURI: "my.app://oauth/done?x",
      scopes: [" api ", "web", "", "api"])
    let attempt = attempt(app: app, hint: "jane+1@example.com", brand: "/my brand/")
    let url = attempt.authorizationURL()
    #expect(
      url.absoluteString.hasPrefix(
        "https://login.salesforce.com/services/oauth2/authorize/my%20brand?response_type=code"))
    #expect(!url.absoluteString.contains("3MVG&"))
    #expect(
      query(url) == [
        "response_type": "code", "client_id": "3MVG&=+é", "redirect_uri": "my.app://oauth/done?x",
        "display": "touch", "code_challenge": attempt.pkce.challenge,
        "code_challenge_method": "S256", "state": attempt.state, "device_id": "device 1",
        "scope": "api refresh_token web", "login_hint": "jane+1@example.com", "prompt": "login",
      ])
  }

  @Test(.covers("CO-48.2"), arguments: [nil, "", " ", "/", " // "])
  func `a blank brand is left out`(brand: String?) {
    let address = attempt(brand: brand).authorizationURL().absoluteString
    #expect(address.hasPrefix("https://login.salesforce.com/services/oauth2/authorize?"))
  }

  @Test(.covers("CO-39", "BX-11.1"))
  func `without scopes there is no scope parameter`() {
    for scopes: Set<String> in [[], [" "], ["refresh_token"]] {
      let app = ConnectedApp(clientId: "c", redirectURI: "a://b", scopes: scopes)
      #expect(query(attempt(app: app).authorizationURL())["scope"] == nil)
    }
  }

  @Test(.covers("CO-27", "BX-1"))
  func `the challenge is the hash of the verifier's text`() throws {
    let attempt = attempt()
    let verifier = attempt.pkce.verifier
    #expect(Base64URL.decode(verifier)?.count == 128)
    #expect(!verifier.contains("="))
    #expect(attempt.pkce.challenge == Base64URL.encode(Digests.sha256(Array(verifier.utf8))))
    #expect(attempt.pkce != self.attempt().pkce)
    #expect(attempt.state != self.attempt().state)
    #expect(Base64URL.decode(attempt.state)?.count == 32)
  }

  @Test(
    .covers("CO-23.1"),
    arguments: [
      ("login.salesforce.com", "https://login.salesforce.com"),
      (" https://acme.my.salesforce.com/ ", "https://acme.my.salesforce.com"),
      ("acme.force.com/fineapps", "https://acme.force.com/fineapps"),
      ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
      // The encoded host is longer than the given one; the fuzzer found that the path was cut by the difference.
      ("https://M\u{FC}nchen.example/kunden", "https://xn--mnchen-3ya.example/kunden"),
    ])
  func `login servers are normalised`(text: String, url: String) throws {
    #expect(try LoginServer(text).url.absoluteString == url)
  }

  @Test(
    .covers("CO-40.3", "CO-23.1"),
    arguments: [
      "http://login.salesforce.com", "", "ftp://x", "https://a b", "x?y=1", "https://",
    ])
  func `a login server that is not https is refused`(text: String) {
    #expect {
      _ = try LoginServer(text)
    } throws: {
      ($0 as? OAuthError)?.number == 685
    }
  }

  @Test(.covers("CO-28", "CO-30.1", "BX-1"))
  func `the redirect is known by scheme, host and path, and by its state`() {
    let attempt = attempt()
    let uri = TestOrg.app.redirectURI
    func verdict(_ address: String) -> String {
      switch attempt.verdict(on: address) {
      case .code(let code): "code \(code)"
      case .tokens: "tokens"
      case .refused(let error): "refused \(error.code)"
      case .foreign(let error): "foreign \(error.code)"
      }
    }
    let state = "state=\(attempt.state)"
    #expect(verdict("\(uri)?code=aPrx%3D%3D&\(state)") == "code aPrx%3D%3D")
    #expect(verdict("HTTP://127.0.0.1:1717/CALLBACK?\(state)&code=x#frag") == "code x")
    #expect(verdict("\(uri)/?\(state)&code=x") == "code x")
    #expect(verdict("\(uri)?\(state)&error=access_denied&flag") == "refused accessDenied")
    #expect(verdict("\(uri)?\(state)") == "refused malformedResponse")
    #expect(verdict("\(uri)?\(state)&code=") == "refused malformedResponse")
    // Not ours: another path, another state, none, or an error without it.
    #expect(verdict("\(uri)?code=x&state=other") == "foreign stateMismatch")
    #expect(verdict("\(uri)?code=x") == "foreign stateMismatch")
    #expect(verdict("\(uri)?error=access_denied") == "foreign stateMismatch")
    #expect(verdict("\(uri)evil?code=x&\(state)") == "foreign stateMismatch")
    #expect(verdict("https://evil.org/?u=\(uri)?code=x&\(state)") == "foreign stateMismatch")
    #expect(verdict(uri) == "foreign malformedResponse")
    #expect(verdict("\(uri)?") == "foreign malformedResponse")
  }

  @Test(.covers("CO-40.1", "BX-29.1", "BX-29.2"))
  func `every word of the server has its number`() {
    let numbers = [
      "auth_timeout": 667, "malformed_response": 668, "access_denied": 669,
      "invalid_client_id": 670, "invalid_client": 671, "invalid_client_credentials": 671,
      "invalid_grant": 672, "invalid_request": 673, "inactive_user": 674, "inactive_org": 675,
      "rate_limit_exceeded": 676, "unsupported_response_type": 677, "wrong_version": 678,
      "browser_launch_failed": 679, "unknown_advanced_auth_config": 680, "auth_config": 680,
      "jwt_launch_failed": 682,
      "surprise": 666,
    ]
    for (word, number) in numbers {
      #expect(OAuthError.Code(serverError: word).number == number, "\(word)")
    }
    #expect(OAuthError.domain == "com.salesforce.OAuth.ErrorDomain")
  }

  /// A presenter that responds as the server would.
  private let presenter = ScriptedLoginPresenter { attempt in
    "\(attempt.app.redirectURI)?code=aPrx%3D%3D&state=\(attempt.state)"
  }

  @Test(.covers("CO-30.2", "CO-35.3", "CO-13.1", "CO-59.1", "CO-68.1", "BX-2.1", "CO-23.1"))
  func `a login redeems its code and learns who the user is`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager([], transport: transport)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    let exchange = transport.requests[0]
    #expect(exchange.method == .post)
    #expect(exchange.url.absoluteString == "https://login.salesforce.com/services/oauth2/token")
    #expect(exchange.headers[.contentType] == "application/x-www-form-urlencoded")
    #expect(exchange.timeout == .seconds(120))
    // The code goes on as it came, not encoded twice.
    #expect(text(exchange.body).hasSuffix("&code=aPrx%3D%3D"))
    var fields = form(exchange)
    let verifier = fields.removeValue(forKey: "code_verifier")
    #expect(Base64URL.decode(verifier ?? "")?.count == 128)
    #expect(
      fields == [
        "format": "json", "redirect_uri": "http://127.0.0.1:1717/callback",
        "client_id": "client-1", "grant_type": "hybrid_auth_code", "code": "aPrx==",
      ])
    let identity = transport.requests[1]
    #expect(
      identity.url.absoluteString
        == "https://acme.my.salesforce.com/id/00D000000000001EAA/005000000000001AAA")
    #expect(identity.headers[.authorization] == "Bearer access-2")
    #expect(account.identity == TestOrg.identity)
    #expect(account.username == "jane@example.com")
    #expect(account.profile.displayName == "Jane")
    #expect(account.credentials.scopes == ["api", "id", "refresh_token"])
    #expect(account.loginState == .loggedIn)
    #expect(await manager.current == account)
  }

  @Test(.covers("CO-33.1", "BX-13.1"))
  func `plain grants are sent where hybrid ones are switched off`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager([], transport: transport)
    var app = TestOrg.app
    app.usesHybridGrants = false
    let account = try await manager.logIn(.browser(app: app, presenter: presenter))
    try await manager.refresh(account.identity)
    let grants = transport.requests.compactMap { form($0)["grant_type"] }
    #expect(grants == ["authorization_code", "refresh_token"])
  }

  @Test(.covers("CO-30.1", "CO-41.3"))
  func `what the user or the server refuses is a typed error, and nothing is kept`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager([], transport: transport)
    func logIn(
      _ redirect: @escaping @Sendable (AuthorizationSession) -> String
    ) async -> OAuthError? {
      await #expect(throws: OAuthError.self) {
        try await manager.logIn(
          .browser(app: TestOrg.app, presenter: ScriptedLoginPresenter(redirect)))
      }
    }
    let denied = await logIn {
      "\($0.app.redirectURI)?error=access_denied&error_description=end-user+denied&state=\($0.state)"
    }
    #expect(denied?.code == .accessDenied)
    #expect(denied?.serverDescription == "end-user denied")
    let foreign = await logIn { "\($0.app.redirectURI)?code=x&state=other" }
    #expect(foreign?.code == .stateMismatch)
    #expect(transport.requests.isEmpty)
    org.state.withLock { $0.refusal = "invalid_grant" }
    let used = await logIn { "\($0.app.redirectURI)?code=x&state=\($0.state)" }
    #expect(used?.code == .invalidGrant)
    #expect(await manager.accounts.isEmpty)
    // The attempt is over: another login can start.
    org.state.withLock { $0.refusal = nil }
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
  }

  @Test(
    .covers("CO-30.3", "BX-2.1"),
    arguments: [
      "<html>", "[]", "", "{", "{}", #"{"access_token":""}"#,
      #"{"access_token":"x","instance_url":"http://evil.org"}"#,
      #"{"access_token":"x","id":"javascript:alert(1)"}"#,
    ])
  func `a response that is no token response is malformed`(body: String) {
    for status in [200, 400] {
      let error = #expect(throws: OAuthError.self) {
        try TokenResponse(
          RestResponse(status: status, body: Array(body.utf8)), during: "the refresh")
      }
      #expect(error?.number == 668)
    }
  }

  @Test(
    .covers("CO-32"),
    arguments: ["<html>Down for maintenance</html>", "", "{}", #"[{"errorCode":"X"}]"#])
  func `a login server that cannot work now is a passing failure`(body: String) async throws {
    for (status, code) in [
      (429, OAuthError.Code.rateLimitExceeded), (500, .serverUnavailable),
      (503, .serverUnavailable),
    ] {
      let error = #expect(throws: OAuthError.self) {
        try TokenResponse(
          RestResponse(status: status, body: Array(body.utf8)), during: "the refresh")
      }
      #expect(error?.code == code && error?.code.isRetryable == true)
      // A refresh keeps the session; the same holds for the question who the user is.
      let transport = ScriptedTransport { _ in
        RestResponse(status: status, body: Array(body.utf8))
      }
      let org = TestOrg()
      let manager = try await org.manager(transport: transport)
      let refusal = await #expect(throws: OAuthError.self) {
        try await manager.refresh(TestOrg.identity)
      }
      #expect(refusal?.code.isRetryable == true)
      #expect(await manager.account(for: TestOrg.identity)?.loginState == .loggedIn)
      let unknown = await #expect(throws: OAuthError.self) {
        try await manager.logIn(.tokens(accessToken: "x", instance: .production))
      }
      #expect(unknown?.code == code)
    }
  }

  @Test func `a refused token says what to do`() async throws {
    let transport = ScriptedTransport { _ in RestResponse(status: 403) }
    let manager = try await TestOrg().manager([], transport: transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.tokens(accessToken: "bad", instance: .production))
    }
    #expect(error?.code == .accessDenied)
    #expect(error?.message.contains("log in through the browser, or with a new token") == true)
  }

  @Test(.covers("CO-30.3"))
  func `a 400 with an error object is an OAuth error`() {
    let error = #expect(throws: OAuthError.self) {
      try TokenResponse(
        RestResponse(status: 400, json: #"{"error":"inactive_org","access_token":"x"}"#),
        during: "the refresh")
    }
    #expect(error?.code == .inactiveOrg)
  }

  @Test(.covers("CO-35.2", "CO-35.3"))
  func `only what a response holds is changed`() throws {
    var credentials = TestOrg().account().credentials
    credentials.communityId = "0DB000000000001GAA"
    credentials.webSession = ["lightning_sid": "old", "content_sid": "kept"]
    let merged = credentials.merging(
      try TokenResponse(
        RestResponse(
          json: """
            {"access_token":"new","refresh_token":"","issued_at":"1600000000123",
            "lightning_sid":"fresh","token_format":"jwt","signature":"s"}
            """), during: "x"))
    #expect(merged.accessToken == "new")
    #expect(merged.refreshToken == "refresh-1")
    #expect(merged.communityId == "0DB000000000001GAA")
    #expect(merged.instanceURL == credentials.instanceURL)
    #expect(merged.issuedAtMilliseconds == 1_600_000_000_123)
    #expect(merged.webSession == ["lightning_sid": "fresh", "content_sid": "kept"])
    #expect(merged.tokenFormat == "jwt")
  }

  @Test(.covers("CO-35.1", "BX-2.2"))
  func `every member of a token response has its place in the account`() throws {
    let members: [String: String] = [
      "access_token": "a", "refresh_token": "r", "instance_url": "https://i.my.salesforce.com",
      "api_instance_url": "https://api.salesforce.com", "issued_at": "1600000000123",
      "id": "https://login.salesforce.com/id/00D1/0051", "scope": "api web",
      "sfdc_community_id": "0DB000000000001GAA", "sfdc_community_url": "https://c.my.site.com/x",
      "token_format": "jwt", "lightning_domain": "l.lightning.force.com", "lightning_sid": "ls",
      "visualforce_domain": "v.vf.force.com", "visualforce_sid": "vs",
      "content_domain": "c.file.force.com", "content_sid": "cs", "csrf_token": "ct",
      "cookie-clientSrc": "src", "cookie-sid_Client": "sid", "sidCookieName": "name",
      "parent_sid": "ps", "beacon_child_consumer_key": "ck",
      "beacon_child_consumer_secret": "cc", "token_type": "Bearer", "signature": "s",
      "additional": "kept", "other": "not kept",
    ]
    let merged = OAuthCredentials(
      clientId: "c", redirectURI: "a://b", loginServer: .production
    ).merging(
      try TokenResponse(
        RestResponse(
          json: JSONValue.object(
            JSONObject(members.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
          ).text), during: "x"), keeping: ["additional"])
    #expect(merged.accessToken == "a" && merged.refreshToken == "r")
    #expect(merged.instanceURL?.absoluteString == "https://i.my.salesforce.com")
    #expect(merged.apiInstanceURL?.absoluteString == "https://api.salesforce.com")
    #expect(merged.issuedAtMilliseconds == 1_600_000_000_123)
    #expect(merged.identityURL?.absoluteString == "https://login.salesforce.com/id/00D1/0051")
    #expect(merged.scopes == ["api", "web"] && merged.tokenFormat == "jwt")
    #expect(merged.communityId == "0DB000000000001GAA")
    #expect(merged.communityURL?.absoluteString == "https://c.my.site.com/x")
    #expect(
      merged.webSession == [
        "lightning_domain": "l.lightning.force.com", "lightning_sid": "ls",
        "visualforce_domain": "v.vf.force.com", "visualforce_sid": "vs",
        "content_domain": "c.file.force.com", "content_sid": "cs", "csrf_token": "ct",
        "cookie-clientSrc": "src", "cookie-sid_Client": "sid", "sidCookieName": "name",
        "parent_sid": "ps", "beacon_child_consumer_key": "ck",
        "beacon_child_consumer_secret": "cc",
      ])
    #expect(merged.additionalFields == ["additional": "kept"])
  }

  @Test(.covers("CO-39"))
  func `only a known list without id and full forbids the identity call`() {
    #expect(Scope.allowsIdentity([]))
    #expect(Scope.allowsIdentity(["full"]))
    #expect(Scope.allowsIdentity(["api", "id"]))
    #expect(!Scope.allowsIdentity(["api", "web"]))
  }

  @Test(.covers("CO-68.1"))
  func `the identity request goes to its own address if the instance has no page`()
    async throws
  {
    let transport = ScriptedTransport { request in
      if request.url.host() == "acme.my.salesforce.com" { return RestResponse(status: 404) }
      return RestResponse(json: #"{"username":"jane@example.com"}"#)
    }
    var credentials = TestOrg().account().credentials
    credentials.identityURL = URL(string: "https://login.salesforce.com/id/00D1/0051")
    let service = OAuthService(transport: transport, userAgent: UserAgent())
    let (identity, profile) = try await service.identity(of: credentials)
    #expect(identity == UserAccountIdentity(userId: "0051", organizationId: "00D1"))
    #expect(profile.username == "jane@example.com")
    #expect(
      transport.requests.map { $0.url.host() } == [
        "acme.my.salesforce.com", "login.salesforce.com",
      ])
  }

  @Test func `an account can be made from tokens, and the server says whose they are`()
    async throws
  {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager([], transport: transport)
    let account = try await manager.logIn(
      .tokens(
        accessToken: "access-1", refreshToken: "refresh-1",
        instance: try LoginServer("https://acme.my.salesforce.com"), app: TestOrg.app))
    #expect(account.identity == TestOrg.identity)
    #expect(account.username == "jane@example.com")
    #expect(account.credentials.instanceURL?.host() == "acme.my.salesforce.com")
    let refused = await #expect(throws: RestOrOAuth.self) {
      do {
        try await manager.logIn(
          .tokens(accessToken: "wrong", instance: try LoginServer("https://acme.my.salesforce.com"))
        )
      } catch let error as OAuthError {
        throw RestOrOAuth(code: error.code)
      }
    }
    #expect(refused?.code == .accessDenied)
    #expect(await manager.accounts.count == 1)
  }

  private struct RestOrOAuth: Error { let code: OAuthError.Code }

  @Test(.covers("CO-24.2"))
  func `a second login while one is at work does not disturb the first`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([])
    let latch = Latch(), shown = Latch()
    let slow = ScriptedLoginPresenter { attempt in
      shown.open()
      try await latch.wait()
      return "\(attempt.app.redirectURI)?code=x&state=\(attempt.state)"
    }
    let first = Task { try await manager.logIn(.browser(app: TestOrg.app, presenter: slow)) }
    try await shown.wait()
    let error = await #expect(throws: AccountError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.code == .illegalState)
    latch.open()
    #expect(try await first.value.identity == TestOrg.identity)
  }

  @Test(.covers("CO-79.2", "CO-37.1", "CO-23.1"))
  func `logging in again replaces the tokens and ends the former refresh token`()
    async throws
  {
    let org = TestOrg()
    org.state.withLock { $0.rotates = true }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.refreshToken == "refresh-2")
    #expect(await manager.accounts == [account])
    let revocation = try #require(transport.requests.last)
    #expect(revocation.url.absoluteString == "https://login.salesforce.com/services/oauth2/revoke")
    #expect(form(revocation) == ["token": "refresh-1", "revoke_reason": "refresh_token_rotated"])
  }

  @Test(.covers("CO-67", "BX-99.2"))
  func `no description, dump or error shows a secret`() async throws {
    let org = TestOrg()
    let account = org.account()
    var shown = ""
    dump(account, to: &shown)
    dump(account.credentials, to: &shown)
    let attempt = attempt()
    dump(attempt, to: &shown)
    let redirect = LoginRedirect(address: "a://b?code=secret-code", redirectURI: "a://b")
    dump(redirect, to: &shown)
    let request = OAuthRequests.exchange(
      code: "secret-code", attempt: attempt, redirectURI: "a://b", userAgent: "x")
    let refresh = try OAuthRequests.refresh(account.credentials, deviceId: nil, userAgent: "x")
    let error = #expect(throws: OAuthError.self) {
      try TokenResponse(
        RestResponse(status: 500, json: #"{"refresh_token":"refresh-1"}"#), during: "x")
    }
    shown += "\(account) \(account.credentials) \(attempt) \(redirect) \(request) \(refresh)"
    shown += "\([account]) \(Optional(account.credentials) as Any) \(String(reflecting: account))"
    shown += "\(String(reflecting: request)) \(String(describing: error))"
    shown += "\(RestResponse(json: "access-1 refresh-1")) \(RestRequest.query("secret-code"))"
    for secret in ["access-1", "refresh-1", "secret-code", attempt.pkce.verifier] {
      #expect(!shown.contains(secret), "\(secret)")
    }
  }
}
