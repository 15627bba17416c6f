public import MobileSync

extension SyncRun {
  /// Returns all updates, each as `STATUS progress/total`, after the run has ended.
  public func allUpdates() async -> [String] {
    var all: [String] = []
    for await state in updates {
      all.append("\(state.status.rawValue) \(state.progress)/\(state.totalSize)")
    }
    return all
  }

  /// Returns the last update, nil if the manager was closed.
  public func lastState() async -> SyncState? {
    var last: SyncState?
    for await state in updates { last = state }
    return last.flatMap { $0.status.isTerminal ? $0 : nil }
  }

  /// Returns all outcomes, after the run has ended.
  public func allOutcomes() async -> [SyncRecordOutcome] {
    var all: [SyncRecordOutcome] = []
    for await outcome in outcomes { all.append(outcome) }
    return all
  }
}

/// Returns the code of the error that `body` throws; nil if it throws none or another.
public func syncErrorCode(
  _ body: () async throws -> Void
) async -> SyncError.Code? {
  do {
    try await body()
    return nil
  } catch {
    return (error as? SyncError)?.code
  }
}
