import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// What became of records that were to be sent.
  struct Sent {
    /// Records that the server has accepted, under the ids that they have there.
    var accepted: [SyncUpRecord] = []
    /// Records that the server lost and that are to be created again.
    var recreated: [SyncUpRecord] = []
    /// What the server said of those, by entry id.
    var reasons: [Int64: JSONValue] = [:]
    /// How many records the target did not send.
    var leftOut = 0
    /// The entries of records that the server did not write, since it has newer ones.
    var outdated: [Int64] = []
    /// Entries that became one with others.
    var united = EntryUnion.United()
  }

  /// Sends records, request by request, and applies the results of each before the next.
  ///
  /// Each record is sent once at most, whatever the target makes of the batch.
  func send(
    _ records: [SyncUpRecord], _ target: some SyncUpTarget, _ plan: Plan, mayRecreate: Bool
  ) async throws -> Sent {
    var sent = Sent()
    if records.isEmpty { return sent }
    var context = context
    context.completesBatch = true
    var waiting = Set(records.map(\.entryId))
    for request in target.requests(for: records) {
      // What became one with another entry since it was read goes with the next run, as it is then.
      let group = request.filter {
        waiting.remove($0.entryId) != nil && !sent.united.concerns($0.entryId)
      }
      if group.isEmpty { continue }
      try await markInFlight(group)
      let outcomes: [SyncUpOutcome]
      do {
        outcomes = try await target.send(group, in: context)
      } catch {
        try await applyFailure(error, of: group)
        throw error
      }
      let results = try await confirmed(outcomes, of: group, target, plan, context)
      try await applyResults(group, results, plan, mayRecreate: mayRecreate, &sent)
    }
    sent.leftOut = waiting.count
    try await keepUnsent(records.filter { waiting.contains($0.entryId) })
    return sent
  }

  /// Asks once more for edited records that are said to be gone, where that would be a conflict: of a
  /// record with a lookup that points nowhere the platform says the same.
  private func confirmed(
    _ results: [SyncUpOutcome], of group: [SyncUpRecord], _ target: some SyncUpTarget,
    _ plan: Plan, _ context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    if plan.merge == nil { return results }
    var confirmed = results
    var doubtful: [String: [Int]] = [:]
    for (index, record) in group.enumerated() where index < results.count {
      guard case .gone = results[index], record.action == .update else { continue }
      doubtful[record.objectType, default: []].append(index)
    }
    for type in doubtful.keys.sorted() {
      let indices = doubtful[type] ?? []
      let dates: [RemoteDate]
      do {
        dates = try await target.remoteDates(of: indices.map { group[$0] }, in: context)
      } catch let error as SyncError where error.code != .closed {
        // The other results of the group have to be kept. The next run queries the server before it sends.
        dates = []
      }
      for (number, index) in indices.enumerated() {
        guard case .gone(let error) = results[index],
          number >= dates.count || dates[number] != .gone
        else { continue }
        confirmed[index] = .rejected(error)
      }
    }
    return confirmed
  }

  /// Keeps why updates of records that exist were refused.
  func refuse(
    _ records: [SyncUpRecord], _ reasons: [Int64: JSONValue], _ plan: Plan
  ) async throws {
    if records.isEmpty { return }
    var sent = Sent()
    try await applyResults(
      records.map { $0.asUpdate(with: plan.fields) },
      records.map { .rejected(reasons[$0.entryId] ?? .null) }, plan, mayRecreate: false, &sent)
  }

  /// Keeps that records were not sent. Their entries stay as they are.
  private func keepUnsent(_ records: [SyncUpRecord]) async throws {
    if records.isEmpty { return }
    let time = now()
    // Without an action: no search on the server is needed.
    let outcomes = records.map { record in
      SyncRecordOutcome(
        syncId: context.syncId, soupName: context.soupName, entryId: record.entryId,
        recordId: record.id, action: nil, kind: .unanswered, time: time)
    }
    try await context.store.inTransaction { transaction in
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(reportOutcome)
  }

  /// Remembers what of a group is about to be sent and has to be searched on the server if no response comes.
  private func markInFlight(_ group: [SyncUpRecord]) async throws {
    let time = now()
    let marks = group.filter(needsMark)
      .map { (record: $0, outcome: outcome(of: $0, .inFlight, id: $0.id, time)) }
    if marks.isEmpty { return }
    try await learnServerTime(before: marks.map(\.record))
    try await context.store.inTransaction { transaction in
      try save(marks, in: transaction)
    }
  }

  /// Gets the server's time if one of the records is to be created and it is not known: a create whose response
  /// is lost is searched for from this time on.
  func learnServerTime(before records: [SyncUpRecord]) async throws {
    if records.contains(where: \.makesRecord) { try await context.learnServerTime() }
  }

  /// Keeps what became of records that were, or are about to be, sent.
  func save(
    _ sent: [(record: SyncUpRecord, outcome: SyncRecordOutcome)],
    in transaction: borrowing StoreTransaction
  ) throws {
    try OutcomeStore.save(sent, after: context.serverClock.past(now()), in: transaction)
  }

  /// Whether the next run has to know that a record was sent: it may exist on the server although nothing here says
  /// so, and where records are compared, an update that arrived may look like a change by another user. An upsert
  /// can be sent again, but a download may bring its record before that.
  func needsMark(_ record: SyncUpRecord) -> Bool {
    record.makesRecord
      || (record.action == .update && context.mergeMode != .overwrite)
  }

  /// Keeps what is known of a group that failed as a whole.
  func applyFailure(_ error: any Error, of group: [SyncUpRecord]) async throws {
    // After a close nothing may be written; the marks in flight say enough.
    if context.signal.current == .closed || error is CancellationError { return }
    if group.isEmpty { return }
    let time = now()
    let refusal = (error as? SyncError).flatMap { error -> JSONValue? in
      if error.code == .invalidRequest {
        return SyncUpDecision.clientError("INVALID_REQUEST", error.message)
      }
      guard error.code == .server, let status = error.status,
        !SyncUpOutcome.saysNothing(status, hasReason: false)
      else { return nil }
      return SyncUpDecision.clientError("HTTP_\(status)", error.message)
    }
    let outcomes = group.map { record in
      outcome(
        of: record, refusal == nil ? .unanswered : .rejected, id: record.id, time, error: refusal)
    }
    try await context.store.inTransaction { transaction in
      try save(zip(group, outcomes).map { (record: $0.0, outcome: $0.1) }, in: transaction)
    }
    outcomes.forEach(reportOutcome)
  }

  /// Writes the results of a group into the soup: entries and outcomes in one transaction.
  private func applyResults(
    _ group: [SyncUpRecord], _ results: [SyncUpOutcome], _ plan: Plan, mayRecreate: Bool,
    _ sent: inout Sent
  ) async throws {
    let time = now()
    var acknowledged: AcknowledgedRecords = []
    for (index, record) in group.enumerated() {
      let effect = SyncUpEffect(
        index < results.count ? results[index] : .unanswered, of: record,
        mayRecreate: mayRecreate, merges: plan.merge != nil)
      if effect == .recreate {
        sent.recreated.append(record.recreated(with: plan.fields))
        if case .gone(let error) = results[index] { sent.reasons[record.entryId] = error }
      } else {
        acknowledged.append((record, effect))
      }
      if case .clean(let newId) = effect { sent.accepted.append(record.accepted(as: newId)) }
      if effect == .conflict { sent.outdated.append(record.entryId) }
    }
    let outcomes = acknowledged.map { outcome(of: $0.record, $0.effect, time) }
    let changes = acknowledged
    let (united, known) = try await context.store.inTransaction { transaction in
      let united = try writeEntries(of: changes, plan, in: transaction).united
      try remember(Self.accepted(of: changes), plan, in: transaction)
      let known = outcomes.map { $0.moved(to: united.survivors[$0.entryId]) }
      try save(
        zip(changes, known).map { (record: $0.0.record, outcome: $0.1) }, in: transaction)
      return (united, known)
    }
    sent.united.formUnion(united)
    sent.accepted = sent.accepted.map { $0.moved(to: united.survivors[$0.entryId]) }
    known.forEach(reportOutcome)
  }
}
