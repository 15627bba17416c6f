import GRDBSQLite
import SalesforceSDKCommon
import Synchronization

/// Keeps the anchor of an open store up with its write-ahead log (WAL).
///
/// The anchor is never ahead of the WAL, whatever a crash or a loss of power keeps of either:
/// - After a sync of the WAL the anchor takes over the last transaction in it. This write does not wait
///   for the disk: if it is lost, the anchor asks for less than there is.
/// - Before a WAL begins, is removed or is overwritten, and before a checkpoint writes to the database, the
///   anchor says so, and waits for the disk.
///
/// `@unchecked Sendable` because the pointer to SQLite's file system, which may be called from any thread,
/// never changes, and all that does is in a `Mutex`.
final class WALBinding: @unchecked Sendable {
  private struct State: ~Copyable {
    /// Nil for a store from before there were anchors, until it is written to.
    var anchor: WALAnchor?
    /// The transaction before the anchor's, of the same WAL.
    var previous: WALAnchor.Commit?
    /// The last transaction that was written, whether or not it is on disk.
    var written: WALAnchor.Commit?
    /// What the WAL held when the store was opened.
    var recovered: WALAnchor.Commit?
    var file: AnchorFile?
    var nonces = NoncePool()
  }

  private let vfs: UnsafeMutablePointer<sqlite3_vfs>
  private let path: String
  private let keys: StoreKeys
  private let cipher: any StoreCipher
  private let state: Mutex<State>
  /// The number of frames of the WAL that a transaction known here ends with: frames behind it need no
  /// look at the state.
  private let known = Atomic(Int.max)
  /// Whether nothing followed the last transaction in the WAL when the store was opened.
  let isWhole: Bool
  private let stamp: Atomic<UInt64>
  private let isMarkDue = Atomic(true)
  /// What the database named at least when the store was opened.
  private let floor: UInt64
  private let encrypted: Atomic<UInt64>

  /// - Parameters:
  ///   - anchor: Nil for a store from before there were anchors.
  ///   - log: The WAL as it was found.
  init(
    _ path: String, in vfs: UnsafeMutablePointer<sqlite3_vfs>, keys: StoreKeys,
    cipher: any StoreCipher, anchor: WALAnchor?, log: CommittedWAL
  ) {
    self.vfs = vfs
    self.path = path
    self.keys = keys
    self.cipher = cipher
    isWhole = log.isWhole
    state = Mutex(State(anchor: anchor, recovered: log.end))
    stamp = Atomic(anchor?.generation ?? 0)
    floor = anchor?.databaseGeneration ?? 0
    // What a crash kept from the anchor is in the WAL.
    encrypted = Atomic((anchor?.encryptions ?? 0) + UInt64(log.end?.frames ?? 0))
  }

  /// The generation that a first page names; 0 before there is an anchor on disk.
  var generation: UInt64 { stamp.load(ordering: .relaxed) }

  /// The number of pages that were encrypted with the newest data-encryption key, at least.
  var encryptions: UInt64 { encrypted.load(ordering: .relaxed) }

  /// Counts a page that is encrypted.
  func willEncrypt() { encrypted.add(1, ordering: .relaxed) }

  /// What the WAL must hold.
  var anchor: WALAnchor? { state.withLock { $0.anchor } }

  /// Whether the next transaction is to write the first page, so that the next checkpoint brings its
  /// generation to the database. True once after the opening and after each checkpoint.
  func takeMark() -> Bool { isMarkDue.exchange(false, ordering: .relaxed) }

  /// Notes that the transaction which was to write the first page was rolled back.
  func returnMark() { isMarkDue.store(true, ordering: .relaxed) }

  /// Whether a database may name this generation. It is at least as new as the anchor that the opening read;
  /// of a store that is only read, the writer may have begun WALs since then.
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

  // MARK: What happens to the WAL

  /// A WAL begins with these salts: its header is about to be written.
  ///
  /// - Parameter sync: Brings the WAL to the disk.
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
          // All its transactions were taken back.
          anchor.last = nil
        } else {
          // All of it is in the database: the WAL was on disk before, or is now.
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

  /// A frame is about to be written, the header of which names these.
  ///
  /// - Parameter sync: Brings the WAL to the disk.
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
          // SQLite took the transaction back after it was on disk, and writes over it.
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

  /// The last frame of a transaction was written.
  func didWrite(_ commit: WALAnchor.Commit) {
    state.withLock { state in
      state.written = commit
      updateKnown(state)
    }
  }

  /// The last transaction that was written; it may not be on disk yet.
  var written: WALAnchor.Commit? { state.withLock { $0.written } }

  /// The bytes that the WAL has at least: through the last transaction that was written.
  var loggedBytes: Int {
    var frames = known.load(ordering: .relaxed)
    if frames == .max { frames = state.withLock { $0.recovered?.frames ?? 0 } }
    return frames == 0 ? 0 : PageFormat.logHeaderSize + frames * PageFormat.frameSize
  }

  /// The WAL is on disk, with everything that was written before the sync began.
  ///
  /// - Parameter commit: The last transaction written then.
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
      // The transaction is on disk. An anchor that stays behind asks for less, and the next one is
      // written whole.
      try? write(anchor, &state, syncs: false)
      state.anchor = anchor
      updateKnown(state)
    }
  }

  /// A write or sync of the WAL failed: what was written last may be torn.
  func didFail() { state.withLock { $0.written = nil } }

  /// The WAL is about to be removed or emptied: the database holds all of it.
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

  /// A checkpoint is about to write to the database: a WAL that ends earlier than this one would bring older
  /// pages back from now on, so its anchor must not fit the database any more.
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

  /// A checkpoint is on disk that wrote the first page to the database. The next write of the anchor says so.
  ///
  /// - Parameter generation: What the page names.
  func didCheckpoint(_ generation: UInt64) {
    state.withLock { state in
      state.anchor?.databaseGeneration = generation
    }
  }

  // MARK: Parts

  /// Makes the anchor of a store that has none: it is on disk before the first write, and from then on
  /// the first page says that there is one. The WAL is on disk.
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
    if syncs { stamp.store(anchor.generation, ordering: .relaxed) }
  }
}
