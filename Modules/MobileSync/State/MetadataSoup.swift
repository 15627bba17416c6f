import SalesforceSDKCommon
import SmartStore

/// A soup of sync's own that keeps metadata about the records of other soups, each under a key.
struct MetadataSoup: Sendable {
  let name: String
  let indexes: [SoupIndex]

  /// The base version of each record, by soup and record id.
  static let bases = MetadataSoup(
    name: "syncs_bases", indexes: [SoupIndex(path: "key", type: .string)])
  /// Open conflicts, by soup and entry id.
  static let conflicts = MetadataSoup(
    name: "syncs_conflicts",
    indexes: [
      SoupIndex(path: "key", type: .string), SoupIndex(path: "soupName", type: .string),
    ])

  /// The server's ids of records that were created locally, by local id.
  static let ids = MetadataSoup(
    name: "syncs_ids",
    indexes: [SoupIndex(path: "key", type: .string), SoupIndex(path: "id", type: .string)])

  /// Syncs that have downloaded a record besides the one that the record names.
  static let owners = MetadataSoup(
    name: "syncs_owners",
    indexes: [
      SoupIndex(path: "key", type: .string), SoupIndex(path: "syncId", type: .integer),
      SoupIndex(path: "record", type: .string),
    ])

  /// Records that a sync down skipped, by sync, soup and record id.
  static let skipped = MetadataSoup(
    name: "syncs_skipped",
    indexes: [SoupIndex(path: "key", type: .string), SoupIndex(path: "syncId", type: .integer)])

  /// The fields that the edit calls have changed, by soup and entry id.
  static let edits = MetadataSoup(
    name: "syncs_edits", indexes: [SoupIndex(path: "key", type: .string)])

  /// Entries of rescue bundles that were imported, by bundle, soup and entry id.
  static let rescued = MetadataSoup(
    name: "syncs_rescued", indexes: [SoupIndex(path: "key", type: .string)])

  /// Whether a soup is one of sync's own.
  static func isOwn(_ name: String) -> Bool {
    name == SyncStateStore.soupName || name == OutcomeStore.soupName
      || [bases, conflicts, edits, ids, owners, skipped, rescued].contains { $0.name == name }
  }

  /// Makes sure that the soup exists, with all its indexes.
  func prepare(_ store: SmartStore) async throws {
    if try await !store.soupExists(forName: name) {
      try await store.registerSoup(withName: name, withIndices: indexes)
    } else if try await store.indices(forSoupNamed: name).count < indexes.count {
      try await store.alterSoup(named: name, indexSpecs: indexes, reIndexData: true)
    }
  }

  /// The entries under `keys`, in no order.
  func entries(
    _ keys: some Sequence<String>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(id: Int64, record: JSONSlice)] {
    let rows = try reader.rows(among: keys) { list in
      "SELECT {\(name):_soupEntryId} FROM {\(name)} WHERE {\(name):key} IN \(list)"
    }
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: name)
  }

  /// Removes what is under `keys`.
  func remove(
    _ keys: some Sequence<String>, in transaction: borrowing StoreTransaction
  ) throws {
    let found = try entries(keys, in: transaction)
    if found.isEmpty { return }
    try transaction.remove(entryIds: found.map(\.id), forSoupNamed: name)
  }
}
