import Foundation
import GRDBSQLite

/// A SQLite file system that encrypts every page when it is written and decrypts it when it is
/// read.
///
/// It is opened by name (`file:...?vfs=NAME&ffkey=TOKEN`). Opening fails without a token of an open
/// store, and for a temporary file, a rollback journal or an attached database. A read or write
/// whose size and offset are not those of a page, frame or header is refused. So nothing is written
/// to the disk through it in plaintext.
///
/// `@unchecked Sendable` because its properties are constant after `init`, and SQLite's own VFS, to
/// which it forwards every call, may be called from any thread.
package final class EncryptedVFS: @unchecked Sendable {
  /// The VFS's name, unique in the process.
  package let name: String
  let base: UnsafeMutablePointer<sqlite3_vfs>
  private let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)

  /// The VFS over the system's default VFS; nil if SQLite has none.
  package static let standard: EncryptedVFS? = EncryptedVFS(over: nil)

  /// Registers a VFS over the one named `base`, or over the default one. SQLite keeps it as long as
  /// the process runs.
  ///
  /// - Returns: Nil if the VFS `base` does not exist, or SQLite refuses the registration.
  package init?(over baseName: String?) {
    guard let base = sqlite3_vfs_find(baseName) else { return nil }
    self.base = base
    name = "fieldforce-\(UUID().uuidString.prefix(8))"
    vfs.initialize(to: sqlite3_vfs())
    vfs.pointee.iVersion = 2
    vfs.pointee.szOsFile = Int32(EncryptedFile.headerSize) + base.pointee.szOsFile
    vfs.pointee.mxPathname = base.pointee.mxPathname
    vfs.pointee.zName = UnsafePointer(strdup(name))
    vfs.pointee.pAppData = Unmanaged.passRetained(self).toOpaque()
    installMethods(vfs)
    guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else { return nil }
  }

  /// Returns the VFS that SQLite passes to its methods.
  static func from(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> EncryptedVFS? {
    guard let data = vfs?.pointee.pAppData else { return nil }
    return Unmanaged<EncryptedVFS>.fromOpaque(data).takeUnretainedValue()
  }

  /// Returns the URI with which a connection opens the database at `path` through this VFS.
  func uri(path: String, token: String) -> String {
    "file:\(Self.escaped(path))?vfs=\(name)&ffkey=\(token)"
  }

  /// Returns a path in the form for a database's URI.
  static func escaped(_ path: String) -> String {
    // SQLite ends the path at these characters and reads the percent sign as an escape.
    let allowed = CharacterSet.urlPathAllowed.subtracting(CharacterSet(charactersIn: "?#%;"))
    return path.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }
}

private func installMethods(_ vfs: UnsafeMutablePointer<sqlite3_vfs>) {
  vfs.pointee.xOpen = { vfs, name, file, flags, outFlags in
    guard let sealed = EncryptedVFS.from(vfs), let name, let file else { return SQLITE_CANTOPEN }
    return EncryptedFile.open(name, in: sealed.base, file: file, flags: flags, outFlags: outFlags)
  }
  vfs.pointee.xDelete = { vfs, path, syncDirectory in
    guard let base = EncryptedVFS.from(vfs)?.base, let path, let delete = base.pointee.xDelete,
      let store = EncryptedStoreRegistry.store(ofLog: String(cString: path))
    else { return StoreIOError.delete }
    let code = store.binding?.willRemove() ?? SQLITE_OK
    guard code == SQLITE_OK else { return code }
    return delete(base, path, syncDirectory)
  }
  vfs.pointee.xAccess = { vfs, path, flags, result in
    guard let base = EncryptedVFS.from(vfs)?.base, let access = base.pointee.xAccess else {
      return SQLITE_IOERR
    }
    return access(base, path, flags, result)
  }
  vfs.pointee.xFullPathname = { vfs, path, size, output in
    guard let base = EncryptedVFS.from(vfs)?.base, let resolve = base.pointee.xFullPathname else {
      return SQLITE_CANTOPEN
    }
    return resolve(base, path, size, output)
  }
  // A store loads no extensions.
  vfs.pointee.xDlOpen = { _, _ in nil }
  vfs.pointee.xDlError = { _, size, message in
    if size > 0 { message?.pointee = 0 }
  }
  vfs.pointee.xDlSym = { _, _, _ in nil }
  vfs.pointee.xDlClose = { _, _ in }
  vfs.pointee.xRandomness = { vfs, size, output in
    guard let base = EncryptedVFS.from(vfs)?.base, let fill = base.pointee.xRandomness else {
      return 0
    }
    return fill(base, size, output)
  }
  vfs.pointee.xSleep = { vfs, microseconds in
    guard let base = EncryptedVFS.from(vfs)?.base, let sleep = base.pointee.xSleep else { return 0 }
    return sleep(base, microseconds)
  }
  vfs.pointee.xCurrentTime = { vfs, output in
    guard let base = EncryptedVFS.from(vfs)?.base, let now = base.pointee.xCurrentTime else {
      return SQLITE_ERROR
    }
    return now(base, output)
  }
  vfs.pointee.xCurrentTimeInt64 = { vfs, output in
    guard let base = EncryptedVFS.from(vfs)?.base, let now = base.pointee.xCurrentTimeInt64 else {
      return SQLITE_ERROR
    }
    return now(base, output)
  }
  vfs.pointee.xGetLastError = { vfs, size, message in
    guard let base = EncryptedVFS.from(vfs)?.base, let last = base.pointee.xGetLastError else {
      return 0
    }
    return last(base, size, message)
  }
}

/// Extended result codes whose C macros Swift does not import.
enum StoreIOError {
  static let read = SQLITE_IOERR | (1 << 8)
  static let shortRead = SQLITE_IOERR | (2 << 8)
  static let write = SQLITE_IOERR | (3 << 8)
  static let truncate = SQLITE_IOERR | (6 << 8)
  static let delete = SQLITE_IOERR | (10 << 8)
  /// The code for a page with a wrong tag, which is SQLite's own code for a page with a wrong
  /// checksum.
  static let damagedPage = SQLITE_IOERR | (32 << 8)
}
