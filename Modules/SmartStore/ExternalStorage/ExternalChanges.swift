/// The pending changes of one transaction to the files of externally stored entries.
///
/// A value: restoring an earlier copy undoes the later changes.
struct ExternalChanges {
  /// The changes to the files of one soup's table.
  struct Table {
    /// Whether all existing files are removed.
    var isCleared = false
    /// Whether the folder is removed as well.
    var isRemoved = false
    /// The staged file that replaces an entry's file, or nil for an entry that is removed.
    var elements: [Int64: String?] = [:]
  }

  /// The location of an entry's content in a transaction.
  enum Place: Equatable {
    case staged(String)
    case nowhere
    case unchanged
  }

  private(set) var tables: [String: Table] = [:]

  var isEmpty: Bool { tables.isEmpty }

  /// Records that the staged file replaces the entry's file.
  mutating func write(_ staged: String, table: String, entryId: Int64) {
    tables[table, default: Table()].elements[entryId] = .some(staged)
  }

  /// Records that the entry's file is removed.
  mutating func remove(table: String, entryId: Int64) {
    tables[table, default: Table()].elements[entryId] = .some(nil)
  }

  /// Records that the folder is created if it does not exist.
  mutating func create(table: String) {
    tables[table, default: Table()].isRemoved = false
  }

  /// Records that all files are removed, and the folder too if `keepsFolder` is false.
  mutating func clear(table: String, keepsFolder: Bool) {
    tables[table] = Table(isCleared: true, isRemoved: !keepsFolder)
  }

  /// Returns the location from which this transaction reads an entry.
  func place(table: String, entryId: Int64) -> Place {
    guard let changes = tables[table] else { return .unchanged }
    if let change = changes.elements[entryId] { return change.map { .staged($0) } ?? .nowhere }
    return changes.isCleared ? .nowhere : .unchanged
  }
}
