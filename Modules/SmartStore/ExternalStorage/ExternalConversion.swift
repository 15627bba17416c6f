import Foundation
import SalesforceSDKCommon

/// The conversion of a store's entry files when its database changes between plaintext and
/// encrypted (SS-201).
///
/// The database changes in one step, but its entry files cannot. So they are first copied in
/// converted form within the same folder. After the database is replaced, its form decides which of
/// the two sets of files is valid.
struct ExternalConversion {
  private let root: String

  /// - Parameter database: The path of the database file.
  init(database: String) {
    root = ExternalFiles(database: database, encryptor: nil).root
  }

  private func copy(isSealed: Bool) -> String { root + (isSealed ? ".sealed" : ".opened") }
  private var old: String { root + ".old" }

  /// Whether files of a conversion remain, to be kept or removed.
  func isIncomplete() throws(FileFailure) -> Bool {
    for path in [copy(isSealed: true), copy(isSealed: false), old] {
      if try FileTree.exists(path) { return true }
    }
    return false
  }

  /// Creates the converted copy. The store must not be open.
  ///
  /// - Parameters:
  ///   - source: Decrypts the files; nil if they are plaintext.
  ///   - target: Encrypts the copies; nil if they are to be plaintext.
  func prepare(from source: ExternalFileEncryptor?, to target: ExternalFileEncryptor?) throws {
    let copy = copy(isSealed: target != nil)
    try FileTree.remove(copy)
    guard try FileTree.isFolder(root) else { return }
    try DurableFile.makeFolder(copy)
    // Files that were set aside before a crash belong to the store too.
    let replaced = try FileTree.names(in: root + "/.replaced").map { ".replaced/" + $0 }
    for folder in replaced + [""] {
      for table in try FileTree.names(in: "\(root)/\(folder)") where !table.hasPrefix(".") {
        try DurableFile.makeFolder("\(copy)/\(folder)/\(table)")
        for name in try FileTree.names(in: "\(root)/\(folder)/\(table)") {
          let file = "\(folder)/\(table)/\(name)"
          guard let entryId = ExternalFiles.entryId(ofFile: name),
            let bytes = try DurableFile(path: "\(root)/\(file)").read(
              maxBytes: ExternalFiles.maxBytes)
          else { continue }
          let text = try source?.decrypt(bytes, table: table, entryId: entryId) ?? bytes
          let converted = try target?.encrypt(text, table: table, entryId: entryId) ?? text
          try DurableFile(path: "\(copy)/\(file)").replace(with: converted)
        }
      }
    }
  }

  /// Replaces the files with the copy that matches the database, if it exists, and removes the
  /// files that do not match. May be called whenever the store is not open.
  ///
  /// - Parameter isSealed: Whether the database is encrypted now.
  /// - Throws: ``FileFailure`` with `EINVAL` for a folder that a conversion cannot have left: it
  ///   lacks entry files, or exists although the files already have the right form. Nothing is
  ///   changed then.
  func recover(isSealed: Bool) throws(FileFailure) {
    let wanted = copy(isSealed: isSealed)
    let isFinished = try FileTree.isFolder(wanted)
    if isFinished { try checkFinished(wanted, isSealed: isSealed) }
    try FileTree.remove(copy(isSealed: !isSealed))
    if isFinished {
      if try FileTree.isFolder(root) {
        try FileTree.remove(old)
        _ = try FileTree.move(root, to: old)
      }
      _ = try FileTree.move(wanted, to: root)
    }
    try FileTree.remove(old)
  }

  /// Refuses a copy that would lose entries, because it is unfinished or was not written by a
  /// conversion.
  private func checkFinished(_ wanted: String, isSealed: Bool) throws(FileFailure) {
    for file in try Self.entryFiles(in: root) {
      guard try Self.isSealed("\(root)/\(file)") != isSealed,
        try Self.isSealed("\(wanted)/\(file)") == isSealed
      else {
        throw FileFailure(
          "taken for the converted copy of the entry files, since the conversion of this store did not leave it; "
            + "move it out of the folder", wanted, errno: EINVAL)
      }
    }
  }

  /// Returns the valid entry files, by their paths in the folder. Files that were set aside before
  /// a crash are not included: after a loss of power they can reappear when the copy is created.
  private static func entryFiles(in folder: String) throws(FileFailure) -> [String] {
    var files: [String] = []
    for table in try FileTree.names(in: folder) where !table.hasPrefix(".") {
      for name in try FileTree.names(in: "\(folder)/\(table)")
      where ExternalFiles.entryId(ofFile: name) != nil {
        files.append("\(table)/\(name)")
      }
    }
    return files
  }

  /// Whether an entry file is encrypted; nil if it does not exist.
  private static func isSealed(_ path: String) throws(FileFailure) -> Bool? {
    try DurableFile(path: path).read(limit: ExternalFileEncryptor.headerSize)
      .map { ExternalFileEncryptor.isSealed($0) }
  }
}
