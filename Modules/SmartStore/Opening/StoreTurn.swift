import GRDB
import Synchronization

/// Takes the turns of a process on one of its connections, and takes over what other processes have written since the
/// last one.
struct StoreTurn: Sendable {
  /// Nil if this process writes alone, or only reads.
  let turns: WriteTurns?
  /// Nil for a plaintext store.
  let sealed: EncryptedStore?
  private let observer = TurnObserver()

  init(turns: WriteTurns?, sealed: EncryptedStore?) {
    self.turns = turns
    self.sealed = sealed
  }

  /// Has `notify` called when another process may have written, by the one that takes the turn after it.
  func whenOthersWrote(_ notify: @escaping @Sendable () -> Void) { observer.set(notify) }

  /// Runs `work`, which writes or checkpoints the WAL, in a turn of this process.
  ///
  /// - Parameter waits: Whether to wait for another process.
  /// - Throws: ``SmartStoreError`` `busyOtherProcess`, `corruptLog`, `databaseMissing`, `io`;
  ///   `CancellationError`; what `work` throws.
  func run<T>(
    on database: Database, waits: Bool = true, _ work: () throws -> T
  ) throws -> T {
    try take(on: database, waits: waits)
    defer { release() }
    return try work()
  }

  /// Waits for a turn, until ``release()``.
  ///
  /// - Throws: As ``run(on:waits:_:)``.
  func take(on database: Database, waits: Bool = true) throws {
    guard let turns else { return }
    if try turns.take(waits: waits, following: { try follow(on: database) }) { observer.notify() }
  }

  /// Ends the turn.
  func release() { turns?.release() }

  /// Takes over what this process remembers of the files and another one has changed.
  private func follow(on database: Database) throws {
    guard let sealed else { return }
    // While the snapshot lasts, the index of the WAL is valid.
    try database.withSnapshot { _ in
      try sealed.binding?.follow(StoreConnection.lastCommit(of: database))
      if let size = StoreConnection.sealedFile(of: database)?.size() {
        sealed.didFindDatabase(bytes: size)
      }
    }
  }
}

/// The observer that is notified of the writes of other processes.
private final class TurnObserver: Sendable {
  private let notification = Mutex<(@Sendable () -> Void)?>(nil)

  func set(_ notify: @escaping @Sendable () -> Void) { notification.withLock { $0 = notify } }

  func notify() { notification.withLock { $0 }?() }
}
