import SalesforceSDKCommon
import Synchronization

/// Recovery after a failed commit and at the next opening, and re-encryption when the key changes.
extension ExternalFiles {
  /// Moves the files of commit `sequence`, which failed, back to their original paths.
  func putBack(_ sequence: Int64) throws(FileFailure) {
    let aside = "\(replacedFolder)/\(sequence)"
    var files: [String: [String]] = [:]
    for table in try FileTree.names(in: aside) where Self.isTable(table) {
      let names = try FileTree.names(in: "\(aside)/\(table)").filter(Self.isOwn(file:))
      if !names.isEmpty { files[table] = names }
    }
    for table in files.keys { try DurableFile.makeFolder(folder(of: table)) }
    let found = files
    // With the lock held, as when they were set aside.
    let failure = versions.withLock { versions -> FileFailure? in
      do throws(FileFailure) {
        for (table, names) in found {
          for name in names {
            _ = try FileTree.move("\(aside)/\(table)/\(name)", to: "\(folder(of: table))/\(name)")
          }
        }
        versions.abandon(sequence)
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
    for table in files.keys { try DurableFile.syncFolder(folder(of: table)) }
    try FileTree.remove(aside)
  }

  /// Uses the files as they are, without recovery.
  func start(at sequence: Int64) { versions.withLock { $0.start(at: sequence) } }

  /// Recovers the files of a process that ended during a commit.
  ///
  /// - Parameter sequence: The last commit in the database.
  func recover(at sequence: Int64) throws(FileFailure) {
    start(at: sequence)
    guard isInUse else { return }
    try checkFolders()
    for name in try FileTree.names(in: replacedFolder) {
      if let number = Int64(name), "\(number)" == name, number > sequence { try putBack(number) }
    }
    try FileTree.remove(replacedFolder)
    try FileTree.remove(stagingFolder)
  }

  /// Removes files without a row. Files and folders with names that the store does not use stay.
  ///
  /// - Parameters:
  ///   - isExternal: Whether a table's entries are stored in files.
  ///   - hasRow: Whether a table has a row with this id.
  func removeStrays(
    isExternal: (String) -> Bool,
    hasRow: (_ table: String, _ entryId: Int64) throws(SmartStoreError) -> Bool
  ) throws {
    guard isInUse else { return }
    for table in try tables() where Self.isTable(table) {
      let isKept = isExternal(table)
      for name in try FileTree.names(in: folder(of: table)) where Self.isOwn(file: name) {
        if isKept, let entryId = Self.entryId(ofFile: name), try hasRow(table, entryId) { continue }
        try FileTree.removeFile("\(folder(of: table))/\(name)")
      }
      if !isKept { FileTree.removeIfEmpty(folder(of: table)) }
    }
  }

  /// Encrypts every file that is not encrypted with the newest key. Each file is replaced
  /// atomically, so after a crash some files use the older key, which must stay available until all
  /// are replaced.
  func reencryptFiles() throws {
    guard let encryptor, isInUse else { return }
    for table in try tables() {
      for name in try FileTree.names(in: folder(of: table)) {
        let file = DurableFile(path: "\(folder(of: table))/\(name)")
        guard let entryId = Self.entryId(ofFile: name), let start = try file.read(limit: 12),
          !encryptor.isCurrent(start), let bytes = try file.read(maxBytes: Self.maxBytes)
        else { continue }
        let text = try encryptor.decrypt(bytes, table: table, entryId: entryId)
        try file.replace(with: try encryptor.encrypt(text, table: table, entryId: entryId))
      }
    }
  }
}
