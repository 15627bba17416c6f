import SalesforceSDKCommon

/// The mapping of one soup to the database: its tables, its columns and the statements that write
/// it. Immutable; a change of the soup creates a new value.
final class Soup: Sendable {
  /// A column that contains a copy of the values at a path.
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
  /// Whether each entry is stored in a file of its own.
  let isExternal: Bool
  /// The index columns, without json1 paths, in the order of registration.
  let columns: [Column]
  /// The paths of json1 indexes, which SQLite reads from the stored text.
  let pathsInText: [JSONPath]
  /// The number of values that an inserted row takes.
  let parametersPerRow: Int
  /// The positions of the full-text columns in `columns`.
  let fullTextColumns: [Int]
  /// The spec for each path; if two specs have the same path, the last one.
  private let indexByPath: [MemberKey: SoupIndex]

  /// The statements to insert and to update. Both take the id, the time, the columns' values and,
  /// unless the soup is external, the text.
  let insertStatement: String
  let updateStatement: String
  /// The statement that inserts ``rowsPerInsert`` entries; nil if entries must be inserted one by
  /// one.
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
    self.pathsInText = indexes.filter { $0.type == .json1 }.map { JSONPath($0.path) }
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
    // A statement with several rows begins with a savepoint, at which FTS5 flushes its pending
    // terms: entries with full text would leave an index of many small segments, which is slow to
    // search.
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

  /// The number of entries that one statement inserts, if a call has at least that many.
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

  /// The columns from which a row reader composes the whole entry, see ``ResultRow``.
  var elementColumns: String { elementColumns(qualifier: "\(table).") }

  /// Returns the same columns of a table alias; `qualifier` ends with a dot.
  func elementColumns(qualifier: String) -> String {
    isExternal
      ? "'\(table)' as 'externalStorage', \(qualifier)id as '\(SmartStore.soupEntryId)'"
      : "\(qualifier)\(SmartStore.soupColumn)"
  }

  /// Refuses a path that cannot be compared, because the entry is in a file and no index contains
  /// the path.
  func checkReadable(_ path: String) throws(SmartStoreError) {
    guard isExternal, index(forPath: path) == nil else { return }
    guard path == SmartStore.soupPath || Soup.reservedColumn(path) == nil else { return }
    throw SmartStoreError(
      .invalidReference,
      "Invalid path: \(path) is not indexed, and soup \(name) keeps its elements in files. "
        + "Alter the soup to index it.")
  }

  /// Returns the spec that a reference to `path` resolves to.
  func index(forPath path: String) -> SoupIndex? {
    indexByPath[MemberKey(path)]
  }

  /// Returns the column that a match query on `path` searches, if the path has a full-text index.
  func fullTextColumn(forPath path: String) -> String? {
    fullTextColumns.lazy.map { self.columns[$0] }
      .last { MemberKey.isSame($0.pathText, path) }?.name
  }

  /// Returns the table and column of a reserved path, or nil for any other path.
  static func reservedColumn(_ path: String) -> String? {
    switch path {
    case SmartStore.soupPath: SmartStore.soupColumn
    case SmartStore.soupEntryId: SmartStore.idColumn
    case SmartStore.createdDate: SmartStore.createdColumn
    case SmartStore.lastModifiedDate: SmartStore.lastModifiedColumn
    default: nil
    }
  }

  /// Returns the SQL for the value at `path`: a column, or an extraction from the entry.
  func expression(forPath path: String) -> String {
    if let column = Soup.reservedColumn(path) { return "\(table).\(column)" }
    return index(forPath: path)?.columnName ?? Soup.extraction(of: path)
  }

  /// Returns the SQL that shows the value at `path`: as ``expression(forPath:)``, but for a json1 path whose expression
  /// would end a text at a NUL.
  func selection(ofPath path: String) -> String {
    index(forPath: path)?.type == .json1 && SoupValueFunction.decidesTexts
      ? Soup.extraction(of: path) : expression(forPath: path)
  }

  /// The columns of an entry's two times. Every soup has indexes on them.
  static let timeColumns = [SmartStore.createdColumn, SmartStore.lastModifiedColumn]
  /// The names of those indexes.
  var timeIndexNames: [String] { Soup.timeColumns.map { "\(table)_\($0)_idx" } }

  /// Returns the name of the index of the spec at `position`.
  func indexName(_ position: Int) -> String { "\(table)_\(position)_idx" }

  static func columnName(table: String, position: Int) -> String {
    "\(table)_\(position)"
  }

  /// Whether a name is the name of an index column: the table's name, an underscore and a number.
  static func isColumnName(_ name: String, of table: String) -> Bool {
    guard name.hasPrefix(table + "_") else { return false }
    let digits = name.utf8.dropFirst(table.utf8.count + 1)
    return !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Returns the expression of a json1 index. A quote in the path cannot end the literal.
  static func jsonExtraction(of path: String, qualifier: String = "") -> String {
    "json_extract(\(qualifier)soup, '$.\(path.replacing("'", with: "''"))')"
  }

  /// Returns the expression that reads a path from the entry as the store itself does, one entry at a time.
  static func extraction(of path: String, qualifier: String = "") -> String {
    "\(SoupValueFunction.name)(\(qualifier)soup, '\(path.replacing("'", with: "''"))')"
  }

  private static func placeholders(_ count: Int) -> String {
    Array(repeating: "?", count: count).joined(separator: ", ")
  }
}
