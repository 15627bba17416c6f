import Foundation
import SalesforceSDKCommon
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// The turns in which the processes that share a store write to it and checkpoint its write-ahead log (WAL).
///
/// A turn is the system's lock on the file `store.turn`, which ends with the process, whichever way that ends. The
/// connections of one process share a turn. A process that wants the next one first takes `store.queue`, so that the
/// process that had the last turn cannot take each of the following ones, too.
///
/// The file names the process that had the last turn. One that finds itself there knows that no other has written
/// since, and need not look for what has changed. `Docs/Decisions/0056` explains it.
final class WriteTurns: Sendable {
  private static let magic = Array("FFTURN1\n".utf8)
  private static let markSize = 32

  private let path: String
  private let turn: Int32
  private let queue: Int32
  private let limit: Duration
  /// The content that this process writes to the file: a magic number, its id, and a number of its own.
  private let mark: [UInt8]
  /// The number of connections of this process that have the turn.
  private let holders = Mutex(0)
  private let held = Atomic(false)
  private let lost = Atomic(false)

  /// Opens the files, and makes them if they are missing.
  ///
  /// - Parameter limit: How long to wait for a turn.
  init(_ paths: StorePaths, limit: Duration) throws(FileFailure) {
    path = paths.directory
    self.limit = limit
    turn = try Self.open(paths.turn)
    do throws(FileFailure) {
      queue = try Self.open(paths.queue)
    } catch {
      close(turn)
      throw error
    }
    var generator = SystemRandomNumberGenerator()
    mark = Self.mark(generator.next() | 1, generator.next())
  }

  deinit {
    close(turn)
    close(queue)
  }

  private static func open(_ path: String) throws(FileFailure) -> Int32 {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW
    #if canImport(Darwin)
      let file = Darwin.open(path, flags, 0o600)
    #elseif canImport(Musl)
      let file = Musl.open(path, flags, 0o600)
    #else
      let file = Glibc.open(path, flags, 0o600)
    #endif
    guard file >= 0 else { throw FileFailure("opened", path, errno: errno) }
    return file
  }

  /// Whether this process has the turn.
  var isHeld: Bool { held.load(ordering: .acquiring) }

  /// Whether another process had the last turn.
  var wasOthers: Bool { Self.readMark(turn) != mark }

  /// Waits for the turn, or joins it if another connection of this process has it.
  ///
  /// Other connections of this process wait for the same turn: the lock that they wait for is released
  /// by the one that has the turn, never by one that waits.
  ///
  /// - Parameters:
  ///   - waits: Whether to wait for another process.
  ///   - follow: Takes over what other processes have written. Called if another one had the last turn.
  /// - Returns: Whether it was called.
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` after the time limit, `databaseMissing`, `io`;
  ///   `CancellationError`; what `follow` throws.
  func take(waits: Bool = true, following follow: () throws -> Void) throws -> Bool {
    try holders.withLock { holders in
      var follows = false
      if holders == 0 {
        try wait(limit: waits ? limit : .zero)
        do {
          try checkName()
          follows = wasOthers
          if follows {
            try follow()
            try write(mark, to: turn)
          }
        } catch {
          Self.unlock(turn)
          throw error
        }
        held.store(true, ordering: .releasing)
      }
      holders += 1
      return follows
    }
  }

  /// Waits for the turn in which the store is opened. The first turn afterwards follows what was written before.
  ///
  /// - Throws: As ``take(waits:following:)``.
  func takeToOpen() throws {
    try holders.withLock { holders in
      try wait(limit: limit)
      do {
        try write(Self.mark(0, 0), to: turn)
      } catch {
        Self.unlock(turn)
        throw error
      }
      held.store(true, ordering: .releasing)
      holders += 1
    }
  }

  /// Gives the turn back when the last connection that has it does so.
  func release() {
    holders.withLock { holders in
      holders -= 1
      guard holders == 0 else { return }
      held.store(false, ordering: .releasing)
      Self.unlock(turn)
    }
  }

  /// Refuses all turns from now on: another program took the store.
  func lose() { lost.store(true, ordering: .releasing) }

  // MARK: Waiting

  private func wait(limit: Duration) throws {
    if lost.load(ordering: .acquiring) { throw lostError }
    let start = ContinuousClock.now
    var hasWaited = false
    while !(try lock(queue)) { try pause(since: start, limit: limit) }
    // Whatever comes of it, the next process may wait.
    defer { Self.unlock(queue) }
    while !(try lock(turn)) {
      if !hasWaited { try write(mark, to: queue) }
      hasWaited = true
      try pause(since: start, limit: limit)
    }
  }

  /// Sleeps until it is time to look again: a transaction takes a few milliseconds, most of them for the disk.
  private func pause(since start: ContinuousClock.Instant, limit: Duration) throws {
    try Task.checkCancellation()
    let waited = start.duration(to: .now)
    guard waited < limit else { throw timeout() }
    usleep(waited < .milliseconds(20) ? 100 : 1000)
  }

  private func lock(_ file: Int32) throws(SmartStoreError) -> Bool {
    while flock(file, LOCK_EX | LOCK_NB) != 0 {
      let reason = errno
      if reason == EINTR { continue }
      if reason == EWOULDBLOCK { return false }
      throw SmartStoreError(storage: FileFailure("locked", path, errno: reason), at: path)
    }
    return true
  }

  /// Explicitly, so that the copies of the descriptor in a forked process do not keep the lock.
  private static func unlock(_ file: Int32) { flock(file, LOCK_UN) }

  /// The error that names the process which does not go on.
  private func timeout() -> SmartStoreError {
    var isFree = false
    // A process that waits and was stopped is in the way, too.
    if flock(turn, LOCK_EX | LOCK_NB) == 0 {
      isFree = true
      Self.unlock(turn)
    }
    let holder = Self.readMark(isFree ? queue : turn).flatMap(Self.process)
    let name = holder.map { "process \($0)" } ?? "another process"
    let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
    return SmartStoreError(
      .busyOtherProcess,
      "Cannot write to the store at \(path): \(name) has been writing to it for \(seconds.formatted()) seconds. "
        + "Try again, or end that process if it hangs.")
  }

  private var lostError: SmartStoreError {
    SmartStoreError(
      .busyOtherProcess,
      "Cannot write to the store at \(path): another program has taken it. Close the store and open it again."
    )
  }

  /// Refuses a turn on a file that has no name any more: another process would take its turns on another file.
  private func checkName() throws(SmartStoreError) {
    var status = stat()
    guard fstat(turn, &status) == 0, status.st_nlink > 0 else {
      throw SmartStoreError(
        .databaseMissing,
        "Cannot save: the files of the store at \(path) were removed or replaced while it was open. Close the "
          + "store, restore its files from a backup, and repeat the call.")
    }
  }

  // MARK: The name of the last one

  private static func mark(_ first: UInt64, _ second: UInt64) -> [UInt8] {
    var bytes = magic
    for number in [UInt64(UInt32(bitPattern: getpid())), first, second] {
      withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }
    return bytes
  }

  private static func process(in mark: [UInt8]) -> Int32? {
    guard mark.starts(with: magic) else { return nil }
    let number = mark.withUnsafeBytes {
      UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: magic.count, as: UInt64.self))
    }
    return Int32(exactly: number)
  }

  private static func readMark(_ file: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: markSize)
    return pread(file, &bytes, markSize, 0) == markSize ? bytes : nil
  }

  private func write(_ mark: [UInt8], to file: Int32) throws(SmartStoreError) {
    guard pwrite(file, mark, Self.markSize, 0) == Self.markSize else {
      throw SmartStoreError(storage: FileFailure("written", path, errno: errno), at: path)
    }
  }
}
