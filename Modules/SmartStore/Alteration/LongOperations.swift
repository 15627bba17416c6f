import GRDB
import SalesforceSDKCommon

/// A recorded operation of several steps, in its stored form.
struct LongOperation: Sendable {
  let id: Int64
  let type: String
  let details: String
  let status: String
}

extension StoreAccess {
  /// Records an operation.
  ///
  /// - Returns: Its id.
  func recordOperation(
    type: String, details: String, status: String
  ) throws(SmartStoreError) -> Int64 {
    let statement = try StoreStatement(
      database,
      """
      INSERT INTO long_operations_status (type, details, status, created, lastModified) \
      VALUES (?1, ?2, ?3, ?4, ?4)
      """)
    statement.bind(type, at: 1)
    statement.bind(details, at: 2)
    statement.bind(status, at: 3)
    statement.bind(now(), at: 4)
    try statement.run()
    return database.lastInsertedRowID
  }

  /// Records the last step of an operation.
  func updateOperation(
    _ id: Int64, details: String, status: String
  ) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database,
      """
      UPDATE long_operations_status SET details = ?2, status = ?3, lastModified = ?4 WHERE id = ?1
      """)
    statement.bind(id, at: 1)
    statement.bind(details, at: 2)
    statement.bind(status, at: 3)
    statement.bind(now(), at: 4)
    try statement.run()
  }

  /// Deletes the record of an operation.
  func deleteOperation(_ id: Int64) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database, "DELETE FROM long_operations_status WHERE id = ?")
    statement.bind(id, at: 1)
    try statement.run()
  }

  /// Returns the unfinished operations, the oldest first.
  static func operations(_ database: Database) throws(SmartStoreError) -> [LongOperation] {
    let statement = try StoreStatement(
      database, "SELECT id, type, details, status FROM long_operations_status ORDER BY id")
    var operations: [LongOperation] = []
    while try statement.step() {
      operations.append(
        LongOperation(
          id: statement.int64(0), type: statement.string(1), details: statement.string(2),
          status: statement.string(3)))
    }
    return operations
  }
}

extension SmartStore {
  /// Finishes the operations that a crash or a failure interrupted: alters and bulk loads. Opening
  /// a store does the same. Call this after a failure, once its cause is removed.
  ///
  /// - Throws: The first failure, after all operations were tried: ``SmartStoreError`` `closed`,
  ///   `readOnly`, `diskFull`, `io`, `externalFileUnreadable`; `busyOtherProcess`, with nothing begun, while
  ///   another process has the store open for writing.
  public func resumeLongOperations() async throws {
    try checkOpen()
    try checkWritable()
    alterations.close()
    let result = await StoreQueue.run { [database] in
      Result {
        try database.beginAlone()
        defer { database.endAlone() }
        try self.onWriter { database in
          try self.setDurability(.full, database)
          let failures = try self.finishOperations(database)
          if let first = failures.first { throw first }
        }
      }
    }
    alterations.open()
    try await delivering { _ in try result.get() }
  }

  /// Completes or undoes what an earlier process left unfinished, before the store is used (SS-183,
  /// SS-194).
  func finishInterrupted(_ database: Database) throws {
    do {
      try files.recover(at: try StoreAccess.externalSequence(database))
    } catch let error as FileFailure {
      throw SmartStoreError(storage: error, at: files.root)
    }
    _ = try finishOperations(database)
    // Unfinished operations may need their files.
    guard files.isInUse, try StoreAccess.operations(database).isEmpty else { return }
    let soups = try catalogs.current(database).soups.values
    let tables = Set(soups.filter(\.isExternal).map(\.table))
    do {
      try files.removeStrays(isExternal: tables.contains) {
        table, entryId throws(SmartStoreError) in
        let row = try StoreStatement(database, "SELECT 1 FROM \(table) WHERE id = ?")
        row.bind(entryId, at: 1)
        return try row.step()
      }
    } catch {
      // They only use disk space.
      options.logger.warning("Stray files of store '\(name)' could not be removed.", error: error)
    }
  }

  /// Finishes the recorded operations. An operation that fails or cannot be read is logged and
  /// stays recorded (SS-184).
  ///
  /// - Returns: The failures.
  private func finishOperations(_ database: Database) throws -> [any Error] {
    var failures: [any Error] = []
    for operation in try StoreAccess.operations(database) {
      do {
        if var alter = AlterOperation(operation) {
          if try alter.isOutdated(by: catalogs.current(database)) {
            try commit(database, isSingleCall: true) {
              try $0.access.deleteOperation(operation.id)
            }
          } else {
            try run(&alter, on: database)
          }
        } else if let load = BulkLoadOperation(operation) {
          try finish(load, on: database)
        } else {
          options.logger.error(
            "The long operation \(operation.id) of store '\(name)' is damaged or of an unknown "
              + "kind. It is left as it is.")
        }
      } catch {
        options.logger.error(
          "The long operation \(operation.id) of store '\(name)' could not be finished. It is tried "
            + "again when the store is opened next.", error: error)
        failures.append(error)
      }
    }
    return failures
  }
}
