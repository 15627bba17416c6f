import GRDBSQLite
import SalesforceSDKCommon
import Synchronization

/// The binding of an open store's anchor to its write-ahead log (WAL).
///
/// The anchor is never ahead of the WAL, even after a crash or a loss of power:
/// - After a sync of the WAL the anchor records the last transaction in it. This write does not
///   wait for the disk: if it is lost, the anchor requires less than the WAL contains.
/// - Before a WAL begins, is removed or is overwritten, and before a checkpoint writes to the
///   database, the anchor records it, and waits for the disk.
///
/// `@unchecked Sendable` because the pointer to SQLite's file system, which may be called from any
/// thread, never changes, and all mutable state is in a `Mutex`.
final class WALBinding: @unchecked Sendable {
  private struct State: ~Copyable {
    /// The anchor; nil for a store of an earlier version without anchors, until it is written to.
    var anchor: WALAnchor?
    /// The transaction before the anchor's, of the same WAL.
    var previous: WALAnchor.Commit?
    /// The last transaction that was written, whether or not it is on disk.
    var written: WALAnchor.Commit?
    /// The last transaction in the WAL when the store was opened.
    var recovered: WALAnchor.Commit?
    /// The number of encrypted pages that the file names.
    var storedEncryptions: UInt64 = 0
    var file: AnchorFile?
    var nonces = NoncePool()
  }

  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  private let path: String
  private let keys: StoreKeys
  private let cipher: any StoreCipher
  private let state: Mutex<State>
  /// The number of frames up to the end of a known transaction in the WAL. Frames after it can be
  /// written without reading the state.
  private let known = Atomic(Int.max)
  /// Whether nothing followed the last transaction in the WAL when the store was opened.
  let isWhole: Bool
  private let stamp: Atomic<UInt64>
  private let isMarkDue = Atomic(true)
  /// The lowest generation that the database had when the store was opened.
  private let floor: UInt64
  private let encrypted: Atomic<UInt64>

  /// - Parameters:
  ///   - anchor: Nil for a store of an earlier version without anchors.
  ///   - log: The content of the WAL when it was opened.
  init(
    _ path: String, in vfs: UnsafeMutablePointer<sqlite3_vfs>, keys: StoreKeys,
    cipher: any StoreCipher, anchor: WALAnchor?, log: CommittedWAL
  ) {
    self.vfs = vfs
    self.path = path
    self.keys = keys
    self.cipher = cipher
    isWhole = log.isWhole
    state = Mutex(
      State(anchor: anchor, recovered: log.end, storedEncryptions: anchor?.encryptions ?? 0))
    stamp = Atomic(anchor?.generation ?? 0)
    floor = anchor?.databaseGeneration ?? 0
    // The WAL contains the encryptions that a crash kept from the anchor.
    encrypted = Atomic((anchor?.encryptions ?? 0) + UInt64(log.end?.frames ?? 0))
  }

  /// The generation that a first page gets; 0 before the anchor is on disk.
  var generation: UInt64 { stamp.load(ordering: .relaxed) }

  /// The minimum number of pages that were encrypted with the newest data-encryption key.
  var encryptions: UInt64 { encrypted.load(ordering: .relaxed) }

  /// Counts a page that is encrypted.
  func willEncrypt() { encrypted.add(1, ordering: .relaxed) }

  /// The anchor, which defines the minimum content of the WAL.
  var anchor: WALAnchor? { state.withLock { $0.anchor } }

  /// Whether the next transaction must write the first page, so that the next checkpoint copies its
  /// generation to the database. Returns true once after the opening and after each checkpoint.
  func takeMark() -> Bool { isMarkDue.exchange(false, ordering: .relaxed) }

  /// Records that the transaction which was to write the first page was rolled back.
  func returnMark() { isMarkDue.store(true, ordering: .relaxed) }

  /// Whether a database may contain this generation. It must be at least as new as the anchor that
  /// the opening read; if this process only reads the store, the writer may have begun WALs since
  /// then.
  func admits(databaseGeneration: UInt64) -> Bool {
    guard databaseGeneration >= floor else { return false }
    if databaseGeneration <= generation { return true }
    guard let bytes = try? DurableFile(path: path).read(limit: AnchorFormat.size),
      let found = AnchorFormat.anchor(in: bytes, keys: keys, cipher: cipher)
    else { return false }
    return databaseGeneration <= found.generation
  }

  /// Closes the file of the anchor; the next write opens it again.
  func close() { state.withLock { $0.file = nil } }

  // MARK: Events of the WAL

  /// Records that a WAL with these salts begins: its header is about to be written.
  ///
  /// - Parameter sync: Syncs the WAL to the disk.
  func willBegin(_ salts: UInt64, sync: () -> Int32) -> Int32 {
    let isBehind = state.withLock { state in
      state.anchor.map { $0.next != salts && state.written != nil && state.written != $0.last }
        ?? (state.recovered != nil)
    }
    if isBehind {
      let code = sync()
      guard code == SQLITE_OK else { return code }
    }
    return state.withLock { state in
      do throws(SQLiteFailure) {
        try makeAnchor(&state)
        guard var anchor = state.anchor, anchor.next != salts else { return SQLITE_OK }
        if anchor.last?.salts == salts {
          // All its transactions were rolled back.
          anchor.last = nil
        } else {
          // The database contains all of it: the WAL was on disk before, or is now.
          anchor.last = state.written ?? anchor.last
          anchor.generation += 1
        }
        anchor.isRequired = false
        anchor.next = salts
        try write(anchor, &state, syncs: true)
        (state.previous, state.written) = (nil, nil)
        known.store(0, ordering: .relaxed)
        return SQLITE_OK
      } catch {
        return error.code
      }
    }
  }

  /// Records that a frame with this number and these salts is about to be written.
  ///
  /// - Parameter sync: Syncs the WAL to the disk.
  func willWrite(frame number: Int, salts: UInt64, sync: () -> Int32) -> Int32 {
    guard number <= known.load(ordering: .relaxed) else { return SQLITE_OK }
    if state.withLock({ $0.anchor == nil && $0.recovered != nil }) {
      let code = sync()
      guard code == SQLITE_OK else { return code }
    }
    return state.withLock { state in
      do throws(SQLiteFailure) {
        try makeAnchor(&state)
        if let written = state.written, number <= written.frames { state.written = nil }
        guard var anchor = state.anchor else { return SQLITE_OK }
        if let last = anchor.last, anchor.isRequired, last.salts == salts, number <= last.frames {
          // SQLite rolled the transaction back after it was on disk, and overwrites it.
          anchor.last = state.previous.flatMap { $0.frames < number ? $0 : nil }
          anchor.isRequired = anchor.last != nil
          if anchor.last == nil { anchor.next = salts }
          try write(anchor, &state, syncs: true)
          state.previous = nil
        }
        updateKnown(state)
        return SQLITE_OK
      } catch {
        return error.code
      }
    }
  }

  /// Records that the last frame of a transaction was written.
  func didWrite(_ commit: WALAnchor.Commit) {
    state.withLock { state in
      state.written = commit
      updateKnown(state)
    }
  }

  /// The last transaction that was written; it may not be on disk yet.
  var written: WALAnchor.Commit? { state.withLock { $0.written } }

  /// The minimum length of the WAL in bytes: up to the last transaction that was written.
  var loggedBytes: Int {
    var frames = known.load(ordering: .relaxed)
    if frames == .max { frames = state.withLock { $0.recovered?.frames ?? 0 } }
    return frames == 0 ? 0 : PageFormat.logHeaderSize + frames * PageFormat.frameSize
  }

  /// Records that the WAL is on disk, with everything that was written before the sync began.
  ///
  /// - Parameter commit: The last transaction that was written then.
  func didSync(_ commit: WALAnchor.Commit?) {
    guard let commit else { return }
    state.withLock { state in
      guard state.written == commit, var anchor = state.anchor, anchor.last != commit else {
        return
      }
      state.previous = anchor.last?.salts == commit.salts && anchor.isRequired ? anchor.last : nil
      anchor.last = commit
      anchor.isRequired = true
      anchor.next = nil
      // The transaction is on disk. An outdated anchor only requires less, and the next write
      // replaces all of it.
      try? write(anchor, &state, syncs: false)
      state.anchor = anchor
      updateKnown(state)
    }
  }

  /// Records that a write or sync of the WAL failed: the last write may be torn.
  func didFail() { state.withLock { $0.written = nil } }

  /// Records that the WAL is about to be removed or emptied, because the database contains all of
  /// it.
  func willRemove() -> Int32 {
    state.withLock { state in
      guard var anchor = state.anchor, anchor.isRequired else { return SQLITE_OK }
      anchor.isRequired = false
      do throws(SQLiteFailure) {
        try write(anchor, &state, syncs: true)
      } catch {
        return error.code
      }
      (state.previous, state.written) = (nil, nil)
      return SQLITE_OK
    }
  }

  /// Records that a checkpoint is about to write to the database. A WAL that ends earlier than this
  /// one would then restore older pages, so its anchor must no longer match the database.
  func willCheckpoint() -> Int32 {
    state.withLock { state in
      guard var anchor = state.anchor else { return SQLITE_OK }
      anchor.generation += 1
      do throws(SQLiteFailure) {
        try write(anchor, &state, syncs: true)
      } catch {
        return error.code
      }
      isMarkDue.store(true, ordering: .relaxed)
      return SQLITE_OK
    }
  }

  /// Records that a checkpoint which wrote the first page to the database is on disk. The next
  /// write of the anchor includes it.
  ///
  /// - Parameter generation: The generation in the page.
  func didCheckpoint(_ generation: UInt64) {
    state.withLock { state in
      state.anchor?.databaseGeneration = generation
    }
  }

  // MARK: Other processes

  /// Takes over what another process has written since this one wrote last. Only in a turn of this process, before
  /// it writes.
  ///
  /// - Parameter commit: The last transaction in the WAL; nil if the WAL is empty.
  /// - Throws: ``SmartStoreError`` `corruptLog` if the file is none of this store, or older than before; `io`.
  func follow(_ commit: WALAnchor.Commit?) throws {
    let found: WALAnchor?
    do {
      found = try DurableFile(path: path).read(limit: AnchorFormat.size)
        .flatMap { AnchorFormat.anchor(in: $0, keys: keys, cipher: cipher) }
    } catch {
      throw SmartStoreError(storage: error, at: path)
    }
    try state.withLock { state in
      guard let found else {
        guard state.anchor == nil else { throw changedError }
        state.recovered = commit
        return
      }
      if let known = state.anchor {
        guard found.sequence >= known.sequence, found.generation >= known.generation else {
          throw changedError
        }
      }
      if found.generation != generation {
        // The process that wrote it may have ended before it was on disk; the first page must not name it then.
        if state.file == nil { state.file = try AnchorFile.open(path, in: vfs) }
        try state.file?.sync()
        isMarkDue.store(true, ordering: .relaxed)
        stamp.store(found.generation, ordering: .relaxed)
      }
      let isBehind = commit.map {
        found.last?.salts == $0.salts && $0.frames < found.last?.frames ?? 0
      }
      // The last transaction on disk was taken back.
      state.previous = isBehind == true ? commit : nil
      state.written = commit
      state.recovered = nil
      if found.encryptions > state.storedEncryptions {
        encrypted.add(found.encryptions - state.storedEncryptions, ordering: .relaxed)
        state.storedEncryptions = found.encryptions
      }
      let databaseGeneration = state.anchor?.databaseGeneration ?? 0
      state.anchor = found
      state.anchor?.databaseGeneration = max(found.databaseGeneration, databaseGeneration)
      updateKnown(state)
    }
  }

  private var changedError: SmartStoreError {
    SmartStoreError(
      .corruptLog,
      "Cannot save: \(path) was changed outside the store while it was open. Close the store, and see with "
        + "'fieldforce store verify' what is damaged.")
  }

  // MARK: Parts

  /// Creates the anchor of a store without one. It is on disk before the first write, and from then
  /// on the first page shows that an anchor exists. The WAL must be on disk.
  private func makeAnchor(_ state: inout State) throws(SQLiteFailure) {
    guard state.anchor == nil else { return }
    var anchor = WALAnchor(generation: 1)
    if let recovered = state.recovered {
      anchor.last = recovered
      anchor.isRequired = true
    }
    try write(anchor, &state, syncs: true)
    updateKnown(state)
  }

  private func updateKnown(_ state: borrowing State) {
    var frames = state.written?.frames ?? 0
    if let anchor = state.anchor, anchor.isRequired {
      frames = max(frames, anchor.last?.frames ?? 0)
    }
    known.store(frames, ordering: .relaxed)
  }

  private func write(
    _ anchor: WALAnchor, _ state: inout State, syncs: Bool
  ) throws(SQLiteFailure) {
    var anchor = anchor
    anchor.sequence = (state.anchor?.sequence ?? 0) + 1
    anchor.encryptions = encryptions
    let bytes = AnchorFormat.bytes(
      of: anchor, keys: keys, cipher: cipher, nonces: &state.nonces)
    guard let bytes else { throw SQLiteFailure(code: StoreIOError.write) }
    if state.file == nil { state.file = try AnchorFile.open(path, in: vfs) }
    try state.file?.write(bytes)
    if syncs { try state.file?.sync() }
    state.anchor = anchor
    state.storedEncryptions = anchor.encryptions
    if syncs { stamp.store(anchor.generation, ordering: .relaxed) }
  }
}
