import FieldforceGzip
import Foundation
import HTTPTypes
import SalesforceAnalytics
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Whose events are stored, when are they published, and what removes them?
@Suite struct AnalyticsManagerTests {
  private let folder: TemporaryFolder
  private let org = TestOrg()
  private let keys = KeyGenerator(InMemorySecretStore())
  private var folders: UserFolders { UserFolders(root: folder.url) }
  private static let other = UserAccountIdentity(
    userId: "005000000000002AAA", organizationId: "00D000000000001EAA")
  private static let path = "/services/data/v66.0/connect/proxy/app-analytics-logging"

  init() throws { folder = try TemporaryFolder() }

  private func analytics(
    _ accounts: UserAccountManager, transport: ScriptedTransport? = nil,
    _ options: AnalyticsOptions = AnalyticsOptions(publishMode: .manual)
  ) -> SalesforceAnalyticsManager {
    SalesforceAnalyticsManager(
      folders: folders, keys: keys, accounts: accounts, transport: transport ?? org.transport(),
      userAgent: UserAgent(appName: "Notes", appVersion: "1.2", installationId: "d-1"),
      options: options)
  }

  private func names(
    _ analytics: SalesforceAnalyticsManager, _ account: UserAccount? = nil
  ) async -> [String] {
    guard let manager = analytics.manager(for: account ?? org.account()) else { return [] }
    return await manager.store.fetchAll().map(\.name)
  }

  private func publications(_ transport: ScriptedTransport) -> [TransportRequest] {
    transport.requests.filter { $0.url.path() == Self.path }
  }

  // MARK: Managers

  @Test(.covers("CA-39"))
  func `each user and community has events of its own, encrypted in the user's folder`()
    async throws
  {
    let second = org.account(identity: Self.other)
    var guest = org.account()
    guest.credentials.communityId = "0DB000000000001GAA"
    let accounts = try await org.manager([org.account(), second])
    let analytics = analytics(accounts)
    await analytics.createAndStoreEvent(name: "one", account: org.account(), className: "A")
    await analytics.createAndStoreEvent(name: "two", account: second, className: "A")
    await analytics.createAndStoreEvent(name: "three", account: guest, className: "A")
    #expect(await names(analytics) == ["one"])
    #expect(await names(analytics, second) == ["two"])
    #expect(await names(analytics, guest) == ["three"])
    #expect(analytics.manager(for: second) === analytics.manager(for: second))
    let place = folders.communityFolder(of: org.account()).appending(path: "event_stores")
    let file = try #require(try FileManager.default.contentsOfDirectory(atPath: place.path).first)
    let bytes = try Array(Data(contentsOf: place.appending(path: file)))
    #expect(!String(decoding: bytes, as: UTF8.self).contains("one"))
    // Bound to its name, and to the user's key.
    let key = try keys.encryptionKey(.eventStore, of: TestOrg.identity)
    let plain = try Encryptor.decrypt(
      bytes, using: key, context: Array("fieldforce event \(file)".utf8))
    #expect(try JSONSlice(parsing: plain)["name"]?.string == "one")
    let others = try keys.encryptionKey(.eventStore, of: Self.other)
    #expect(throws: EncryptionError.self) {
      try Encryptor.decrypt(bytes, using: others, context: Array("fieldforce event \(file)".utf8))
    }
  }

  @Test(.covers("CA-39"))
  func `an account without a session has no events, and an app without a user has some`()
    async throws
  {
    var ended = org.account()
    ended.loginState = .notLoggedIn
    let accounts = try await org.manager([ended])
    let analytics = analytics(accounts)
    #expect(analytics.manager(for: ended) == nil)
    #expect(analytics.manager(for: org.account(identity: Self.other)) == nil)
    let app = try #require(analytics.unauthenticatedManager())
    await app.store.store(
      try app.event {
        $0.name = "start"
        $0.schemaType = .error
        $0.page = [:]
      })
    #expect(await app.store.numStoredEvents == 1)
    #expect(await app.publishAllEvents() == .nothing)
    #expect(app.store.directory == folder.url.appending(path: "event_stores"))
    #expect(analytics.unauthenticatedManager() === app)
  }

  @Test(.covers("CA-39", "CA-45", "CO-87.3"))
  func `a logout removes the events, the choice and the key of the user, and is no event`()
    async throws
  {
    let second = org.account(identity: Self.other)
    let accounts = try await org.manager([org.account(), second])
    let analytics = analytics(accounts)
    let before = try #require(analytics.manager(for: org.account()))
    await analytics.createAndStoreEvent(name: "one", account: org.account(), className: "A")
    await analytics.createAndStoreEvent(name: "two", account: second, className: "A")
    try await analytics.setLoggingEnabled(false, for: org.account())
    let key = try keys.encryptionKey(.eventStore, of: TestOrg.identity)
    #expect(try await accounts.logOut(TestOrg.identity).failures.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folders.folder(of: TestOrg.identity).path))
    #expect(try keys.encryptionKey(.eventStore, of: TestOrg.identity) != key)
    #expect(analytics.manager(for: org.account()) == nil)
    // What still holds the manager of before stores nothing.
    await before.store.setLoggingEnabled(true)
    let late = try before.event {
      $0.name = "late"
      $0.schemaType = .error
      $0.page = [:]
    }
    await before.store.store(late)
    #expect(!FileManager.default.fileExists(atPath: folders.folder(of: TestOrg.identity).path))
    #expect(await names(analytics, second) == ["two"])
  }

  @Test(.covers("CA-39"))
  func `a logout that is refused leaves the events usable`() async throws {
    let accounts = try await org.manager()
    let analytics = analytics(accounts)
    await accounts.addLogoutObserver(Unsynced())
    await analytics.createAndStoreEvent(name: "one", className: "A", attributes: [:])
    await analytics.createAndStoreEvent(name: "one", account: org.account(), className: "A")
    await #expect(throws: AccountError.self) { try await accounts.logOut(TestOrg.identity) }
    await analytics.createAndStoreEvent(name: "two", account: org.account(), className: "A")
    #expect(await names(analytics).sorted() == ["one", "two"])
  }

  private struct Unsynced: LogoutObserver {
    func unsyncedRecords(of account: UserAccount) async throws -> Int { 1 }
    func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {}
  }

  @Test(.covers("CA-36", "CO-10.2", "CO-12.2", "HT-94.2"))
  func `events name the app and the device, and a blank name is not taken`() async throws {
    var options = AnalyticsOptions(publishMode: .manual)
    options.appName = "Notes analytics"
    options.appName = " "
    let accounts = try await org.manager()
    let analytics = analytics(accounts, options)
    let device = try #require(analytics.manager(for: org.account())?.deviceAppAttributes)
    #expect(device.appName == "Notes analytics" && device.appVersion == "1.2")
    #expect(device.mobileSdkVersion == SDKVersion.current && device.nativeAppType == "Native")
    #expect(device.deviceId == "d-1" && device.clientId == "client-1")
    #expect(device.osName == "Linux" && device.osVersion?.isEmpty == false)
  }

  // MARK: Events of the SDK

  @Test(.covers("CA-45", "CO-199.2"))
  func `an event of the program is an interaction by the system on the page of its class`()
    async throws
  {
    let accounts = try await org.manager()
    let analytics = analytics(accounts)
    // There is no current user.
    await analytics.createAndStoreEvent(name: "none", className: "A")
    #expect(await names(analytics).isEmpty)
    try await accounts.setCurrent(TestOrg.identity)
    await analytics.createAndStoreEvent(
      name: "open", className: "RouteView", attributes: ["startTime": 5, "endTime": 8, "n": 1])
    let event = try #require(await analytics.manager(for: org.account())?.store.fetchAll().first)
    #expect(event.name == "open" && event.page == ["context": "RouteView"])
    #expect(event.schemaType == .interaction && event.eventType == .system)
    #expect(event.startTime == 5 && event.endTime == 8)
    #expect(event.attributes == ["startTime": 5, "endTime": 8, "n": 1])
  }

  @Test(.covers("CA-45"))
  func `events of stores and syncs go to the user whose data they are about`() async throws {
    let second = org.account(identity: Self.other)
    let accounts = try await org.manager([org.account(), second])
    let analytics = analytics(accounts)
    let event = AnalyticsEvent(name: "syncDown", className: "SyncManager", startTime: 3, endTime: 9)
    let owner = EventOwner(
      organizationId: String(Self.other.organizationId.prefix(15)),
      userId: String(Self.other.userId.prefix(15)))
    await analytics.scoped(to: owner).store(event)
    // Of no user, and none is current.
    await analytics.store(event)
    #expect(await names(analytics, second) == ["syncDown"])
    #expect(await names(analytics).isEmpty)
    try await accounts.setCurrent(TestOrg.identity)
    await analytics.store(event)
    #expect(await names(analytics) == ["syncDown"])
    let unknown = EventOwner(organizationId: "00D000000000009AAA", userId: "005000000000009AAA")
    await analytics.scoped(to: unknown).store(event)
    var options = AnalyticsOptions(publishMode: .manual)
    options.storesSDKEvents = false
    let silent = self.analytics(accounts, options)
    await silent.store(event)
    #expect(await names(silent) == ["syncDown"])
  }

  @Test(.covers("CA-45", "CO-79.3"))
  func `logins and refreshes are events of their user`() async throws {
    let hosts = try LoginHostStorage()
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: org.transport(), loginHosts: hosts)
    let analytics = analytics(accounts)
    let account = try await accounts.logIn(
      .tokens(
        accessToken: "access-1", refreshToken: "refresh-1",
        instance: try LoginServer("https://acme.my.salesforce.com"), app: TestOrg.app))
    try await accounts.refresh(account.identity)
    let events = try #require(await analytics.manager(for: account)?.store.fetchAll())
    #expect(Set(events.map(\.name)) == ["addUser", "tokenRefresh"])
    let added = try #require(events.first { $0.name == "addUser" }?.attributes)
    let servers = try #require(added["loginServers"]?.array)
    #expect(added["numUsers"] == 1 && added["numLoginServers"] == .integer(Int64(servers.count)))
    #expect(servers.contains("login.salesforce.com") && servers.contains("test.salesforce.com"))
    #expect(events.allSatisfy { $0.page == ["context": "UserAccountManager"] })
  }

  @Test(.covers("CA-45", "CO-171.5"))
  func `a login on a managed device is an event with the keys of its configuration`() async throws {
    let file = folder.file("managed.json")
    let configuration =
      #"{"AppServiceHosts": "acme.my.salesforce.com", "ManagedAppOAuthID": "3MVG9"}"#
    try Data(configuration.utf8).write(to: file)
    chmod(file.path, 0o644)
    var options = UserAccountManager.Options()
    let managed = ManagedConfigurationFile(
      files: [file], owner: geteuid(), markers: FeatureMarkers())
    options.managed = managed
    let accounts = try await org.manager(options: options)
    let analytics = analytics(accounts)
    await analytics.didLogIn(org.account(), users: 1, loginServers: [])
    let stored = try #require(await analytics.manager(for: org.account())?.store.fetchAll())
    let event = try #require(stored.first { $0.name == "mdmConfiguration" })
    #expect(event.attributes == ["mdmIsActive": true, "mdmConfigs": ["AppServiceHosts"]])
    try FileManager.default.removeItem(at: file)
    managed.reload()
    await analytics.didLogIn(org.account(), users: 1, loginServers: [])
    #expect(await names(analytics).count { $0 == "mdmConfiguration" } == 1)
  }

  @Test(.covers("CO-183.5", "BX-32.2"))
  func `the user agent shows that analytics are on`() async throws {
    var options = AnalyticsOptions(publishMode: .manual)
    let markers = FeatureMarkers()
    options.markers = markers
    let accounts = try await org.manager()
    let analytics = analytics(accounts, options)
    #expect(markers.text == "")
    await analytics.createAndStoreEvent(name: "n", account: org.account(), className: "A")
    #expect(markers.text == "AI")
    try await analytics.setLoggingEnabled(false, for: org.account())
    #expect(markers.text == "")
    try await analytics.setLoggingEnabled(true, for: org.account())
    #expect(markers.text == "AI")
    options.isDisabled = true
    options.markers = FeatureMarkers()
    _ = self.analytics(accounts, options).manager(for: org.account())
    #expect(options.markers.text == "")
  }

  // MARK: Opting out

  @Test(.covers("CA-44"))
  func `the choice of a user is kept over a restart, and is that user's alone`() async throws {
    let second = org.account(identity: Self.other)
    let accounts = try await org.manager([org.account(), second])
    var analytics = analytics(accounts)
    #expect(try analytics.isLoggingEnabled(for: org.account()))
    await analytics.createAndStoreEvent(name: "before", account: org.account(), className: "A")
    try await analytics.setLoggingEnabled(false, for: org.account())
    await analytics.createAndStoreEvent(name: "off", account: org.account(), className: "A")
    #expect(await names(analytics) == ["before"])

    analytics = self.analytics(accounts)
    await analytics.createAndStoreEvent(name: "off", account: org.account(), className: "A")
    await analytics.createAndStoreEvent(name: "on", account: second, className: "A")
    #expect(await names(analytics) == ["before"])
    #expect(await names(analytics, second) == ["on"])
    #expect(await analytics.publish(for: org.account()) == .nothing)
    #expect(try analytics.isLoggingEnabled(for: second))
    try await analytics.setLoggingEnabled(true, for: org.account())
    await analytics.createAndStoreEvent(name: "again", account: org.account(), className: "A")
    #expect(await names(analytics).sorted() == ["again", "before"])
    let gone = org.account(
      identity: UserAccountIdentity(userId: "005000000000009AAA", organizationId: "00D9"))
    await #expect(throws: AccountError.self) {
      try await analytics.setLoggingEnabled(false, for: gone)
    }
  }

  @Test(
    .covers("CA-44"),
    arguments: [
      // What the program chose, what each login's attribute says, and what holds after the last one.
      (nil, [nil], true), (false, [nil], false), (true, ["false"], false), (false, ["TRUE"], true),
      (nil, ["false"], false), (nil, ["false", nil], true), (false, ["true", nil], true),
      (false, ["maybe"], false),
    ] as [(Bool?, [String?], Bool)])
  func `the org decides at a login, and without a word of it the program's choice stays`(
    chosen: Bool?, attributes: [String?], isEnabled: Bool
  ) async throws {
    let accounts = try await org.manager()
    let analytics = analytics(accounts)
    if let chosen { try await analytics.setLoggingEnabled(chosen, for: org.account()) }
    for attribute in attributes {
      var account = org.account()
      account.profile.customAttributes = attribute.map { ["ailtn_enabled": .string($0)] }
      await analytics.didLogIn(account, users: 1, loginServers: [])
    }
    #expect(try analytics.isLoggingEnabled(for: org.account()) == isEnabled)
    #expect(await analytics.manager(for: org.account())?.store.isLoggingEnabled == isEnabled)
  }

  @Test(.covers("CA-38"))
  func `a boot configuration switches analytics off for an app`() async throws {
    let members: JSONObject = [
      "remoteAccessConsumerKey": "k", "oauthRedirectURI": "r:/", "SFDCAnalyticsDisabled": true,
    ]
    var options = AnalyticsOptions(publishMode: .manual)
    options.apply(try BootConfiguration(members))
    let accounts = try await org.manager()
    let analytics = analytics(accounts, options)
    await analytics.createAndStoreEvent(name: "n", account: org.account(), className: "A")
    #expect(await names(analytics).isEmpty)
  }

  // MARK: Publishing

  @Test(.covers("CA-42"))
  func `events are sent as compressed log lines with the user's session`() async throws {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let transport = org.transport()
    let accounts = try await org.manager(transport: transport)
    let analytics = analytics(accounts, transport: transport)
    await analytics.createAndStoreEvent(
      name: "open", account: org.account(), className: "A", attributes: ["path": "a/b"])
    #expect(await analytics.publish(for: org.account()).published == 1)
    let request = try #require(publications(transport).first)
    #expect(request.method == .post)
    #expect(request.headers[.authorization] == "Bearer access-1")
    #expect(request.headers[.contentType] == "application/json")
    #expect(request.headers[.contentEncoding] == "gzip")
    let body = try #require(Gzip.expanded(request.body ?? [], limit: 1 << 20))
    #expect(!String(decoding: body, as: UTF8.self).contains(#"\/"#))
    let json = try JSONSlice(parsing: body)
    #expect(json["logLines"]?.count == 1)
    let line = try #require(json["logLines"]?[0])
    #expect(line["code"]?.string == "ailtn")
    #expect(line["data"]?["schemaType"]?.string == "LightningInteraction")
    let payload = try JSONSlice(parsing: try #require(line["data"]?["payload"]?.string))
    #expect(payload["eventSource"]?.string == "open" && payload["schemaType"] == nil)
    #expect(payload["version"]?.string == "0.2")
    #expect(payload["attributes"]?["path"]?.string == "a/b")
  }

  @Test(.covers("CA-42"))
  func `a publisher leaves the caller's events as they are, and no events are a success`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let transport = org.transport()
    let accounts = try await org.manager(transport: transport)
    let publisher = AILTNPublisher(
      client: RestClient(account: org.account(), accounts: accounts, transport: transport))
    #expect(await publisher.publish([]))
    #expect(transport.requests.isEmpty)
    let body = try AILTNPublisher.body([["schemaType": "LightningError", "b": 1, "a": "x/y"]])
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"logLines":[{"code":"ailtn","data":{"schemaType":"LightningError","payload":"{\"b\":1,\"a\":\"x/y\"}"}}]}"#
    )
    #expect(await publisher.publish([["x": .double(.nan)]]) == false)
  }

  @Test(.covers("CA-42"))
  func `an expired token is refreshed, and a refused one costs the publication alone`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let transport = org.transport()
    let accounts = try await org.manager(transport: transport)
    let analytics = analytics(accounts, transport: transport)
    await analytics.createAndStoreEvent(name: "open", account: org.account(), className: "A")
    org.state.withLock { $0.accessToken = "new" }
    #expect(await analytics.publish(for: org.account()).published >= 1)
    #expect(org.state.withLock { $0.refreshes } == 1)

    await analytics.createAndStoreEvent(name: "open", account: org.account(), className: "A")
    org.state.withLock {
      $0.accessToken = "another"
      $0.isUnreachable = true
    }
    let report = await analytics.publish(for: org.account())
    #expect(report.published == 0 && report.kept > 0)
    #expect(await names(analytics).contains("open"))
  }

  @Test(.covers("CA-42"), arguments: [400, 404, 500])
  func `events that the service refuses are kept`(status: Int) async throws {
    let org = TestOrg { _ in RestResponse(status: status) }
    let transport = org.transport()
    let accounts = try await org.manager(transport: transport)
    let analytics = analytics(accounts, transport: transport)
    await analytics.createAndStoreEvent(name: "open", account: org.account(), className: "A")
    #expect(await analytics.publish(for: org.account()).kept == 1)
    #expect(await names(analytics) == ["open"])
  }

  @Test(.covers("CA-40"))
  func `in the periodic mode events of all users are published each time the interval has passed`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let (transport, clock) = (org.transport(), HandClock())
    let second = org.account(identity: Self.other)
    let accounts = try await org.manager([org.account(), second], transport: transport)
    let analytics = analytics(
      accounts, transport: transport,
      AnalyticsOptions(publishMode: .periodic(.seconds(60)), clock: clock))
    #expect(AnalyticsOptions().publishMode == .periodic(.seconds(28_800)))
    let run = Task { await analytics.run() }
    for count in [2, 4] {
      await analytics.createAndStoreEvent(name: "a", account: org.account(), className: "A")
      await analytics.createAndStoreEvent(name: "b", account: second, className: "A")
      await until { clock.hasSleeper(for: .seconds(60)) }
      clock.advance(by: .seconds(60))
      await until { clock.hasSleeper(for: .seconds(60)) }
      #expect(publications(transport).count == count)
    }
    await analytics.didEnterBackground()
    run.cancel()
    await run.value
    #expect(publications(transport).count == 4)
  }

  @Test(.covers("CA-40", "CO-14.3"))
  func `in the background mode the current user's events are published, at a shutdown all`()
    async throws
  {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let transport = org.transport()
    let second = org.account(identity: Self.other)
    let accounts = try await org.manager([org.account(), second], transport: transport)
    let analytics = analytics(
      accounts, transport: transport, AnalyticsOptions(publishMode: .background))
    await analytics.createAndStoreEvent(name: "a", account: org.account(), className: "A")
    await analytics.createAndStoreEvent(name: "b", account: second, className: "A")
    await analytics.didEnterBackground()
    #expect(publications(transport).isEmpty)
    try await accounts.setCurrent(TestOrg.identity)
    await analytics.didEnterBackground()
    #expect(publications(transport).count == 1)
    // It has nothing to wait for.
    await analytics.run()
    await analytics.close()
    #expect(publications(transport).count == 2)
    #expect(await names(analytics, second).isEmpty)
  }

  @Test(.covers("CA-40"))
  func `a shutdown waits for the service no longer than the limit`() async throws {
    let latch = Latch()
    let org = TestOrg { _ in
      try await latch.wait()
      return RestResponse(status: 204)
    }
    let (transport, clock) = (org.transport(), HandClock())
    let accounts = try await org.manager(transport: transport)
    let analytics = analytics(accounts, transport: transport, AnalyticsOptions(clock: clock))
    await analytics.createAndStoreEvent(name: "a", account: org.account(), className: "A")
    let closing = Task { await analytics.close() }
    await until { clock.hasSleeper(for: .seconds(5)) && !publications(transport).isEmpty }
    clock.advance(by: .seconds(5))
    await closing.value
    #expect(await names(analytics) == ["a"])
  }

  @Test(.covers("CA-40"), arguments: [AnalyticsOptions.PublishMode.manual, .disabled])
  func `nothing is published unasked, and in the mode disabled nothing at all`(
    mode: AnalyticsOptions.PublishMode
  ) async throws {
    let org = TestOrg { _ in RestResponse(status: 204) }
    let transport = org.transport()
    let accounts = try await org.manager(transport: transport)
    try await accounts.setCurrent(TestOrg.identity)
    let analytics = analytics(accounts, transport: transport, AnalyticsOptions(publishMode: mode))
    await analytics.createAndStoreEvent(name: "a", className: "A")
    await analytics.run()
    await analytics.didEnterBackground()
    await analytics.close()
    #expect(publications(transport).isEmpty)
    #expect(await analytics.publish(for: org.account()).published == (mode == .manual ? 1 : 0))
  }
}
