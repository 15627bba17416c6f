import MobileSync
import SalesforceSDKCommon
import SmartStore

/// A record with local changes that were not uploaded, compared with the version before them.
struct LocalChange {
  /// One field that differs.
  struct Field {
    let name: String
    /// The value before the changes; nil if it is not known.
    let base: JSONValue?
    let mine: JSONValue
  }

  let soupName: String
  let entryId: Int64
  let recordId: String?
  let action: SyncUpAction
  /// Without a base version, all fields of the entry; for a record to delete, the edited fields.
  let fields: [Field]
  let hasBaseVersion: Bool
  let conflict: SyncConflict?

  /// One change per entry.
  var id: String { "\(soupName)/\(entryId)" }
}

extension SmartStore {
  /// The first records of a soup with local changes, by entry id.
  ///
  /// To find the previous version of each entry, its changes are undone in a transaction that is rolled back.
  func localChanges(
    in soupName: String, limit: Int, idField: String
  ) async throws -> [LocalChange] {
    guard try await indices(forSoupNamed: soupName).contains(where: { $0.path == SyncKeys.local })
    else { return [] }
    let rows = try await query(
      using: .buildSmartQuerySpec(
        smartSql: "SELECT {\(soupName):_soupEntryId} FROM {\(soupName)} WHERE "
          + "\(isDirty(soupName)) ORDER BY {\(soupName):_soupEntryId}", pageSize: limit))
    let ids = rows.compactMap { $0[0]?.int64 }
    let conflicts = Dictionary(
      try await conflicts(in: soupName).map { ($0.entryId, $0) }, uniquingKeysWith: { $1 })
    var changes: [LocalChange] = []
    for entry in try await retrieve(usingSoupEntryIds: ids, fromSoupNamed: soupName) {
      guard let entryId = entry[SmartStore.soupEntryId]?.int64 else { continue }
      let recordId = entry[idField]?.string
      var before: JSONObject?
      if let recordId, conflicts[entryId] == nil {
        before = try await undone(recordId, entryId, in: soupName, idField)
      }
      changes.append(
        LocalChange(
          entry, before, conflicts[entryId], soupName: soupName, entryId: entryId,
          recordId: recordId, idField: idField))
    }
    return changes
  }

  /// The entry as undoing its changes would leave it; nil if they cannot be undone, or if it would be removed.
  private func undone(
    _ recordId: String, _ entryId: Int64, in soupName: String, _ idField: String
  ) async throws -> JSONObject? {
    struct RolledBack: Error { let entry: JSONObject? }
    do {
      try await inTransaction { transaction in
        try transaction.undoEdit(id: recordId, in: soupName, idField: idField)
        let left = try transaction.retrieve(
          usingSoupEntryIds: [entryId], fromSoupNamed: soupName)
        throw RolledBack(entry: left.first?.value.object)
      }
      return nil
    } catch let rolledBack as RolledBack {
      return rolledBack.entry
    } catch let error as SyncError where [.cannotUndo, .recordNotFound].contains(error.code) {
      return nil
    }
  }
}

extension LocalChange {
  fileprivate init(
    _ entry: JSONSlice, _ before: JSONObject?, _ conflict: SyncConflict?, soupName: String,
    entryId: Int64, recordId: String?, idField: String
  ) {
    self.soupName = soupName
    self.entryId = entryId
    self.recordId = recordId
    self.conflict = conflict
    func isSet(_ flag: String) -> Bool {
      guard let value = entry[flag] else { return false }
      return value.bool == true || ["1", "true"].contains(value.string ?? value.description)
    }
    action =
      isSet(SyncKeys.locallyDeleted)
      ? .delete : isSet(SyncKeys.locallyCreated) ? .create : .update
    if let conflict, !conflict.fields.isEmpty {
      hasBaseVersion = true
      fields = conflict.fields.map {
        Field(name: $0.name, base: $0.base, mine: $0.mine ?? .null)
      }
      return
    }
    hasBaseVersion = before != nil
    if before == nil, action == .delete {
      fields = []
      return
    }
    // Fields that the store, sync or the server alone sets.
    let kept: Set<String> = [
      idField, SyncKeys.attributes, SyncKeys.defaultModificationDateField, "SystemModstamp",
      "LastModifiedById", "LastViewedDate", "LastReferencedDate",
    ]
    fields = entry.members.compactMap { key, value in
      guard !kept.contains(key), !key.hasPrefix("__"), !key.hasPrefix("_soup") else { return nil }
      let mine = value.value
      if let before, before[key] == mine { return nil }
      return Field(name: key, base: before?[key], mine: mine)
    }
  }
}
