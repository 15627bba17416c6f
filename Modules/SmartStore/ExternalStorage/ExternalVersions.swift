/// An index of the replaced entry files that readers of older snapshots still need.
///
/// Commits that change files are numbered. The number is in the database, so each snapshot has one.
/// The files that commit `n` replaced are kept while any reader has a snapshot older than `n`.
struct ExternalVersions {
  /// The files that one commit replaced.
  struct Replaced {
    let sequence: Int64
    /// Tables whose files were all replaced.
    var tables: Set<String> = []
    /// Single entries by table.
    var elements: [String: Set<Int64>] = [:]
  }

  /// The number of the last commit that changed files.
  private(set) var committed: Int64 = 0
  /// The number of readers by the last commit at their beginning.
  private var readers: [Int64: Int] = [:]
  /// The replaced files, in ascending order of their commits.
  private var replaced: [Replaced] = []

  /// Resets the index after the store was opened.
  mutating func start(at sequence: Int64) { committed = sequence }

  /// Begins a reader. Its snapshot, taken afterwards, is not older than the returned number.
  mutating func beginReading() -> Int64 {
    readers[committed, default: 0] += 1
    return committed
  }

  /// Ends a reader.
  ///
  /// - Returns: The commits whose replaced files no reader needs.
  mutating func endReading(since floor: Int64) -> [Int64] {
    if let count = readers[floor] { readers[floor] = count > 1 ? count - 1 : nil }
    return replaced.isEmpty ? [] : takeUnneeded()
  }

  /// Returns the commit that set aside the file of a snapshot; nil if the file is at its usual
  /// path.
  func holder(of entryId: Int64, table: String, at snapshot: Int64) -> Int64? {
    replaced.first {
      $0.sequence > snapshot
        && ($0.tables.contains(table) || $0.elements[table]?.contains(entryId) == true)
    }?.sequence
  }

  /// Records a commit that has set files aside and is about to run.
  mutating func prepare(_ files: Replaced) { replaced.append(files) }

  /// Removes a commit that failed and whose files are restored.
  mutating func abandon(_ sequence: Int64) { replaced.removeAll { $0.sequence == sequence } }

  /// Records that the commit succeeded.
  ///
  /// - Returns: The commits whose replaced files no reader needs.
  mutating func commit(_ sequence: Int64) -> [Int64] {
    committed = sequence
    return takeUnneeded()
  }

  private mutating func takeUnneeded() -> [Int64] {
    let oldest = readers.keys.min() ?? .max
    let unneeded = replaced.map(\.sequence).filter { $0 <= committed && $0 <= oldest }
    replaced.removeAll { unneeded.contains($0.sequence) }
    return unneeded
  }
}
