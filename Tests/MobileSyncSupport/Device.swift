public import MobileSync
public import SalesforceAnalytics
public import SalesforceSDKCommon
public import SmartStore
import StandardSyncTargets
import Synchronization
import TestSupport

/// A device of tests: a store with a soup of accounts, a sync manager, and what an app does with
/// them.
public final class Device: Sendable {
  /// The soup that ``open(_:indexes:owner:)`` registers.
  public static let soup = "accounts"
  /// The fields that tests sync.
  public static let query = "select Id, Name, Phone, LastModifiedDate from Account"

  public let org: InMemoryOrg
  public let store: SmartStore
  public let events = InMemoryEventStore()
  public let registry: SyncTargetRegistry
  private let folder: TemporaryFolder
  private let current: Mutex<SyncManager?> = Mutex(nil)

  private init(
    _ org: InMemoryOrg, _ store: SmartStore, _ registry: SyncTargetRegistry,
    _ folder: TemporaryFolder
  ) {
    self.org = org
    self.store = store
    self.registry = registry
    self.folder = folder
  }

  /// Makes a device with an empty soup.
  public static func open(
    _ org: InMemoryOrg, flagIndex: SoupIndexType = .string, withSyncIdIndex: Bool = true,
    registering register: (SyncTargetRegistry) throws -> Void = { _ in }
  ) async throws -> Device {
    let folder = try TemporaryFolder()
    let store = try await TestStores.open(in: folder.url)
    var indexes = [
      SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: flagIndex),
    ]
    if withSyncIdIndex { indexes.append(SoupIndex(path: SyncKeys.syncId, type: .integer)) }
    try await store.registerSoup(withName: soup, withIndices: indexes)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    try register(registry)
    let device = Device(org, store, registry, folder)
    _ = try await device.restartProcess()
    return device
  }

  /// The manager of this process.
  public var manager: SyncManager {
    guard let manager = current.withLock({ $0 }) else { preconditionFailure("no process runs") }
    return manager
  }

  /// Ends the process without warning, if one runs, and starts another on the same store.
  @discardableResult
  public func restartProcess() async throws -> SyncManager {
    if let old = current.withLock({ $0 }) { await old.close() }
    let manager = try await SyncManager(
      store: store, sender: org, userId: "005000000000001AAA", registry: registry,
      environment: SyncEnvironment(events: events))
    current.withLock { $0 = manager }
    return manager
  }

  // MARK: What an app does

  /// All rows, by entry id.
  public func rows() async throws -> [JSONValue] {
    try await store.query(
      using: .buildAllQuerySpec(soupName: Self.soup, orderPath: "_soupEntryId", pageSize: 100_000))
  }

  /// The row whose field has this value.
  public func row(_ field: String = "Id", _ value: String) async throws -> JSONValue? {
    try await rows().first { $0[field]?.string == value }
  }

  /// The rows that are dirty.
  public func dirtyRows() async throws -> [JSONValue] {
    try await rows().filter { $0[SyncKeys.local]?.bool == true }
  }

  /// Makes records offline.
  public func create(_ all: [JSONObject]) async throws {
    let manager = manager
    try await store.upsert(
      entries: all.map { fields in
        var record = fields
        if record["Id"] == nil { record["Id"] = .string(manager.createLocalId()) }
        if record["attributes"] == nil { record["attributes"] = ["type": "Account"] }
        return .object(Self.flagged(record, SyncKeys.locallyCreated))
      }, forSoupNamed: Self.soup)
  }

  /// Edits a record offline.
  public func edit(_ id: String, _ fields: JSONObject) async throws {
    guard var record = try await row("Id", id)?.object else { return }
    for (key, value) in fields { record[key] = value }
    try await store.upsert(
      entries: [.object(Self.flagged(record, SyncKeys.locallyUpdated))], forSoupNamed: Self.soup)
  }

  /// Deletes a record offline.
  public func delete(_ id: String) async throws {
    guard let record = try await row("Id", id)?.object else { return }
    try await store.upsert(
      entries: [.object(Self.flagged(record, SyncKeys.locallyDeleted))], forSoupNamed: Self.soup)
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
