import MobileSync
import SalesforceSDKCommon
import SmartStore

extension SmartStore {
  /// The sync with that name, or else that id.
  func existingSync(_ text: String) async throws -> SyncState {
    if let state = try await sync(named: text) { return state }
    if let id = Int64(text), let state = try await sync(id: id) { return state }
    throw SyncError(.doesNotExist, "Sync \(text) does not exist; 'fieldforce sync list' lists them")
  }
}

extension SyncManager {
  /// Does work that Ctrl-C ends early: the first asks the syncs to stop, each where it can go on later; the
  /// second drops what is on its way.
  func stoppable<Value>(
    _ output: OutputOptions, _ work: () async throws -> Value
  ) async throws -> Value {
    let signals = TerminationSignals()
    let stopping = Task {
      await signals.first()
      if Task.isCancelled { return }
      stop()
      if !output.json {
        Console.say("stopping; 'fieldforce sync run' goes on later. Ctrl-C again ends at once")
      }
      await signals.first()
      if !Task.isCancelled { await close() }
    }
    defer { stopping.cancel() }
    return try await work()
  }

  /// Shows a run's progress, waits for its end and prints its state.
  func follow(_ run: SyncRun, _ output: OutputOptions) async throws {
    let state = try await stoppable(output) {
      await watch(run)
      return try await run.finished()
    }
    try await show(state, output)
  }

  private func watch(_ run: SyncRun) async {
    let line = ProgressLine(title: run.state.soupName)
    let start = ContinuousClock.now
    for await state in run.updates where state.totalSize >= 0 {
      let moved = Double(state.totalSize) * Double(state.progress) / 100
      let rate = moved / max((ContinuousClock.now - start) / .seconds(1), 0.001)
      let rest =
        moved > 0 && state.progress < 100
        ? ", \(Int(rate)) records/s, \(Int((Double(state.totalSize) - moved) / rate)) s to go" : ""
      line.show(percent: state.progress, "\(state.totalSize) records\(rest)")
    }
    line.clear()
  }

  /// Prints a sync; with a sync up, what became of its records.
  func show(_ state: SyncState, _ output: OutputOptions) async throws {
    var document = state.json
    var lines = [state.line]
    if state.type == .syncUp {
      let counts = try await outcomeCounts(forId: state.id)
      document["outcomes"] = counts.document
      lines.append("  \(counts.line)")
      for outcome in try await outcomes(forId: state.id) where outcome.kind != .succeeded {
        lines.append("  \(outcome.line)")
      }
    }
    if state.type == .syncUp || state.options.mergeMode == .mergeFields {
      let conflicts = try await report(forId: state.id).conflicts
      document["conflicts"] = .integer(Int64(conflicts.count))
      if !conflicts.isEmpty {
        lines.append("  \(conflicts.count) in conflict; 'fieldforce sync conflicts' lists them")
      }
    }
    output.print(.object(document)) { lines }
  }
}

extension SyncState {
  /// One line for people.
  var line: String {
    let title = name.map { "\(id) (\($0))" } ?? "\(id)"
    let size = totalSize < 0 ? "" : ", \(totalSize) records"
    let reason = try? JSONSlice(parsing: error)["message"]?.string
    let why = reason.map { ": \($0)" } ?? ""
    return "\(type.rawValue) \(title) of \(soupName): \(status.rawValue) \(progress) %\(size)\(why)"
  }
}
