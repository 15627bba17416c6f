import Foundation
import SalesforceSDKCommon

/// What maintenance that was interrupted left in a store's folder.
///
/// A database and its key file change together, though only one of them can be renamed at a time. So
/// while it happens the key file lies under another name, and the database, which changes in one
/// step, says whose it is: an encrypted one needs it, a plaintext one does not. In the same way it says
/// which of the copies of externally stored entries count.
struct StaleStoreFiles {
  private let paths: StorePaths

  init(_ paths: StorePaths) { self.paths = paths }

  /// Completes or undoes what was interrupted. Only by the holder of the write lock.
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

  /// What the database says it is; nil if there is none. Only while this process has it not open:
  /// looking at an open database drops SQLite's locks on it.
  func header() throws(SmartStoreError) -> DatabaseHeader? {
    do {
      return try readHeader()
    } catch {
      throw SmartStoreError(storage: error, at: paths.database)
    }
  }

  /// The generation of the write-ahead log (WAL) that the database names; nil if it is none of a store. As
  /// with ``header()``, the database must not be open.
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
      // Neither is what maintenance leaves behind: not ours to judge.
      break
    }
  }

  /// Converted copies of entry files are complete before the database changes, and count from
  /// then on.
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
