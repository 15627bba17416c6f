import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

@testable import SalesforceHybridSDK

/// What does a window show at its start, and when its pages navigate?
struct ContainerTests {
  /// A container on a host, with the session of its window.
  struct Window {
    let host: TestHost
    let container: HybridContainer
    let page: Page
    let outside: Outside

    func call(_ action: String, _ message: JSONValue = [:]) async throws -> JSONValue? {
      try await page.value(HybridContainer.service, action, message)
    }

    /// What the window does with a navigation: the action, and the address where it loads one.
    func navigate(_ url: String, isUserGesture: Bool = true) async throws -> String {
      let value = try await call(
        "navigate", ["url": .string(url), "isUserGesture": .bool(isUserGesture)])
      return [value?["action"]?.string, value?["url"]?.string].compactMap(\.self)
        .joined(separator: " ")
    }
  }

  final class Outside: Sendable {
    private let opened = Mutex<[String]>([])
    var all: [String] { opened.withLock { $0 } }
    func open(_ url: URL) { opened.withLock { $0.append(url.absoluteString) } }
  }

  private static func with(
    _ app: HybridContainer.App, server: MockOrgServer? = nil, logsIn: Bool = true,
    _ body: (Window) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let outside = Outside()
      let made = Mutex<HybridContainer?>(nil)
      let accounts = Mutex<UserAccountManager?>(nil)
      try await TestHost.with(
        modules: { host in
          let container = HybridContainer(
            host: host, app: app, homeFile: folder.file("home"),
            openOutside: { outside.open($0) })
          made.withLock { $0 = container }
          return [container]
        },
        adjust: { host in
          accounts.withLock { [manager = host.accounts] in $0 = manager }
          guard let server else { return }
          host.logIn = {
            guard let manager = accounts.withLock({ $0 }) else { throw CancellationError() }
            return try await manager.logIn(to: server)
          }
        }
      ) { host in
        if logsIn, let server { try await host.accounts.logIn(to: server) }
        let container = try #require(made.withLock { $0 })
        let page = try Page(host.bridge)
        container.attach(page.session)
        try await body(Window(host: host, container: container, page: page, outside: outside))
      }
    }
  }

  private static func remote(_ page: String = "apex/BasicVFTest") -> HybridContainer.App {
    var app = HybridContainer.App()
    app.isLocal = false
    app.startPage = page
    return app
  }

  @Test(.covers("HT-2", "HT-3", "HT-15", "HT-19", "CO-180.3"))
  func `a local app starts at its page under https://localhost, with cookies and a user agent`()
    async throws
  {
    try await withMockOrg { _, server in
      var app = HybridContainer.App()
      app.startPage = "/pages/one.html?x=1"
      try await Self.with(app, server: server) { window async throws in
        let start = try await window.call("start")
        #expect(start?["url"] == "https://localhost/pages/one.html?x=1")
        #expect(start?["cookies"]?.array?.first?["name"] == "sid")
        #expect(start?["cookies"]?.array?.first?["value"] == .string(server.info.accessToken))
        let agent = try #require(start?["userAgent"]?.string)
        #expect(agent.hasPrefix("SalesforceMobileSDK/\(SDKVersion.current) "))
        #expect(agent.contains(" HybridLocal ftr_"))
        #expect(
          start?["profile"]
            == .string("\(server.info.organizationId)-\(server.info.userId)"))
      }
    }
  }

  @Test(.covers("HT-2", "HT-22", "CO-180.3"))
  func `a remote app starts at its page on the user's server, whatever server its page names`()
    async throws
  {
    try await withMockOrg { _, server in
      let expected = server.info.instanceUrl + "/apex/P?a=b"
      for page in ["apex/P?a=b", "/apex/P?a=b", "https://other.example/apex/P?a=b"] {
        try await Self.with(Self.remote(page), server: server) { window async throws in
          let start = try await window.call("start")
          #expect(start?["url"] == .string(expected))
          #expect(start?["userAgent"]?.string?.contains(" HybridRemote ftr_") == true)
        }
      }
    }
  }

  @Test(.covers("HT-22"))
  func `a remote app of a community's user starts at its page in the community`() async throws {
    try await withMockOrg { _, server in
      try await Self.with(Self.remote("https://x.example/apex/P"), server: server) {
        window async throws in
        var account = try #require(await window.host.accounts.current)
        account.credentials.communityURL = URL(string: "https://acme.my.site.com/partners")
        #expect(
          window.container.remotePage(account).absoluteString
            == "https://acme.my.site.com/partners/apex/P")
      }
    }
  }

  @Test(.covers("HT-2", "HT-20"))
  func `without a user the app logs in first, or shows the page that needs none`() async throws {
    try await withMockOrg { _, server in
      try await Self.with(Self.remote(), server: server, logsIn: false) { window async throws in
        let start = try await window.call("start")
        #expect(start?["url"] == .string(server.info.instanceUrl + "/apex/BasicVFTest"))
      }
      var app = Self.remote()
      app.logsInAtStart = false
      app.unauthenticatedStartPage = URL(string: "https://www.example.com/welcome")
      try await Self.with(app, server: server, logsIn: false) { window async throws in
        let start = try await window.call("start")
        #expect(start?["url"] == "https://www.example.com/welcome")
        #expect(start?["cookies"] == [])
        #expect(start?["profile"] == "no-user")
        #expect(try await window.navigate("https://www.example.com/welcome") == "allow")
      }
    }
  }

  @Test(.covers("HT-2"))
  func `a boot configuration that cannot be used shows the error page without a login`()
    async throws
  {
    let broken = HybridContainer.App(bootConfiguration: [
      "remoteAccessConsumerKey": "k", "oauthRedirectURI": "http://localhost/x", "isLocal": false,
      "startPage": "https://absolute.example/", "errorPage": "broken.html",
    ])
    try await withMockOrg { _, server in
      try await Self.with(broken, server: server, logsIn: false) { window async throws in
        let start = try await window.call("start")?["url"]?.string
        #expect(start?.hasPrefix("https://localhost/broken.html#") == true)
        #expect(await window.host.accounts.current == nil)
      }
    }
  }

  @Test(.covers("HT-16"))
  func
    `offline a remote app starts with its home page if one was loaded, else with the error page`()
    async throws
  {
    try await withMockOrg { org, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        let oauth = "com.salesforce.oauth"
        let home = server.info.instanceUrl + "/apex/BasicVFTest"
        #expect(try await window.page.value(oauth, "getAppHomeUrl") == "")
        _ = try await window.call("start")
        org.add(MockOrgFault(path: "/services/", count: nil, action: .dropBeforeCommit))
        let error = try await window.call("start")?["url"]?.string
        #expect(error?.hasPrefix(HybridContainer.errorAddress) == true)
        for url in ["\(server.info.instanceUrl)/secur/frontdoor.jsp", home, home + "2"] {
          _ = try await window.call("loaded", ["url": .string(url)])
        }
        #expect(try await window.page.value(oauth, "getAppHomeUrl") == .string(home))
        #expect(try await window.call("start")?["url"] == .string(home))
      }
    }
  }

  @Test(.covers("HT-16"))
  func `a home page of a server that is not the user's is not shown, and its file is the user's`()
    async throws
  {
    try await withMockOrg { org, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        let home = server.info.instanceUrl + "/apex/BasicVFTest"
        _ = try await window.call("loaded", ["url": .string(home)])
        let file = window.container.homeFile
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        org.add(MockOrgFault(path: "/services/", count: nil, action: .dropBeforeCommit))
        let others = ["https://evil.example/x", "file:///etc/passwd"]
        for planted in others + [home.replacing("://", with: "://evil@")] {
          try Data(planted.utf8).write(to: file)
          let page = try await window.call("start")?["url"]?.string
          #expect(page?.hasPrefix(HybridContainer.errorAddress) == true, "\(planted)")
        }
      }
    }
  }

  @Test(.covers("HT-17", "BX-119"))
  func `a page whose session has expired returns after one refresh, and three times at most`()
    async throws
  {
    try await withMockOrg { org, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        org.expireAccessTokens()
        let url = server.info.instanceUrl
        let page = "\(url)/apex/Other?x=1"
        let expired = "\(url)/?ec=302&startURL=%2Fapex%2FOther%3Fx%3D1"
        let value = try await window.call("navigate", ["url": .string(expired)])
        #expect(value?["action"] == "load")
        #expect(value?["url"] == .string(page))
        let token = value?["cookies"]?.array?.first?["value"]?.string
        #expect(token?.isEmpty == false && token != server.info.accessToken)
        #expect(try await window.navigate(expired) == "load \(page)")
        #expect(try await window.navigate(expired) == "load \(page)")
        #expect(
          try await window.navigate(expired).hasPrefix("load \(HybridContainer.errorAddress)"))
        // A page that loaded may expire again.
        _ = try await window.call("loaded", ["url": .string(page)])
        #expect(try await window.navigate(expired) == "load \(page)")
      }
    }
  }

  @Test(.covers("CO-36.3", "HT-17"))
  func `the login page and single sign-on addresses of the org say that a session has expired`()
    async throws
  {
    try await withMockOrg { org, server in
      org.add(
        MockOrgFault(
          path: "auth-configuration",
          action: .status(
            200,
            body: """
              {"LoginPage":{"LoginPageUrl":"https://login.acme.example/"},
               "SamlProviders":[{"SsoUrl":"https://idp.acme.example/saml"}],
               "AuthProviders":[{"SsoUrl":"https://other.acme.example/auth?p=1"}]}
              """)))
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        let start = "\(server.info.instanceUrl)/apex/BasicVFTest"
        for page in [
          "https://login.acme.example/?x=1", "https://idp.acme.example/saml/start",
          "https://other.acme.example/auth?p=2",
        ] {
          _ = try await window.call("loaded", ["url": .string(start)])
          #expect(try await window.navigate(page) == "load \(start)", "\(page)")
        }
        #expect(try await window.navigate("https://idp.acme.example/help") == "cancel")
      }
    }
  }

  @Test(.covers("HT-17"))
  func `the start page takes the place of return addresses of other servers and of front doors`()
    async throws
  {
    try await withMockOrg { _, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        let start = "load \(server.info.instanceUrl)/apex/BasicVFTest"
        for (path, target) in [
          ("/services/identity/mobileauthredirect?x=1", start),
          ("/?ec=301&retURL=https%3A%2F%2Fevil.example%2F", start),
          ("/?ec=302&startURL=%2Fsecur%2Ffrontdoor.jsp", start),
          ("/?ec=303", "allow"), ("/apex/P", "allow"),
        ] {
          _ = try await window.call("loaded", ["url": .string(String(start.dropFirst(5)))])
          #expect(try await window.navigate(server.info.instanceUrl + path) == target, "\(path)")
        }
      }
    }
  }

  @Test(.covers("HT-17"))
  func `without a network the error page is shown, and the session stays`() async throws {
    try await withMockOrg { org, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        org.add(MockOrgFault(path: "/services/", count: nil, action: .dropBeforeCommit))
        let result = try await window.navigate("\(server.info.instanceUrl)/?ec=302")
        #expect(result.hasPrefix("load \(HybridContainer.errorAddress)"))
        #expect(await window.host.accounts.current?.loginState == .loggedIn)
      }
    }
  }

  @Test(.covers("HT-4"))
  func `other pages open outside after a click, and nowhere without one`() async throws {
    try await withMockOrg { _, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        #expect(
          try await window.navigate("https://www.example.com/a", isUserGesture: false) == "cancel")
        for url in ["https://www.example.com/b", "mailto:a@example.com"] {
          #expect(try await window.navigate(url) == "cancel")
        }
        for url in ["file:///etc/passwd", "javascript:alert(1)", "chrome://x"] {
          #expect(try await window.navigate(url) == "cancel")
        }
        while window.outside.all.count < 2 {
          try Task.checkCancellation()
          await Task.yield()
        }
        #expect(window.outside.all == ["https://www.example.com/b", "mailto:a@example.com"])
        for url in ["about:blank", "https://localhost/x", "https://acme.my.salesforce.com/"] {
          #expect(try await window.navigate(url) == "allow")
        }
      }
    }
  }

  @Test(.covers("HT-18", "HT-15"))
  func `authenticate responds when the window has the new cookies`() async throws {
    try await withMockOrg { org, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        _ = try await window.call("start")
        org.expireAccessTokens()
        let page = try Page(window.host.bridge)
        let call = try await page.post("com.salesforce.oauth", "authenticate")
        let event = await window.page.frame { $0["event"] == "fieldforceCookies" }
        // The event of the refresh itself may come first: each waits for its own.
        let token = event["detail"]?["cookies"]?.array?.first?["value"]
        #expect(token != .string(server.info.accessToken))
        var answered: Set<Int64> = []
        let response = Task { await page.response(call) }
        while page.frames.isEmpty {
          try Task.checkCancellation()
          for frame in window.page.frames {
            guard let number = frame["detail"]?["number"]?.int64, answered.insert(number).inserted
            else { continue }
            #expect(page.frames.isEmpty)
            _ = try await window.call("cookiesSet", ["number": .integer(number)])
          }
          await Task.yield()
        }
        #expect(await response.value["value"]?["accessToken"] == token)
      }
    }
  }

  @Test(.covers("HT-21", "BX-125", "BX-130.1"))
  func `after a logout the window alone starts again and removes the user's profile`()
    async throws
  {
    try await withMockOrg { _, server in
      try await Self.with(Self.remote(), server: server) { window async throws in
        let profile = try await window.call("start")?["profile"]
        let page = try Page(window.host.bridge)
        _ = try await page.value("com.salesforce.oauth", "logoutCurrentUser")
        let event = await window.page.frame { $0["event"] == "fieldforceReload" }
        #expect(event["detail"]?["removedProfile"] == profile)
        #expect(page.frames.allSatisfy { $0["event"] == nil })
      }
    }
  }

  @Test(.covers("HT-84"))
  func `pages cannot call the window's service`() async throws {
    try await Self.with(HybridContainer.App()) { window async throws in
      let page = try Page(window.host.bridge)
      for action in ["start", "navigate", "loaded"] {
        #expect(
          try await page.failure(HybridContainer.service, action, ["url": "https://localhost/"])
            .hasPrefix("invalid action"))
      }
      #expect(
        try await window.page.failure(HybridContainer.service, "navigate", ["url": 7])
          .contains("url"))
    }
  }

  @Test(.covers("HT-2"))
  func `a page that fails shows the error page once, and that one is not loaded again`()
    async throws
  {
    var app = HybridContainer.App()
    app.errorPage = "oops.html"
    try await Self.with(app) { window async throws in
      func failed(_ url: String) async throws -> String? {
        let value = try await window.call("failed", ["url": .string(url), "message": "no way"])
        return value?["url"]?.string ?? value?["action"]?.string
      }
      #expect(
        try await failed("https://x.salesforce.com/") == "https://localhost/oops.html#no%20way")
      #expect(
        try await failed("https://localhost/oops.html#no%20way")
          == HybridContainer.errorAddress + "#no%20way")
      #expect(try await failed(HybridContainer.errorAddress + "#no%20way") == "cancel")
    }
  }
}
