import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Finds out what became of updates that were sent by an earlier run and never answered.
  ///
  /// An update that arrived makes the record newer on the server than it is here, so that a run in mode
  /// ``SyncMergeMode/leaveIfChanged`` would take its own edit for somebody else's. Where the server has
  /// in every field what was sent, the edit was ours: the row takes the server's date, and is clean
  /// unless it was edited again since. Where it has anything else, the conflict is real or the update
  /// never arrived, and the dates tell which. The other modes need no answer: sending again does no
  /// harm, or values are compared anyway.
  ///
  /// - Returns: The marks of the records for which the server did not say; they are not sent.
  func adoptLostUpdates(
    _ target: some SyncUpTarget, _ plan: Plan
  ) async throws -> [Int64: SyncRecordOutcome] {
    let marks = try await OutcomeStore(store: context.store).lost(.update, in: context.soupName)
    if marks.isEmpty { return [:] }
    let rows = try await entries(marks.keys.sorted())
    let dirty = Set(rows.filter { RecordFlags(of: $0.record).local }.map(\.id))
    try await OutcomeStore(store: context.store).forget(
      marks.filter { !dirty.contains($0.key) }.map(\.value.outcome))
    guard context.mergeMode == .leaveIfChanged, let fetcher = target as? any RemoteRecordFetching
    else { return [:] }
    var waiting: [String: [SyncUpRecord]] = [:]
    for (entryId, row) in rows where dirty.contains(entryId) {
      guard let mark = marks[entryId], let record = try asSent(row, mark, plan) else { continue }
      waiting[record.objectType, default: []].append(record)
    }
    var unclear: [Int64: SyncRecordOutcome] = [:]
    for type in waiting.keys.sorted() {
      for entryId in try await adopt(waiting[type] ?? [], fetcher, plan) {
        unclear[entryId] = marks[entryId]?.outcome
      }
    }
    return unclear
  }

  /// Compares what was sent with what the server has, and lets those rows agree that do.
  ///
  /// - Returns: The entry ids of records of which the server said nothing.
  private func adopt(
    _ sent: [SyncUpRecord], _ target: some RemoteRecordFetching, _ plan: Plan
  ) async throws -> [Int64] {
    var unclear: [Int64] = []
    var arrived: [Int64: (record: SyncUpRecord, date: JSONValue)] = [:]
    for start in stride(from: 0, to: sent.count, by: SyncLimits.idsPerPage) {
      let group = Array(sent[start..<min(start + SyncLimits.idsPerPage, sent.count)])
      let names = group.reduce(into: [plan.fields.dateField]) { names, record in
        for (name, _) in record.values where !names.contains(name) && !name.contains(".") {
          names.append(name)
        }
      }
      let answers = try await target.remoteRecords(of: group, fields: names, in: context)
      for (index, record) in group.enumerated() {
        switch index < answers.count ? answers[index] : .unknown {
        case .record(let remote) where FieldAgreement.isComplete(record.values, remote):
          guard let date = remote[plan.fields.dateField]?.value else { continue }
          arrived[record.entryId] = (record, date)
        case .unknown: unclear.append(record.entryId)
        case .record, .gone: break
        }
      }
    }
    if arrived.isEmpty { return unclear }
    let agreed = arrived
    try await context.store.inTransaction { transaction in
      try settle(agreed, plan, in: transaction)
    }
    return unclear
  }

  private func settle(
    _ arrived: [Int64: (record: SyncUpRecord, date: JSONValue)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    var written: [JSONSlice] = []
    var taken: [(record: SyncUpRecord, newId: String?)] = []
    for (entryId, row) in try transaction.entries(arrived.keys.sorted(), of: context.soupName) {
      guard let (sent, date) = arrived[entryId], RecordFlags(of: row).local,
        row[plan.fields.idField]?.string == sent.id
      else { continue }
      taken.append((sent, nil))
      var members = [(plan.fields.dateField, date)]
      if case .send(let now) = SyncUpDecision(entryId: entryId, record: row, fields: plan.fields),
        now.action == .update, now.hasValues(of: sent)
      {
        members += RecordFlags.clean.members
      }
      written.append(try row.setting(members, removing: [SyncKeys.lastError]))
    }
    try write(written, in: transaction)
    try remember(taken, plan, in: transaction)
  }

  /// A row as a record that was sent, with the values of then; nil if the row stands for another record
  /// by now.
  ///
  /// A deletion since then waits until it is known whom it concerns.
  func asSent(_ row: JSONSlice, _ mark: LostMark, _ plan: Plan) throws -> SyncUpRecord? {
    let isCreate = mark.outcome.action == .create
    // The row of a record that was to be made anew says that it was edited.
    let flags = RecordFlags(local: true, created: isCreate, updated: !isCreate, deleted: false)
    let asSent = try row.setting(mark.sent + flags.members)
    guard
      case .send(let record) = SyncUpDecision(
        entryId: mark.outcome.entryId, record: asSent, fields: plan.fields),
      // A row under this entry id may be another record by now.
      record.action == mark.outcome.action, record.id == mark.outcome.recordId
    else { return nil }
    return isCreate ? record : record.sending(mark.sent.map(\.key))
  }
}

extension SyncUpRecord {
  /// Whether this record would be sent with the same values as another.
  fileprivate func hasValues(of other: SyncUpRecord) -> Bool {
    let (mine, others) = (values, other.values)
    return mine.count == others.count
      && zip(mine, others).allSatisfy { $0.name == $1.name && $0.value.value == $1.value.value }
  }
}
