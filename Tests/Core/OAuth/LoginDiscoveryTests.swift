import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-43, CO-46, CO-44, CO-4: what is found out before the login page is shown.
@Suite struct LoginDiscoveryTests {
  private static let configuration = """
    {"MobileSDK":{"UseiOSNativeBrowserForAuthentication":true,"shareBrowserSessionAndroid":true},
    "SamlProviders":[{"Name":"idp","SsoUrl":"https://acme.my.salesforce.com/saml"}],
    "AuthProviders":[{"SsoUrl":"https://acme.my.salesforce.com/google"},{"Name":"none"}],
    "LoginPage":{"LoginPageUrl":"https://acme.my.salesforce.com/login"}}
    """

  @Test(.covers("CO-43.1", "CO-43.4", "BX-19", "CO-36.2"))
  func `the org's configuration is read whole`() throws {
    let whole = try OrgAuthConfiguration(parsing: Array(Self.configuration.utf8))
    #expect(whole.usesSystemBrowser && whole.sharesBrowserSession)
    #expect(
      whole.singleSignOnURLs?.map(\.absoluteString) == [
        "https://acme.my.salesforce.com/saml", "https://acme.my.salesforce.com/google",
      ])
    #expect(whole.loginPageURL?.path() == "/login")
    let empty = try OrgAuthConfiguration(parsing: Array("{}".utf8))
    #expect(!empty.usesSystemBrowser && !empty.sharesBrowserSession)
    #expect(empty.singleSignOnURLs == nil && empty.loginPageURL == nil)
    #expect(throws: OAuthError.self) { try OrgAuthConfiguration(parsing: Array("[]".utf8)) }
  }

  @Test(
    .covers("CO-43.1", "BX-19"),
    arguments: [
      ("UseiOSNativeBrowserForAuthentication", true),
      ("UseAndroidNativeBrowserForAuthentication", true),
      ("shareBrowserSessionIOS", false), ("shareBrowserSessionAndroid", false),
    ])
  func `each flag of either mobile system counts alone`(
    flag: String, isOfBrowser: Bool
  ) throws {
    for value in [true, false] {
      let configuration = try OrgAuthConfiguration(
        parsing: Array(#"{"MobileSDK":{"\#(flag)":\#(value)}}"#.utf8))
      #expect(configuration.usesSystemBrowser == (value && isOfBrowser))
      #expect(configuration.sharesBrowserSession == (value && !isOfBrowser))
    }
  }

  /// The addresses of the pages that a login shows.
  private func page(
    of server: LoginServer, _ stub: LoginServerStub, options: LoginOptions = LoginOptions()
  ) async throws -> (page: String, asked: [String]) {
    stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens() }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let shown = Mutex("")
    try await manager.logIn(
      .browser(
        to: server, app: TestOrg.app,
        presenter: ScriptedLoginPresenter { attempt in
          let page = try await attempt.loginPage()
          shown.withLock { $0 = page.absoluteString }
          return "\(attempt.app.redirectURI)?code=x&state=\(attempt.state)"
        }, options: options))
    return (shown.withLock { $0 }, transport.requests.map { $0.url.path() })
  }

  @Test(.covers("CO-43.2", "CO-26", "CO-13.4"))
  func `an org that shares the browser's session is not asked for the password`()
    async throws
  {
    let path = "/.well-known/auth-configuration"
    let org = try LoginServer("acme.my.salesforce.com")
    let stub = LoginServerStub([path: { _ in RestResponse(json: Self.configuration) }])
    let shared = try await page(of: org, stub)
    #expect(!shared.page.contains("prompt=login"))
    #expect(shared.asked.first == path)
    // The program's own setting comes first, and then no request is sent.
    let own = try await page(of: org, stub, options: LoginOptions(sharesBrowserSession: false))
    #expect(own.page.contains("prompt=login"))
    #expect(!own.asked.contains(path))
    // Servers of many orgs have no such document.
    let general = try await page(of: .sandbox, stub)
    #expect(general.page.contains("prompt=login"))
    #expect(!general.asked.contains(path))
  }

  @Test(.covers("CO-43.3"), arguments: [(404, ""), (500, "{}"), (200, "<html>"), (200, "[]")])
  func `a configuration that cannot be had is left out`(status: Int, body: String)
    async throws
  {
    let stub = LoginServerStub([
      "/.well-known/auth-configuration": { _ in
        RestResponse(status: status, body: Array(body.utf8))
      }
    ])
    let shown = try await page(of: try LoginServer("acme.my.salesforce.com"), stub)
    #expect(shown.page.contains("prompt=login"))
  }

  @Test(.covers("CO-46.1", "BX-17"))
  func `the discovery page and what it finds`() throws {
    let discovery = MyDomainDiscovery(server: .welcome, clientId: "a&b", clientVersion: "1")
    #expect(
      discovery.url.absoluteString
        == "https://welcome.salesforce.com/discovery?client_id=a%26b&client_version=1"
        + "&callback_url=sfdc%3A%2F%2Fdiscocallback")
    let found = discovery.result(
      of: "sfdc://discocallback?my_domain=https%3A%2F%2Facme.my.salesforce.com&login_hint=j%40x.de")
    #expect(found?.server.domain == "acme.my.salesforce.com")
    #expect(found?.loginHint == "j@x.de")
    for address in [
      "sfdc://discocallback?my_domain=acme.my.salesforce.com", "sfdc://discocallback",
      "sfdc://discocallback?login_hint=x", "sfdc://other?my_domain=a.b&login_hint=x",
      "https://welcome.salesforce.com/discovery?my_domain=a.b&login_hint=x",
    ] { #expect(discovery.result(of: address) == nil, "\(address)") }
    #expect(LoginServer.welcome.isDiscovery && !LoginServer.production.isDiscovery)
  }

  @Test(.covers("CO-46.2", "CO-51", "CO-102.1", "BX-17"))
  func `a login that begins with discovery goes on at the org it found`()
    async throws
  {
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    let hosts = try LoginHostStorage()
    let manager = try await stub.manager(stub.transport(), loginHosts: hosts)
    let pages = Mutex<[String]>([])
    let state = Mutex("")
    let presenter = PastedLoginPresenter { page in
      pages.withLock { $0.append(page.absoluteString) }
      let query = URLComponents(url: page, resolvingAgainstBaseURL: false)?.queryItems ?? []
      state.withLock { $0 = query.first { $0.name == "state" }?.value ?? "" }
    } read: {
      pages.withLock { $0.count } == 1
        ? "sfdc://discocallback?my_domain=acme.my.salesforce.com&login_hint=jane%40example.com"
        : "\(TestOrg.app.redirectURI)?code=x&state=\(state.withLock { $0 })"
    }
    let account = try await manager.logIn(
      .browser(to: .welcome, app: TestOrg.app, presenter: presenter))
    #expect(account.credentials.loginServer.domain == "acme.my.salesforce.com")
    let page = pages.withLock { $0[1] }
    #expect(page.hasPrefix("https://acme.my.salesforce.com/services/oauth2/authorize?"))
    #expect(page.contains("login_hint=jane%40example.com"))
    #expect(hosts.selected.server == account.credentials.loginServer)
    // A presenter that cannot show the page says so.
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .browser(to: .welcome, app: TestOrg.app, presenter: ScriptedLoginPresenter { _ in "" }))
    }
    #expect(error?.code == .invalidRequest)
  }

  @Test(.covers("CO-44.4", "CO-40.3", "HT-73.1"))
  func `the last address, or the code alone, can be pasted`()
    async throws
  {
    let attempt = AuthorizationSession(app: TestOrg.app, server: .production)
    let uri = TestOrg.app.redirectURI
    func paste(_ lines: [String]) async throws -> String {
      let rest = Mutex(lines[...])
      let presenter = PastedLoginPresenter { _ in
      } read: {
        rest.withLock { $0.popFirst() }
      }
      return try await presenter.redirect(of: attempt).address
    }
    let good = "\(uri)?code=x&state=\(attempt.state)"
    #expect(
      try await paste(["", "https://evil.org/?code=x", "\(uri)?code=x&state=y", good]) == good)
    #expect(try await paste([" aPrx%3D "]) == "\(uri)?code=aPrx%3D&state=\(attempt.state)")
    let error = await #expect(throws: OAuthError.self) { try await paste(["nonsense=1"]) }
    #expect(error?.number == 683)
    #expect(error?.code.effect == .silent)
  }

  @Test(.covers("CO-4.1", "CO-4.2", "BX-14", "BX-35.1"))
  func `the app is chosen for each login, an override until one succeeds`()
    async throws
  {
    let other = ConnectedApp(clientId: "other", redirectURI: "a://b")
    let test = ConnectedApp(clientId: "test", redirectURI: "a://b")
    let apps = ConnectedAppSelector(TestOrg.app) { server in
      server == .sandbox ? other : nil
    }
    #expect(try await apps.app(for: .production) == TestOrg.app)
    #expect(try await apps.app(for: .sandbox) == other)
    apps.setOverride(test)
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .browser(to: .sandbox, apps: apps, presenter: ScriptedLoginPresenter { _ in "x" }))
    }
    let presenter = ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }
    let first = try await manager.logIn(.browser(to: .sandbox, apps: apps, presenter: presenter))
    #expect(first.credentials.clientId == "test")
    let second = try await manager.logIn(.browser(to: .sandbox, apps: apps, presenter: presenter))
    #expect(second.credentials.clientId == "other")
    #expect(form(transport.requests[2])["client_id"] == "other")
  }
}
