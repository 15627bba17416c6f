import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What an organisation demands of a device, and what becomes of values that are no use.
@Suite struct ManagedConfigurationTests {
  private let org = TestOrg()

  private func configuration(_ text: String) throws -> ManagedConfiguration {
    try ManagedConfiguration(parsing: Array(text.utf8))
  }

  private static let whole = """
    {"RequireCertAuth": true, "ManagedAppCertAlias": "alias",
     "AppServiceHosts": ["acme.my.salesforce.com", "https://test.salesforce.com/"],
     "AppServiceHostLabels": ["Acme", "Trial"], "OnlyShowAuthorizedHosts": true,
     "ManagedAppOAuthID": "3MVG9", "ManagedAppCallbackURL": "acme:///done",
     "ClearClipboardOnBackground": true, "IDPAppURLScheme": "acmeidp", "IDPAppPackageName": "com.acme.idp",
     "SomethingElse": 7}
    """

  @Test(.covers("CO-170.1", "HT-80.1")) func `every key of a managed configuration is read`() throws
  {
    let read = try configuration(Self.whole)
    #expect(read.isManaged && read.problems.isEmpty && read.keys.count == 10)
    #expect(read.requiresCertificate && read.allowsOnlyItsHosts && read.clearsClipboardOnBackground)
    #expect(read.hosts.map(\.name) == ["Acme", "Trial"])
    #expect(read.hosts.map(\.server.domain) == ["acme.my.salesforce.com", "test.salesforce.com"])
    #expect(read.hosts.allSatisfy { !$0.isDeletable })
    #expect(read.clientId == "3MVG9" && read.redirectURI == "acme:///done")
    #expect(read.certificateAlias == "alias" && read.identityProviderScheme == "acmeidp")
    #expect(read.identityProviderPackage == "com.acme.idp")
    #expect(try !configuration("{}").isManaged && !configuration(#"{"Other": 1}"#).isManaged)
    #expect(try configuration(#"{"ClearClipboardInBackground": true}"#).clearsClipboardOnBackground)
    #expect(try !configuration(#"{"OnlyShowAuthorizedHosts": null}"#).isManaged)
  }

  @Test(
    .covers("CO-170.1"),
    arguments: [
      #""acme.my.salesforce.com, test.salesforce.com""#,
      #"["acme.my.salesforce.com","test.salesforce.com"]"#,
    ])
  func `login servers are an array or a text with commas`(value: String) throws {
    let read = try configuration(
      #"{"AppServiceHosts": \#(value), "AppServiceHostLabels": "A , B"}"#)
    #expect(read.hosts.map(\.name) == ["A", "B"])
    #expect(read.hosts.map(\.server.domain) == ["acme.my.salesforce.com", "test.salesforce.com"])
  }

  @Test(.covers("CO-171.2", "CO-101.3"))
  func `labels that are not as many as the servers are not used`() throws {
    for labels in [#"["A"]"#, #"["A","B","C"]"#, #""A""#] {
      let read = try configuration(
        #"{"AppServiceHosts": ["a.salesforce.com","b.salesforce.com"], "AppServiceHostLabels": \#(labels)}"#
      )
      #expect(read.hosts.map(\.name) == ["a.salesforce.com", "b.salesforce.com"])
      #expect(
        read.problems.map(\.key) == ["AppServiceHostLabels"] && read.keys == ["AppServiceHosts"])
    }
  }

  @Test(.covers("CO-172.1"))
  func `a value of a wrong type counts as absent, for every key and type`() throws {
    let wrong = ["7", "1.5", "{}", "[]", "[1]", #"["a", null]"#, #""""#, #"" ""#]
    for key in ManagedConfiguration.knownKeys {
      let takesBool = key.hasPrefix("Require") || key.hasPrefix("Only") || key.hasPrefix("Clear")
      for value in wrong + [takesBool ? #""true""# : "true"] {
        let read = try configuration(#"{"\#(key)": \#(value)}"#)
        #expect(!read.isManaged, "\(key): \(value)")
        #expect(read.problems.map(\.key) == [key], "\(key): \(value)")
      }
    }
    for value in [#""http//x""#, #"["", "x"]"#, #""nodots""#, #""javascript:alert(1)""#] {
      let read = try configuration(#"{"AppServiceHosts": \#(value)}"#)
      #expect(!read.isManaged && read.hosts.isEmpty && !read.problems.isEmpty, "\(value)")
    }
  }

  @Test(.covers("CO-172.2"), arguments: ["", "[]", "7", "{", #"{"a": 1} x"#, "\u{0}"])
  func `a document that is no object is an error`(text: String) {
    #expect(throws: OAuthError.self) { try configuration(text) }
  }

  @Test(.covers("CO-171.1", "CO-101.3")) func `the demands replace the app's own`() throws {
    let app = ConnectedApp(clientId: "own", redirectURI: "own:///done", scopes: ["api"])
    let managed = try configuration(Self.whole)
    let changed = managed.applied(to: app)
    #expect(
      changed.clientId == "3MVG9" && changed.redirectURI == "acme:///done"
        && changed.scopes == ["api"])
    #expect(ManagedConfiguration().applied(to: app) == app)
    #expect(try managed.hostList().hosts == managed.hosts)
    let beside = try configuration(#"{"AppServiceHosts": "acme.my.salesforce.com"}"#)
    #expect(
      try beside.hostList().hosts.map(\.server.domain) == [
        "login.salesforce.com", "test.salesforce.com", "acme.my.salesforce.com",
      ])
    let none = try configuration(#"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": [7]}"#)
    let error = #expect(throws: OAuthError.self) { try none.hostList() }
    #expect(error?.code.number == 681)
  }

  @Test(.covers("CO-171.4")) func `an event of analytics does not hold the consumer key`() throws {
    let event = JSONValue.object(try configuration(Self.whole).eventAttributes).text
    #expect(!event.contains("3MVG9") && !event.contains("ManagedAppOAuthID"))
    #expect(event.contains(#""mdmIsActive":true"#) && event.contains("RequireCertAuth"))
  }

  // MARK: Files

  private func file(_ folder: TemporaryFolder, _ markers: FeatureMarkers = FeatureMarkers())
    -> ManagedConfigurationFile
  {
    ManagedConfigurationFile(
      files: [folder.file("first.json"), folder.file("second.json")], owner: geteuid(),
      markers: markers)
  }

  private func write(_ text: String, to url: URL, mode: mode_t = 0o644) throws {
    try Data(text.utf8).write(to: url)
    chmod(url.path, mode)
  }

  @Test(.covers("CO-4.3", "BX-103.2"))
  func `its consumer key and callback replace those of any app that is selected`() async throws {
    let folder = try TemporaryFolder()
    try write(
      #"{"ManagedAppOAuthID": "3MVG9", "ManagedAppCallbackURL": "acme:///done"}"#,
      to: folder.file("first.json"))
    let other = ConnectedApp(clientId: "other", redirectURI: "other:///done", scopes: ["api"])
    let apps = ConnectedAppSelector(TestOrg.app, managed: file(folder)) { server in
      server == .sandbox ? other : nil
    }
    for (server, scopes) in [(LoginServer.production, TestOrg.app.scopes), (.sandbox, ["api"])] {
      let app = try await apps.app(for: server)
      #expect(app.clientId == "3MVG9" && app.redirectURI == "acme:///done")
      #expect(app.scopes == scopes)
    }
    // An override counts until a login with it succeeds, managed or not.
    apps.setOverride(ConnectedApp(clientId: "test", redirectURI: "a://b", scopes: ["web"]))
    let stub = LoginServerStub(["/services/oauth2/token": { _ in LoginServerStub.tokens() }])
    let manager = try await stub.manager(stub.transport())
    let presenter = ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }
    let account = try await manager.logIn(
      .browser(to: .sandbox, apps: apps, presenter: presenter))
    #expect(account.credentials.clientId == "3MVG9")
    #expect(try await apps.app(for: .sandbox).scopes == ["api"])
    // Unknown restrictions refuse every app.
    try write("[]", to: folder.file("first.json"))
    let damaged = ConnectedAppSelector(TestOrg.app, managed: file(folder))
    let error = await #expect(throws: OAuthError.self) { try await damaged.app(for: .production) }
    #expect(error?.code.number == 681)
  }

  @Test(.covers("CO-170.2", "HT-80.2", "BX-28.3"))
  func `only a file that root alone could write counts`()
    throws
  {
    let folder = try TemporaryFolder()
    let managed = file(folder)
    #expect(try !managed.current.isManaged)
    try write(#"{"RequireCertAuth": true}"#, to: folder.file("second.json"))
    #expect(managed.reload())
    #expect(try managed.current.requiresCertificate)
    try write(#"{"ManagedAppOAuthID": "first"}"#, to: folder.file("first.json"))
    #expect(managed.reload())
    #expect(try managed.current.clientId == "first" && !managed.current.requiresCertificate)
    for mode in [mode_t(0o664), 0o646, 0o666, 0o622] {
      chmod(folder.file("first.json").path, mode)
      managed.reload()
      #expect(try managed.current.clientId == nil && managed.current.requiresCertificate)
    }
    chmod(folder.file("first.json").path, 0o644)
    for mode in [mode_t(0o777), 0o770, 0o702] {
      chmod(folder.url.path, mode)
      managed.reload()
      #expect(try !managed.current.isManaged)
    }
    chmod(folder.url.path, 0o755)
    managed.reload()
    #expect(try managed.current.clientId == "first")
  }

  @Test(.covers("CO-170.2"), .enabled(if: geteuid() == 0, "only root may give files away"))
  func `a file of another user is ignored`() throws {
    let folder = try TemporaryFolder()
    try write(#"{"RequireCertAuth": true}"#, to: folder.file("first.json"))
    try #require(chown(folder.file("first.json").path, 65_534, 65_534) == 0)
    #expect(try !file(folder).current.isManaged)
    // Also by a link to it in a folder of root's.
    try FileManager.default.createSymbolicLink(
      at: folder.file("second.json"), withDestinationURL: folder.file("first.json"))
    #expect(try !file(folder).current.isManaged)
  }

  @Test(.covers("CO-172.2"))
  func `a damaged file refuses logins, and nothing that was there before`() async throws {
    let folder = try TemporaryFolder()
    try write(#"{"RequireCertAuth": "#, to: folder.file("first.json"))
    let managed = file(folder)
    #expect(throws: OAuthError.self) { try managed.current }
    var options = UserAccountManager.Options()
    options.managed = managed
    let manager = try await org.manager(options: options)
    #expect(await manager.accounts.count == 1)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .tokens(accessToken: "access-1", instance: LoginServer("https://acme.my.salesforce.com")))
    }
    #expect(error?.code.number == 681)
    try write("{}", to: folder.file("first.json"))
    managed.reload()
    _ = try await manager.logIn(
      .tokens(accessToken: "access-1", instance: LoginServer("https://acme.my.salesforce.com")))
  }

  @Test(.covers("CO-101.3", "CO-171.1", "CO-171.3", "CO-183.3"))
  func `a login elsewhere or without the browser is refused while that is demanded`() async throws {
    let folder = try TemporaryFolder()
    let markers = FeatureMarkers()
    let managed = file(folder, markers)
    var options = UserAccountManager.Options()
    options.managed = managed
    let manager = try await org.manager(options: options)
    let acme = try LoginServer("https://acme.my.salesforce.com")
    func code(_ body: () async throws -> Void) async -> OAuthError.Code? {
      do {
        try await body()
        return nil
      } catch {
        return (error as? OAuthError)?.code
      }
    }
    #expect(
      await code { try await manager.logIn(.tokens(accessToken: "access-1", instance: acme)) }
        == nil)
    #expect(markers.text == "")
    try write(
      #"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "other.my.salesforce.com"}"#,
      to: folder.file("first.json"))
    managed.reload()
    #expect(markers.text == "MM")
    #expect(
      await code { try await manager.logIn(.tokens(accessToken: "access-1", instance: acme)) }
        == .badManagedConfiguration)
    try write(
      #"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "acme.my.salesforce.com", "RequireCertAuth": true}"#,
      to: folder.file("first.json"))
    managed.reload()
    #expect(markers.text == "CT.MM")
    #expect(
      await code { try await manager.logIn(.tokens(accessToken: "access-1", instance: acme)) }
        == nil)
    #expect(
      await code {
        try await manager.logIn(
          .password(
            username: "ada@acme.example", password: "secret123", to: acme,
            app: ConnectedApp(clientId: "c", redirectURI: "r")))
      } == .badManagedConfiguration)
    try FileManager.default.removeItem(at: folder.file("first.json"))
    managed.reload()
    #expect(markers.text == "")
  }

  @Test(.covers("CO-171.3", "HT-80.3"))
  func `each login keeps to the file as it is then`() async throws {
    let folder = try TemporaryFolder()
    var options = UserAccountManager.Options()
    options.managed = file(folder)
    let manager = try await org.manager(options: options)
    let acme = try LoginServer("https://acme.my.salesforce.com")
    func code() async -> OAuthError.Code? {
      do {
        try await manager.logIn(.tokens(accessToken: "access-1", instance: acme))
        return nil
      } catch {
        return (error as? OAuthError)?.code
      }
    }
    for (text, expected) in [
      ("{}", nil),
      (
        #"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "other.my.salesforce.com"}"#,
        OAuthError.Code.badManagedConfiguration
      ),
      (#"{"OnlyShowAuthorizedHosts": true, "AppServiceHosts": "acme.my.salesforce.com"}"#, nil),
      ("[]", .badManagedConfiguration),
    ] {
      try write(text, to: folder.file("first.json"))
      #expect(await code() == expected, "\(text)")
    }
    try FileManager.default.removeItem(at: folder.file("first.json"))
    #expect(await code() == nil)
  }

  @Test(.covers("CO-171.3", "HT-80.3"), .timeLimit(.minutes(1)))
  func `a change is noticed while the program runs`() async throws {
    let folder = try TemporaryFolder()
    let managed = file(folder)
    var changes = managed.changes().makeAsyncIterator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await managed.watch(every: .milliseconds(1)) }
      try write(#"{"ManagedAppOAuthID": "new"}"#, to: folder.file("first.json"))
      var seen = await changes.next(isolation: nil)
      while seen?.clientId == nil { seen = await changes.next(isolation: nil) }
      #expect(seen?.clientId == "new")
      try FileManager.default.removeItem(at: folder.file("first.json"))
      while seen?.isManaged == true { seen = await changes.next(isolation: nil) }
      group.cancelAll()
    }
    #expect(!managed.reload())
  }
}
