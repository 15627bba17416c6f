import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// CO-2, CO-3, CO-20, CO-22, CO-88 to CO-90: what is there before a login, and apart from accounts.
@Suite struct ConfigurationTests {
  private static let least: JSONObject = [
    "remoteAccessConsumerKey": " 3MVG9\n", "oauthRedirectURI": "a://b",
  ]

  private func error(_ change: (inout JSONObject) -> Void) -> BootConfigurationError? {
    var members = Self.least
    change(&members)
    return #expect(throws: BootConfigurationError.self) { try BootConfiguration(members) }
  }

  @Test(.covers("CO-2.4"))
  func `a property list is read like a JSON document`() throws {
    let list = """
      <?xml version="1.0" encoding="UTF-8"?>
      <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
      <plist version="1.0"><dict>
        <key>remoteAccessConsumerKey</key><string> 3MVG9 </string>
        <key>oauthRedirectURI</key><string>a://b</string>
        <key>oauthScopes</key><array><string>api</string><string>web</string></array>
        <key>shouldAuthenticate</key><false/>
        <key>isLocal</key><true/><key>startPage</key><string>index.html</string>
        <key>retries</key><integer>1</integer>
      </dict></plist>
      """
    let read = try BootConfiguration(parsing: Array(list.utf8))
    #expect(
      read.app == ConnectedApp(clientId: "3MVG9", redirectURI: "a://b", scopes: ["api", "web"]))
    #expect(!read.shouldAuthenticate && read.isLocal == true && read.startPage == "index.html")
    #expect(read.raw["retries"] == 1)
    for other in ["<plist version=\"1.0\"><array/></plist>", "<plist", "[]", ""] {
      let error = #expect(throws: BootConfigurationError.self) {
        try BootConfiguration(parsing: Array(other.utf8))
      }
      #expect(error?.code == .unreadable, "\(other)")
    }
  }

  @Test(.covers("BX-104"))
  func `variables of the environment take the place of keys of the document`() throws {
    let document = Array(JSONValue.object(Self.least).text.utf8)
    let environment = [
      "SALESFORCE_CONSUMER_KEY": " 3MVG9.other ", "SALESFORCE_REDIRECT_URI": "c://d",
      "SALESFORCE_SCOPES": "api  web", "HOME": "/",
    ]
    let read = try BootConfiguration(parsing: document, environment: environment)
    #expect(
      read.app
        == ConnectedApp(clientId: "3MVG9.other", redirectURI: "c://d", scopes: ["api", "web"]))
    #expect(
      try BootConfiguration(parsing: document, environment: ["SALESFORCE_CONSUMER_KEY": " "])
        == BootConfiguration(parsing: document))
    // What the file lacks may come from the environment alone.
    #expect(
      try BootConfiguration(parsing: Array("{}".utf8), environment: environment).app == read.app)
  }

  @Test(.covers("CO-2.1", "CO-2.3", "BX-103.1"))
  func `a boot configuration is read, with its defaults`() throws {
    let least = try BootConfiguration(Self.least)
    #expect(least.app == ConnectedApp(clientId: "3MVG9", redirectURI: "a://b"))
    #expect(least.shouldAuthenticate && least.attemptsOfflineLoad && least.isLocal == nil)
    #expect(least.raw == Self.least)
    let whole = try BootConfiguration(
      parsing: Array(
        """
        {"remoteAccessConsumerKey":"k","oauthRedirectURI":"a://b",
        "oauthScopes":["api"," web ","api",""],"shouldAuthenticate":false,"isLocal":true,
        "startPage":"index.html","errorPage":"error.html","attemptOfflineLoad":false}
        """.utf8))
    #expect(whole.app.scopes == ["api", "web"])
    #expect(!whole.shouldAuthenticate && !whole.attemptsOfflineLoad && whole.isLocal == true)
    #expect(whole.startPage == "index.html" && whole.errorPage == "error.html")
  }

  @Test(.covers("CO-2.2", "BX-103.1"))
  func `what is missing has its number`() {
    #expect(error { $0["remoteAccessConsumerKey"] = " " }?.code.number == 966)
    #expect(error { $0["oauthRedirectURI"] = nil }?.code.number == 967)
    #expect(BootConfigurationError.domain == "com.salesforce.mobilesdk.AppConfigErrorDomain")
    for text in ["", "{", "[]", "null"] {
      let error = #expect(throws: BootConfigurationError.self) {
        try BootConfiguration(parsing: Array(text.utf8))
      }
      #expect(error?.code == .unreadable)
    }
  }

  @Test(.covers("CO-3.1", "BX-103.1"))
  func `the pages of hybrid apps are checked`() throws {
    #expect(
      error {
        $0["isLocal"] = true
        $0["startPage"] = "HTTPS://a.b/c"
      }?.code == .invalidStartPage)
    #expect(
      error {
        $0["isLocal"] = false
        $0["startPage"] = "index.html"
        $0["shouldAuthenticate"] = false
      }?.code == .invalidUnauthenticatedStartPage)
    #expect(
      error {
        $0["isLocal"] = false
        $0["startPage"] = "index.html"
        $0["unauthenticatedStartPage"] = "/start"
      }?.code == .invalidUnauthenticatedStartPage)
  }

  @Test(.covers("CO-3.3"), arguments: [true, false])
  func `a hybrid app needs a start page`(isLocal: Bool) throws {
    for page in [nil, "", " "] as [JSONValue?] {
      let error = error {
        $0["isLocal"] = .bool(isLocal)
        $0["startPage"] = page
      }
      #expect(error?.code == .invalidStartPage)
      #expect(error?.message.contains("startPage") == true)
    }
    var hybrid = Self.least
    hybrid["isLocal"] = .bool(isLocal)
    hybrid["startPage"] = "index.html"
    #expect(try BootConfiguration(hybrid).startPage == "index.html")
    // An app that is not hybrid has none.
    #expect(try BootConfiguration(Self.least).startPage == nil)
  }

  @Test(.covers("CO-3.2"))
  func `a page before the login that is never shown is accepted with a warning`()
    async throws
  {
    // Addresses of its own, since tests that run at the same time read configurations, too.
    @Sendable func warnings(
      _ page: String, _ change: (inout JSONObject) -> Void
    ) throws -> Int {
      let lines = Mutex<[String]>([])
      SalesforceLogger.setReceivers { _ in Lines { line in lines.withLock { $0.append(line) } } }
      defer { SalesforceLogger.setReceivers(nil) }
      var members = Self.least
      members["startPage"] = "index.html"
      members["unauthenticatedStartPage"] = .string(page)
      change(&members)
      #expect(try BootConfiguration(members).unauthenticatedStartPage == page)
      return lines.withLock { $0.count { $0.contains(page) } }
    }
    try await Turns.logging.run {
      let local = try warnings("https://local.example") { $0["isLocal"] = true }
      let remote = try warnings("https://remote.example") { $0["isLocal"] = false }
      let shown = try warnings("https://shown.example") {
        $0["isLocal"] = false
        $0["shouldAuthenticate"] = false
      }
      #expect(local == 1 && remote == 1 && shown == 0)
    }
  }

  @Test(.covers("CO-20", "BX-89"))
  func `steps of an upgrade run once, in order, and again after a failure`()
    async throws
  {
    struct Failure: Error {}
    let folder = try TemporaryFolder()
    let preferences = try Preferences(folder.file("settings.json"))
    let done = Mutex<[String]>([])
    let fails = Mutex(true)
    func step(_ version: String, mayFail: Bool = false) -> UpgradeSteps.Step {
      UpgradeSteps.Step(before: version) {
        if mayFail, fails.withLock({ $0 }) { throw Failure() }
        done.withLock { $0.append(version) }
      }
    }
    let steps = UpgradeSteps([step("2.10.0"), step("2.9", mayFail: true), step("2.1.0")])
    // The first run ever has nothing to bring up.
    #expect(try await steps.run(to: "2.0.0", noting: preferences))
    #expect(done.withLock { $0 }.isEmpty)
    #expect(try await !steps.run(to: "3.0.0", noting: preferences))
    #expect(preferences[UpgradeSteps.key] == "2.0.0")
    fails.withLock { $0 = false }
    #expect(try await steps.run(to: "3.0.0", noting: preferences))
    #expect(try await steps.run(to: "3.0.0", noting: preferences))
    #expect(done.withLock { $0 } == ["2.1.0", "2.1.0", "2.9", "2.10.0"])
    #expect(!UpgradeSteps.isOlder("2.1", "2.1.0") && UpgradeSteps.isOlder("2.9", "2.10"))
  }

  #if DEBUG
    @Test(.covers("CO-21", "CO-22", "BX-34.1"))
    func `test credentials make an account with one refresh`()
      async throws
    {
      let document = """
        {"test_client_id":"client-1","test_login_domain":"test.salesforce.com",
        "test_redirect_uri":"a://b","refresh_token":"refresh-1","access_token":"__NOT_REQUIRED__",
        "instance_url":"https://acme.my.salesforce.com","user_id":"005000000000001AAA",
        "organization_id":"00D000000000001EAA","username":"jane@example.com","scopes":["api"]}
        """
      let test = try TestCredentials(parsing: Array(document.utf8))
      #expect(!"\(test)".contains("refresh-1"))
      let org = TestOrg()
      let transport = org.transport()
      let manager = try await org.manager([], transport: transport)
      let account = try await manager.logIn(.testCredentials(test))
      #expect(account.identity == TestOrg.identity && account.username == "jane@example.com")
      #expect(transport.requests.map { $0.url.host() } == ["test.salesforce.com"])
      // Without a file live tests are skipped; a file that cannot be used is reported.
      #expect(try TestCredentials.load(environment: [:], arguments: ["app"]) == nil)
      #expect(throws: OAuthError.self) {
        try TestCredentials.load(
          environment: [TestCredentials.variable: "/nowhere"], arguments: [])
      }
      #expect(throws: OAuthError.self) { try TestCredentials(parsing: Array("{}".utf8)) }
    }

    private static let liveDocument = """
      {"test_client_id":"client-1","test_login_domain":"test.salesforce.com",
      "refresh_token":"refresh-1","instance_url":"https://acme.my.salesforce.com",
      "identity_url":"https://test.salesforce.com/id/00D000000000001EAA/005000000000001AAA",
      "community_url":"https://acme.my.site.com/shop","user_id":"005000000000001AAA",
      "organization_id":"00D000000000001EAA","username":"jane@example.com","scopes":["web","api"]}
      """

    @Test(.covers("CO-22"))
    func `what the file says apart from tokens reaches the account`() async throws {
      let stub = LoginServerStub([
        "/shop/services/oauth2/token": { _ in LoginServerStub.tokens(without: ["id"]) }
      ])
      let manager = try await stub.manager(stub.transport())
      let account = try await manager.logIn(
        .testCredentials(TestCredentials(parsing: Array(Self.liveDocument.utf8))))
      #expect(
        account.credentials.identityURL?.path()
          == "/id/00D000000000001EAA/005000000000001AAA")
      #expect(account.apiURL?.absoluteString == "https://acme.my.site.com/shop")
      #expect(account.credentials.scopes == ["api", "web"])
    }

    @Test(.covers("CO-21", "BX-34.2"))
    func `test credentials come from the environment's file or from an argument`()
      throws
    {
      let folder = try TemporaryFolder()
      let file = folder.file("credentials.json")
      try Data(Self.liveDocument.utf8).write(to: file)
      let environment = [TestCredentials.variable: file.path]
      let named = try TestCredentials.load(environment: environment, arguments: ["app"])
      #expect(named?.instance.domain == "acme.my.salesforce.com")
      let given = Self.liveDocument.replacing("acme.my.salesforce", with: "other.my.salesforce")
      let argument = try TestCredentials.load(
        environment: environment, arguments: ["app", "-creds", given])
      #expect(argument?.instance.domain == "other.my.salesforce.com")
      for arguments in [["app", "-creds"], ["app", "-creds", "{"]] {
        let error = #expect(throws: OAuthError.self) {
          try TestCredentials.load(environment: environment, arguments: arguments)
        }
        #expect(error?.code == .invalidCredentials)
      }
      // A device has no end.
      let endless = #expect(throws: OAuthError.self) {
        try TestCredentials.load(
          environment: [TestCredentials.variable: "/dev/zero"], arguments: ["app"])
      }
      #expect(endless?.code == .invalidCredentials)
    }
  #endif

  private func account(_ user: String, org: String = "00D000000000001", community: String? = nil)
    -> UserAccount
  {
    var account = TestOrg().account(
      identity: UserAccountIdentity(userId: user, organizationId: org))
    account.credentials.communityId = community
    return account
  }

  @Test(.covers("CO-88", "BX-31.1", "BX-88.1"))
  func `scopes name folders, files and keys by whole ids`() {
    let folders = UserFolders(root: URL(filePath: "/r/"))
    let plain = account("005000000000001"), member = account("005000000000001", community: "0DB1")
    let scopes: [(UserFolders.Scope, String, String, String)] = [
      (.global, "/r/", "", "-global-"),
      (
        .organization("00D000000000001"), "/r/00D000000000001EAA/", "_00D000000000001EAA",
        "00D000000000001EAA"
      ),
      (
        .user(plain.identity), "/r/00D000000000001EAA/005000000000001AAA/",
        "_00D000000000001EAA_005000000000001AAA", "00D000000000001EAA-005000000000001AAA"
      ),
      (
        .community(plain), "/r/00D000000000001EAA/005000000000001AAA/internal/",
        "_00D000000000001EAA_005000000000001AAA_internal",
        "00D000000000001EAA-005000000000001AAA-internal"
      ),
      (
        .community(member), "/r/00D000000000001EAA/005000000000001AAA/0DB1/",
        "_00D000000000001EAA_005000000000001AAA_0DB1",
        "00D000000000001EAA-005000000000001AAA-0DB1"
      ),
    ]
    for (scope, path, suffix, key) in scopes {
      #expect(folders.folder(of: scope).path() == path)
      #expect(scope.fileSuffix == suffix && scope.key == key)
    }
    // The id that stands for no community is none.
    #expect(
      UserFolders.Scope.community(account("005000000000001", community: "000000000000000AAA"))
        == .community(plain))
  }

  @Test(.covers("CO-90", "CO-87.1", "CO-87.2", "BX-90"))
  func `settings live as long as their owner`() async throws {
    let temporary = try TemporaryFolder()
    let first = account("005000000000001", community: "0DB1"), second = account("005000000000002")
    let manager = try await TestOrg().manager([first, second])
    let store = ScopedPreferences(folders: UserFolders(root: temporary.url), accounts: manager)
    let scopes: [UserFolders.Scope] = [
      .global, .organization(first.organizationId), .user(first.identity), .community(first),
      .user(second.identity), .community(second),
    ]
    for scope in scopes { try store.preferences(for: scope).set(1, forKey: "here") }
    func kept() throws -> [Bool] {
      try scopes.map { try store.preferences(for: $0)["here"] != nil }
    }
    #expect(try kept() == [true, true, true, true, true, true])
    try await manager.logOut(first.identity)
    #expect(try kept() == [true, true, false, false, true, true])
    try await manager.logOut(second.identity)
    #expect(try kept() == [true, false, false, false, false, false])
  }
}

/// Passes on the text of every record.
private struct Lines: LogReceiver {
  let tell: @Sendable (String) -> Void

  init(_ tell: @escaping @Sendable (String) -> Void) { self.tell = tell }

  func receive(_ record: LogRecord) { tell(record.text) }
}
