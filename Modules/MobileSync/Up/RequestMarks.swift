import SalesforceSDKCommon
import SmartStore

/// The marks of records that are about to be sent, so that the next run recovers a lost response.
struct RequestMarks: Sendable {
  let scope: SyncUpScope

  /// Marks the records of a group that have to be searched for on the server if no response
  /// arrives.
  func begin(_ group: [SyncUpRecord]) async throws {
    let time = scope.now()
    let marks = group.filter(isNeeded)
      .map { (record: $0, outcome: scope.outcome(of: $0, .inFlight, id: $0.id, time)) }
    if marks.isEmpty { return }
    try await learnServerTime(before: marks.map(\.record))
    try await scope.store.inTransaction { transaction in
      try save(marks, ending: .unknown, in: transaction)
    }
  }

  /// Whether the next run has to know that a record was sent: it may exist on the server although nothing here says
  /// so, and where records are compared, an update that arrived may look like a change by another user. An upsert
  /// can be sent again, but a download may bring its record before that.
  func isNeeded(_ record: SyncUpRecord) -> Bool {
    record.makesRecord
      || (record.action == .update && scope.context.mergeMode != .overwrite)
  }

  /// Gets the server's time if one of the records is to be created and it is not known: a create whose response
  /// is lost is searched for from this time on.
  func learnServerTime(before records: [SyncUpRecord]) async throws {
    if records.contains(where: \.makesRecord) { try await scope.context.learnServerTime() }
  }

  /// Stores the outcomes of records that were sent or are about to be sent.
  ///
  /// - Parameter end: The end of the request, for records without a result. A record that is about to be sent has none
  ///   if the process ends before it.
  func save(
    _ sent: [(record: SyncUpRecord, outcome: SyncRecordOutcome)], ending end: RequestEnd = .over,
    in transaction: borrowing StoreTransaction
  ) throws {
    try OutcomeStore.save(
      sent, at: scope.context.serverClock, scope.now(),
      lateness: end.lateness(atMost: scope.context.lateArrival), in: transaction)
  }

  /// Stores what is known of a group that failed as a whole.
  ///
  /// - Parameters:
  ///   - start: The time at which its request was sent.
  ///   - isFirst: Whether the server has worked on no other request since then.
  func fail(
    _ group: [SyncUpRecord], _ error: any Error, sent start: ContinuousClock.Instant,
    isFirst: Bool
  ) async throws {
    // After a close nothing may be written; the marks in flight say enough.
    if scope.context.signal.current == .closed || error is CancellationError { return }
    if group.isEmpty { return }
    let time = scope.now()
    let end = RequestEnd(error, after: scope.context.serverClock.instant() - start)
    // Nothing was made, also by no request before this one: there is nothing to search for.
    if end == .notProcessed, isFirst { return try await refuse(group, error) }
    let refusal = (error as? SyncError).flatMap { error -> JSONValue? in
      // An earlier request of the same call may have created some of them.
      if end == .notProcessed { return nil }
      if error.code == .invalidRequest {
        return SyncUpDecision.clientError("INVALID_REQUEST", error.message)
      }
      guard error.code == .server, let status = error.status,
        !SyncUpOutcome.saysNothing(status, hasReason: false)
      else { return nil }
      return SyncUpDecision.clientError("HTTP_\(status)", error.message)
    }
    let outcomes = group.map { record in
      scope.outcome(
        of: record, refusal == nil ? .unanswered : .rejected, id: record.id, time, error: refusal)
    }
    try await scope.store.inTransaction { transaction in
      try save(
        zip(group, outcomes).map { (record: $0.0, outcome: $0.1) }, ending: end, in: transaction)
    }
    outcomes.forEach(scope.reportOutcome)
  }

  /// Stores that the server did not work on the request of records, or that there was no connection to it.
  private func refuse(_ records: [SyncUpRecord], _ error: any Error) async throws {
    let time = scope.now()
    if let error = error as? SyncError, let status = error.status {
      let refusal = SyncUpDecision.clientError(
        "HTTP_\(status)", error.message, isRetryable: true)
      return try await store(
        records.map { scope.outcome(of: $0, .rejected, id: $0.id, time, error: refusal) })
    }
    try await keepUnsent(records, because: "There was no connection to the server.")
  }

  /// Records that the records were not sent. Their entries do not change.
  func keepUnsent(_ records: [SyncUpRecord], because reason: String) async throws {
    if records.isEmpty { return }
    let (time, error) = (scope.now(), SyncUpDecision.notSent(reason))
    // Without an action: no search on the server is needed.
    try await store(
      records.map { scope.outcome(of: $0.entryId, $0.id, .notSent, time, error: error) })
  }

  private func store(_ outcomes: [SyncRecordOutcome]) async throws {
    try await scope.store.inTransaction { transaction in
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(scope.reportOutcome)
  }
}
