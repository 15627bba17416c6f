import Foundation
import GRDBSQLite

/// A database or log file that SQLite has open through ``EncryptedVFS``.
///
/// SQLite allocates its memory: this header, then the file of the VFS below.
struct EncryptedFile {
  /// What SQLite looks at.
  private var file: sqlite3_file
  /// Retained while the file is open.
  private var state: Unmanaged<State>?

  /// Rounded up so that the file below starts aligned.
  static let headerSize = (MemoryLayout<EncryptedFile>.size + 15) & ~15

  enum Kind { case database, log }

  /// The part that Swift manages.
  final class State {
    let kind: Kind
    let base: UnsafeMutablePointer<sqlite3_file>
    let connection: EncryptedConnection

    init(kind: Kind, base: UnsafeMutablePointer<sqlite3_file>, connection: EncryptedConnection) {
      self.kind = kind
      self.base = base
      self.connection = connection
    }

    /// The methods of the file below.
    @inline(__always)
    var methods: sqlite3_io_methods { base.pointee.pMethods.pointee }
  }

  /// The state of a file that this VFS opened.
  @inline(__always)
  static func state(_ file: UnsafeMutablePointer<sqlite3_file>?) -> State? {
    guard let file, file.pointee.pMethods == UnsafePointer(EncryptedFileMethods.table) else {
      return nil
    }
    return UnsafeMutableRawPointer(file).assumingMemoryBound(to: EncryptedFile.self)
      .pointee.state?.takeUnretainedValue()
  }

  /// Opens `name` in `base`, as a page store if it is a database, as its log if it is a log.
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
      // A temporary file or a journal would hold pages in plaintext.
      return SQLITE_CANTOPEN
    }

    let memory = UnsafeMutableRawPointer(file)
    let below = (memory + headerSize).assumingMemoryBound(to: sqlite3_file.self)
    below.pointee.pMethods = nil
    // A database is created by `StoreDatabase` alone, never because a file is missing.
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

  /// Closes the file below and gives the state back.
  static func close(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Int32 {
    guard let file, let state = state(file) else { return SQLITE_OK }
    let code = state.methods.xClose?(state.base) ?? SQLITE_OK
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: EncryptedFile.self).pointee.state?
      .release()
    file.pointee.pMethods = nil
    return code
  }

  /// Looks whether the file below is the database of a store, and whether writes reach it whole.
  ///
  /// The file is looked at here and never elsewhere: closing another descriptor of a database file
  /// drops the process's locks on it.
  private static func check(_ state: State, path: UnsafePointer<CChar>) -> Int32 {
    // Without it SQLite splits its writes to the log where no page ends.
    let characteristics = state.methods.xDeviceCharacteristics?(state.base) ?? 0
    guard characteristics & SQLITE_IOCAP_POWERSAFE_OVERWRITE != 0 else { return SQLITE_CANTOPEN }
    var header = [UInt8](repeating: 0, count: PageFormat.headerSize)
    let code = header.withUnsafeMutableBytes { bytes in
      state.methods.xRead?(state.base, bytes.baseAddress, Int32(bytes.count), 0) ?? SQLITE_IOERR
    }
    guard code == SQLITE_OK || code == StoreIOError.shortRead else { return code }
    // A file without a whole header is none of a store.
    if code != SQLITE_OK { header = [] }
    let found = header.withUnsafeBytes { DatabaseHeader($0) }
    let store = state.connection.store
    store.didOpen(path: String(cString: path), header: found)
    guard found.kind == .store else { return SQLITE_NOTADB }
    if let size = state.size() { store.didReachDatabase(bytes: size) }
    // Before a WAL is made, or read.
    return store.binding?.admits(databaseGeneration: found.generation) == false
      ? SQLITE_CANTOPEN : SQLITE_OK
  }
}

/// What the database file and the WAL of one connection share. SQLite calls it under the
/// connection's mutex.
final class EncryptedConnection {
  let store: EncryptedStore
  let encryptor: PageEncryptor
  /// Whether this connection has the lock of checkpoints for a checkpoint or to recover the WAL.
  var holdsCheckpointLock = false
  /// Set while SQLite copies pages from the WAL to the database.
  var isCheckpointing = false
  /// A checkpoint began and has not written to the database yet.
  var beginsCheckpoint = false
  /// The generation that the first page names, if it was written to the database since the last sync.
  var writtenGeneration: UInt64?
  /// The page that a checkpoint read last: its number, and its plaintext to compare with.
  var copied: (number: UInt32, plaintext: Data)?
  /// The frame whose header was written last: its page usually follows.
  var lastFrame: Frame?
  /// The first frame whose page SQLite replaced within its transaction: it corrects the checksums of all
  /// frames from there on when it commits. Nil if there is none.
  var replacedFrame: Int?
  /// Pages that were decrypted before they are requested, while a transaction walks through tables.
  var readAhead: ReadAhead?
  /// Frames that wait to be written together.
  var frames = WALFrames()
  /// Set while SQLite reads whole frames, to recover the WAL or to correct checksums: the headers
  /// that it then writes have no page behind them.
  var readsFrames = false

  /// What the header of a frame tells.
  struct Frame {
    let offset: Int64
    let number: UInt32
    /// The transaction that the frame ends; nil if it ends none.
    let commit: WALAnchor.Commit?
  }

  init(store: EncryptedStore) {
    self.store = store
    encryptor = PageEncryptor(keys: store.keys, cipher: store.cipher, binding: store.binding)
  }
}
