import SalesforceSDKCommon
import Synchronization

/// The files of externally stored entries of one store (SS-193).
///
/// ```
/// store_external_soup_blobs/TABLE_n/soupelt_<id>   the entry
///                           .staged/               written, not yet committed
///                           .replaced/<sequence>/  set aside by a commit
/// ```
///
/// Files change with the transaction that changes their rows (SS-194). New content is staged while
/// the transaction runs. Before the database commits, the files to replace are set aside under the
/// commit's number and the new files replace them; the number is stored in the database and
/// committed with the rows. If the commit fails, or the process ends before it, the number in the
/// database shows at the next opening that the files must be restored.
///
/// Only the writer calls the functions that change files, one transaction at a time.
final class ExternalFiles: Sendable {
  /// The folder of all the files.
  let root: String
  let encryptor: ExternalFileEncryptor?
  let versions = Mutex(ExternalVersions())
  private let stagedCount = Atomic<Int>(0)
  private let used = Atomic(false)
  /// Keeps other processes from writing to the store until it is closed.
  private let keepOthersOut: @Sendable () throws(SmartStoreError) -> Void

  /// - Parameters:
  ///   - database: The path of the database file, `….sqlite`.
  ///   - encryptor: Nil for a plaintext store.
  ///   - keepOthersOut: Keeps other processes from writing to the store until it is closed.
  init(
    database: String, encryptor: ExternalFileEncryptor?,
    keepOthersOut: @escaping @Sendable () throws(SmartStoreError) -> Void = {}
  ) {
    self.keepOthersOut = keepOthersOut
    let name = database.hasSuffix(".sqlite") ? String(database.dropLast(7)) : database
    root = name + "_external_soup_blobs"
    self.encryptor = encryptor
    used.store((try? FileTree.exists(root)) ?? true, ordering: .relaxed)
  }

  /// Whether the store has, or had, an externally stored soup.
  var isInUse: Bool { used.load(ordering: .relaxed) }

  /// Keeps other processes out before the first of the files: which of them a snapshot sees is known to the process
  /// alone that writes them.
  ///
  /// - Throws: ``SmartStoreError`` `busyOtherProcess` if another one has the store open for writing.
  func willUse() throws(SmartStoreError) {
    guard !isInUse else { return }
    try keepOthersOut()
    used.store(true, ordering: .relaxed)
  }

  func folder(of table: String) -> String { "\(root)/\(table)" }
  var stagingFolder: String { root + "/.staged" }
  var replacedFolder: String { root + "/.replaced" }

  static func fileName(_ entryId: Int64) -> String { "soupelt_\(entryId)" }

  /// Returns the entry id in the name of a file; nil if the file is not an entry's.
  static func entryId(ofFile name: String) -> Int64? {
    guard name.hasPrefix("soupelt_"), let entryId = Int64(name.dropFirst(8)),
      fileName(entryId) == name
    else { return nil }
    return entryId
  }

  /// Whether a store writes files of this name into a table's folder: an entry's file, or the
  /// remains of one after a crash.
  static func isOwn(file name: String) -> Bool {
    entryId(ofFile: name.hasSuffix(".new") ? String(name.dropLast(4)) : name) != nil
  }

  /// Whether a folder of this name belongs to a store.
  static func isTable(_ name: String) -> Bool {
    guard name.hasPrefix("TABLE_"), let number = Int64(name.dropFirst(6)) else { return false }
    return "TABLE_\(number)" == name
  }

  // MARK: Reading

  /// Begins a reader. Must be called before the snapshot of the database is taken.
  func beginReading() -> ExternalSnapshot {
    ExternalSnapshot(self, floor: versions.withLock { $0.beginReading() })
  }

  func endReading(since floor: Int64) {
    drop(versions.withLock { $0.endReading(since: floor) })
  }

  /// The maximum size of an entry's file: 1 GiB.
  static let maxBytes = 1 << 30

  /// Returns an entry's text in a snapshot.
  ///
  /// - Parameter sequence: The last commit in the snapshot that changed files.
  func read(table: String, entryId: Int64, at sequence: Int64) throws -> [UInt8] {
    var place = path(table: table, entryId: entryId, at: sequence)
    while true {
      let bytes = try DurableFile(path: place).read(maxBytes: Self.maxBytes)
      // A commit may have set the file aside in the meantime.
      let now = path(table: table, entryId: entryId, at: sequence)
      if now == place {
        guard let bytes else { throw FileTree.missing(place) }
        return try content(of: bytes, table: table, entryId: entryId)
      }
      place = now
    }
  }

  /// Returns an entry's text as this transaction wrote it.
  func readStaged(_ name: String, table: String, entryId: Int64) throws -> [UInt8] {
    let place = "\(stagingFolder)/\(name)"
    guard let bytes = try DurableFile(path: place).read(maxBytes: Self.maxBytes) else {
      throw FileTree.missing(place)
    }
    return try content(of: bytes, table: table, entryId: entryId)
  }

  private func content(of bytes: [UInt8], table: String, entryId: Int64) throws -> [UInt8] {
    try encryptor?.decrypt(bytes, table: table, entryId: entryId) ?? bytes
  }

  private func path(table: String, entryId: Int64, at sequence: Int64) -> String {
    let holder = versions.withLock { $0.holder(of: entryId, table: table, at: sequence) }
    let folder = holder.map { "\(replacedFolder)/\($0)/\(table)" } ?? folder(of: table)
    return "\(folder)/\(Self.fileName(entryId))"
  }

  /// Returns the number of files of a table, or of all tables, and their size in bytes.
  func usage(of table: String? = nil) throws(FileFailure) -> ExternalUsage {
    var usage = ExternalUsage()
    let tables = if let table { [table] } else { try tables() }
    for table in tables {
      for name in try FileTree.names(in: folder(of: table)) {
        guard let size = try DurableFile(path: "\(folder(of: table))/\(name)").size() else {
          continue
        }
        usage.count += 1
        usage.bytes += size
      }
    }
    return usage
  }

  /// Returns the tables that have a folder.
  func tables() throws(FileFailure) -> [String] {
    try FileTree.names(in: root).filter { !$0.hasPrefix(".") }
  }

  /// Refuses folders that are links, because files that are read, moved or removed through one are
  /// elsewhere.
  ///
  /// - Throws: ``FileFailure`` with `ENOTDIR`.
  func checkFolders() throws(FileFailure) {
    guard isInUse else { return }
    try Self.checkFolders(in: root)
    guard try FileTree.isFolder(root) else { return }
    _ = try FileTree.isFolder(stagingFolder)
    for number in try FileTree.names(in: replacedFolder) {
      try Self.checkFolders(in: "\(replacedFolder)/\(number)")
    }
  }

  private static func checkFolders(in folder: String) throws(FileFailure) {
    for name in try FileTree.names(in: folder) where isTable(name) {
      _ = try FileTree.isFolder("\(folder)/\(name)")
    }
  }

  // MARK: Writing

  /// Writes an entry's text under a temporary name in its folder. The file is on disk on return.
  ///
  /// - Returns: The name of the staged file.
  func stage(_ text: [UInt8], table: String, entryId: Int64) throws -> String {
    used.store(true, ordering: .relaxed)
    let number = stagedCount.wrappingAdd(1, ordering: .relaxed).newValue
    let name = "\(table)-\(entryId)-\(number)"
    let bytes = try encryptor?.encrypt(text, table: table, entryId: entryId) ?? text
    try DurableFile(path: "\(stagingFolder)/\(name)").replace(with: bytes)
    return name
  }

  /// Removes the files that were staged and not committed.
  func discardStaged() {
    // Files that cannot be removed are removed when the store is opened.
    try? FileTree.remove(stagingFolder)
  }

  /// Applies the changes of files together with `commit`. If it fails, files and database stay as
  /// they were.
  ///
  /// - Parameters:
  ///   - sequence: The commit's number, one more than the last. The transaction has stored it.
  ///   - commit: Commits the database. If it throws ``UndecidedCommit``, the files stay where they
  ///     are valid for either outcome: this process reads the files that were set aside, and so
  ///     does the next opening, unless it finds the commit.
  func commit(
    _ changes: ExternalChanges, sequence: Int64, _ commit: () throws -> Void
  ) throws {
    used.store(true, ordering: .relaxed)
    try putBack(sequence)
    var placed: [String] = []
    do {
      try publish(changes, sequence: sequence, &placed)
      try commit()
    } catch let error as UndecidedCommit {
      throw error
    } catch {
      // If this fails too, the next transaction or the next opening restores the files.
      for path in placed { try? DurableFile(path: path).remove() }
      try? putBack(sequence)
      throw error
    }
    drop(versions.withLock { $0.commit(sequence) })
    discardStaged()
  }

  /// Sets the old files aside, and then puts the new ones in their place.
  ///
  /// The old files are on disk at their new paths before another file takes their name: after a loss of power, a disk may
  /// hold a later rename without an earlier one.
  private func publish(
    _ changes: ExternalChanges, sequence: Int64, _ placed: inout [String]
  ) throws(FileFailure) {
    let aside = "\(replacedFolder)/\(sequence)"
    try DurableFile.makeFolder(aside)
    for table in changes.tables.keys {
      try DurableFile.makeFolder(folder(of: table))
      try DurableFile.makeFolder("\(aside)/\(table)")
    }
    try setAside(changes, sequence: sequence)
    for table in changes.tables.keys { try DurableFile.syncFolder("\(aside)/\(table)") }
    for folder in [aside, replacedFolder, root] { try DurableFile.syncFolder(folder) }
    for (table, change) in changes.tables {
      for case (let entryId, let staged?) in change.elements {
        let place = "\(folder(of: table))/\(Self.fileName(entryId))"
        guard try FileTree.move("\(stagingFolder)/\(staged)", to: place) else {
          throw FileTree.missing(staged)
        }
        placed.append(place)
      }
      if !change.isRemoved { try DurableFile.syncFolder(folder(of: table)) }
    }
  }

  /// Sets the files aside that change or go, with the lock held, so that a reader finds each of them in one of its two
  /// locations.
  private func setAside(_ changes: ExternalChanges, sequence: Int64) throws(FileFailure) {
    let aside = "\(replacedFolder)/\(sequence)"
    let failure = versions.withLock { versions -> FileFailure? in
      var replaced = ExternalVersions.Replaced(sequence: sequence)
      defer { versions.prepare(replaced) }
      do throws(FileFailure) {
        for (table, change) in changes.tables {
          if change.isCleared {
            replaced.tables.insert(table)
            try setAside(table, in: aside, isRemoved: change.isRemoved)
            continue
          }
          for entryId in change.elements.keys {
            let name = Self.fileName(entryId)
            if try FileTree.move("\(folder(of: table))/\(name)", to: "\(aside)/\(table)/\(name)") {
              replaced.elements[table, default: []].insert(entryId)
            }
          }
        }
        return nil
      } catch {
        return error
      }
    }
    if let failure { throw failure }
  }

  /// Sets all files of a soup aside.
  private func setAside(_ table: String, in aside: String, isRemoved: Bool) throws(FileFailure) {
    try FileTree.remove("\(aside)/\(table)")
    _ = try FileTree.move(folder(of: table), to: "\(aside)/\(table)")
    if !isRemoved { try DurableFile.makeFolder(folder(of: table)) }
  }

  /// Removes files that a commit replaced and that no reader needs.
  private func drop(_ sequences: [Int64]) {
    // Files that cannot be removed are removed when the store is opened.
    for sequence in sequences { try? FileTree.remove("\(replacedFolder)/\(sequence)") }
  }
}

/// The number and the total size of some entry files.
struct ExternalUsage: Sendable {
  var count = 0
  var bytes: UInt64 = 0
}

/// A reader's claim to the files of its snapshot.
final class ExternalSnapshot: Sendable {
  private let files: ExternalFiles
  private let floor: Int64

  init(_ files: ExternalFiles, floor: Int64) {
    self.files = files
    self.floor = floor
  }

  deinit { files.endReading(since: floor) }
}
