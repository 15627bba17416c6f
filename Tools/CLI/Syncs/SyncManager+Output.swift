import MobileSync
import SalesforceSDKCommon
import SmartStore

extension SmartStore {
  /// The sync with that name, otherwise the sync with that id.
  func existingSync(_ text: String) async throws -> SyncState {
    if let state = try await sync(named: text) { return state }
    if let id = Int64(text), let state = try await sync(id: id) { return state }
    throw SyncError(
      .doesNotExist, "Sync \(text) does not exist. 'fieldforce sync list' lists them.")
  }
}

extension SyncManager {
  /// Does work that Ctrl-C ends early: the first asks the syncs to stop, each where it can resume later;
  /// the second abandons the work in progress.
  ///
  /// - Parameter command: The command that resumes the work.
  /// - Throws: The error of the work; ``CommandFailure`` with the status ``ExitStatus/interrupted``
  ///   if Ctrl-C ended it.
  func stoppable<Value>(
    _ output: OutputOptions, _ command: String, _ work: () async throws -> Value
  ) async throws -> Value {
    let signals = TerminationSignals()
    let stopping = Task {
      await signals.first()
      if Task.isCancelled { return }
      stop()
      if !output.json {
        Console.say("stopping; '\(command)' resumes later. Ctrl-C again ends at once")
      }
      await signals.first()
      if !Task.isCancelled { await close() }
    }
    defer { stopping.cancel() }
    do {
      return try await work()
    } catch let error as SyncError
      where [.stopped, .managerStopped, .closed].contains(error.code)
    {
      throw CommandFailure(
        "\(SyncError.Code.stopped)", "Stopped before the end. '\(command)' resumes the work.",
        status: .interrupted)
    }
  }

  /// Shows a run's progress, waits for its end and prints its state.
  ///
  /// - Throws: As ``stoppable(_:_:_:)``; ``PartialSuccess`` if the server did not accept every record.
  func follow(_ run: SyncRun, _ output: OutputOptions) async throws {
    let title = run.state.name ?? "\(run.state.id)"
    output.warn(run.state.warnings)
    let state = try await stoppable(output, "fieldforce sync run \(title)") {
      await watch(run)
      return try await run.finished()
    }
    let bulk = BulkUse.isBulk(state.target) ? BulkUse.shared.counts : nil
    if let line = bulk?.line(for: state.target) { Console.say(line) }
    try await show(state, output, bulk: bulk, warnings: run.state.warnings)
    try await checkComplete([state])
  }

  /// Starts a new sync, or, where its name is in use, the sync of that name if it was defined in the same way.
  ///
  /// - Throws: ``CommandFailure`` if the sync of that name is another one.
  func startOrResume(_ new: SyncState) async throws -> SyncRun {
    do {
      return try await startNew(new)
    } catch let error as SyncError where error.code == .nameInUse {
      guard let name = new.name, let known = try await syncStatus(forName: name) else {
        throw error
      }
      guard known.isDefined(as: new) else {
        throw CommandFailure(
          "\(SyncError.Code.nameInUse)",
          "A sync '\(name)' with another definition exists already. Run it with 'fieldforce sync "
            + "run \(name)', change it with 'fieldforce sync change \(name)', remove it with 'fieldforce sync "
            + "delete \(name)', or choose another name."
        )
      }
      return try await reSync(id: known.id)
    }
  }

  /// As ``follow(_:_:)``, for a sync that the command has made. One without a name that ended before it
  /// moved a record is removed: no command would be about it.
  func followNew(_ run: SyncRun, _ output: OutputOptions) async throws {
    do {
      try await follow(run, output)
    } catch let error as PartialSuccess {
      throw error
    } catch {
      if run.state.name == nil, try await syncStatus(forId: run.state.id)?.isProvisional == true {
        do {
          try await deleteSync(forId: run.state.id)
        } catch let failure as SyncError where failure.code == .closed {
          // The second Ctrl-C leaves everything as it is.
        }
      }
      throw error
    }
  }

  /// Ends the command with the status of partial success, unless the server accepted every record
  /// of the syncs' last runs.
  func checkComplete(_ states: [SyncState]) async throws {
    for state in states where state.type == .syncUp {
      let counts = try await outcomeCounts(forId: state.id)
      let open = counts.skipped + counts.failed
      if open == 0 { continue }
      let title = state.name ?? "\(state.id)"
      throw PartialSuccess(
        message: "Sync \(title) is partly done: \(counted(open, "record")) of "
          + "\(open + counts.succeeded + counts.nothingToDo) not accepted. 'fieldforce sync outcomes \(title)' lists them."
      )
    }
  }

  private func watch(_ run: SyncRun) async {
    let line = ProgressLine(title: run.state.name ?? run.state.soupName)
    for await state in run.updates where state.totalSize >= 0 {
      line.show(state.moved, of: state.totalSize, "records")
    }
    line.clear()
  }

  /// Prints a sync; for a sync up, also the outcome counts of its records.
  ///
  /// - Parameters:
  ///   - bulk: For a run of a bulk target: its use of jobs. Default: none.
  ///   - warnings: Those of the sync's creation, for the document.
  func show(
    _ state: SyncState, _ output: OutputOptions, bulk: BulkUse.Counts? = nil,
    warnings: [SyncFieldWarning] = []
  ) async throws {
    var document = state.json
    if let bulk { document["bulk"] = bulk.document }
    if !warnings.isEmpty { document["warnings"] = .array(warnings.map { .object($0.json) }) }
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

extension OutputOptions {
  /// Prints the warnings of a sync's creation on standard error; in JSON they are in the result's document.
  func warn(_ warnings: [SyncFieldWarning]) {
    if json { return }
    for warning in warnings { Console.warn(warning.message) }
  }
}

extension SyncState {
  /// The number of moved records, computed from the percentage.
  var moved: Int {
    // Computed in two parts, because the server may report any size.
    totalSize / 100 * progress + totalSize % 100 * progress / 100
  }

  /// The numbers of moved records and of all records.
  var size: String {
    progress == 100
      ? counted(totalSize, "record") : "\(moved) of \(counted(totalSize, "record"))"
  }

  /// One line for people.
  var line: String {
    let title = name.map { "\(id) (\($0))" } ?? "\(id)"
    let size = totalSize < 0 ? "" : ", \(self.size)"
    let reason = try? JSONSlice(parsing: error)["message"]?.string
    let why = reason.map { ": \($0)" } ?? ""
    return "\(type.rawValue) \(title) of \(soupName): \(status.rawValue) \(progress) %\(size)\(why)"
  }
}
