import Foundation
import SalesforceSDKCommon

/// The entry files of a store whose database changes between plaintext and encrypted (SS-201).
///
/// The database changes in one step, its entry files cannot. So a converted copy of them is made
/// in the same folder first; the database, once it was replaced, says which of the two counts.
struct ExternalConversion {
  private let root: String

  /// - Parameter database: The path of the database file.
  init(database: String) {
    root = ExternalFiles(database: database, encryptor: nil).root
  }

  private func copy(isSealed: Bool) -> String { root + (isSealed ? ".sealed" : ".opened") }
  private var old: String { root + ".old" }

  /// Whether there are files of a conversion to keep or remove.
  func isIncomplete() throws(FileFailure) -> Bool {
    for path in [copy(isSealed: true), copy(isSealed: false), old] {
      if try FileTree.exists(path) { return true }
    }
    return false
  }

  /// Makes the converted copy. The store must not be open.
  ///
  /// - Parameters:
  ///   - source: Opens the files; nil if they are plaintext.
  ///   - target: Encrypts the copies; nil if they shall be plaintext.
  func prepare(from source: ExternalFileEncryptor?, to target: ExternalFileEncryptor?) throws {
    let copy = copy(isSealed: target != nil)
    try FileTree.remove(copy)
    guard try FileTree.isFolder(root) else { return }
    try DurableFile.makeFolder(copy)
    // What a crash set aside belongs to the store as much as what is in its place.
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

  /// Puts the copy that fits the database in the place of the files, if there is one, and removes
  /// what is left over. Harmless at any time at which the store is not open.
  ///
  /// - Parameter isSealed: Whether the database is encrypted now.
  /// - Throws: ``FileFailure`` with `EINVAL` for a folder that no conversion can have left: one that lacks entry
  ///   files, or is there although the files have the wanted form already. Nothing is changed then.
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

  /// Refuses a copy that would lose entries: one that was put there, or that was not finished.
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

  /// The entry files that count, by their paths in the folder. What a crash set aside does not: after a lost
  /// power it can come back when its copy is made.
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

  /// Whether an entry file is encrypted; nil if there is none.
  private static func isSealed(_ path: String) throws(FileFailure) -> Bool? {
    try DurableFile(path: path).read(limit: ExternalFileEncryptor.headerSize)
      .map { ExternalFileEncryptor.isSealed($0) }
  }
}
