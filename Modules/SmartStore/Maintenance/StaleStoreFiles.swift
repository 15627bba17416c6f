import Foundation
import SalesforceSDKCommon

/// The stale files that interrupted maintenance leaves in a store's folder.
///
/// A database and its key file change together, but only one of them can be renamed at a time. So
/// the key file has another name during the change, and the database, which changes in one step,
/// decides to which form it belongs: an encrypted database needs the key file, a plaintext one does
/// not. In the same way it decides which copies of externally stored entries are valid.
struct StaleStoreFiles {
  private let paths: StorePaths

  init(_ paths: StorePaths) { self.paths = paths }

  /// Completes or undoes interrupted maintenance. Only the holder of the write lock may call it.
  func recover() throws(SmartStoreError) {
    do {
      try recoverKeyFile()
      try recoverExternalFiles()
      for copy in paths.copies {
        for suffix in ["", "-journal", "-wal", "-shm"] {
          let file = DurableFile(path: copy + suffix)
          guard try !file.isFolder() else {
            throw FileFailure(
              "removed, since it is a folder, which no store makes; move it away", file.path,
              errno: EISDIR)
          }
          try file.remove()
        }
      }
    } catch {
      throw SmartStoreError(storage: error, at: paths.directory)
    }
  }

  /// Whether there is anything that ``recover()`` may have to work on.
  var mayExist: Bool {
    if (try? ExternalConversion(database: paths.database).isIncomplete()) != false { return true }
    return ([paths.pendingKeyFile] + paths.copies).contains { DurableFile(path: $0).exists }
  }

  /// Returns the database's kind by its first bytes; nil if it does not exist. Only while this
  /// process does not have it open, because reading an open database here releases SQLite's locks
  /// on it.
  func header() throws(SmartStoreError) -> DatabaseHeader? {
    do {
      return try readHeader()
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  /// Returns the generation of the write-ahead log (WAL) in the database; nil if it is not a
  /// store's. As with ``header()``, the database must not be open.
  func generation() throws(SmartStoreError) -> UInt64? {
    try header().flatMap { $0.kind == .store ? $0.generation : nil }
  }

  private func recoverKeyFile() throws(FileFailure) {
    let pending = DurableFile(path: paths.pendingKeyFile)
    guard try pending.size() != nil else { return }
    let hasKeyFile = try DurableFile(path: paths.keyFile).size() != nil
    switch try readHeader()?.kind {
    case .store where !hasKeyFile:
      try pending.move(to: URL(fileURLWithPath: paths.keyFile))
    case .plaintext where !hasKeyFile:
      try DurableFile(path: paths.anchor).remove()
      try pending.remove()
    default:
      // Maintenance leaves neither kind of file: they are not changed.
      break
    }
  }

  /// Recovers the entry files. Their converted copies are complete before the database changes, and
  /// are valid from then on.
  private func recoverExternalFiles() throws(FileFailure) {
    let conversion = ExternalConversion(database: paths.database)
    guard try conversion.isIncomplete(), let kind = try readHeader()?.kind, kind != .foreign else {
      return
    }
    try conversion.recover(isSealed: kind == .store)
  }

  private func readHeader() throws(FileFailure) -> DatabaseHeader? {
    try DurableFile(path: paths.database).read(limit: PageFormat.headerSize)
      .map { bytes in bytes.withUnsafeBytes { DatabaseHeader($0) } }
  }
}
