public import MobileSync
public import SalesforceAnalytics
public import SalesforceSDKCommon
public import SmartStore
import StandardSyncTargets
import Synchronization
import TestSupport

/// A device for tests: a store with a soup of accounts, a sync manager, and the calls of an app.
public final class Device: Sendable {
  /// The soup that `open` registers.
  public static let soup = "accounts"
  /// The fields that tests sync.
  public static let query = "select Id, Name, Phone, LastModifiedDate from Account"

  public let org: InMemoryOrg
  public let store: SmartStore
  public let events = InMemoryEventStore()
  public let registry: SyncTargetRegistry
  /// The field with the ids of the soups' records.
  public let idField: String
  private let folder: TemporaryFolder
  private let sender: any SyncRequestSender
  private let now: (@Sendable () -> Int64)?
  private let current: Mutex<SyncManager?> = Mutex(nil)

  private init(
    _ org: InMemoryOrg, _ store: SmartStore, _ registry: SyncTargetRegistry,
    _ idField: String, _ folder: TemporaryFolder, _ sender: any SyncRequestSender,
    _ now: (@Sendable () -> Int64)?
  ) {
    self.org = org
    self.store = store
    self.registry = registry
    self.idField = idField
    self.folder = folder
    self.sender = sender
    self.now = now
  }

  /// Creates a device with an empty soup.
  ///
  /// - Parameters:
  ///   - idField: The id field of the targets to test, as in the org.
  ///   - sender: Sends its requests. Default: the org itself.
  ///   - now: Its clock, in milliseconds since 1970. Default: this machine's.
  public static func open(
    _ org: InMemoryOrg, idField: String = SyncKeys.defaultIdField,
    flagIndex: SoupIndexType = .string, withSyncIdIndex: Bool = true,
    registering register: (SyncTargetRegistry) throws -> Void = { _ in },
    sender: (any SyncRequestSender)? = nil, now: (@Sendable () -> Int64)? = nil
  ) async throws -> Device {
    let folder = try TemporaryFolder()
    let store = try await TestStores.open(in: folder.url)
    var indexes = [
      SoupIndex(path: idField, type: .string), SoupIndex(path: SyncKeys.local, type: flagIndex),
    ]
    if withSyncIdIndex { indexes.append(SoupIndex(path: SyncKeys.syncId, type: .integer)) }
    try await store.registerSoup(withName: soup, withIndices: indexes)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    try register(registry)
    let device = Device(org, store, registry, idField, folder, sender ?? org, now)
    _ = try await device.restartProcess()
    return device
  }

  /// Registers a further soup with the indexes that a sync needs, and one on each of `more`.
  public func registerSoup(_ name: String, _ more: String...) async throws {
    try await store.registerSoup(
      withName: name,
      withIndices: ([idField, SyncKeys.local] + more).map { SoupIndex(path: $0, type: .string) } + [
        SoupIndex(path: SyncKeys.syncId, type: .integer)
      ])
  }

  /// The manager of this process.
  public var manager: SyncManager {
    guard let manager = current.withLock({ $0 }) else { preconditionFailure("no process runs") }
    return manager
  }

  /// Simulates the end of the process, if one is running, and starts another on the same store.
  @discardableResult
  public func restartProcess() async throws -> SyncManager {
    if let old = current.withLock({ $0 }) { await old.close() }
    let manager = try await SyncManager(
      store: store, sender: sender, userId: "005000000000001AAA", registry: registry,
      environment: SyncEnvironment(
        now: now, events: events, wait: { [org] in org.advanceClock(by: $0) },
        instant: { [start = ContinuousClock.now] in start }))
    current.withLock { $0 = manager }
    return manager
  }

  // MARK: What an app does

  /// Returns all entries, by entry id.
  public func rows(in soup: String = soup) async throws -> [JSONValue] {
    try await store.query(
      using: .buildAllQuerySpec(soupName: soup, orderPath: "_soupEntryId", pageSize: 100_000))
  }

  /// Returns the entry with this id.
  public func row(_ id: String, in soup: String = soup) async throws -> JSONValue? {
    try await row(idField, id, in: soup)
  }

  /// Returns the entry whose field has this value.
  public func row(
    _ field: String, _ value: String, in soup: String = soup
  ) async throws -> JSONValue? {
    try await rows(in: soup).first { $0[field]?.string == value }
  }

  /// Returns the dirty entries.
  public func dirtyRows(in soup: String = soup) async throws -> [JSONValue] {
    try await rows(in: soup).filter { $0[SyncKeys.local]?.bool == true }
  }

  /// Writes records of the org into the soup as a sync down would, without a request.
  public func download(_ ids: [String], type: String = "Account", into soup: String = soup)
    async throws
  {
    let records = ids.compactMap { org.record(type, $0) }
    try await store.upsert(
      entries: records.map { record in
        var record = record
        for key in [
          SyncKeys.local, SyncKeys.locallyCreated, SyncKeys.locallyUpdated,
          SyncKeys.locallyDeleted,
        ] { record[key] = false }
        return .object(record)
      }, forSoupNamed: soup)
  }

  /// Changes a stored sync behind the manager's back, as a crash may leave it.
  public func changeStoredSync(_ id: Int64, _ fields: JSONObject) async throws {
    for entry in try await store.retrieve(usingSoupEntryIds: [id], fromSoupNamed: "syncs_soup") {
      var sync = entry.value
      for (key, value) in fields { sync[key] = value }
      try await store.upsert(entries: [sync], forSoupNamed: "syncs_soup")
    }
  }

  /// Creates records offline.
  public func create(
    _ all: [JSONObject], type: String = "Account", in soup: String = soup
  ) async throws {
    let manager = manager
    try await store.upsert(
      entries: all.map { fields in
        var record = fields
        if record[idField] == nil { record[idField] = .string(manager.createLocalId()) }
        if record["attributes"] == nil { record["attributes"] = ["type": .string(type)] }
        return .object(Self.flagged(record, SyncKeys.locallyCreated))
      }, forSoupNamed: soup)
  }

  /// Edits a record offline, read and written in one transaction.
  public func edit(_ id: String, _ fields: JSONObject, in soup: String = soup) async throws {
    try await change(idField, .string(id), SyncKeys.locallyUpdated, fields, in: soup)
  }

  /// As ``edit(_:_:in:)``, by entry id, which a record keeps when it gets the server's id.
  public func edit(
    entry entryId: Int64, _ fields: JSONObject, in soup: String = soup
  ) async throws {
    try await change("_soupEntryId", .integer(entryId), SyncKeys.locallyUpdated, fields, in: soup)
  }

  /// Deletes a record offline.
  public func delete(_ id: String, in soup: String = soup) async throws {
    try await change(idField, .string(id), SyncKeys.locallyDeleted, [:], in: soup)
  }

  /// Changes and flags the row whose field has this value, if there is one.
  private func change(
    _ field: String, _ value: JSONValue, _ flag: String, _ fields: JSONObject, in soup: String
  ) async throws {
    try await store.inTransaction { transaction in
      let query = try QuerySpec.buildSmartQuerySpec(
        smartSql: "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(field)} = ?", pageSize: 1)
      let found = try transaction.query(
        using: query, startingFromPageIndex: 0, whereArgs: [value])
      for row in found {
        guard var record = row[0]?.object else { continue }
        for (key, value) in fields { record[key] = value }
        try transaction.upsert(
          entries: [.object(Self.flagged(record, flag))], forSoupNamed: soup)
      }
    }
  }

  private static func flagged(_ record: JSONObject, _ flag: String) -> JSONObject {
    var record = record
    for key in [SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted] {
      if record[key] == nil { record[key] = false }
    }
    record[SyncKeys.local] = true
    record[flag] = true
    return record
  }
}
