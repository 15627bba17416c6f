import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Finds the records that were changed on the server since they were downloaded, in mode
  /// ``SyncMergeMode/leaveIfChanged``: each becomes a ``SyncConflict``.
  ///
  /// Values are fetched with the dates, so that a change within the second of a date counts too. Where the server
  /// does not say what it has, its dates decide.
  ///
  /// - Returns: The records that are not to be sent: those in conflict, and those that the server said nothing
  ///   about.
  func check(
    _ target: some SyncUpTarget, _ plan: Plan, among ids: [Int64]
  ) async throws -> Held {
    var held = Held()
    let check = ConflictCheck(
      soupName: context.soupName,
      names: plan.fields.names,
      syncId: context.syncId, time: now())
    try await forEachGroup(of: ids, plan) { group in
      let group = group.filter { plan.unclear[$0.entryId] == nil }
      if group.isEmpty { return }
      var found: [ConflictCheck.Pair] = []
      var unseen = group
      if let fetcher = target as? any RemoteRecordFetching {
        (found, unseen) = try await values(of: group, fetcher, plan)
      }
      if !unseen.isEmpty {
        let dates = try await target.remoteDates(of: unseen, in: context)
        for (index, record) in unseen.enumerated() {
          switch index < dates.count ? dates[index] : .unknown {
          case .modified(let date):
            found.append(ConflictCheck.Pair(record: record, remote: .date(date)))
          case .gone: found.append(ConflictCheck.Pair(record: record, remote: .gone))
          case .unknown: held.undecided.insert(record.entryId)
          }
        }
      }
      let pairs = found
      held.conflicts.formUnion(
        try await context.store.inTransaction { transaction in
          try check.apply(pairs, in: transaction)
        })
    }
    return held
  }

  /// What the server has of records, and those of which it did not say.
  private func values(
    of group: [SyncUpRecord], _ target: some RemoteRecordFetching, _ plan: Plan
  ) async throws -> (found: [ConflictCheck.Pair], unseen: [SyncUpRecord]) {
    let dateField = plan.fields.dateField
    var fields = [dateField]
    for name in plan.fields.update
    where !fields.contains(name) && name != plan.fields.idField && !name.contains(".") {
      // A list may serve objects that do not have all of its fields.
      if group.contains(where: { $0.record[name] != nil }) { fields.append(name) }
    }
    let results = try await target.remoteRecords(of: group, fields: fields, in: context)
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

  /// Holds back the entries of open conflicts, but those that this run's mode decides for.
  func hold(_ plan: inout Plan) async throws {
    let conflicts = try await context.store.read { reader in
      try ConflictStore.open(in: context.soupName, reader)
    }
    for conflict in conflicts {
      if context.mergeMode == .overwrite, conflict.mergeMode == .leaveIfChanged,
        conflict.kind != .inDoubt, conflict.kind != .parentMissing
      {
        plan.overruled.insert(conflict.entryId)
      } else if !conflict.isOfTree {
        // Whether a tree is held back is found out with each tree.
        plan.held.insert(conflict.entryId)
      }
    }
  }

  /// The same run, which a stop lets complete what it has begun.
  var completingBatch: SyncUpRun {
    var context = context
    context.completesBatch = true
    return SyncUpRun(
      context: context, uses: uses, now: now, report: report, reportOutcome: reportOutcome,
      leavesOutReferences: leavesOutReferences)
  }
}
