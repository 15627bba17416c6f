import SalesforceSDKCommon
public import SmartStore

/// The ids that records were made under here, wherever rows refer to them.
///
/// Fields that refer to records are recognized by their names, as the platform gives them: they end in `Id`, or
/// in `__c` if they are custom fields. A text in another field is never taken for a reference. A record's own id in
/// one of its fields is a reference to itself, which is sent once the server has given it an id.
enum LocalIdIndex {
  private static let mark = Array("\"\(SyncKeys.localIdPrefix)".utf8)

  /// The local ids that stand in a row as whole texts, at any depth, the id field left out.
  ///
  /// Costs one look at the bytes for a row without any.
  static func references(in row: JSONSlice, idField: String) -> Set<String> {
    guard mayRefer(row) else { return [] }
    var found: Set<String> = []
    for (key, value) in row.members where key != idField { collect(key, value, &found) }
    return found
  }

  /// The local ids that stand in a field.
  static func references(in field: (name: String, value: JSONSlice)) -> Set<String> {
    var found: Set<String> = []
    collect(field.name, field.value, &found)
    return found
  }

  private static func collect(_ key: String, _ value: JSONSlice, _ found: inout Set<String>) {
    if SyncKeys.neverSent.contains(key) { return }
    switch value.kind {
    case .string:
      guard isReference(key), let text = value.string, SyncKeys.isLocalId(text) else { return }
      found.insert(text)
    case .array: for element in value.elements { collect(key, element, &found) }
    case .object: for (key, member) in value.members { collect(key, member, &found) }
    default: break
    }
  }

  private static func isReference(_ key: String) -> Bool {
    key.hasSuffix("Id") || key.hasSuffix("__c")
  }

  private static func mayRefer(_ row: JSONSlice) -> Bool {
    row.withUTF8 { bytes in
      guard bytes.count >= mark.count else { return false }
      var found = 0
      for start in 0...(bytes.count - mark.count) where bytes[start] == mark[0] {
        if (1..<mark.count).allSatisfy({ bytes[start + $0] == mark[$0] }) { found += 1 }
      }
      // The row's own id may be one of them; a second look tells.
      return found > 0
    }
  }

  /// The row with other ids in the places of local ones; nil if it refers to none of them.
  static func rewritten(
    _ row: JSONSlice, idField: String, with ids: [String: String]
  ) throws -> JSONSlice? {
    guard mayRefer(row) else { return nil }
    var members: [(key: String, value: JSONValue)] = []
    for (key, value) in row.members where key != idField {
      var isChanged = false
      let changed = replaced(key, value.value, ids, &isChanged)
      if isChanged { members.append((key, changed)) }
    }
    return members.isEmpty ? nil : try row.setting(members)
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

  // MARK: What became of them

  /// Remembers the server's ids of records that were created locally, by local id.
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
  /// The id that the server gave to a record that was created locally under `localId`; nil if it was not
  /// uploaded yet.
  ///
  /// Rows that refer to it by its local id are rewritten by sync: dirty ones at once, others never.
  /// Soups of an app's own can look here.
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
