import SalesforceSDKCommon
import SmartStore

/// The fields that the edit calls have changed in the entries of a soup, and that the server does not have yet, in the
/// soup `syncs_edits`.
///
/// A sync up that sends other fields knows from them that something is left. A field counts as long as the entry has the
/// value that it was given: what replaces the value, such as a download, ends it.
///
/// ```json
/// { "key": "accounts/5", "values": { "Phone": "555-0100" }, "before": { "Phone": "1" }, "kept": true,
///   "sent": { "Name": "Acme" } }
/// ```
struct EditedFields: Sendable {
  let soupName: String

  /// The edits of one entry.
  struct Edits: Sendable {
    /// The values of the fields as they were given last.
    var values: JSONObject = [:]
    /// Their values before the first edit.
    var before: JSONObject = [:]
    /// Whether a sync up has left fields out: downloads do not replace the entry.
    var isKept = false
    /// The values of other fields that the server has accepted since.
    var sent: JSONObject = [:]
    /// The values among ``values`` that were local ids, as the server knows them by now.
    var resolved: JSONObject = [:]

    init() {}

    /// Reads what ``json`` has written.
    init(json: JSONSlice) {
      values = json["values"]?.value.object ?? [:]
      before = json["before"]?.value.object ?? [:]
      isKept = json["kept"]?.bool ?? false
      sent = json["sent"]?.value.object ?? [:]
    }

    /// The edits without ``resolved``, which is looked up.
    var json: JSONObject {
      [
        "values": .object(values), "before": .object(before), "kept": .bool(isKept),
        "sent": .object(sent),
      ]
    }

    /// The fields that an entry still has as they were edited.
    func names(in entry: JSONSlice) -> Set<String> {
      Set(values.keys.filter { isNoted($0, entry[$0]?.value) })
    }

    /// Whether a field has the value that it was given, or the server's id of the record that it was given.
    func isNoted(_ name: String, _ value: JSONValue?) -> Bool {
      [values[name], resolved[name]].contains { noted in
        noted.map { ServerEquality.same(value, $0) } ?? false
      }
    }

    /// A base version with the edited fields that it lacks, as they were before: what was never downloaded is known from
    /// its edit.
    func completing(_ base: JSONObject?, of entry: JSONSlice) -> JSONObject? {
      var completed = base
      for name in names(in: entry) where base?[name] == nil {
        completed = completed ?? [:]
        completed?[name] = before[name]
      }
      return completed
    }
  }

  private func key(_ entryId: Int64) -> String { "\(soupName)/\(entryId)" }
  private static var metadata: MetadataSoup { .edits }

  /// The edits of entries; entries without edits are left out.
  func edits(
    of entryIds: some Sequence<Int64>, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: Edits] {
    guard try Self.haveAny(in: reader) else { return [:] }
    var found: [Int64: Edits] = [:]
    let prefix = soupName.utf8.count + 1
    for (_, json) in try Self.metadata.entries(entryIds.map(key), in: reader) {
      guard let key = json["key"]?.string,
        let entryId = Int64(String(decoding: key.utf8.dropFirst(prefix), as: UTF8.self))
      else { continue }
      found[entryId] = Edits(json: json)
    }
    try resolve(&found, in: reader)
    return found
  }

  /// Finds the server's ids in place of local ones: entries get them when the records are uploaded.
  private func resolve(
    _ edits: inout [Int64: Edits], in reader: borrowing some StoreReading & ~Copyable
  ) throws {
    let local = Set(
      edits.values.flatMap { $0.values.map(\.value) }.compactMap(\.string)
        .filter(SyncKeys.isLocalId))
    if local.isEmpty { return }
    let ids = try LocalIdIndex.serverIds(of: local, in: reader)
    for entryId in edits.keys {
      for (name, value) in edits[entryId]?.values ?? [:] {
        if let id = value.string.flatMap({ ids[$0] }) {
          edits[entryId]?.resolved[name] = .string(id)
        }
      }
    }
  }

  /// Whether any soup has edits: most apps write their entries themselves, and then there is nothing to look up.
  private static func haveAny(
    in reader: borrowing some StoreReading & ~Copyable
  ) throws -> Bool {
    guard reader.soupExists(forName: metadata.name) else { return false }
    return try SyncSoup(soupName: metadata.name, idField: "").newestEntryId(in: reader) > 0
  }

  /// Notes an edit.
  ///
  /// - Parameters:
  ///   - entry: The entry before the edit.
  ///   - isFirst: Whether the entry was as on the server: what is known of former edits ends.
  func note(
    _ changes: [(key: String, value: JSONValue)], of entryId: Int64, before entry: JSONObject,
    isFirst: Bool, in transaction: borrowing StoreTransaction
  ) throws {
    if !transaction.soupExists(forName: Self.metadata.name) {
      try transaction.registerSoup(
        withName: Self.metadata.name, withIndices: Self.metadata.indexes)
    }
    var edits = isFirst ? Edits() : try edits(of: [entryId], in: transaction)[entryId] ?? Edits()
    for (key, value) in changes {
      let before = edits.before[key] ?? entry[key] ?? .null
      edits.before[key] = before
      edits.values[key] = value
      if ServerEquality.same(value, before) {
        edits.before[key] = nil
        edits.values[key] = nil
      }
    }
    try save([entryId: edits], in: transaction)
  }

  /// Takes out what the server has accepted of records whose entries stay unsynced.
  func accept(
    _ records: [SyncUpRecord], in transaction: borrowing StoreTransaction
  ) throws {
    var changed = try edits(of: records.map(\.entryId), in: transaction)
    if changed.isEmpty { return }
    for record in records {
      guard var edits = changed[record.entryId] else { continue }
      for (name, value) in record.values {
        edits.sent[name] = value.value
        if edits.isNoted(name, value.value) {
          edits.values[name] = nil
          edits.before[name] = nil
        }
      }
      edits.isKept = edits.isKept || !record.otherEdits.isEmpty
      changed[record.entryId] = edits
    }
    try save(changed, in: transaction)
  }

  /// Notes that a sync up leaves out what is edited.
  func keep(_ entryIds: [Int64], in transaction: borrowing StoreTransaction) throws {
    var changed = try edits(of: entryIds, in: transaction)
    for entryId in changed.keys { changed[entryId]?.isKept = true }
    try save(changed, in: transaction)
  }

  /// Ends the edits of entries that are as on the server, or gone.
  func forget(
    _ entryIds: some Sequence<Int64>, in transaction: borrowing StoreTransaction
  ) throws {
    guard try Self.haveAny(in: transaction) else { return }
    try Self.metadata.remove(entryIds.map(key), in: transaction)
  }

  /// Adds the edits of entries that became one with another to those of that entry.
  func move(
    from removed: [Int64], to survivor: Int64, in transaction: borrowing StoreTransaction
  ) throws {
    let all = try edits(of: removed + [survivor], in: transaction)
    guard all.contains(where: { $0.key != survivor }) else { return }
    var united = Edits()
    for (_, edits) in all.sorted(by: { $0.key < $1.key }) {
      for (name, value) in edits.values where united.values[name] == nil {
        united.values[name] = value
        united.before[name] = edits.before[name]
      }
      united.isKept = united.isKept || edits.isKept
    }
    try forget(removed, in: transaction)
    try save([survivor: united], in: transaction)
  }

  /// Replaces what is noted of entries; edits without values end.
  func save(
    _ edits: [Int64: Edits], in transaction: borrowing StoreTransaction
  ) throws {
    let ended = edits.filter(\.value.values.isEmpty).map(\.key)
    if !ended.isEmpty { try Self.metadata.remove(ended.map(key), in: transaction) }
    let kept = edits.filter { !$0.value.values.isEmpty }
    if kept.isEmpty { return }
    try transaction.upsert(
      entries: kept.map { entryId, edits in
        var json = edits.json
        json["key"] = .string(key(entryId))
        return .object(json)
      }, forSoupNamed: Self.metadata.name, withExternalIdPath: "key")
  }
}
