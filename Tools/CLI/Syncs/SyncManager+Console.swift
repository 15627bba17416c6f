import MobileSync
import SalesforceSDKCommon

extension SyncManager {
  /// The sync with that name, or else that id.
  func sync(named text: String) async throws -> SyncState {
    if let state = try await syncStatus(forName: text) { return state }
    if let id = Int64(text), let state = try await syncStatus(forId: id) { return state }
    throw SyncError(.doesNotExist, "Sync \(text) does not exist; 'fieldforce sync list' lists them")
  }

  /// Shows a run's progress, waits for its end and prints its state.
  func follow(_ run: SyncRun, _ output: OutputOptions) async throws {
    let line = ProgressLine(title: run.state.soupName)
    for await state in run.updates where state.totalSize >= 0 {
      line.show(percent: state.progress, "\(state.totalSize) records")
    }
    line.clear()
    try await show(try await run.finished(), output)
  }

  /// Prints a sync; with a sync up, what became of its records.
  func show(_ state: SyncState, _ output: OutputOptions) async throws {
    var document = state.json
    var lines = [state.line]
    if state.type == .syncUp {
      let counts = try await outcomeCounts(forId: state.id)
      document["outcomes"] = [
        "succeeded": .integer(Int64(counts.succeeded)),
        "skipped": .integer(Int64(counts.skipped)), "failed": .integer(Int64(counts.failed)),
      ]
      lines.append(
        "  \(counts.succeeded) succeeded, \(counts.skipped) skipped, \(counts.failed) failed")
      for outcome in try await outcomes(forId: state.id) where outcome.kind != .succeeded {
        let why = outcome.error.map { ": \($0.text)" } ?? ""
        lines.append("  \(outcome.recordId ?? "entry \(outcome.entryId)") \(outcome.kind)\(why)")
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
