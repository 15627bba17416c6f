public import MobileSync
public import Observation

/// A named sync with its state, progress and outcomes, for views that show it.
///
/// ```swift
/// Button("Sync") { Task { await contacts.run() } }.disabled(contacts.isRunning)
/// ProgressView(value: contacts.progress)
/// ```
///
/// The properties change in the isolation of the caller of ``load()`` and ``run()``: on the main actor if a view calls
/// them. Runs that were started elsewhere are seen by ``load()`` alone.
@Observable public final class SyncModel {
  /// The name of the sync.
  public let name: String
  /// The newest state; nil before ``load()`` and ``run()``, and if there is no such sync.
  public private(set) var state: SyncState?
  /// The number of records by outcome in the last run; all 0 for a sync down.
  public private(set) var counts = SyncOutcomeCounts()
  /// The outcomes of records that the server did not accept in the last run of this model, oldest
  /// first.
  public private(set) var problems: [SyncRecordOutcome] = []
  /// The error of the last call; nil if it succeeded.
  public private(set) var error: (any Error)?
  /// Whether ``run()`` follows a run now.
  public private(set) var isRunning = false

  @ObservationIgnored private let manager: SyncManager

  /// Names a sync. Reads nothing before ``load()`` or ``run()``.
  public init(manager: SyncManager, name: String) {
    self.manager = manager
    self.name = name
  }

  /// The progress of the run, from 0 to 1.
  public var progress: Double { Double(state?.progress ?? 0) / 100 }

  /// Reads the stored state, and the outcomes of the last run.
  public func load() async {
    guard !isRunning else { return }
    do {
      let state = try await manager.syncStatus(forName: name)
      let counts = try await counts(of: state)
      // A run that began in the meantime has newer values.
      guard !isRunning else { return }
      self.state = state
      self.counts = counts
      error = nil
    } catch {
      if !isRunning { self.error = error }
    }
  }

  /// Runs the sync and follows it to its end. A call while this model follows a run returns at once.
  ///
  /// Cancelling the task ends the observation, not the run; `SyncManager.stop()` ends the run.
  public func run() async {
    guard !isRunning else { return }
    isRunning = true
    error = nil
    problems = []
    defer { isRunning = false }
    do {
      let run = try await manager.reSync(named: name)
      for await state in run.updates { self.state = state }
      for await outcome in run.outcomes where !outcome.kind.isAccepted { problems.append(outcome) }
      counts = try await counts(of: state)
      _ = try await run.finished()
    } catch is CancellationError {
    } catch {
      self.error = error
    }
  }

  private func counts(of state: SyncState?) async throws -> SyncOutcomeCounts {
    guard let state, state.type == .syncUp else { return SyncOutcomeCounts() }
    return try await manager.outcomeCounts(forId: state.id)
  }
}

extension SyncRecordOutcome.Kind {
  /// Whether nothing is left to do about the record.
  fileprivate var isAccepted: Bool { self == .succeeded || self == .nothingToDo }
}

/// Its properties belong to the isolation of the task that runs it.
@available(*, unavailable)
extension SyncModel: Sendable {}
