import SalesforceSDKCommon

/// One soup's place in the database: its tables, its columns and the statements that write it.
///
/// Immutable; a change of the soup makes a new value.
final class Soup: Sendable {
  /// A column that repeats the values of a path.
  struct Column: Sendable {
    let name: String
    let type: SoupIndexType
    let path: JSONPath
    let pathText: String
    var isFullText: Bool { type == .fullText }
  }

  let name: String
  let number: Int64
  /// The index specs in the order of registration, with their column names.
  let indexes: [SoupIndex]
  let table: String
  let fullTextTable: String
  /// Whether each entry is kept in a file of its own.
  let isExternal: Bool
  /// The index columns, without json1 paths, in the order of registration.
  let columns: [Column]
  /// The number of values that an inserted row takes.
  let parametersPerRow: Int
  /// Positions in `columns` of the full-text ones.
  let fullTextColumns: [Int]
  /// The spec that holds for a path; of two specs for one path the last.
  private let indexByPath: [MemberKey: SoupIndex]

  /// Both take the id, the time, the columns' values and, unless the soup is external, the text.
  let insertStatement: String
  let updateStatement: String
  /// Takes the same, ``rowsPerInsert`` times; nil if entries must be inserted one by one.
  let insertRowsStatement: String?
  let fullTextInsertStatement: String
  let fullTextReplaceStatement: String

  init(name: String, number: Int64, indexes: [SoupIndex], isExternal: Bool = false) {
    self.name = name
    self.number = number
    self.isExternal = isExternal
    let table = "TABLE_\(number)"
    self.table = table
    self.fullTextTable = "\(table)_fts"
    let named = indexes.enumerated().map { position, index in
      SoupIndex(
        path: index.path, type: index.type,
        columnName: index.type == .json1
          ? Soup.jsonExtraction(of: index.path)
          : index.columnName ?? Soup.columnName(table: table, position: position))
    }
    self.indexes = named
    self.indexByPath = Dictionary(
      named.map { (MemberKey($0.path), $0) }, uniquingKeysWith: { _, last in last })
    let columns = named.compactMap { index -> Column? in
      guard index.type != .json1, let column = index.columnName else { return nil }
      return Column(
        name: column, type: index.type, path: JSONPath(index.path), pathText: index.path)
    }
    self.columns = columns
    self.fullTextColumns = columns.indices.filter { columns[$0].isFullText }

    let names = columns.map(\.name)
    let valued = isExternal ? names : names + [SmartStore.soupColumn]
    let inserted = ["id", "created", "lastModified"] + valued
    let parametersPerRow = Soup.firstColumnParameter - 1 + valued.count
    func values(ofRow row: Int) -> [String] {
      valued.indices.map { "?\(row * parametersPerRow + Soup.firstColumnParameter + $0)" }
    }
    func row(_ row: Int) -> String {
      let before = row * parametersPerRow
      let time = "?\(before + Soup.timeParameter)"
      let all = ["?\(before + Soup.entryIdParameter)", time, time] + values(ofRow: row)
      return "(\(all.joined(separator: ", ")))"
    }
    let insertHead = "INSERT INTO \(table) (\(inserted.joined(separator: ", "))) VALUES "
    self.parametersPerRow = parametersPerRow
    self.insertStatement = insertHead + row(0)
    // A statement of several rows begins with a savepoint, at which FTS5 writes down what it has gathered:
    // elements with full text would leave an index of many small segments, which is slow to search.
    self.insertRowsStatement =
      isExternal || !fullTextColumns.isEmpty
      ? nil : insertHead + (0..<Soup.rowsPerInsert).map(row).joined(separator: ", ")
    let updated =
      ["lastModified = ?\(Soup.timeParameter)"]
      + zip(valued, values(ofRow: 0)).map { "\($0) = \($1)" }
    self.updateStatement =
      "UPDATE \(table) SET \(updated.joined(separator: ", ")) "
      + "WHERE id = ?\(Soup.entryIdParameter)"
    let fullText = ["rowid"] + columns.filter(\.isFullText).map(\.name)
    let fullTextTail =
      "INTO \(table)_fts (\(fullText.joined(separator: ", "))) "
      + "VALUES (\(Soup.placeholders(fullText.count)))"
    self.fullTextInsertStatement = "INSERT \(fullTextTail)"
    self.fullTextReplaceStatement = "INSERT OR REPLACE \(fullTextTail)"
  }

  /// How many entries one statement inserts, if so many come at once.
  static let rowsPerInsert = 16
  static let entryIdParameter = 1
  static let timeParameter = 2
  /// The parameter of the first column's value.
  static let firstColumnParameter = 3
  /// The parameter of the entry's text.
  var textParameter: Int { Soup.firstColumnParameter + columns.count }

  var hasFullText: Bool { !fullTextColumns.isEmpty }

  var spec: SoupSpec {
    SoupSpec(name: name, features: isExternal ? [SoupSpec.featureExternalStorage] : [])
  }

  /// The columns that a row reader takes for the whole entry, see ``ResultRow``.
  var elementColumns: String { elementColumns(qualifier: "\(table).") }

  /// The same of an alias, `qualifier` with its dot.
  func elementColumns(qualifier: String) -> String {
    isExternal
      ? "'\(table)' as 'externalStorage', \(qualifier)id as '\(SmartStore.soupEntryId)'"
      : "\(qualifier)\(SmartStore.soupColumn)"
  }

  /// Refuses a path that cannot be compared, since the entry is in a file and no index has it.
  func checkReadable(_ path: String) throws(SmartStoreError) {
    guard isExternal, index(forPath: path) == nil else { return }
    guard path == SmartStore.soupPath || Soup.reservedColumn(path) == nil else { return }
    throw SmartStoreError(
      .invalidReference,
      "Invalid path: \(path) is not indexed, and soup \(name) keeps its elements in files. "
        + "Alter the soup to index it.")
  }

  /// The spec that a reference to `path` resolves to.
  func index(forPath path: String) -> SoupIndex? {
    indexByPath[MemberKey(path)]
  }

  /// The column that a match query on `path` searches, if the path is full-text indexed.
  func fullTextColumn(forPath path: String) -> String? {
    fullTextColumns.lazy.map { self.columns[$0] }
      .last { MemberKey.isSame($0.pathText, path) }?.name
  }

  /// The table and column of a reserved path, or nil for an ordinary one.
  static func reservedColumn(_ path: String) -> String? {
    switch path {
    case SmartStore.soupPath: SmartStore.soupColumn
    case SmartStore.soupEntryId: SmartStore.idColumn
    case SmartStore.createdDate: SmartStore.createdColumn
    case SmartStore.lastModifiedDate: SmartStore.lastModifiedColumn
    default: nil
    }
  }

  /// The SQL for the value at `path`: a column, or an extraction from the entry.
  func expression(forPath path: String) -> String {
    if let column = Soup.reservedColumn(path) { return "\(table).\(column)" }
    return index(forPath: path)?.columnName ?? Soup.extraction(of: path)
  }

  /// A condition that leaves out entries whose text at `path` only begins as `value` does: SQLite up to
  /// 3.44 ends a text of an entry at a NUL. Others are not looked into.
  func exactText(_ value: String, at path: String) -> String {
    " AND (instr(soup, '\\u0000') = 0 OR \(Soup.ownExtraction(of: path)) = \(value))"
  }

  /// The columns of an entry's two times, which every soup has indexes on.
  static let timeColumns = [SmartStore.createdColumn, SmartStore.lastModifiedColumn]
  /// The names of those indexes.
  var timeIndexNames: [String] { Soup.timeColumns.map { "\(table)_\($0)_idx" } }

  /// The name of the index of the spec at `position`.
  func indexName(_ position: Int) -> String { "\(table)_\(position)_idx" }

  static func columnName(table: String, position: Int) -> String {
    "\(table)_\(position)"
  }

  /// Whether a name is that of a column of index values: the table's, an underscore and a number.
  static func isColumnName(_ name: String, of table: String) -> Bool {
    guard name.hasPrefix(table + "_") else { return false }
    let digits = name.utf8.dropFirst(table.utf8.count + 1)
    return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The expression that a json1 index is made of. A quote in the path cannot end the literal.
  static func jsonExtraction(of path: String, qualifier: String = "") -> String {
    "json_extract(\(qualifier)soup, '$.\(path.replacing("'", with: "''"))')"
  }

  /// The expression that reads a path without an index from the entry.
  ///
  /// SQLite's own function reads some names otherwise than the other indexes do, or not at all.
  static func extraction(of path: String, qualifier: String = "") -> String {
    switch SQLitePath(path) {
    case .names: jsonExtraction(of: path, qualifier: qualifier)
    case .items:
      "coalesce(\(ownExtraction(of: path, qualifier: qualifier)), "
        + "\(jsonExtraction(of: path, qualifier: qualifier)))"
    case .unreadable: ownExtraction(of: path, qualifier: qualifier)
    }
  }

  /// The expression that reads `path` by ``SoupValueFunction``: any path, and values of any kind, one
  /// entry after the other.
  static func ownExtraction(of path: String, qualifier: String = "") -> String {
    "\(SoupValueFunction.name)(\(qualifier)soup, '\(path.replacing("'", with: "''"))')"
  }

  /// The SQL to compare the values at `path` with `keys`: an index, unless the path has none with a
  /// stored value and SQLite would read a value otherwise than it is.
  func expression(forPath path: String, comparedWith keys: JSONValue?...) -> String {
    let hasColumn =
      Soup.reservedColumn(path) != nil || index(forPath: path).map { $0.type != .json1 } == true
    guard !hasColumn, keys.contains(where: { $0?.isUnreadableForSQLite == true }) else {
      return expression(forPath: path)
    }
    return Soup.ownExtraction(of: path)
  }

  private static func placeholders(_ count: Int) -> String {
    Array(repeating: "?", count: count).joined(separator: ", ")
  }
}
