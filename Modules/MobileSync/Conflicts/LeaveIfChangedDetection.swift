import SalesforceSDKCommon
import SmartStore

/// Finds the records that were changed on the server since they were downloaded, in mode
/// ``SyncMergeMode/leaveIfChanged``: each becomes a ``SyncConflict``.
///
/// Values are fetched with the dates, so that a change within the second of a date counts too. Where the server
/// does not say what it has, its dates decide.
struct LeaveIfChangedDetection: Sendable {
  let scope: SyncUpScope

  /// Compares entries, but those in doubt.
  func compare(
    _ input: ConflictDetection.Input, on target: some SyncUpTarget,
    visiting visit: ([Int64], [(id: Int64, record: JSONSlice)]) -> Void = { _, _ in }
  ) async throws -> HeldEntries {
    var held = HeldEntries()
    let context = scope.context
    let check = ConflictCheck(
      soupName: context.soupName, names: scope.fields.names, syncId: context.syncId,
      time: scope.now())
    try await scope.forEachGroup(of: input.ids, visiting: visit) { group in
      let group = group.filter { input.inDoubt[$0.entryId] == nil }
      if group.isEmpty { return }
      let (found, undecided) = try await versions(of: group, on: target)
      held.undecided.formUnion(undecided)
      held.conflicts.formUnion(
        try await context.store.inTransaction { transaction in
          try check.apply(found, in: transaction)
        })
    }
    return held
  }

  /// The server's versions of records, and the entries whose versions are unknown.
  private func versions(
    of group: [SyncUpRecord], on target: some SyncUpTarget
  ) async throws -> (found: [ConflictCheck.Pair], undecided: [Int64]) {
    var found: [ConflictCheck.Pair] = []
    var unseen = group
    if let fetcher = target as? any RemoteRecordFetching {
      (found, unseen) = try await values(of: group, fetcher)
    }
    if unseen.isEmpty { return (found, []) }
    var undecided: [Int64] = []
    let dates = try await target.remoteDates(of: unseen, in: scope.context)
    for (index, record) in unseen.enumerated() {
      switch index < dates.count ? dates[index] : .unknown {
      case .modified(let date):
        found.append(ConflictCheck.Pair(record: record, remote: .date(date)))
      case .gone: found.append(ConflictCheck.Pair(record: record, remote: .gone))
      case .unknown: undecided.append(record.entryId)
      }
    }
    return (found, undecided)
  }

  /// The server's values of records, and those that it did not return.
  private func values(
    of group: [SyncUpRecord], _ target: some RemoteRecordFetching
  ) async throws -> (found: [ConflictCheck.Pair], unseen: [SyncUpRecord]) {
    let dateField = scope.fields.dateField
    var fields = [dateField]
    for name in scope.fields.update
    where !SOQLNames.contains(name, in: fields) && name != scope.fields.idField
      && !name.contains(".")
    {
      // A list may serve objects that do not have all of its fields.
      if group.contains(where: { $0.record[name] != nil }) { fields.append(name) }
    }
    let results = try await target.remoteRecords(of: group, fields: fields, in: scope.context)
    var found: [ConflictCheck.Pair] = []
    var unseen: [SyncUpRecord] = []
    for (index, record) in group.enumerated() {
      switch index < results.count ? results[index] : .unknown {
      case .record(let remote) where ServerDate.milliseconds(of: remote[dateField]) != nil:
        found.append(
          ConflictCheck.Pair(record: record, remote: .record(remote.value.object ?? [:])))
      case .gone: found.append(ConflictCheck.Pair(record: record, remote: .gone))
      case .record, .unknown: unseen.append(record)
      }
    }
    return (found, unseen)
  }
}
