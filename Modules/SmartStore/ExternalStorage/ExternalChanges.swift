/// What one transaction does to the files of externally stored entries, none of it done yet.
///
/// A value: going back to an earlier one undoes what came after it.
struct ExternalChanges {
  /// The changes to the files of one soup's table.
  struct Table {
    /// Whether all files that were there before go.
    var isCleared = false
    /// Whether the folder goes as well.
    var isRemoved = false
    /// The staged file that becomes an entry's, or nil for an entry that goes.
    var elements: [Int64: String?] = [:]
  }

  /// Where a transaction finds the content of an entry.
  enum Place: Equatable {
    case staged(String)
    case nowhere
    case unchanged
  }

  private(set) var tables: [String: Table] = [:]

  var isEmpty: Bool { tables.isEmpty }

  /// The entry's file becomes the staged one.
  mutating func write(_ staged: String, table: String, entryId: Int64) {
    tables[table, default: Table()].elements[entryId] = .some(staged)
  }

  /// The entry's file goes.
  mutating func remove(table: String, entryId: Int64) {
    tables[table, default: Table()].elements[entryId] = .some(nil)
  }

  /// The folder is made, if it is not there.
  mutating func create(table: String) {
    tables[table, default: Table()].isRemoved = false
  }

  /// All files go, and the folder too if `keepsFolder` is false.
  mutating func clear(table: String, keepsFolder: Bool) {
    tables[table] = Table(isCleared: true, isRemoved: !keepsFolder)
  }

  /// Where this transaction reads an entry.
  func place(table: String, entryId: Int64) -> Place {
    guard let changes = tables[table] else { return .unchanged }
    if let change = changes.elements[entryId] { return change.map { .staged($0) } ?? .nowhere }
    return changes.isCleared ? .nowhere : .unchanged
  }
}
