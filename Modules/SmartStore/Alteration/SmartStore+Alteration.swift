import GRDB
import SalesforceSDKCommon
import Synchronization

extension SmartStore {
  /// Replaces the index specs of a soup. Its entries keep their content, ids and times.
  ///
  /// A path that keeps its type keeps its values. Other calls wait until this ends. After a crash, the alter
  /// is finished or undone when the store is opened next, before its first use. A failure or a cancellation
  /// leaves the soup as it was.
  ///
  /// - Parameter reIndexData: Whether new paths, and paths whose type changes, are indexed for the
  ///   existing entries. Without it, queries on these paths do not find an existing entry until it
  ///   is written again or ``reIndexSoup(named:indexPaths:)`` is called, and ``verify()`` reports
  ///   the paths as ``StoreReport/Finding/Kind/notIndexed``; json1 paths find it in any case.
  ///
  /// The space that an undo needs, about the size of the soup's present indexes, is reserved before
  /// each step, so that an alter can be undone even if the disk is full. Without that space the
  /// alter does not start.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `noIndexSpecs`, `invalidIndexSpec`, before
  ///   anything changes; `diskFull`, `io`; `unfinishedOperation` if a failure of the disk could not
  ///   be undone either, and the soup stays unusable until ``resumeLongOperations()``.
  public func alterSoup(
    named soupName: String, indexSpecs: [SoupIndex], reIndexData: Bool
  ) async throws {
    try await alterSoup(
      named: soupName, spec: nil, indexSpecs: indexSpecs, reIndexData: reIndexData)
  }

  /// Replaces the index specs and the features of a soup, which may move its entries into files or back.
  ///
  /// - Throws: As ``alterSoup(named:indexSpecs:reIndexData:)``; `externalFileUnreadable`.
  public func alterSoup(
    named soupName: String, soupSpec: SoupSpec, indexSpecs: [SoupIndex], reIndexData: Bool
  ) async throws {
    try await alterSoup(
      named: soupName, spec: soupSpec, indexSpecs: indexSpecs, reIndexData: reIndexData)
  }

  /// Computes the index values of some paths again for all entries of a soup, in one transaction.
  ///
  /// See ``StoreTransaction/reIndexSoup(named:indexPaths:)``.
  public func reIndexSoup(named soupName: String, indexPaths: [String]) async throws {
    try await write { try $0.reIndexSoup(named: soupName, indexPaths: indexPaths) }
  }

  /// Alters a soup up to and including one step.
  ///
  /// - Parameters:
  ///   - spec: The new features; nil keeps those that the soup has.
  ///   - last: Only a test stops before the end, to simulate a crash.
  func alterSoup(
    named soupName: String, spec: SoupSpec?, indexSpecs: [SoupIndex], reIndexData: Bool,
    through last: AlterStep = .cleanup
  ) async throws {
    try checkOpen()
    try checkWritable()
    try Task.checkCancellation()
    let isCancelled = Atomic(false)
    alterations.close()
    // Not in the caller's task: the alter must also be undone after a cancellation.
    let result = await withTaskCancellationHandler {
      await StoreQueue.run { [database] in
        Result {
          try database.beginAlone()
          defer { database.endAlone() }
          try self.onWriter { database in
            try self.setDurability(.full, database)
            let begun = try self.commit(database, isSingleCall: true) { transaction in
              try self.begin(soupName, spec, indexSpecs, reIndexData, on: transaction.access)
            }
            var operation = begun.operation
            // Until then the WAL contains the reserved space.
            defer { begun.reserve.release() }
            try self.runOrUndo(
              &operation, through: last, reserving: begun.reserve, on: database
            ) {
              isCancelled.load(ordering: .relaxed)
            }
          }
        }
      }
    } onCancel: {
      isCancelled.store(true, ordering: .relaxed)
    }
    alterations.open()
    try await delivering { _ in try result.get() }
  }

  /// Checks everything that can be checked in advance, then records the operation and reserves the
  /// space for undoing it.
  private func begin(
    _ soupName: String, _ spec: SoupSpec?, _ indexSpecs: [SoupIndex], _ reIndexData: Bool,
    on access: StoreAccess
  ) throws(SmartStoreError) -> (operation: AlterOperation, reserve: UndoReserve) {
    let soup = try access.soup(named: soupName)
    let newSpec = SoupSpec(name: soupName, features: (spec ?? soup.spec).features)
    try access.check(indexSpecs, for: newSpec)
    // Paths that an older version accepted may stay.
    try access.checkExtractable(
      indexSpecs.filter { spec in
        !soup.indexes.contains { $0.type == .json1 && MemberKey.isSame($0.path, spec.path) }
      })
    // An earlier alter that was only recorded: this one replaces it.
    for operation in try StoreAccess.operations(access.database) {
      if let alter = AlterOperation(operation), alter.completed == .starting,
        alter.old.number == soup.number
      {
        try access.deleteOperation(operation.id)
      }
    }
    let details = AlterDetails(
      soup, to: indexSpecs, newSpec: newSpec, reIndexData: reIndexData)
    let reserve = try UndoReserve(undoing: soup, on: access, log: database.logPath)
    let operation = try AlterOperation(details, on: access)
    try reserve.hold(on: access)
    return (operation, reserve)
  }

  /// Runs the remaining steps of an operation. A failure before the old table is dropped undoes all
  /// of it.
  private func runOrUndo(
    _ operation: inout AlterOperation, through last: AlterStep, reserving reserve: UndoReserve,
    on database: Database, isCancelled: () -> Bool
  ) throws {
    do {
      try run(&operation, through: last, reserving: reserve, on: database) {
        () throws(SmartStoreError) in
        if isCancelled() { throw SmartStoreError(.interrupted, "The alter was cancelled.") }
      }
    } catch {
      guard operation.completed < .dropOldTable else {
        // The soup is altered; only the removal of unused objects is pending.
        options.logger.warning(
          "An alter left files or a record behind. They go when the store is opened next.",
          error: error)
        return
      }
      let undone = operation
      do {
        try commit(database, isSingleCall: true) { try undone.undo(on: $0.access) }
        undone.removeFiles(files)
      } catch let second {
        options.logger.error("An alter failed and could not be undone.", error: second)
        throw SmartStoreError(
          .unfinishedOperation,
          "Altering soup \(operation.details.soupName) failed and could not be undone. It goes on "
            + "with resumeLongOperations(), or when the store is opened next.", cause: error)
      }
      throw error
    }
  }

  /// Runs the remaining steps of an operation, each in its own transaction.
  ///
  /// - Parameters:
  ///   - reserve: The space for undoing it; nil if a failure leaves the operation recorded.
  ///   - check: Throws to end early.
  func run(
    _ operation: inout AlterOperation, through last: AlterStep = .cleanup,
    reserving reserve: UndoReserve? = nil, on database: Database,
    check: () throws(SmartStoreError) -> Void = {}
  ) throws {
    while let step = operation.completed.next, step <= last {
      // From this step on there is no undo, not even after a cancellation.
      if step < .dropOldTable { try check() }
      let current = operation
      try commit(database, isSingleCall: true) { transaction in
        try current.perform(step, on: transaction.access, check: check)
        // Once the old table is dropped there is nothing to undo.
        if step <= .dropOldTable { try reserve?.hold(on: transaction.access) }
      }
      operation.completed = step
    }
  }
}
