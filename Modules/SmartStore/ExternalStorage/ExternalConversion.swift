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
    guard try FileTree.exists(root) else { return }
    try DurableFile.makeFolder(copy)
    // What a crash set aside belongs to the store as much as what is in its place.
    let replaced = try FileTree.names(in: root + "/.replaced").map { ".replaced/" + $0 }
    for folder in replaced + [""] {
      for table in try FileTree.names(in: "\(root)/\(folder)") where !table.hasPrefix(".") {
        try DurableFile.makeFolder("\(copy)/\(folder)/\(table)")
        for name in try FileTree.names(in: "\(root)/\(folder)/\(table)") {
          let file = "\(folder)/\(table)/\(name)"
          guard let entryId = ExternalFiles.entryId(ofFile: name),
            let bytes = try DurableFile(path: "\(root)/\(file)").read()
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
  func recover(isSealed: Bool) throws(FileFailure) {
    try FileTree.remove(copy(isSealed: !isSealed))
    let wanted = copy(isSealed: isSealed)
    if try FileTree.exists(wanted) {
      if try FileTree.exists(root) {
        try FileTree.remove(old)
        _ = try FileTree.move(root, to: old)
      }
      _ = try FileTree.move(wanted, to: root)
    }
    try FileTree.remove(old)
  }
}
