import SalesforceSDKCommon
public import SmartStore

/// The ids of records that the server does not have, wherever entries refer to them: the local ids of records that were
/// created locally, and the former ids of lost records, which the server has deleted and which are to be created again.
///
/// Fields that refer to records are recognized by their names, as the platform gives them: they end in `Id`, or
/// in `__c` if they are custom fields. A text in another field is never mistaken for a reference. A record's own id in
/// one of its fields is a reference to itself, which is sent once the server has given it an id.
enum LocalIdIndex {
  private static let mark = Array("\"\(SyncKeys.localIdPrefix)".utf8)

  /// The ids that count as references.
  enum Wanted: Sendable {
    /// Local ids, and the former ids of these lost records.
    case unsent(lost: Set<String> = [])
    /// Every text that has the form of a local id or of one of the server's.
    case all

    fileprivate var isOnlyLocal: Bool {
      if case .unsent(let lost) = self { lost.isEmpty } else { false }
    }

    fileprivate func contains(_ text: String) -> Bool {
      switch self {
      case .unsent(let lost): SyncKeys.isLocalId(text) || lost.contains(text)
      case .all: SyncKeys.isLocalId(text) || [15, 18].contains(text.utf8.count)
      }
    }
  }

  /// The ids in an entry that are whole texts, at any depth, without the id field.
  ///
  /// Costs one look at the bytes for an entry without any, as long as no record is lost.
  static func references(
    in entry: JSONSlice, idField: String, _ wanted: Wanted = .unsent()
  ) -> Set<String> {
    guard !wanted.isOnlyLocal || mayRefer(entry) else { return [] }
    var found: Set<String> = []
    for (key, value) in entry.members where key != idField { collect(key, value, wanted, &found) }
    return found
  }

  /// Whether one of `ids`, as ``references(in:idField:_:)`` finds them, stands in a field.
  static func refers(_ field: (name: String, value: JSONSlice), to ids: Set<String>) -> Bool {
    var found: Set<String> = []
    collect(field.name, field.value, .unsent(lost: ids), &found)
    return !found.isDisjoint(with: ids)
  }

  /// Whether a field holds what has the form of an id.
  static func isReference(_ field: (name: String, value: JSONSlice)) -> Bool {
    var found: Set<String> = []
    collect(field.name, field.value, .all, &found)
    return !found.isEmpty
  }

  private static func collect(
    _ key: String, _ value: JSONSlice, _ wanted: Wanted, _ found: inout Set<String>
  ) {
    if SyncKeys.neverSent.contains(key) { return }
    switch value.kind {
    case .string:
      guard isReference(key), let text = value.string, wanted.contains(text) else { return }
      found.insert(text)
    case .array: for element in value.elements { collect(key, element, wanted, &found) }
    case .object: for (key, member) in value.members { collect(key, member, wanted, &found) }
    default: break
    }
  }

  private static func isReference(_ key: String) -> Bool {
    key.hasSuffix("Id") || key.hasSuffix("__c")
  }

  private static func mayRefer(_ entry: JSONSlice) -> Bool {
    entry.withUTF8 { bytes in
      guard bytes.count >= mark.count else { return false }
      var found = 0
      for start in 0...(bytes.count - mark.count) where bytes[start] == mark[0] {
        if (1..<mark.count).allSatisfy({ bytes[start + $0] == mark[$0] }) { found += 1 }
      }
      // The entry's own id may be one of them; a second look tells.
      return found > 0
    }
  }

  /// Returns the entry with the given ids in place of those that the server does not have; nil if
  /// it refers to none of them.
  ///
  /// - Parameter base: The base version. A member that is equal in it does not change: if the
  ///   server has changed a reference to a record that it has deleted, the next download brings the
  ///   change.
  static func rewritten(
    _ entry: JSONSlice, idField: String, with ids: [String: String], except base: JSONObject? = nil
  ) throws -> JSONSlice? {
    guard mayRefer(entry) || !ids.keys.allSatisfy(SyncKeys.isLocalId) else { return nil }
    var members: [(key: String, value: JSONValue)] = []
    for (key, value) in entry.members where key != idField {
      if let base, base[key] == value.value { continue }
      var isChanged = false
      let changed = replaced(key, value.value, ids, &isChanged)
      if isChanged { members.append((key, changed)) }
    }
    return members.isEmpty ? nil : try entry.setting(members)
  }

  private static func replaced(
    _ key: String, _ value: JSONValue, _ ids: [String: String], _ isChanged: inout Bool
  ) -> JSONValue {
    if SyncKeys.neverSent.contains(key) { return value }
    switch value {
    case .string(let text):
      guard isReference(key), let id = ids[text] else { return value }
      isChanged = true
      return .string(id)
    case .array(let elements):
      return .array(elements.map { replaced(key, $0, ids, &isChanged) })
    case .object(let members):
      return .object(
        JSONObject(
          members.map { (key: $0.key, value: replaced($0.key, $0.value, ids, &isChanged)) }))
    default: return value
    }
  }

  /// Replaces the former ids of a soup's records with the server's ids in all unsynced entries of
  /// the store. Reads all unsynced entries.
  ///
  /// A reference to a lost record that was not set here stays, as ``rewritten(_:idField:with:except:)`` says.
  static func follow(
    _ ids: [String: String], ofSoup soupName: String, idField: String,
    in transaction: borrowing StoreTransaction
  ) throws {
    if ids.isEmpty { return }
    for soup in transaction.allSoupNames() where !MetadataSoup.isOwn(soup) {
      guard
        try transaction.indices(forSoupNamed: soup).contains(where: { $0.path == SyncKeys.local })
      else { continue }
      let records = SyncSoup(soupName: soup, idField: SyncKeys.soupEntryId)
      let entries = try transaction.entries(
        try records.dirty(in: transaction).map(\.entryId), of: soup)
      let idField = soup == soupName ? idField : SyncKeys.defaultIdField
      try rewrite(entries.map(\.record), of: soup, idField: idField, with: ids, in: transaction)
    }
  }

  /// Replaces ids with the server's ids in entries of a soup.
  static func rewrite(
    _ entries: [JSONSlice], of soupName: String, idField: String, with ids: [String: String],
    in transaction: borrowing StoreTransaction
  ) throws {
    let bases =
      ids.keys.allSatisfy(SyncKeys.isLocalId)
      ? [:]
      : try BaseVersionStore(soupName: soupName).bases(
        of: entries.compactMap { $0[idField]?.string }, in: transaction)
    let changed = try entries.compactMap { entry in
      try rewritten(
        entry, idField: idField, with: ids, except: entry[idField]?.string.flatMap { bases[$0] })
    }
    if !changed.isEmpty { try transaction.upsert(slices: changed, soup: soupName) }
  }

  // MARK: What became of them

  /// Stores the server's ids of locally created records, by local id.
  static func save(
    _ ids: [String: String], in transaction: borrowing StoreTransaction
  ) throws {
    if ids.isEmpty { return }
    try transaction.upsert(
      entries: ids.map { .object(["key": .string($0.key), "id": .string($0.value)]) },
      forSoupNamed: MetadataSoup.ids.name, withExternalIdPath: "key")
  }

  /// The server's ids of those among `localIds` that were uploaded.
  static func serverIds(
    of localIds: some Sequence<String>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [String: String] {
    var ids: [String: String] = [:]
    for (_, entry) in try MetadataSoup.ids.entries(localIds, in: reader) {
      if let key = entry["key"]?.string, let id = entry["id"]?.string { ids[key] = id }
    }
    return ids
  }
}

extension LocalIdIndex {
  /// Those among the server's `ids` that it gave to records which were created locally.
  static func createdLocally(
    among ids: [String], in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Set<String> {
    let name = MetadataSoup.ids.name
    let rows = try reader.rows(among: ids) { list in
      "SELECT {\(name):id} FROM {\(name)} WHERE {\(name):id} IN \(list)"
    }
    return Set(rows.compactMap { $0[0]?.string })
  }
}

extension SmartStore {
  /// Returns the server's id of a record that was created locally with `localId`; nil if it is not
  /// uploaded yet.
  ///
  /// Sync replaces the local id only in dirty entries. For other references, such as in soups
  /// without a sync, call this function.
  ///
  /// - Throws: ``SyncError`` `store`.
  public func serverId(ofLocalId localId: String) async throws -> String? {
    try await SyncManager.storeErrors {
      try await read { reader in
        guard reader.soupExists(forName: MetadataSoup.ids.name) else { return nil }
        return try LocalIdIndex.serverIds(of: [localId], in: reader)[localId]
      }
    }
  }
}

extension StoreReading where Self: ~Copyable {
  /// The id that the server gave to a record that was created locally under `localId`; nil if it was not uploaded yet.
  ///
  /// As ``SmartStore/serverId(ofLocalId:)``, in the same snapshot or transaction as other reads.
  public borrowing func serverId(ofLocalId localId: String) throws -> String? {
    guard soupExists(forName: MetadataSoup.ids.name) else { return nil }
    return try LocalIdIndex.serverIds(of: [localId], in: self)[localId]
  }
}
