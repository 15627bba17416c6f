import SalesforceSDKCommon
import SmartStore

/// Fetches the server's versions of the records that are to be changed or deleted, and merges them
/// into their entries, in mode ``SyncMergeMode/mergeFields``.
///
/// The values are compared, not the dates: two changes within the second of a date differ too.
///
/// With a target that cannot fetch records only deletions are decided on; what was edited locally
/// and changed there is left for the next sync down.
struct MergeFieldsDetection: Sendable {
  let scope: SyncUpScope
  let merge: ConflictMerge

  /// Compares and merges entries.
  func compare(
    _ input: ConflictDetection.Input, on target: some SyncUpTarget,
    visiting visit: ([Int64], [(id: Int64, record: JSONSlice)]) -> Void = { _, _ in }
  ) async throws -> HeldEntries {
    var held = HeldEntries()
    let fetcher = target as? any RemoteRecordFetching
    try await scope.forEachGroup(of: input.ids, visiting: visit) { group in
      let (versions, left) =
        if let fetcher {
          try await self.versions(of: group, fetcher)
        } else {
          try await deletions(among: group, target)
        }
      held.formUnion(left)
      held.conflicts.formUnion(
        try await scope.store.inTransaction { transaction in
          try apply(versions, input.changedChildren, in: transaction)
        })
    }
    return held
  }

  /// The server's version of a record.
  private struct Remote: Sendable {
    let id: String
    let version: RemoteVersion
    /// The date of its last modification, as the server writes it.
    var date: JSONValue?
  }

  /// The server's versions of records, by entry id, and which records are not sent.
  private func versions(
    of group: [SyncUpRecord], _ target: some RemoteRecordFetching
  ) async throws -> (found: [Int64: Remote], held: HeldEntries) {
    let dateField = scope.fields.dateField
    var fields = [dateField]
    for name in scope.fields.update
    where !SOQLNames.contains(name, in: fields) && name != scope.fields.idField
      && !name.contains(".")
    {
      fields.append(name)
    }
    let results = try await target.remoteRecords(of: group, fields: fields, in: scope.context)
    var found: [Int64: Remote] = [:]
    var held = HeldEntries()
    for (index, record) in group.enumerated() {
      guard let id = record.id else { continue }
      switch index < results.count ? results[index] : .unknown {
      case .record(let remote):
        // The entries keep their dates: of the server's record this shows some fields only.
        var fields = remote.value.object ?? [:]
        let date = fields.removeValue(forKey: dateField)
        found[record.entryId] = Remote(id: id, version: .record(fields), date: date)
      case .gone: found[record.entryId] = Remote(id: id, version: .gone)
      case .unknown: held.undecided.insert(record.entryId)
      }
    }
    return (found, held)
  }

  /// Compares modification dates. Returns the state of the records that are deleted locally or on
  /// the server, and the other records that must not be sent.
  private func deletions(
    among group: [SyncUpRecord], _ target: some SyncUpTarget
  ) async throws -> (found: [Int64: Remote], held: HeldEntries) {
    let dates = try await target.remoteDates(of: group, in: scope.context)
    var found: [Int64: Remote] = [:]
    var held = HeldEntries()
    for (index, record) in group.enumerated() {
      guard let id = record.id else { continue }
      let known = ServerDate.milliseconds(of: record.record[scope.fields.dateField])
      switch index < dates.count ? dates[index] : .unknown {
      case .gone: found[record.entryId] = Remote(id: id, version: .gone)
      case .modified(let date) where record.action == .delete:
        let text = SalesforceDate(milliseconds: date).text
        found[record.entryId] = Remote(id: id, version: .date(date), date: .string(text))
      case .modified(let date):
        if let known, date != known { held.conflicts.insert(record.entryId) }
      case .unknown: held.undecided.insert(record.entryId)
      }
    }
    return (found, held)
  }

  /// Merges what the server has into the entries as they are now.
  ///
  /// - Returns: The ids of the entries that are in conflict.
  private func apply(
    _ versions: [Int64: Remote], _ changedChildren: [String: JSONObject],
    in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let soupName = scope.context.soupName
    let bases = try BaseVersionStore(soupName: soupName).bases(
      of: versions.values.map(\.id), in: transaction)
    var pairs: [ConflictMerge.Pair] = []
    for (entryId, entry) in try transaction.entries(versions.keys.sorted(), of: soupName) {
      let flags = RecordFlags(of: entry)
      guard let remote = versions[entryId], flags.local, !flags.created,
        entry[scope.fields.idField]?.string == remote.id
      else { continue }
      // Whatever was changed there, also in a field that is never sent, the deletion would take with it.
      let isChanged =
        flags.deleted
        && ConflictMerge.isDateOther(
          remote.date, than: bases[remote.id]?[scope.fields.dateField])
      pairs.append(
        ConflictMerge.Pair(
          entryId: entryId, id: remote.id, entry: entry, remote: remote.version,
          isChangedThere: isChanged, changedChildren: changedChildren[remote.id]))
    }
    return try merge.apply(pairs, in: transaction)
  }
}
