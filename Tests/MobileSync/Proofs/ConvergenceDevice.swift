import CollectionSyncUp
import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import Synchronization
import TestSupport

/// One of the devices of a story: a store in a folder of its own, opened and closed as the story has
/// it.
final class ConvergenceDevice: Sendable {
  static let soup = "accounts"
  static let tag = "Tag__c"
  static let lookup = "ParentId"
  private static let query =
    "select Id, Name, Phone, Tag__c, ParentId, LastModifiedDate from Account"
  private static let window = Duration.seconds(20)

  private struct Process {
    let store: SmartStore
    let manager: SyncManager
  }

  private let org: InMemoryOrg
  /// How far its clock is ahead of the org's, in milliseconds.
  private let lead: Int64
  private let folder: Mutex<TemporaryFolder>
  private let registry = SyncTargetRegistry()
  private let ids: Mutex<SeededGenerator>
  private let process: Mutex<Process?> = Mutex(nil)

  private init(
    _ org: InMemoryOrg, _ folder: TemporaryFolder, number: Int, hoursAhead: Int = 0
  ) throws {
    self.org = org
    lead = Int64(hoursAhead) * 3_600_000
    self.folder = Mutex(folder)
    ids = Mutex(SeededGenerator(seed: UInt64(number)))
    try StandardSyncTargets.register(into: registry)
  }

  /// A device that has synced down everything of an org which is as ``prepare(_:)`` makes it.
  static func open(
    _ org: InMemoryOrg, number: Int, hoursAhead: Int
  ) async throws -> ConvergenceDevice {
    let folder = try copy(of: try await Self.model.value)
    let device = try ConvergenceDevice(org, folder, number: number, hoursAhead: hoursAhead)
    try await device.start()
    return device
  }

  private static func copy(of folder: TemporaryFolder) throws -> TemporaryFolder {
    let copy = try TemporaryFolder(inMemory: true)
    for file in try FileManager.default.contentsOfDirectory(
      at: folder.url, includingPropertiesForKeys: nil)
    {
      try FileManager.default.copyItem(at: file, to: copy.file(file.lastPathComponent))
    }
    return copy
  }

  /// The first records of every org, by their tags.
  static let firstRecords: [JSONObject] = (1...3).map { number in
    [
      "Name": .string("n\(number)"), "Phone": .string("p\(number)"),
      tag: .string("first \(number)"),
    ]
  }

  static func prepare(_ org: InMemoryOrg) {
    org.relate("Parents", parent: "Account", child: "Account", by: lookup)
    org.setTickLength(400)
    org.pageSize = 3
    for record in firstRecords { org.create("Account", record) }
  }

  /// The files of a device at the beginning; making them takes longer than a story.
  private static let model = Task {
    let org = InMemoryOrg()
    prepare(org)
    let folder = try TemporaryFolder(inMemory: true)
    let device = try ConvergenceDevice(org, folder, number: 99)
    try await device.start()
    try await device.sync(.down)
    try await device.stop()
    return folder
  }

  private var current: Process {
    guard let process = process.withLock({ $0 }) else {
      preconditionFailure("the device is switched off")
    }
    return process
  }

  var store: SmartStore { current.store }
  var manager: SyncManager { current.manager }

  /// Switches the device on.
  func start() async throws {
    let place = folder.withLock { $0.url }
    let store = try await SmartStore.open(at: place, encryption: .plaintext)
    if try await !store.soupExists(forName: Self.soup) {
      try await store.registerSoup(
        withName: Self.soup,
        withIndices: [
          SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
          SoupIndex(path: SyncKeys.syncId, type: .integer),
        ])
    }
    let manager = try await SyncManager(
      store: store, sender: org, userId: "005000000000001AAA", registry: registry,
      environment: SyncEnvironment(
        now: { [org, lead] in org.now + lead }, uniqueNumber: { self.ids.withLock { $0.next() } }))
    process.withLock { $0 = Process(store: store, manager: manager) }
    if try await !manager.hasSync(forName: "down") {
      _ = try await manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Self.query, maxBatchSize: 200),
        options: SyncOptions(mergeMode: .mergeFields, lateCommitWindow: Self.window),
        soupName: Self.soup, syncName: "down")
    }
    if try await !manager.hasSync(forName: "up") {
      _ = try await manager.createSyncUp(
        target: CollectionSyncUpTarget(),
        options: SyncOptions(
          mergeMode: .mergeFields, fieldlist: ["Name", "Phone", Self.tag, Self.lookup]),
        soupName: Self.soup, syncName: "up")
    }
  }

  /// Switches the device off, whatever it is doing.
  func stop() async throws {
    let process = process.withLock { process in
      defer { process = nil }
      return process
    }
    await process?.manager.close()
    try await process?.store.close()
  }

  /// Ends the process as a kill does: what it has on disk at this moment, whatever it is doing, is what
  /// the next one finds that ``restart()`` begins. Nothing of what it still does counts.
  func kill() async throws {
    let dying = folder.withLock { $0 }
    let left = try await store.inTransaction { _ in try Self.copy(of: dying) }
    folder.withLock { $0 = left }
    let manager = manager
    Task { await manager.close() }
  }

  func restart() async throws {
    try await stop()
    try await start()
  }

  // MARK: What its user does

  /// The records that the user sees, by entry id.
  func rows() async throws -> [JSONObject] {
    try await allRows().filter { $0[SyncKeys.locallyDeleted]?.bool != true }
  }

  func allRows() async throws -> [JSONObject] {
    try await store.query(
      using: .buildAllQuerySpec(soupName: Self.soup, orderPath: "_soupEntryId", pageSize: 10_000)
    ).compactMap(\.object)
  }

  func create(_ fields: JSONObject) async throws {
    var record = fields
    record["Id"] = .string(manager.createLocalId())
    record["attributes"] = ["type": "Account"]
    try await write(record, SyncKeys.locallyCreated)
  }

  /// Edits a field, as an app should: what it reads and what it writes are of one transaction.
  ///
  /// - Returns: The value that the user saw and replaced.
  func edit(_ row: JSONObject, _ field: String, _ value: JSONValue) async throws -> JSONValue? {
    try await change(row, SyncKeys.locallyUpdated, setting: [field: value])?[field]
  }

  /// - Returns: The record that the user saw and deleted.
  func delete(_ row: JSONObject) async throws -> JSONObject? {
    try await change(row, SyncKeys.locallyDeleted, setting: [:])
  }

  private func change(
    _ row: JSONObject, _ flag: String, setting fields: JSONObject
  ) async throws -> JSONObject? {
    guard let entryId = row["_soupEntryId"]?.int64 else { return nil }
    return try await store.inTransaction { transaction in
      guard
        let found = try transaction.retrieve(
          usingSoupEntryIds: [entryId], fromSoupNamed: Self.soup
        ).first?.value.object
      else { return nil }
      var changed = Self.flagged(found, flag)
      for (key, value) in fields { changed[key] = value }
      try transaction.upsert(entries: [.object(changed)], forSoupNamed: Self.soup)
      return found
    }
  }

  private func write(_ row: JSONObject, _ flag: String) async throws {
    try await store.upsert(
      entries: [.object(Self.flagged(row, flag))], forSoupNamed: Self.soup)
  }

  private static func flagged(_ row: JSONObject, _ flag: String) -> JSONObject {
    var row = row
    for key in [SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted]
    where row[key] == nil { row[key] = false }
    row[SyncKeys.local] = true
    row[flag] = true
    return row
  }

  // MARK: Syncs

  func sync(_ sync: ConvergenceScript.Sync) async throws {
    switch sync {
    case .down: _ = try await manager.reSync(named: "down").finished()
    case .up: _ = try await manager.reSync(named: "up").finished()
    case .ghosts: _ = try await manager.cleanResyncGhosts(forName: "down")
    }
  }
}
