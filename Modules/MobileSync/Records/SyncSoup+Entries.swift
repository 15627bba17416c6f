import SalesforceSDKCommon
import SmartStore

// Finds the entries of a soup by their flags, as a sync needs them.
//
// Flags are compared in every form that an index may hold: SQLite's column of a string index has
// '1', of an integer index 1, a json1 expression 1, and applications have written "true" too.
extension SyncSoup {
  /// A soup of which only the id field matters.
  init(soupName: String, idField: String) {
    self.init(soupName: soupName, names: SyncFieldNames(id: idField))
  }

  /// The field that holds a record's id.
  var idField: String { names.id }

  /// A dirty record, without its text.
  struct Dirty: Sendable {
    let entryId: Int64
    /// The id field's value; nil if the record has none.
    let id: String?
    let lastModified: Int64
  }

  private static let trueForms = "('1', 1, 'true')"
  private static let falseForms = "('0', 0, 'false')"

  /// The condition that a record is dirty.
  var isDirty: String { "\(column(SyncKeys.local)) IN \(Self.trueForms)" }

  private var isClean: String { "\(column(SyncKeys.local)) IN \(Self.falseForms)" }
  /// The same of records that are found by something else: the plus keeps SQLite from walking through all
  /// clean records instead.
  private var isFoundClean: String { "+\(isClean)" }

  private func column(_ path: String) -> String { "{\(soupName):\(path)}" }
  private var source: String { "{\(soupName)}" }

  /// Checks what a sync needs of the soup before the first request to the server.
  ///
  /// - Throws: ``SyncError`` `store`, with the store's error as cause, if the soup is unknown or
  ///   `paths` are not indexed.
  func check(in store: SmartStore, indexed paths: [String]) async throws {
    let indexed = try await indexedPaths(in: store)
    for path in paths where !indexed.contains(path) {
      throw SyncError(
        .store,
        "The soup '\(soupName)' does not have an index on '\(path)', which a sync needs. Register or "
          + "alter the soup with that index.")
    }
  }

  /// The indexed paths of the soup.
  func indexedPaths(in store: SmartStore) async throws -> Set<String> {
    Set(try await store.indices(forSoupNamed: soupName).map(\.path))
  }

  // MARK: Dirty records

  /// The entry ids of dirty records, ascending.
  ///
  /// Read in pages, each of them in a snapshot of its own: a record that becomes dirty in between
  /// may or may not be among them.
  func dirtyEntryIds(in store: SmartStore) async throws -> [Int64] {
    var ids: [Int64] = []
    while true {
      let after = ids.last ?? -1
      let page = try await store.read { reader in
        try reader.rows(
          "SELECT \(column(SyncKeys.soupEntryId)) FROM \(source) "
            + "WHERE \(isDirty) "
            + "AND \(column(SyncKeys.soupEntryId)) > ? "
            + "ORDER BY \(column(SyncKeys.soupEntryId))",
          [.integer(after)], limit: SyncLimits.idsPerPage)
      }
      ids += page.compactMap { $0[0]?.int64 }
      if page.count < SyncLimits.idsPerPage { return ids }
    }
  }

  /// Passes every dirty record to a closure, by ascending entry id, page by page.
  func forEachDirty(
    in store: SmartStore, _ body: (Int64, JSONSlice) throws -> Void
  ) async throws {
    let ids = try await dirtyEntryIds(in: store)
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let entries = try await store.read { reader in try reader.entries(slice, of: soupName) }
      for (id, record) in entries { try body(id, record) }
    }
  }

  /// The number of dirty records.
  func dirtyCount(in store: SmartStore) async throws -> Int {
    try await store.read { reader in
      let rows = try reader.rows(
        "SELECT count(*) FROM \(source) WHERE \(isDirty)", [],
        limit: 1)
      return rows.first?[0]?.int64.map(Int.init(clamping:)) ?? 0
    }
  }

  /// All dirty records, as this snapshot has them.
  func dirty(in reader: borrowing some StoreReading & ~Copyable) throws -> [Dirty] {
    var found: [Dirty] = []
    while true {
      let page = try reader.rows(
        "SELECT \(column(SyncKeys.soupEntryId)), \(column(idField)), "
          + "\(column(SyncKeys.soupLastModified)) FROM \(source) "
          + "WHERE \(isDirty) "
          + "AND \(column(SyncKeys.soupEntryId)) > ? "
          + "ORDER BY \(column(SyncKeys.soupEntryId))",
        [.integer(found.last?.entryId ?? -1)], limit: SyncLimits.idsPerPage)
      found += page.compactMap(Self.dirty)
      if page.count < SyncLimits.idsPerPage { return found }
    }
  }

  /// The dirty records whose `field` has one of `values`, as this snapshot has them, with that value
  /// as their id.
  ///
  /// Costs one query if nothing is dirty, else one for every ``SyncLimits/recordsPerRead`` ids,
  /// however many records are dirty.
  func dirty(
    with field: String, among ids: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Dirty] {
    let any = try reader.rows(
      "SELECT \(column(SyncKeys.soupEntryId)) FROM \(source) "
        + "WHERE \(isDirty)", [], limit: 1)
    if any.isEmpty { return [] }
    // The plus keeps SQLite from walking through all dirty records instead of looking up the ids.
    return try reader.rows(among: ids) { list in
      "SELECT \(column(SyncKeys.soupEntryId)), \(column(field)), "
        + "\(column(SyncKeys.soupLastModified)) FROM \(source) "
        + "WHERE \(column(field)) IN \(list) "
        + "AND +\(column(SyncKeys.local)) IN \(Self.trueForms)"
    }.compactMap(Self.dirty)
  }

  private static func dirty(_ row: JSONValue) -> Dirty? {
    row[0]?.int64.map { entryId in
      Dirty(entryId: entryId, id: row[1]?.string, lastModified: row[2]?.int64 ?? -1)
    }
  }

  /// The number of dirty records in each soup of a store. Soups without an index on `__local__`
  /// cannot be synced up and are skipped; soups with nothing to send are left out.
  static func dirtyCounts(in store: SmartStore) async throws -> [String: Int] {
    var counts: [String: Int] = [:]
    for soup in try await store.allSoupNames() {
      let records = SyncSoup(soupName: soup, idField: SyncKeys.defaultIdField)
      guard try await records.indexedPaths(in: store).contains(SyncKeys.local) else { continue }
      let count = try await records.dirtyCount(in: store)
      if count > 0 { counts[soup] = count }
    }
    return counts
  }

  /// The entry id of the newest entry; 0 if there is none.
  func newestEntryId(in reader: borrowing some StoreReading & ~Copyable) throws -> Int64 {
    try firstEntryId("DESC", in: reader)
  }

  /// The entry id of the oldest entry; 0 if there is none.
  func oldestEntryId(in reader: borrowing some StoreReading & ~Copyable) throws -> Int64 {
    try firstEntryId("ASC", in: reader)
  }

  private func firstEntryId(
    _ order: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Int64 {
    let rows = try reader.rows(
      "SELECT \(column(SyncKeys.soupEntryId)) FROM \(source) "
        + "ORDER BY \(column(SyncKeys.soupEntryId)) \(order)", [], limit: 1)
    return rows.first?[0]?.int64 ?? 0
  }

  // MARK: Clean records

  /// The ids of clean records.
  ///
  /// Read from the indexes alone: a walk through the records would fill the page cache with all of them.
  /// Each page is a snapshot of its own: a record that becomes dirty in between may or may not be among
  /// them.
  ///
  /// - Parameter syncId: Only records that this sync brought, if given.
  func cleanIds(in store: SmartStore, syncId: Int64?) async throws -> [String] {
    let entryId = column(SyncKeys.soupEntryId)
    let others = try await store.read { reader in
      Set(
        try reader.rows(
          "SELECT \(entryId) FROM \(source) WHERE (\(isClean)) IS NOT 1", [], limit: nil
        ).compactMap { $0[0]?.int64 })
    }
    var own: Set<Int64>?
    if let syncId { own = try await entryIds(broughtBy: syncId, in: store) }
    var ids: [String] = []
    var after: (id: String, entryId: Int64) = ("", -1)
    while true {
      let start = after
      let page = try await store.read { reader in
        try reader.rows(
          "SELECT \(column(idField)), \(entryId) FROM \(source) "
            + "WHERE (\(column(idField)), \(entryId)) > (?, ?) ORDER BY \(column(idField)), \(entryId)",
          [.string(start.id), .integer(start.entryId)], limit: SyncLimits.idsPerPage)
      }
      for row in page {
        guard let id = row[0]?.string, let entryId = row[1]?.int64 else { continue }
        after = (id, entryId)
        if !others.contains(entryId), own?.contains(entryId) ?? true { ids.append(id) }
      }
      if page.count < SyncLimits.idsPerPage { return ids }
    }
  }

  /// The number of records that are assumed to exist on the server: all except locally created
  /// ones.
  func serverIdCount(in store: SmartStore) async throws -> Int {
    let prefix = SyncKeys.localIdPrefix
    // Both walk through the index alone.
    return try await idCount("> ''", [], in: store)
      - idCount(
        "BETWEEN ? AND ?", [.string(prefix), .string(prefix + "\u{7F}")], in: store)
  }

  /// The number of ids that meet a condition.
  private func idCount(
    _ condition: String, _ values: [JSONValue], in store: SmartStore
  ) async throws -> Int {
    let id = column(idField)
    let rows = try await store.read { reader in
      try reader.rows(
        "SELECT count(DISTINCT \(id)) FROM \(source) WHERE \(id) \(condition)", values, limit: 1)
    }
    return rows.first?[0]?.int64.map(Int.init(clamping:)) ?? 0
  }

  /// The entry ids of the records that name a sync.
  private func entryIds(broughtBy syncId: Int64, in store: SmartStore) async throws -> Set<Int64> {
    var ids: Set<Int64> = []
    var after: Int64 = -1
    while true {
      let start = after
      let page = try await store.read { reader in
        try reader.rows(
          "SELECT \(column(SyncKeys.soupEntryId)) FROM \(source) "
            + "WHERE \(column(SyncKeys.syncId)) = \(syncId) AND \(column(SyncKeys.soupEntryId)) > ? "
            + "ORDER BY \(column(SyncKeys.soupEntryId))",
          [.integer(start)], limit: SyncLimits.idsPerPage
        ).compactMap { $0[0]?.int64 }
      }
      ids.formUnion(page)
      guard page.count == SyncLimits.idsPerPage, let last = page.last else { return ids }
      after = last
    }
  }

  /// The next clean records after an entry id, at most ``SyncLimits/recordsPerRead``.
  func cleanEntries(
    after entryId: Int64, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(id: Int64, record: JSONSlice)] {
    let rows = try reader.rows(
      "SELECT \(column(SyncKeys.soupEntryId)) FROM \(source) WHERE \(isFoundClean) "
        + "AND \(column(SyncKeys.soupEntryId)) > ? ORDER BY \(column(SyncKeys.soupEntryId))",
      [.integer(entryId)], limit: SyncLimits.recordsPerRead)
    return try reader.entries(rows.compactMap { $0[0]?.int64 }, of: soupName)
  }

  /// Removes those records that are among `ids` and still clean, with their base versions and
  /// conflicts.
  ///
  /// - Returns: The number of removed records.
  func removeClean(
    ids: ArraySlice<String>, in transaction: borrowing StoreTransaction
  ) throws -> Int {
    let rows = try transaction.rows(among: ids) { list in
      "SELECT \(column(SyncKeys.soupEntryId)), \(column(idField)) FROM \(source) "
        + "WHERE \(column(idField)) IN \(list) AND \(isFoundClean)"
    }
    let entryIds = rows.compactMap { $0[0]?.int64 }
    try transaction.remove(entryIds: entryIds, forSoupNamed: soupName)
    try BaseVersionStore(soupName: soupName).remove(
      rows.compactMap { $0[1]?.string }, in: transaction)
    // One without edits is in conflict if its tree is.
    try ConflictStore.remove(entryIds, of: soupName, in: transaction)
    return entryIds.count
  }

  /// The records among `ids` that are still clean, each with the sync that it names.
  func cleanOwned(
    ids: ArraySlice<String>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(entryId: Int64, id: String, syncId: Int64?)] {
    try reader.rows(among: ids) { list in
      "SELECT \(column(SyncKeys.soupEntryId)), \(column(idField)), \(column(SyncKeys.syncId)) "
        + "FROM \(source) WHERE \(column(idField)) IN \(list) AND \(isFoundClean)"
    }.compactMap { row in
      guard let entryId = row[0]?.int64, let id = row[1]?.string else { return nil }
      return (entryId, id, row[2]?.int64)
    }
  }

  /// The syncs that the records with one of `ids` name, where it is another than `syncId`.
  func otherOwners(
    of ids: [String], than syncId: Int64, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [(id: String, syncId: Int64)] {
    try reader.rows(among: ids) { list in
      "SELECT \(column(idField)), \(column(SyncKeys.syncId)) FROM \(source) "
        + "WHERE \(column(idField)) IN \(list) AND +\(column(SyncKeys.syncId)) != \(syncId)"
    }.compactMap { row in
      guard let id = row[0]?.string, let syncId = row[1]?.int64 else { return nil }
      return (id, syncId)
    }
  }

  /// The entry ids of the records that have one of `ids`.
  func entryIds(
    of ids: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [String: Int64] {
    let rows = try reader.rows(among: ids) { list in
      "SELECT \(column(idField)), \(column(SyncKeys.soupEntryId)) FROM \(source) "
        + "WHERE \(column(idField)) IN \(list)"
    }
    var entryIds: [String: Int64] = [:]
    for row in rows {
      if let id = row[0]?.string, let entryId = row[1]?.int64 { entryIds[id] = entryId }
    }
    return entryIds
  }

  /// The ids of parents that dirty records belong to, as this snapshot has them.
  ///
  /// - Parameter field: The field that holds a parent's id.
  func parentsOfDirty(
    by field: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<String> {
    let rows = try reader.rows(
      "SELECT DISTINCT \(column(field)) FROM \(source) "
        + "WHERE \(isDirty)", [], limit: nil)
    return Set(rows.compactMap { $0[0]?.string })
  }
}
