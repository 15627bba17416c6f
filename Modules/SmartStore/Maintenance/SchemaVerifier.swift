import GRDB
import SalesforceSDKCommon

/// A comparison of a database's schema with the statements that its catalog would create.
///
/// Tags prove that the store wrote a page, but not that the content was its own before it was
/// encrypted. The store creates no triggers, no views, and no tables except those of its soups.
struct SchemaVerifier {
  /// An object of a schema, with its statement in normalized form.
  private struct Entry: Equatable {
    let type: String
    let table: String
    let statement: [String]
  }

  private let access: StoreAccess

  /// Returns the objects that the catalog does not explain. Missing objects are not reported.
  static func findings(_ access: StoreAccess) throws(SmartStoreError) -> [StoreReport.Finding] {
    try SchemaVerifier(access: access).findings()
  }

  private func findings() throws(SmartStoreError) -> [StoreReport.Finding] {
    var found: [StoreReport.Finding] = []
    // The names become part of statements, so they are checked before any statement is created.
    for soup in access.catalog.soups.values {
      for column in soup.columns where !Soup.isColumnName(column.name, of: soup.table) {
        found.append(
          .init(
            kind: .schema, soup: soup.name, path: column.pathText,
            detail: "its column is none of the soup's table"))
      }
    }
    guard found.isEmpty else { return found }
    let expected = try expectedEntries()
    let altering = try tablesOfUnfinishedAlters()
    for (name, entry) in try Self.entries(in: access.database).sorted(by: { $0.key < $1.key })
    where expected[name] != entry {
      if altering.contains(where: { Self.isOf($0, entry, name) }) { continue }
      let word = expected[name] == nil ? "belongs to no soup" : "is not as the store makes it"
      found.append(.init(kind: .schema, detail: "\(entry.type) \(name) \(word)"))
    }
    return found
  }

  // MARK: Expected objects

  private func expectedEntries() throws(SmartStoreError) -> [String: Entry] {
    do {
      let queue = try DatabaseQueue()
      return try queue.writeWithoutTransaction { database in
        let empty = StoreAccess(
          database, catalog: SoupCatalog(schemaVersion: 0, soups: [:]),
          diagnostics: access.diagnostics, isSingleCall: false, files: access.files)
        try empty.migrateMetaTables()
        try empty.createExternalChanges()
        for soup in access.catalog.soups.values {
          try empty.createTables(
            of: soup, engine: try access.engine(ofFullTextTable: soup.fullTextTable))
          try empty.createIndexes(of: soup)
        }
        return try Self.entries(in: database)
      }
    } catch {
      throw SmartStoreError(grdb: error)
    }
  }

  private static func entries(in database: Database) throws(SmartStoreError) -> [String: Entry] {
    let rows = try StoreStatement(database, "SELECT type, name, tbl_name, sql FROM sqlite_master")
    var entries: [String: Entry] = [:]
    while try rows.step() {
      // Two objects of one name are combined to one that is not expected.
      let statement = tokens(of: rows.string(3)) + (entries[rows.string(1)]?.statement ?? [])
      entries[rows.string(1)] = Entry(
        type: rows.string(0), table: rows.string(2), statement: statement)
    }
    return entries
  }

  /// Returns the tables of soups whose alter is unfinished. Their next opening finishes it.
  private func tablesOfUnfinishedAlters() throws(SmartStoreError) -> [String] {
    guard !access.catalog.unfinished.isEmpty else { return [] }
    let rows = try StoreStatement(access.database, "SELECT id, soupName FROM soup_attrs")
    var tables: [String] = []
    while try rows.step() {
      if access.catalog.unfinished.contains(rows.string(1)) {
        tables.append("TABLE_\(rows.int64(0))")
      }
    }
    return tables
  }

  private static func isOf(_ table: String, _ entry: Entry, _ name: String) -> Bool {
    ["table", "index"].contains(entry.type)
      && (entry.table == table || entry.table.hasPrefix(table + "_"))
      && (entry.type == "index" || name == entry.table)
  }

  // MARK: Spelling

  /// Returns a statement as its tokens. Whitespace, the case of words and the quotes around plain
  /// names are ignored, because versions differ in them, and SQLite adds quotes when it renames a
  /// table.
  static func tokens(of statement: String) -> [String] {
    var tokens: [String] = []
    var rest = Array(statement.unicodeScalars)[...]
    while let first = rest.first {
      if first.properties.isWhitespace {
        rest = rest.dropFirst()
      } else if isWord(first) {
        let word = rest.prefix(while: isWord)
        rest = rest.dropFirst(word.count)
        tokens.append(text(word).lowercased())
      } else if let end = closing(first), let last = rest.dropFirst().firstIndex(of: end) {
        let quoted = rest[(rest.startIndex + 1)..<last]
        let isName = !quoted.isEmpty && quoted.allSatisfy(isWord)
        tokens.append(isName ? text(quoted).lowercased() : text(rest[...last]))
        rest = rest[(last + 1)...]
      } else {
        tokens.append(String(Character(first)))
        rest = rest.dropFirst()
      }
    }
    return tokens
  }

  private static func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(scalars))
  }

  private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII
      && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_")
  }

  private static func closing(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "'", "\"", "`": scalar
    case "[": "]"
    default: nil
    }
  }
}
