import GRDB
import GRDBSQLite
import SalesforceSDKCommon
import StoreSystem

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Disk space in the write-ahead log (WAL) that is set aside so that an alter can undo itself when the
/// disk is full.
///
/// A transaction that fails leaves its frames in the WAL, and the next transaction overwrites them.
/// So the frames of a failed step provide the space for undoing it. Before the step commits, the
/// reserve allocates behind its frames the space for undoing it and the steps before it. A step for
/// which this space is missing does not commit. So there is always enough space behind the last
/// commit.
///
/// The space belongs to the WAL's file but not to its length: readers of the WAL do not see it, and
/// no other file can use it.
struct UndoReserve: Sendable {
  /// The number of pages that an undo writes to restore the indexes of the former soup.
  private let indexPages: Int
  private let log: String

  /// The number of pages of the schema, of the list of free pages, and of the commit itself.
  private static let otherPages = 128
  /// The size of one block of the WAL's index, and the number of frames that it describes.
  private static let indexPart: (bytes: Int32, frames: Int) = (32 << 10, 4096)

  /// Measures the space for undoing an alter of `soup`: the pages of its indexes, which an undo
  /// builds again.
  init(undoing soup: Soup, on access: StoreAccess, log: String) throws(SmartStoreError) {
    self.log = log
    let before = try Self.freePages(access)
    try access.execute("SAVEPOINT measure")
    let freed: Int
    do throws(SmartStoreError) {
      try access.dropIndexes(ofTable: soup.table)
      freed = try Self.freePages(access) - before
    } catch {
      // The failure to measure is the one to report.
      try? Self.endMeasuring(access)
      throw error
    }
    try Self.endMeasuring(access)
    indexPages = freed
  }

  private static func endMeasuring(_ access: StoreAccess) throws(SmartStoreError) {
    try access.execute("ROLLBACK TO measure; RELEASE measure")
  }

  private static func freePages(_ access: StoreAccess) throws(SmartStoreError) -> Int {
    try integer("PRAGMA freelist_count", access)
  }

  private static func integer(_ sql: String, _ access: StoreAccess) throws(SmartStoreError) -> Int {
    let statement = try StoreStatement(access.database, sql, cached: false)
    return try statement.step() ? Int(statement.int64(0)) : 0
  }

  /// Reserves the space behind the frames of this transaction. It must be the last work before the
  /// commit.
  ///
  /// - Throws: ``SmartStoreError`` `diskFull`, `io`.
  func hold(on access: StoreAccess) throws(SmartStoreError) {
    // Pages that are still in memory would use the space at the commit.
    let code = sqlite3_db_cacheflush(access.database.sqliteConnection)
    guard code == SQLITE_OK else {
      throw SmartStoreError(sqlite: code, String(cString: sqlite3_errstr(code)))
    }
    // The new table's pages become free and are listed: about a thousand in one page.
    let listPages = try Self.integer("PRAGMA page_count", access) / 500
    let pages = indexPages * 3 / 2 + listPages + Self.otherPages
    do throws(FileFailure) {
      let end = try WALSpace(log).allocate(pages * PageFormat.frameSize)
      try Self.extendIndex(of: access.database, frames: end / PageFormat.frameSize + 1, log)
    } catch {
      throw SmartStoreError(storage: error, at: log)
    }
  }

  /// Returns the unused space.
  func release() { WALSpace(log).release() }

  /// Extends the index of the WAL for this number of frames, because it uses disk space too.
  private static func extendIndex(
    of database: Database, frames: Int, _ log: String
  ) throws(FileFailure) {
    var pointer: UnsafeMutablePointer<sqlite3_file>?
    let code = withUnsafeMutablePointer(to: &pointer) { place in
      sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_FILE_POINTER, place)
    }
    guard code == SQLITE_OK, let file = pointer, let map = file.pointee.pMethods.pointee.xShmMap
    else { return }
    var memory: UnsafeMutableRawPointer?
    // The first block begins with a header, which replaces some frames.
    let part = Int32(frames / indexPart.frames + 1)
    guard map(file, part, indexPart.bytes, 1, &memory) == SQLITE_OK else {
      throw FileFailure("extended", log, errno: ENOSPC)
    }
  }
}

/// The allocation of disk space behind the end of a file.
private struct WALSpace {
  private let path: String

  init(_ path: String) { self.path = path }

  /// Allocates `size` bytes behind the end. Does nothing if the file system does not support it.
  ///
  /// - Returns: The end of the allocated space.
  func allocate(_ size: Int) throws(FileFailure) -> Int {
    let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { throw FileFailure("opened", path, errno: errno) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw FileFailure("examined", path, errno: errno) }
    while store_system_allocate(file, Int64(status.st_size), Int64(size)) != 0 {
      switch errno {
      case EINTR: continue
      case EOPNOTSUPP, ENOSYS, EINVAL: return Int(status.st_size) + size
      default: throw FileFailure("extended", path, errno: errno)
      }
    }
    return Int(status.st_size) + size
  }

  /// Releases the space behind the end. If that fails, removing the file releases it.
  func release() {
    let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else { return }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return }
    store_system_release(file, Int64(status.st_size))
  }
}
