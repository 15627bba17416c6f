import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up that sends records, request by request, and applies the results of each before the next.
struct Upload: Sendable {
  let results: ResultWriter

  private var scope: SyncUpScope { results.scope }
  private var marks: RequestMarks { RequestMarks(scope: scope) }

  /// The outcomes of the records of an upload.
  struct Sent: Sendable {
    /// Records that the server has accepted, under the ids that they have there.
    var accepted: [SyncUpRecord] = []
    /// Records that the server lost and that are to be created again.
    var lost: [SyncUpRecord] = []
    /// The server's outcomes, by entry id.
    var reasons: [Int64: JSONValue] = [:]
    /// The number of records that were in none of the target's requests.
    var leftOut = 0
    /// The entries of records that the server did not write, since it has newer ones.
    var outdated: [Int64] = []
    /// Entries that became one with others.
    var united = EntryUnion.United()
  }

  /// Sends records. Each is sent once at most, whatever the target makes of the batch.
  ///
  /// - Parameter mayRecreate: Whether a record that the server has lost is one of ``Sent/lost``.
  func send(
    _ records: [SyncUpRecord], on target: some SyncUpTarget, mayRecreate: Bool
  ) async throws -> Sent {
    var sent = Sent()
    if records.isEmpty { return sent }
    let context = scope.completingBatch.context
    var waiting = Set(records.map(\.entryId))
    for request in target.requests(for: records) {
      // What became one with another entry since it was read goes with the next run, as it is then.
      let group = request.filter {
        waiting.remove($0.entryId) != nil && !sent.united.concerns($0.entryId)
      }
      if group.isEmpty { continue }
      try await marks.begin(group)
      let outcomes: [SyncUpOutcome]
      let start = context.serverClock.instant()
      let processed = context.processed.value
      do {
        outcomes = try await target.send(group, in: context)
      } catch {
        try await marks.fail(
          group, error, sent: start, isFirst: context.processed.value == processed)
        throw error
      }
      let confirmed = try await confirmed(outcomes, of: group, target, context)
      try await apply(confirmed, to: group, mayRecreate: mayRecreate, &sent)
    }
    sent.leftOut = waiting.count
    try await marks.keepUnsent(
      records.filter { waiting.contains($0.entryId) },
      because: "The target left it out of its requests.")
    return sent
  }

  /// Stores the reasons for which the server refused updates of existing records.
  func refuse(_ records: [SyncUpRecord], _ reasons: [Int64: JSONValue]) async throws {
    if records.isEmpty { return }
    var sent = Sent()
    try await apply(
      records.map { .rejected(reasons[$0.entryId] ?? .null) },
      to: records.map { $0.asUpdate(with: scope.fields) }, mayRecreate: false, &sent)
  }

  /// Queries the dates of edited records that are said to be gone, where that would be a conflict: of a
  /// record with a lookup that points nowhere the platform says the same.
  private func confirmed(
    _ outcomes: [SyncUpOutcome], of group: [SyncUpRecord], _ target: some SyncUpTarget,
    _ context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    if scope.merge == nil { return outcomes }
    var confirmed = outcomes
    var doubtful: [String: [Int]] = [:]
    for (index, record) in group.enumerated() where index < outcomes.count {
      guard case .gone = outcomes[index], record.action == .update else { continue }
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
        guard case .gone(let error) = outcomes[index],
          number >= dates.count || dates[number] != .gone
        else { continue }
        confirmed[index] = .rejected(error)
      }
    }
    return confirmed
  }

  /// Writes the results of a group into the soup: entries and outcomes in one transaction.
  private func apply(
    _ outcomes: [SyncUpOutcome], to group: [SyncUpRecord], mayRecreate: Bool, _ sent: inout Sent
  ) async throws {
    var acknowledged: AcknowledgedRecords = []
    let effects = group.enumerated().map { index, record in
      SyncUpEffect(
        index < outcomes.count ? outcomes[index] : .unanswered, of: record,
        mayRecreate: mayRecreate, merges: scope.merge != nil)
    }
    let checked = try await scope.checked(effects, of: group)
    for (index, (record, effect)) in zip(group, checked).enumerated() {
      if effect == .recreate {
        sent.lost.append(record.recreated(with: scope.fields))
        if case .gone(let error) = outcomes[index] { sent.reasons[record.entryId] = error }
      } else {
        acknowledged.append((record, effect))
      }
      if case .clean(let newId) = effect { sent.accepted.append(record.accepted(as: newId)) }
      if effect == .conflict { sent.outdated.append(record.entryId) }
    }
    let (united, known) = try await results.apply(acknowledged)
    sent.united.formUnion(united)
    sent.accepted = sent.accepted.map { $0.moved(to: united.survivors[$0.entryId]) }
    known.forEach(scope.reportOutcome)
  }
}

extension ResultWriter {
  /// Writes the results of records into the soup: entries and outcomes in one transaction.
  ///
  /// - Returns: The entries that became one with others, and the outcomes.
  fileprivate func apply(
    _ acknowledged: AcknowledgedRecords
  ) async throws -> (united: EntryUnion.United, outcomes: [SyncRecordOutcome]) {
    let time = scope.now()
    let outcomes = acknowledged.map { outcome(of: $0.record, $0.effect, time) }
    return try await scope.store.inTransaction { transaction in
      let united = try writeEntries(of: acknowledged, in: transaction).united
      try remember(Self.accepted(of: acknowledged), in: transaction)
      let known = outcomes.map { $0.moved(to: united.survivors[$0.entryId]) }
      try RequestMarks(scope: scope).save(
        zip(acknowledged, known).map { (record: $0.0.record, outcome: $0.1) }, in: transaction)
      return (united, known)
    }
  }
}
