import Foundation
import MobileSync
import SalesforceAnalytics
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import TestSupport

/// A device in the field: an account, an encrypted store and its syncs, at work with an org that it
/// reaches over a real socket.
///
/// The org's time stands still until a test moves it, so "later" needs no waiting.
struct FieldDevice: Sendable {
  static let soup = "accounts"
  static let fields = ["Name", "Phone"]
  static let query = "SELECT Id, Name, Phone FROM Account"
  static let downName = "accounts down"

  let org: MockOrg
  let server: MockOrgServer
  let clock: MockOrgClock
  /// Holds keys, accounts and stores, as the state folder of an app does.
  let folder: URL
  let accounts: UserAccountManager
  let analytics: SalesforceAnalyticsManager
  let stores: SmartStoreManager
  let managers: SyncManagerRegistry
  let account: UserAccount
  let client: RestClient
  let store: SmartStore
  let manager: SyncManager

  /// Runs `body` with an org, a server for it and a device that has logged in and has an empty soup.
  ///
  /// - Parameter wrap: Puts something between the sync manager and the client.
  static func with(
    _ adjust: (inout MockOrgOptions) -> Void = { _ in },
    wrap: @Sendable (RestClient) -> any SyncRequestSender = { $0 },
    _ body: (FieldDevice) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      var options = MockOrgOptions()
      options.clock = MockOrgClock(frozenAt: Date())
      adjust(&options)
      let clock = options.clock
      try await withMockOrg(options) { org, server in
        let device = try await FieldDevice(
          org, server, clock, folder: folder.url, wrap: wrap)
        try await device.makeSoup()
        org.clearRequestLog()
        do {
          try await body(device)
        } catch {
          try? await device.close()
          throw error
        }
        try await device.close()
      }
    }
  }

  /// Starts the app on the device: with the account that is there, or after a login.
  init(
    _ org: MockOrg, _ server: MockOrgServer, _ clock: MockOrgClock, folder: URL,
    wrap: @Sendable (RestClient) -> any SyncRequestSender = { $0 }
  ) async throws {
    self.org = org
    self.server = server
    self.clock = clock
    self.folder = folder
    let transport = URLSessionTransport()
    let secrets = Self.secrets(in: folder)
    accounts = try await UserAccountManager(
      persister: EncryptedAccountDirectory(
        root: folder.appending(path: "accounts"), secrets: secrets),
      transport: transport)
    analytics = SalesforceAnalyticsManager(
      folders: UserFolders(root: folder.appending(path: "analytics")), keys: KeyGenerator(secrets),
      accounts: accounts, transport: transport, options: AnalyticsOptions(publishMode: .manual))
    stores = SmartStoreManager(
      root: folder.appending(path: "stores"),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)),
      options: SmartStoreOptions(events: analytics), accounts: accounts)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    managers = SyncManagerRegistry(
      registry: registry,
      // No server of these tests works on a request for longer.
      environment: SyncEnvironment(events: analytics, lateArrival: .seconds(1)))
    if let known = await accounts.current {
      account = known
    } else {
      account = try await Self.logIn(accounts, server)
    }
    client = RestClient(
      account: account, accounts: accounts, transport: transport,
      options: .init(retries: RetryPolicy(firstWait: .milliseconds(1))))
    guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else {
      throw SmartStoreErrorInTest.noStore
    }
    self.store = store
    manager = try await managers.sharedInstance(store: store, sender: wrap(client))
  }

  /// Only a programming mistake in the tests' device leads here.
  private enum SmartStoreErrorInTest: Error { case noStore }

  static func secrets(in folder: URL) -> FileSecretStore {
    FileSecretStore(in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
  }

  /// Logs in with the tokens that the server gives away.
  @discardableResult
  static func logIn(
    _ accounts: UserAccountManager, _ server: MockOrgServer
  ) async throws -> UserAccount {
    let info = server.info
    return try await accounts.logIn(
      .tokens(
        accessToken: info.accessToken, refreshToken: info.refreshToken,
        instance: try LoginServer(info.instanceUrl),
        app: ConnectedApp(
          clientId: info.clientId, redirectURI: info.redirectUri, usesHybridGrants: false)))
  }

  private func makeSoup() async throws {
    try await store.registerSoup(
      withName: Self.soup,
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: "Name", type: .string),
        SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: SyncKeys.syncId, type: .integer),
      ])
  }

  /// Ends the app in good order.
  func close() async throws {
    await managers.removeSharedInstances()
    try await stores.close()
    await accounts.close()
  }

  /// Ends the app and starts it again, from nothing but its files.
  func restarted() async throws -> FieldDevice {
    try await close()
    return try await FieldDevice(org, server, clock, folder: folder)
  }

  /// Time passes on the server.
  func later() { clock.advance(by: .seconds(60)) }
}

// MARK: - Syncs

extension FieldDevice {
  /// Makes the sync down, or runs it again.
  func syncDown(
    _ mode: SyncMergeMode = .leaveIfChanged, batchSize: Int = 2000
  ) async throws -> SyncRun {
    if try await manager.hasSync(forName: Self.downName) {
      return try await manager.reSync(named: Self.downName)
    }
    return try await manager.syncDown(
      target: try SoqlSyncDownTarget(query: Self.query, maxBatchSize: batchSize),
      options: SyncOptions(mergeMode: mode), soupName: Self.soup, syncName: Self.downName)
  }

  /// Sends what is dirty.
  func syncUp(_ mode: SyncMergeMode = .overwrite) async throws -> SyncRun {
    try await manager.syncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: Self.fields), soupName: Self.soup)
  }
}

// MARK: - What an app does

extension FieldDevice {
  /// All records of the soup.
  func rows() async throws -> [JSONValue] {
    try await store.query(
      using: .buildAllQuerySpec(
        soupName: Self.soup, orderPath: "_soupEntryId", pageSize: 10_000))
  }

  /// The record with this id.
  func row(_ id: String) async throws -> JSONValue? {
    try await rows().first { $0["Id"]?.string == id }
  }

  /// The records that wait to be sent.
  func dirtyRows() async throws -> [JSONValue] {
    try await rows().filter { $0[SyncKeys.local]?.bool == true }
  }

  /// Makes a record offline and returns its local id.
  @discardableResult
  func create(_ fields: JSONObject) async throws -> String {
    let id = manager.createLocalId()
    var entry: JSONValue = ["attributes": ["type": "Account"], "Id": .string(id)]
    for (key, value) in fields { entry[key] = value }
    try await store.upsert(
      entries: [entry.flagged(SyncKeys.locallyCreated)], forSoupNamed: Self.soup)
    return id
  }

  /// Edits a record offline.
  func edit(_ id: String, _ fields: JSONObject) async throws {
    guard var entry = try await row(id) else { return }
    for (key, value) in fields { entry[key] = value }
    try await store.upsert(
      entries: [entry.flagged(SyncKeys.locallyUpdated)], forSoupNamed: Self.soup)
  }

  /// Deletes a record offline.
  func delete(_ id: String) async throws {
    guard let entry = try await row(id) else { return }
    try await store.upsert(
      entries: [entry.flagged(SyncKeys.locallyDeleted)], forSoupNamed: Self.soup)
  }

  /// The ids of records that are not the same on both sides, dirty ones among them.
  func differences() async throws -> Set<String> {
    let here = try await rows()
    let there = try await org.query("\(Self.query) ORDER BY Id")
    let local = Dictionary(
      here.map { ($0["Id"]?.string ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    let remote = Dictionary(
      there.map { ($0["Id"]?.string ?? "", $0.value) }, uniquingKeysWith: { first, _ in first })
    // A record that is in the soup twice would hide behind its double.
    let doubles = here.count == local.count ? [] : ["doubles"]
    return Set(
      Set(local.keys).union(remote.keys).filter { id in
        guard let here = local[id], let there = remote[id] else { return true }
        if here[SyncKeys.local]?.bool != false { return true }
        return Self.fields.contains { (here[$0] ?? .null) != (there[$0] ?? .null) }
      } + doubles)
  }

  /// The names of the org's accounts, sorted.
  func serverNames() async throws -> [String] {
    try await org.query("SELECT Name FROM Account ORDER BY Name")
      .compactMap { $0["Name"]?.string }
  }
}

extension JSONValue {
  /// The entry as an app writes it after a local change (MS-74).
  fileprivate func flagged(_ flag: String) -> JSONValue {
    var entry = self
    for name in [SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted] {
      entry[name] = .bool(name == flag || (entry[name]?.bool ?? false))
    }
    entry[SyncKeys.local] = true
    return entry
  }
}

/// The error of a run that has to fail, and the reason below it.
func failure(
  of run: SyncRun
) async throws -> (run: SyncError, reason: SyncError)? {
  do {
    _ = try await run.finished()
    return nil
  } catch let error as SyncError {
    return (error, error.cause as? SyncError ?? error)
  }
}

extension MockOrg {
  /// The requests since the log was cleared, each as `METHOD path`, without the API's prefix.
  var requests: [String] {
    requestLog.map {
      "\($0.method) \($0.path.replacing("/services/data/v66.0", with: ""))"
    }
  }
}
