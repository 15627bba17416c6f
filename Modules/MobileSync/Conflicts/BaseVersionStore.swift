import SalesforceSDKCommon
import SmartStore

/// The base versions of the records of a soup, in the soup `syncs_bases`.
///
/// Base versions are kept from the moment in which records are downloaded or accepted by the server, not from
/// the first edit: a writer to a soup, with any call and in any process, finds the base version in
/// place. They are kept for soups that a sync in mode ``SyncMergeMode/mergeFields`` or
/// ``SyncMergeMode/leaveIfChanged`` works on, and for no other.
///
/// ```json
/// { "key": "accounts/001…", "base": { "Name": "…", "__uploaded__": { "Name": "…" } } }
/// ```
///
/// `__uploaded__` has what the server has accepted since the last download, if anything (``SyncKeys/uploaded``).
struct BaseVersionStore: Sendable {
  let soupName: String

  private func key(_ id: String) -> String { "\(soupName)/\(id)" }

  /// Returns the base versions of the records with these ids; records without a base version are
  /// omitted.
  func bases(
    of ids: some Sequence<String>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [String: JSONObject] {
    var bases: [String: JSONObject] = [:]
    let prefix = soupName.utf8.count + 1
    for (_, entry) in try MetadataSoup.bases.entries(ids.map(key), in: reader) {
      guard let key = entry["key"]?.string, let base = entry["base"]?.value.object else { continue }
      bases[String(decoding: key.utf8.dropFirst(prefix), as: UTF8.self)] = base
    }
    return bases
  }

  /// Stores records as they came from the server.
  func save(
    _ records: [(id: String, base: JSONSlice)], in transaction: borrowing StoreTransaction
  ) throws {
    if records.isEmpty { return }
    let entries = try records.map { id, base in
      var writer = JSONWriter(capacity: base.utf8.count + 64)
      writer.beginObject()
      writer.key("key")
      writer.string(key(id))
      writer.key("base")
      writer.raw(base)
      writer.endObject()
      return try JSONSlice(parsing: writer.bytes)
    }
    try transaction.upsert(slices: entries, soup: MetadataSoup.bases.name, externalIdPath: "key")
  }

  /// Stores merged base versions.
  func save(
    _ bases: [String: JSONObject], in transaction: borrowing StoreTransaction
  ) throws {
    if bases.isEmpty { return }
    try transaction.upsert(
      entries: bases.map { id, base in
        .object(["key": .string(key(id)), "base": .object(base)])
      },
      forSoupNamed: MetadataSoup.bases.name, withExternalIdPath: "key")
  }

  /// Removes the base versions of records that no longer exist.
  func remove(_ ids: some Sequence<String>, in transaction: borrowing StoreTransaction) throws {
    try MetadataSoup.bases.remove(ids.map(key), in: transaction)
  }

  /// Removes the base versions of all records of the soup.
  func removeAll(in store: SmartStore) async throws {
    let name = MetadataSoup.bases.name
    // Behind "/" comes "0". Another soup's name may begin like this one's keys; an id has no "/".
    let query = try QuerySpec.buildSmartQuerySpec(
      smartSql: "SELECT {\(name):_soupEntryId} AS id FROM {\(name)} WHERE {\(name):key} >= ? "
        + "AND {\(name):key} < ? AND instr(substr({\(name):key}, ?), '/') = 0",
      // Of a query of entries to remove, one page is removed.
      pageSize: Int(Int32.max))
    try await store.inTransaction(durability: .normal) { transaction in
      try transaction.removeEntries(
        usingQuerySpec: query, forSoupNamed: name,
        whereArgs: [
          .string("\(soupName)/"), .string("\(soupName)0"),
          .integer(Int64(soupName.unicodeScalars.count + 2)),
        ])
    }
  }

  /// The key of the entry that says that base versions are kept since; no id is empty.
  private var sinceKey: String { key("") }

  /// Stores clean entries as base versions, for a soup that was synced before base versions were
  /// kept. Unsynced entries without a base version stay without. This is recorded once it is done,
  /// and then costs one query.
  func adoptCleanEntries(_ records: SyncSoup, in store: SmartStore) async throws {
    let isDone = try await store.read { reader in
      try !MetadataSoup.bases.entries([sinceKey], in: reader).isEmpty
    }
    if isDone { return }
    try await keepCleanEntries(records, in: store)
    try await store.inTransaction(durability: .normal) { transaction in
      try transaction.upsert(
        entries: [.object(["key": .string(sinceKey)])], forSoupNamed: MetadataSoup.bases.name,
        withExternalIdPath: "key")
    }
  }

  private func keepCleanEntries(_ records: SyncSoup, in store: SmartStore) async throws {
    var after: Int64 = -1
    while true {
      let start = after
      let last = try await store.inTransaction(durability: .normal) { transaction -> Int64? in
        let found = try records.cleanEntries(after: start, in: transaction)
        let clean = found.compactMap { _, entry in
          entry[records.idField]?.string.map { (id: $0, base: entry) }
        }
        let known = try bases(of: clean.map(\.id), in: transaction)
        try save(clean.filter { known[$0.id] == nil }, in: transaction)
        return found.last?.id
      }
      guard let last else { return }
      after = last
    }
  }
}

extension SyncSoup {
  /// Begins to keep base versions, if the soup can be synced up and has none yet.
  func adoptBases(in store: SmartStore) async throws {
    guard try await store.soupExists(forName: soupName),
      try await indexedPaths(in: store).contains(SyncKeys.local)
    else { return }
    try await BaseVersionStore(soupName: soupName).adoptCleanEntries(self, in: store)
  }
}
