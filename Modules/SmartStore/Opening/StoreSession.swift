import Foundation
import SalesforceSDKCommon
import Synchronization

/// The resources of an open store in addition to its connections: its keys in the VFS and the locks on its files.
final class StoreSession: Sendable {
  private struct Locks: ~Copyable {
    var lock: FileLock?
    /// Held while the store is opened, and while this process keeps others out.
    var gate: FileLock?
    /// The number of works for which others are kept out.
    var alone = 0
  }

  private let token = Mutex<String?>(nil)
  private let locks: Mutex<Locks>
  private let claim: ProcessClaim?
  private let paths: StorePaths?
  private let patience: Duration
  /// The turns in which processes write; nil if this one writes alone, or only reads.
  let turns: WriteTurns?
  private let first: Atomic<Bool>

  /// Whether no other process had the store open for writing when this one opened it.
  var isFirst: Bool { first.load(ordering: .relaxed) }

  /// A store that this process reads, or writes alone.
  init(lock: consuming FileLock?) {
    locks = Mutex(Locks(lock: lock))
    (claim, paths, turns) = (nil, nil, nil)
    patience = .zero
    first = Atomic(true)
  }

  /// A store that other processes may write to as well. It has the turn, and until ``finishOpening()`` no other process
  /// opens it.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if another process writes alone, or if this process has the
  ///   store open for writing already: closing a file of a database ends all locks that the process has on it.
  init(sharing opening: StoreOpening) throws(SmartStoreError) {
    let paths = opening.paths
    patience = max(opening.options.lockPatience, opening.options.turnLimit)
    self.paths = paths
    let gate = try opening.takeGate(patience: patience)
    let lock = try opening.takeLock(isShared: true)
    guard
      let claim = ProcessClaim.take(lock.identity(), patience: opening.options.lockPatience)
    else { throw opening.openElsewhere() }
    self.claim = claim
    first = Atomic(lock.change(toShared: false))
    // Nothing but an older version of this package takes it without the gate.
    guard lock.change(toShared: true) else { throw opening.openElsewhere() }
    do {
      let turns = try WriteTurns(paths, limit: opening.options.turnLimit)
      self.turns = turns
      locks = Mutex(Locks(lock: lock, gate: gate))
      try turns.takeToOpen()
    } catch let error as FileFailure {
      throw SmartStoreError(storage: error, at: paths.turn)
    } catch {
      throw error as? SmartStoreError
        ?? SmartStoreError(.interrupted, "The store was not opened.", cause: error)
    }
  }

  deinit { end() }

  /// Makes the keys of a store known to the VFS until the session ends.
  ///
  /// - Returns: The token to find them by.
  func register(_ store: EncryptedStore) -> String {
    let token = UUID().uuidString
    EncryptedStoreRegistry.add(store, token: token)
    self.token.withLock { $0 = token }
    return token
  }

  /// Hands the write lock over.
  func takeLock() -> FileLock? {
    locks.withLock { $0.lock.take() }
  }

  /// Holds a lock that was taken from it.
  func hold(_ lock: consuming FileLock) {
    var held = Optional(lock)
    locks.withLock { $0.lock = held.take() }
  }

  /// Gives all of it back. Files that are still open keep the keys they have.
  func end() {
    if let token = token.withLock({ $0 }) { EncryptedStoreRegistry.remove(token) }
    locks.withLock { locks in
      locks.lock = nil
      locks.gate = nil
    }
    claim?.release()
  }

  // MARK: Alone and with others

  /// Looks for a moment whether this is the first process after all, while the store is opened: a program that another
  /// process starts keeps a copy of its locks until it runs.
  func waitToBeFirst() {
    guard let turns, !isFirst else { return }
    let start = ContinuousClock.now
    while !isFirst, start.duration(to: .now) < StorePaths.lockPatience {
      let isAlone = locks.withLock { locks in
        let isAlone = locks.lock?.change(toShared: false) == true
        if locks.lock?.change(toShared: true) != true { turns.lose() }
        return isAlone
      }
      first.store(isAlone, ordering: .relaxed)
      if !isAlone { usleep(2_000) }
    }
  }

  /// Lets other processes open the store.
  func finishOpening() {
    locks.withLock { locks in
      if locks.alone == 0 { locks.gate = nil }
    }
  }

  /// Keeps other processes from opening the store for writing until ``endAlone()``. Never while it waits for a turn.
  ///
  /// - Parameter waits: Whether to wait for a process that opens the store just now.
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if one has it open for writing.
  func beginAlone(waits: Bool) throws(SmartStoreError) {
    guard let paths, let turns else { return }
    let patience = waits ? patience : .zero
    try locks.withLock { locks throws(SmartStoreError) in
      guard locks.alone == 0 else {
        locks.alone += 1
        return
      }
      if locks.gate == nil {
        do {
          locks.gate = try FileLock.take(paths.opening, patience: patience)
        } catch {
          throw SmartStoreError(storage: error, at: paths.opening)
        }
        guard locks.gate != nil else { throw StoreSession.notAlone(paths) }
      }
      guard locks.lock?.change(toShared: false) == true else {
        if locks.lock?.change(toShared: true) != true { turns.lose() }
        locks.gate = nil
        throw StoreSession.notAlone(paths)
      }
      locks.alone = 1
    }
  }

  /// Lets other processes open the store for writing again.
  func endAlone() {
    guard let turns else { return }
    locks.withLock { locks in
      locks.alone -= 1
      guard locks.alone == 0 else { return }
      if locks.lock?.change(toShared: true) != true { turns.lose() }
      locks.gate = nil
    }
  }

  private static func notAlone(_ paths: StorePaths) -> SmartStoreError {
    SmartStoreError(
      .busyOtherProcess,
      "The store at \(paths.directory) is open for writing in another process, which this work does not permit. "
        + "Close it there and try again.")
  }
}

/// The right of one store object to a store's files, among those of this process that share them with other processes.
final class ProcessClaim: Sendable {
  private static let claimed = Mutex<Set<FileLock.Identity>>([])

  private let identity: Mutex<FileLock.Identity?>

  /// Nil if another object has it.
  private init?(_ identity: FileLock.Identity?) {
    guard let identity, Self.claimed.withLock({ $0.insert(identity).inserted }) else { return nil }
    self.identity = Mutex(identity)
  }

  /// Takes the right, as soon as an object that is being closed gives it back.
  ///
  /// - Returns: Nil if another object has it for longer than `patience`.
  static func take(_ identity: FileLock.Identity?, patience: Duration) -> ProcessClaim? {
    let start = ContinuousClock.now
    while true {
      if let claim = ProcessClaim(identity) { return claim }
      guard start.duration(to: .now) < patience else { return nil }
      usleep(1_000)
    }
  }

  deinit { release() }

  /// Gives it back; a second call does nothing.
  func release() {
    guard let identity = identity.withLock({ $0.take() }) else { return }
    _ = Self.claimed.withLock { $0.remove(identity) }
  }

  /// Whether an object of this process has the file.
  static func has(_ identity: FileLock.Identity?) -> Bool {
    guard let identity else { return false }
    return claimed.withLock { $0.contains(identity) }
  }
}
