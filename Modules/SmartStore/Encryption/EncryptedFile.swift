import Foundation
import GRDBSQLite

/// A database or log file that SQLite has open through ``EncryptedVFS``.
///
/// SQLite allocates its memory: this header, then the file of the underlying VFS.
struct EncryptedFile {
  /// The part that SQLite reads.
  private var file: sqlite3_file
  /// Retained while the file is open.
  private var state: Unmanaged<State>?

  /// The size of the header, rounded up so that the underlying file starts aligned.
  static let headerSize = (MemoryLayout<EncryptedFile>.size + 15) & ~15

  enum Kind { case database, log }

  /// The state of an open file, managed by Swift.
  final class State {
    let kind: Kind
    let base: UnsafeMutablePointer<sqlite3_file>
    let connection: EncryptedConnection

    init(kind: Kind, base: UnsafeMutablePointer<sqlite3_file>, connection: EncryptedConnection) {
      self.kind = kind
      self.base = base
      self.connection = connection
    }

    /// The methods of the underlying file.
    @inline(__always)
    var methods: sqlite3_io_methods { base.pointee.pMethods.pointee }
  }

  /// Returns the state of a file that this VFS opened.
  @inline(__always)
  static func state(_ file: UnsafeMutablePointer<sqlite3_file>?) -> State? {
    guard let file, file.pointee.pMethods == UnsafePointer(EncryptedFileMethods.table) else {
      return nil
    }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: EncryptedFile.self)
      .pointee.state?.takeUnretainedValue()
  }

  /// Opens `name` in `base`: a database as a page store, a log as its log.
  static func open(
    _ name: UnsafePointer<CChar>, in base: UnsafeMutablePointer<sqlite3_vfs>,
    file: UnsafeMutablePointer<sqlite3_file>, flags: Int32, outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    file.pointee.pMethods = nil
    let kind: Kind
    let connection: EncryptedConnection
    if flags & SQLITE_OPEN_MAIN_DB != 0 {
      guard let token = sqlite3_uri_parameter(name, "ffkey"),
        let store = EncryptedStoreRegistry.store(for: String(cString: token))
      else { return SQLITE_CANTOPEN }
      kind = .database
      connection = EncryptedConnection(store: store)
    } else if flags & SQLITE_OPEN_WAL != 0 {
      guard let database = state(sqlite3_database_file_object(name)) else { return SQLITE_CANTOPEN }
      kind = .log
      connection = database.connection
    } else {
      // A temporary file or a journal would contain pages in plaintext.
      return SQLITE_CANTOPEN
    }

    let memory = UnsafeMutableRawPointer(file)
    let below = (memory + headerSize).assumingMemoryBound(to: sqlite3_file.self)
    below.pointee.pMethods = nil
    // Only `StoreDatabase` creates a database; it is never created because a file is missing.
    let baseFlags = kind == .database ? flags & ~SQLITE_OPEN_CREATE : flags
    guard let open = base.pointee.xOpen else { return SQLITE_CANTOPEN }
    var code = open(base, name, below, baseFlags, outFlags)
    let opened = State(kind: kind, base: below, connection: connection)
    if code == SQLITE_OK, kind == .database { code = check(opened, path: name) }
    guard code == SQLITE_OK else {
      if below.pointee.pMethods != nil { _ = opened.methods.xClose?(below) }
      return code
    }
    let header = memory.assumingMemoryBound(to: EncryptedFile.self)
    header.pointee.state = Unmanaged.passRetained(opened)
    file.pointee.pMethods = UnsafePointer(EncryptedFileMethods.table)
    return SQLITE_OK
  }

  /// Closes the underlying file and releases the state.
  static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file, let state = state(file) else { return SQLITE_OK }
    let code = state.methods.xClose?(state.base) ?? SQLITE_OK
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: EncryptedFile.self).pointee.state?
      .release()
    file.pointee.pMethods = nil
    return code
  }

  /// Checks whether the underlying file is the database of a store, and whether writes are not
  /// torn.
  ///
  /// The file is read only here, because closing another descriptor of a database file releases the
  /// process's locks on it.
  private static func check(_ state: State, path: UnsafePointer<CChar>) -> Int32 {
    // Otherwise SQLite splits its writes to the log inside pages.
    let characteristics = state.methods.xDeviceCharacteristics?(state.base) ?? 0
    guard characteristics & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0 else { return SQLITE_CANTOPEN }
    var header = [UInt8](repeating: 0, count: PageFormat.headerSize)
    let code = header.withUnsafeMutableBytes { bytes in
      state.methods.xRead?(state.base, bytes.baseAddress, Int32(bytes.count), 0) ?? SQLITE_IOERR
    }
    guard code == SQLITE_OK || code == StoreIOError.shortRead else { return code }
    // A file without a whole header is not a store's.
    if code != SQLITE_OK { header = [] }
    let found = header.withUnsafeBytes { DatabaseHeader($0) }
    let store = state.connection.store
    store.didOpen(path: String(cString: path), header: found)
    guard found.kind == .store else { return SQLITE_NOTADB }
    if let size = state.size() { store.didReachDatabase(bytes: size) }
    // Before a WAL is created or read.
    return store.binding?.admits(databaseGeneration: found.generation) == false
      ? SQLITE_CANTOPEN : SQLITE_OK
  }
}

/// The shared state of the database file and the WAL of one connection. SQLite calls it with the
/// connection's mutex held.
final class EncryptedConnection {
  let store: EncryptedStore
  let encryptor: PageEncryptor
  /// Whether this connection has the lock of checkpoints, for a checkpoint or to recover the WAL.
  var holdsCheckpointLock = false
  /// Whether SQLite is copying pages from the WAL to the database.
  var isCheckpointing = false
  /// Whether a checkpoint has begun and not yet written to the database.
  var beginsCheckpoint = false
  /// The generation in the first page, if that was written to the database since the last sync.
  var writtenGeneration: UInt64?
  /// The page that a checkpoint read last: its number, and its plaintext for comparison.
  var copied: (number: UInt32, plaintext: Data)?
  /// The frame whose header was written last. Usually its page is written next.
  var lastFrame: Frame?
  /// The first frame whose page SQLite replaced within its transaction; nil if there is none. When
  /// it commits, SQLite corrects the checksums of all frames from this one on.
  var replacedFrame: Int?
  /// Pages that were decrypted in advance, while a transaction walks through tables.
  var readAhead: ReadAhead?
  /// Frames that are buffered to be written together.
  var frames = WALFrames()
  /// Whether SQLite is reading whole frames, to recover the WAL or to correct checksums. The
  /// headers that it then writes are not followed by pages.
  var readsFrames = false

  /// The content of a frame's header.
  struct Frame {
    let offset: Int64
    let number: UInt32
    /// The transaction that the frame ends; nil if it does not end one.
    let commit: WALAnchor.Commit?
  }

  init(store: EncryptedStore) {
    self.store = store
    encryptor = PageEncryptor(keys: store.keys, cipher: store.cipher, binding: store.binding)
  }
}
