import MobileSync
import SalesforceSDKCommon
import SmartStore
@testable import MobileSyncTests

/// What the user of a device sees and does.
extension ConvergenceDevice {
  /// An entry of one of the soups.
  struct Row: Sendable {
    /// The number of the soup's level.
    let level: Int
    let record: JSONObject

    var entryId: Int64 { record["_soupEntryId"]?.int64 ?? -1 }
    var id: String { record["Id"]?.string ?? "" }
    var isDirty: Bool { record[SyncKeys.local]?.bool == true }
    var isCreated: Bool { record[SyncKeys.locallyCreated]?.bool == true }
    var isDeleted: Bool { record[SyncKeys.locallyDeleted]?.bool == true }
  }

  /// All entries, soup by soup, by entry id.
  func allRows() async throws -> [Row] {
    var rows: [Row] = []
    for (number, level) in world.levels.enumerated() {
      rows += try await store.query(
        using: .buildAllQuerySpec(
          soupName: level.soup, orderPath: "_soupEntryId", pageSize: 10_000)
      ).compactMap(\.object).map { Row(level: number, record: $0) }
    }
    return rows
  }

  /// The entries that the user sees: none that is deleted, alone or with its parent.
  func rows() async throws -> [Row] {
    let rows = try await allRows()
    let deleted = Set(rows.filter(\.isDeleted).map(\.id))
    return rows.filter { row in
      if row.isDeleted { return false }
      guard world.shape == .masterDetail, let lookup = world.levels[row.level].lookup,
        let parent = row.record[lookup]?.string
      else { return true }
      return !deleted.contains(parent)
    }
  }

  /// Creates a record.
  func create(_ fields: JSONObject, at level: Int) async throws {
    var record = fields
    record["Id"] = .string(manager.createLocalId())
    record["attributes"] = ["type": .string(world.levels[level].object)]
    try await write(Self.flagged(record, SyncKeys.locallyCreated), at: level)
  }

  /// Changes fields, as an app should: what it reads and what it writes are of one transaction.
  ///
  /// - Returns: The entry that the user saw.
  func edit(_ row: Row, _ fields: JSONObject) async throws -> JSONObject? {
    try await change(row, SyncKeys.locallyUpdated, setting: fields)
  }

  /// Deletes a record, and with it the children that the org deletes with their parent.
  ///
  /// - Returns: The entries that the user saw, of one moment: the record's first.
  func delete(_ row: Row) async throws -> [JSONObject] {
    let level = world.levels[row.level]
    return try await store.inTransaction { transaction in
      guard
        let found = try transaction.retrieve(
          usingSoupEntryIds: [row.entryId], fromSoupNamed: level.soup
        ).first?.value.object
      else { return [] }
      try transaction.upsert(
        entries: [.object(Self.flagged(found, SyncKeys.locallyDeleted))], forSoupNamed: level.soup)
      guard world.shape == .masterDetail, row.level == 0 else { return [found] }
      let children = world.levels[1]
      return try [found]
        + transaction.query(
          using: .buildExactQuerySpec(
            soupName: children.soup, path: children.lookup ?? "", matchKey: .string(row.id),
            pageSize: 10_000)
        ).compactMap(\.object)
    }
  }

  /// Writes an entry as it is.
  func write(_ record: JSONObject, at level: Int) async throws {
    try await store.upsert(entries: [.object(record)], forSoupNamed: world.levels[level].soup)
  }

  private func change(
    _ row: Row, _ flag: String, setting fields: JSONObject
  ) async throws -> JSONObject? {
    let soup = world.levels[row.level].soup
    return try await store.inTransaction { transaction in
      guard
        let found = try transaction.retrieve(
          usingSoupEntryIds: [row.entryId], fromSoupNamed: soup
        ).first?.value.object
      else { return nil }
      var changed = Self.flagged(found, flag)
      for (key, value) in fields { changed[key] = value }
      try transaction.upsert(entries: [.object(changed)], forSoupNamed: soup)
      return found
    }
  }

  private static func flagged(_ record: JSONObject, _ flag: String) -> JSONObject {
    var record = record
    for key in [SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted]
    where record[key] == nil { record[key] = false }
    record[SyncKeys.local] = true
    record[flag] = true
    return record
  }
}
