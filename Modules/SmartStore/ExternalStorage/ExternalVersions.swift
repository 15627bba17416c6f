/// Which files of externally stored entries readers of older snapshots still need.
///
/// Commits that change files are numbered; the number is in the database, so that a snapshot knows
/// its own. The files that commit `n` replaced are kept as long as a reader has a snapshot from
/// before it.
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
  /// How many readers began when a commit was the last one.
  private var readers: [Int64: Int] = [:]
  /// In ascending order.
  private var replaced: [Replaced] = []

  /// Starts over after the store was opened.
  mutating func start(at sequence: Int64) { committed = sequence }

  /// A reader begins. Its snapshot, taken afterwards, is not older than the number returned.
  mutating func beginReading() -> Int64 {
    readers[committed, default: 0] += 1
    return committed
  }

  /// A reader ends.
  ///
  /// - Returns: The commits whose replaced files no reader needs any longer.
  mutating func endReading(since floor: Int64) -> [Int64] {
    if let count = readers[floor] { readers[floor] = count > 1 ? count - 1 : nil }
    return replaced.isEmpty ? [] : takeUnneeded()
  }

  /// The commit that set the file aside which a snapshot sees; nil if it is in its usual place.
  func holder(of entryId: Int64, table: String, at snapshot: Int64) -> Int64? {
    replaced.first {
      $0.sequence > snapshot
        && ($0.tables.contains(table) || $0.elements[table]?.contains(entryId) == true)
    }?.sequence
  }

  /// A commit is about to happen and has set files aside.
  mutating func prepare(_ files: Replaced) { replaced.append(files) }

  /// The commit did not happen, and its files are back.
  mutating func abandon(_ sequence: Int64) { replaced.removeAll { $0.sequence == sequence } }

  /// The commit happened.
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
