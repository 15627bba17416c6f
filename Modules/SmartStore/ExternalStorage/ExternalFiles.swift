import SalesforceSDKCommon
import Synchronization

/// The files of externally stored entries of one store (SS-193).
///
/// ```
/// store_external_soup_blobs/TABLE_n/soupelt_<id>   the element
///                           .staged/               written, not yet committed
///                           .replaced/<sequence>/  set aside by a commit
/// ```
///
/// Files change with the transaction that changes their rows (SS-194). New content is staged while
/// the transaction runs. Before the database commits, the files it replaces are set aside under the
/// commit's number and the new ones take their places; the number is in the database and is
/// committed with the rows. If the commit fails, or the process dies before it, the number in the
/// database tells at the next opening that the files have to go back.
///
/// Only the writer calls what changes files, one transaction after another.
final class ExternalFiles: Sendable {
  /// The folder of all the files.
  let root: String
  let encryptor: ExternalFileEncryptor?
  let versions = Mutex(ExternalVersions())
  private let stagedCount = Atomic<Int>(0)
  private let used = Atomic(false)

  /// - Parameters:
  ///   - database: The path of the database file, `….sqlite`.
  ///   - encryptor: Nil for a plaintext store.
  init(database: String, encryptor: ExternalFileEncryptor?) {
    let name = database.hasSuffix(".sqlite") ? String(database.dropLast(7)) : database
    root = name + "_external_soup_blobs"
    self.encryptor = encryptor
    used.store((try? FileTree.exists(root)) ?? true, ordering: .relaxed)
  }

  /// Whether the store has, or once had, an externally stored soup.
  var isInUse: Bool { used.load(ordering: .relaxed) }

  func folder(of table: String) -> String { "\(root)/\(table)" }
  var stagingFolder: String { root + "/.staged" }
  var replacedFolder: String { root + "/.replaced" }

  static func fileName(_ entryId: Int64) -> String { "soupelt_\(entryId)" }

  /// The entry id in the name of a file; nil if it is no entry's.
  static func entryId(ofFile name: String) -> Int64? {
    guard name.hasPrefix("soupelt_"), let entryId = Int64(name.dropFirst(8)),
      fileName(entryId) == name
    else { return nil }
    return entryId
  }

  /// Whether a store writes files of this name into a table's folder: an entry's file, or what a crash left of
  /// writing one.
  static func isOwn(file name: String) -> Bool {
    entryId(ofFile: name.hasSuffix(".new") ? String(name.dropLast(4)) : name) != nil
  }

  /// Whether a store gives a folder this name.
  static func isTable(_ name: String) -> Bool {
    guard name.hasPrefix("TABLE_"), let number = Int64(name.dropFirst(6)) else { return false }
    return "TABLE_\(number)" == name
  }

  // MARK: Reading

  /// Begins a reader, before its snapshot of the database is taken.
  func beginReading() -> ExternalSnapshot {
    ExternalSnapshot(self, floor: versions.withLock { $0.beginReading() })
  }

  func endReading(since floor: Int64) {
    drop(versions.withLock { $0.endReading(since: floor) })
  }

  /// No file of an entry is longer: 1 GiB.
  static let maxBytes = 1 << 30

  /// An entry's text as a snapshot sees it.
  ///
  /// - Parameter sequence: The last commit in the snapshot that changed files.
  func read(table: String, entryId: Int64, at sequence: Int64) throws -> [UInt8] {
    var place = path(table: table, entryId: entryId, at: sequence)
    while true {
      let bytes = try DurableFile(path: place).read(maxBytes: Self.maxBytes)
      // A commit may have set the file aside since.
      let now = path(table: table, entryId: entryId, at: sequence)
      if now == place {
        guard let bytes else { throw FileTree.missing(place) }
        return try content(of: bytes, table: table, entryId: entryId)
      }
      place = now
    }
  }

  /// An entry's text as this transaction wrote it.
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

  /// How many files a table has, or all tables have, and their bytes.
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

  /// The tables that have a folder.
  func tables() throws(FileFailure) -> [String] {
    try FileTree.names(in: root).filter { !$0.hasPrefix(".") }
  }

  /// Refuses folders that are links: what is read, moved or removed through one belongs to another place.
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

  /// Writes an entry's text under a temporary name in its folder, on disk when this returns.
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

  /// Removes what transactions staged and did not commit.
  func discardStaged() {
    // What stays is removed when the store is opened.
    try? FileTree.remove(stagingFolder)
  }

  /// Brings the files up to date with `commit`, or leaves both as they were.
  ///
  /// - Parameters:
  ///   - sequence: The commit's number, one more than the last; the transaction has stored it.
  ///   - commit: Commits the database. If it throws ``UndecidedCommit``, the files stay where either
  ///     outcome finds them: this process reads what was set aside, and so does the next opening,
  ///     unless it finds the commit.
  func commit(
    _ changes: ExternalChanges, sequence: Int64, _ commit: () throws -> Void
  ) throws {
    used.store(true, ordering: .relaxed)
    try putBack(sequence)
    var placed: [String] = []
    do {
      try publish(changes, sequence: sequence, &placed)
      try sync(changes, sequence: sequence)
      try commit()
    } catch let error as UndecidedCommit {
      throw error
    } catch {
      // If this fails too, the next transaction or the next opening puts the files back.
      for path in placed { try? DurableFile(path: path).remove() }
      try? putBack(sequence)
      throw error
    }
    drop(versions.withLock { $0.commit(sequence) })
    discardStaged()
  }

  /// Moves files under the lock, so that a reader finds each in one of two places.
  private func publish(
    _ changes: ExternalChanges, sequence: Int64, _ placed: inout [String]
  ) throws(FileFailure) {
    let aside = "\(replacedFolder)/\(sequence)"
    try DurableFile.makeFolder(aside)
    for table in changes.tables.keys {
      try DurableFile.makeFolder(folder(of: table))
      try DurableFile.makeFolder("\(aside)/\(table)")
    }
    var moved: [String] = []
    let failure = versions.withLock { versions -> FileFailure? in
      var replaced = ExternalVersions.Replaced(sequence: sequence)
      defer { versions.prepare(replaced) }
      do throws(FileFailure) {
        for (table, change) in changes.tables {
          if change.isCleared {
            replaced.tables.insert(table)
            try setAside(table, in: aside, isRemoved: change.isRemoved)
          }
          for (entryId, staged) in change.elements {
            let place = "\(folder(of: table))/\(Self.fileName(entryId))"
            if !change.isCleared,
              try FileTree.move(place, to: "\(aside)/\(table)/\(Self.fileName(entryId))")
            {
              replaced.elements[table, default: []].insert(entryId)
            }
            if let staged {
              guard try FileTree.move("\(stagingFolder)/\(staged)", to: place) else {
                throw FileTree.missing(staged)
              }
              moved.append(place)
            }
          }
        }
        return nil
      } catch {
        return error
      }
    }
    placed = moved
    if let failure { throw failure }
  }

  /// Sets all files of a soup aside.
  private func setAside(_ table: String, in aside: String, isRemoved: Bool) throws(FileFailure) {
    try FileTree.remove("\(aside)/\(table)")
    _ = try FileTree.move(folder(of: table), to: "\(aside)/\(table)")
    if !isRemoved { try DurableFile.makeFolder(folder(of: table)) }
  }

  /// Waits until all moves are on disk, before the database commits to them.
  private func sync(_ changes: ExternalChanges, sequence: Int64) throws(FileFailure) {
    let aside = "\(replacedFolder)/\(sequence)"
    for (table, change) in changes.tables {
      if !change.isRemoved { try DurableFile.syncFolder(folder(of: table)) }
      try DurableFile.syncFolder("\(aside)/\(table)")
    }
    for folder in [aside, replacedFolder, root] { try DurableFile.syncFolder(folder) }
  }

  /// Removes files that a commit replaced and that no reader needs any longer.
  private func drop(_ sequences: [Int64]) {
    // What stays is removed when the store is opened.
    for sequence in sequences { try? FileTree.remove("\(replacedFolder)/\(sequence)") }
  }
}

/// The number and the bytes of some entry files.
struct ExternalUsage: Sendable {
  var count = 0
  var bytes: UInt64 = 0
}

/// One reader's hold on the files that its snapshot sees.
final class ExternalSnapshot: Sendable {
  private let files: ExternalFiles
  private let floor: Int64

  init(_ files: ExternalFiles, floor: Int64) {
    self.files = files
    self.floor = floor
  }

  deinit { files.endReading(since: floor) }
}
