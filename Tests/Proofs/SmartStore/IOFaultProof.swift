import Foundation
import GRDBSQLite
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Does a session lose nothing when the disk fails below SQLite, say so where it must, and go on?
///
/// Every platform can tell that much; what is written past SQLite fails in ``FileFaultProof``.
///
/// A checkpoint may fail without an error: the WAL holds the same, and a later one copies it. For every other
/// failure the call throws.
@Suite(.ownThreads) struct IOFaultProof {
  private let script = CrashScript(seed: Effort.seed(32))

  /// A failure of the disk.
  struct Failure: Sendable, CustomTestStringConvertible {
    let operation: FaultyDisk.Operation
    let code: Int32
    var isShort = false
    let name: String
    var testDescription: String { name }
  }

  static let failures = [
    Failure(operation: .read, code: StoreIOError.read, name: "read: EIO"),
    Failure(operation: .read, code: StoreIOError.shortRead, isShort: true, name: "read: short"),
    Failure(operation: .write, code: StoreIOError.write, name: "write: EIO"),
    Failure(operation: .write, code: SQLITE_FULL, name: "write: ENOSPC"),
    Failure(operation: .write, code: SQLITE_FULL, isShort: true, name: "write: short"),
    Failure(operation: .sync, code: SQLITE_IOERR | (4 << 8), name: "sync: EIO"),
    Failure(operation: .truncate, code: StoreIOError.truncate, name: "truncate: EIO"),
    Failure(operation: .open, code: SQLITE_CANTOPEN, name: "open: refused"),
  ]

  /// Steps of the session: opening, writes, reads, a fold of the log, closing.
  private let steps = Array(1000..<1012)

  @Test(arguments: failures)
  func `each operation of a session fails once, nothing is lost, and lost writes are reported`(
    failure: Failure
  ) async throws {
    let disk = try #require(FaultyDisk())
    let folder = try TemporaryFolder(inMemory: true)
    let directory = folder.file("store")
    var position = 0
    var told = 0
    while true {
      try? FileManager.default.removeItem(at: directory)
      var first = CrashWriter(folder: directory, script: script, key: 0)
      first.usesFiles = false
      try await first.open()
      try await first.run(.upsert(Array(0..<30)), step: 0)
      try await first.close()
      var model = CrashModel().after(.upsert(Array(0..<30)), step: 0)

      disk.arm(
        .init(
          operations: [failure.operation], after: position, code: failure.code,
          tearsWrites: failure.isShort))
      var writer = CrashWriter(folder: directory, script: script, key: 0)
      writer.usesFiles = false
      writer.vfs = EncryptedVFS(over: disk.name)
      var errors = 0
      do {
        try await writer.open()
      } catch is SmartStoreError {
        errors += 1
        // Opened again, it works.
        try await writer.open()
      }
      var seen = 0
      for step in steps {
        let action = plain(script.action(step))
        do {
          try await writer.run(action, step: step)
          model = model.after(action, step: step)
        } catch is SmartStoreError {
          errors += 1
          // What a load stored stays, also if its end fails.
          let after = model.after(action, step: step)
          if case .bulkLoad = action, let store = writer.store,
            try await CrashModel.found(in: store, key: 0, script: script) == after
          {
            model = after
          }
        }
        // What the calls reported is what is there, in the same open store.
        if disk.failures > seen, let store = writer.store {
          seen = disk.failures
          let found = try await CrashModel.found(in: store, key: 0, script: script)
          #expect(found == model, "\(failure.name) \(position), step \(step)")
        }
      }
      do {
        try await writer.close()
      } catch is SmartStoreError {
        errors += 1
      }
      let failed = disk.failures
      let isOfLog = disk.lastFailure?.hasSuffix("-wal") == true
      // Nothing but a transaction is ever written to the log.
      if isOfLog, failure.operation == .write {
        #expect(errors > 0, "\(failure.name) \(position) was not told")
      }
      disk.arm(nil)
      let found = try await CrashModel.found(at: directory, keys: [0], script: script)
      #expect(found == model, "\(failure.name) \(position)")
      if failed == 0 { break }
      told += errors
      position += position < 12 ? 1 : max(1, 12 / Effort.factor)
    }
    #expect(position > 0)
    // A log that is not cut is as good as one that is: that alone needs no error.
    #expect(told > 0 || failure.operation == .truncate)
  }

  /// The step without a change of keys, which goes past the VFS and is the other proof's, and with
  /// elements for the soup without full text in the place of files, which this session has not.
  private func plain(_ action: CrashScript.Action) -> CrashScript.Action {
    if action.isMaintenance { return .checkpoint }
    return action == .alterFiles ? .refill(Array(0..<20)) : action
  }
}
