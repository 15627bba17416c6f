import SalesforceAnalytics
public import SmartStore

/// The syncs of one store as one user: creates and runs them.
///
/// One operation runs at a time, in the order of submission; managers of different stores run
/// concurrently. Guarantees:
///
/// - An edit is never lost: a downloaded page, or the response to an upload, is applied in one
///   transaction that reads the record again, and an edit made in between stays and stays dirty.
/// - The watermark of a sync down is stored in the transaction of its page. After any interruption,
///   the next run continues correctly.
/// - Each record of a sync up has an outcome that can be queried. A run is done only if the server
///   responded for every record; records that it rejected are among the outcomes.
///
/// - Syncs of a store run in one process at a time; other processes may edit its entries during a run. A sync that is
///   started while another process runs one is refused with ``SyncError`` `storeInUse`.
///
/// A store has one manager at a time in a process. Get it from a registry that the program shares, ``SyncManagerRegistry``. A store
/// that is closed, by a logout for example, closes its manager first.
public actor SyncManager {
  /// The store whose soups are synced.
  public nonisolated let store: SmartStore

  nonisolated let registry: SyncTargetRegistry
  nonisolated let environment: SyncEnvironment
  nonisolated let states: SyncStateStore
  nonisolated let signal = StopSignal()
  private nonisolated let serverClock: ServerClock
  private nonisolated let doubles = DoubleSearch()
  private nonisolated let sender: any SyncRequestSender
  private nonisolated let userId: String?
  private nonisolated let claim: StoreClaim
  private nonisolated let ownership: SyncOwnership

  private var machine = ManagerMachine()
  private var operations: [Int64: Task<Void, Never>] = [:]
  private var last: Task<Void, Never>?
  /// Stops what other processes left running, before this one stores that a sync runs.
  private var stopping: Task<Void, any Error>?
  /// Operations that have decided to end as stopped and are not over yet.
  private var ending: Set<Int64> = []
  /// The number of calls that write to the store outside of operations, and the waiters for their
  /// end.
  private(set) var writers = 0
  private var writersDone: [CheckedContinuation<Void, Never>] = []

  /// Creates a manager: registers the soup `syncs_soup` if necessary, marks syncs that are stored
  /// as running as stopped, then accepts syncs.
  ///
  /// - Parameters:
  ///   - sender: Sends the requests, as the user to whom the store belongs.
  ///   - userId: The user's id on the server, if there is a user.
  ///   - registry: The targets that syncs may name.
  /// - Throws: ``SyncError`` `storeInUse` if the store has a manager in this process that is not closed;
  ///   `store`.
  public init(
    store: SmartStore, sender: any SyncRequestSender, userId: String? = nil,
    registry: SyncTargetRegistry, environment: SyncEnvironment = SyncEnvironment()
  ) async throws {
    claim = try StoreClaim(store)
    ownership = SyncOwnership(of: store)
    self.store = store
    self.sender = sender
    self.userId = userId
    self.registry = registry
    var environment = environment
    environment.events = environment.events.scoped(to: store.owner)
    self.environment = environment
    serverClock = ServerClock(instant: environment.instant)
    states = SyncStateStore(store: store)
    try await Self.storeErrors { [states] in
      try await states.prepare()
      try await OutcomeStore(store: store).prepare()
      for soup in [MetadataSoup.bases, .conflicts, .edits, .ids, .owners, .skipped] {
        try await soup.prepare(store)
      }
    }
    do {
      _ = try ownership.take()
      defer { ownership.release() }
      try await Self.storeErrors { [states] in
        try await states.stopInterrupted(at: environment.now)
      }
    } catch let error as SyncError where error.code == .storeInUse {
      // What is stored as running runs in another process.
    }
    await store.whenClosing { [weak self] in await self?.close() }
  }

  // MARK: Stop and restart

  /// Whether syncs are refused while active ones are winding down.
  public var isStopping: Bool { machine.state == .stopRequested }

  /// Whether syncs are refused and none is active.
  public var isStopped: Bool { machine.state == .stopped }

  /// Checks that syncs are accepted.
  ///
  /// - Throws: ``SyncError`` `managerStopped` if they are not.
  public func checkAcceptingSyncs() throws {
    try checkAccepting()
  }

  /// Refuses syncs from now on, and makes the active ones end early as stopped.
  ///
  /// Returns at once. A sync down drops the page that it is waiting for; a sync up completes the
  /// batch in flight.
  public func stop() {
    machine.stop()
    signal.stop()
  }

  /// Accepts syncs again. An operation that has not ended yet continues as if it had never been
  /// stopped; one that has ended as stopped stays a stopped sync.
  ///
  /// - Parameter restartStoppedSyncs: Whether every stopped sync of the store is run again, by
  ///   ascending id.
  /// - Returns: The runs, if any.
  /// - Throws: ``SyncError`` `cannotRestart` if syncs are accepted, `closed`, `store`.
  @discardableResult
  public func restart(restartStoppedSyncs: Bool) async throws -> [SyncRun] {
    try checkNotClosed()
    try machine.restart()
    signal.clear()
    guard restartStoppedSyncs else { return [] }
    for id in ending.sorted() { await operations[id]?.value }
    var runs: [SyncRun] = []
    for sync in try await Self.storeErrors({ try await states.all(with: .stopped) })
    where !machine.active.contains(sync.id) {
      runs.append(try await start(id: sync.id))
    }
    return runs
  }

  /// Closes the manager: cancels requests in flight; after the call returns, nothing more is stored
  /// or delivered. You can then create the store's next manager, which marks interrupted syncs as
  /// stopped.
  public func close() async {
    machine.stop()
    signal.close()
    for operation in operations.values { operation.cancel() }
    if writers > 0 { await withCheckedContinuation { writersDone.append($0) } }
    await last?.value
    _ = try? await stopping?.value
    ownership.release()
    claim.release()
  }

  /// Whether a soup is a metadata soup of sync, such as the one for the syncs themselves, and not
  /// one of the app.
  public static func ownsSoup(named name: String) -> Bool { MetadataSoup.isOwn(name) }

  /// Whether the manager was closed. A closed manager stays so.
  nonisolated var isClosed: Bool { signal.current == .closed }

  /// Writes to the store outside of an operation; ``close()`` waits for it.
  func writing<Value>(_ body: () async throws -> Value) async throws -> Value {
    try checkNotClosed()
    writers += 1
    defer {
      writers -= 1
      if writers == 0 {
        for waiting in writersDone { waiting.resume() }
        writersDone = []
      }
    }
    return try await Self.storeErrors(body)
  }

  // MARK: Running

  /// Submits a run of a stored sync, as it is stored now; it is active from now on.
  ///
  /// - Throws: ``SyncError`` `doesNotExist` if it was deleted since; `closed` also if the manager
  ///   was closed since, and then the sync counts as interrupted.
  ///
  /// - Parameters:
  ///   - leavesOutReferences: As ``SyncUpRun/leavesOutReferences``.
  ///   - warnings: Those of the sync's creation, for the run's first state.
  func start(
    id: Int64, leavesOutReferences: Bool = false, warnings: [SyncFieldWarning] = []
  ) async throws -> SyncRun {
    try checkAccepting()
    try submit(id)
    let submitted: (stored: SyncState, state: SyncState)
    do {
      let stopping = stopping
      submitted = try await writing {
        try await stopping?.value
        return try await states.submit(id: id, at: environment.now())
      }
      try checkNotClosed()
    } catch {
      leave(id)
      throw error
    }
    let (stored, state) = submitted
    var first = state
    first.warnings = warnings
    let (reporter, run) = RunReporter.make(for: first)
    enqueue(id) { [context = context(of: state)] in
      await self.execute(
        state, storedTimeStamp: stored.maxTimeStamp, leavesOutReferences: leavesOutReferences,
        context, reporter)
    }
    return run
  }

  /// Whether an operation that was interrupted by a stop ends as stopped: not if the manager was
  /// restarted since.
  func endsAsStopped(_ id: Int64) -> Bool {
    if signal.current == nil { return false }
    ending.insert(id)
    return true
  }

  /// Submits an operation on the sync `id` and waits for its end. The waiting task may be
  /// cancelled, the operation continues.
  func perform<Value: Sendable>(
    on sync: SyncState, _ body: @escaping @Sendable (SyncContext) async throws -> Value
  ) async throws -> Value {
    try submit(sync.id)
    let context = context(of: sync)
    let (stream, end) = AsyncStream.makeStream(of: Result<Value, any Error>.self)
    enqueue(sync.id) {
      let result: Result<Value, any Error>
      do {
        try context.checkStop()
        result = .success(try await body(context))
      } catch {
        result = .failure(error)
      }
      await self.leave(sync.id)
      end.yield(result)
      end.finish()
    }
    for await result in stream { return try result.get() }
    throw CancellationError()
  }

  /// The operation on the sync `id` has ended.
  func leave(_ id: Int64) {
    operations[id] = nil
    ending.remove(id)
    machine.leave(id)
    releaseIfIdle()
  }

  /// Takes an operation on a sync, which is active until ``leave(_:)``.
  private func submit(_ id: Int64) throws(SyncError) {
    try machine.checkAccepting()
    try reserve(id)
  }

  /// Lets other processes run syncs when this one runs none.
  private func releaseIfIdle() {
    if machine.active.isEmpty { ownership.release() }
  }

  /// Blocks operations on a sync until ``leave(_:)``.
  func reserve(_ id: Int64) throws(SyncError) {
    try checkNotClosed()
    try machine.checkNotActive(id)
    if try ownership.take() {
      // What is stored as running ran in a process that died.
      stopping = Task { [states, environment] in
        try await states.stopInterrupted(at: environment.now)
      }
    }
    try machine.reserve(id)
  }

  /// Whether the manager takes operations.
  func checkAccepting() throws(SyncError) {
    try checkNotClosed()
    try machine.checkAccepting()
  }

  private func checkNotClosed() throws(SyncError) {
    if signal.current == .closed {
      throw SyncError(.closed, "The sync manager was closed. Get a new one.")
    }
  }

  /// Whether the sync is neither queued nor running.
  func checkNotActive(_ id: Int64) throws(SyncError) {
    try machine.checkNotActive(id)
  }

  private func context(of sync: SyncState) -> SyncContext {
    SyncContext(
      store: store, soupName: sync.soupName, syncId: sync.id, userId: userId,
      mergeMode: sync.options.mergeMode, targetState: sync.targetState, sender: sender,
      signal: signal,
      serverClock: serverClock, doubles: doubles, wait: environment.wait,
      lateArrival: environment.lateArrival)
  }

  private func enqueue(_ id: Int64, _ operation: @escaping @Sendable () async -> Void) {
    let previous = last
    let running = RunningSync(store: store, id: id)
    let task = Task {
      await previous?.value
      // It shows nothing of what it works on: a lock of the app does not stop it.
      await SmartStore.$showsNothing.withValue(true) {
        await RunningSync.$current.withValue(running) { await operation() }
      }
    }
    operations[id] = task
    last = task
  }

  /// The index from the store's soups to their syncs.
  nonisolated func soupUses() async throws -> SoupSyncIndex {
    SoupSyncIndex(try await states.all(), registry)
  }

  /// Runs `body`, and converts errors of the store to errors of sync. Other errors are thrown
  /// unchanged.
  static func storeErrors<Value>(
    _ body: () async throws -> Value
  ) async throws -> Value {
    do {
      return try await body()
    } catch let error as SmartStoreError {
      throw SyncError(.store, "The store refused: \(error.message)", cause: error)
    }
  }
}
