import GRDB
import SalesforceSDKCommon

/// A comparison of every entry of every soup with its columns and full-text rows.
struct SoupVerifier {
  private let access: StoreAccess
  private var report: StoreReport

  /// Checks SQLite's structures and all soups.
  ///
  /// - Throws: The errors that prevent the check. Findings are in the report.
  static func check(
    _ access: StoreAccess, into report: inout StoreReport
  ) throws(SmartStoreError) {
    var verifier = SoupVerifier(access: access, report: report)
    defer { report = verifier.report }
    try verifier.checkStructure()
    let schema = try SchemaVerifier.findings(access)
    for finding in schema { verifier.report.add(finding) }
    // Column names of other programs must not become part of statements.
    guard schema.allSatisfy({ $0.path == nil }) else { return }
    // A store whose creation was interrupted has no tables.
    guard try access.hasTable(MetaTable.attributes) else { return }
    try verifier.checkMetaTables()
    for soup in access.catalog.soups.values.sorted(by: { $0.number < $1.number }) {
      verifier.report.soups += 1
      do throws(SmartStoreError) {
        try verifier.checkElements(of: soup)
        if soup.hasFullText { try verifier.checkFullText(of: soup) }
      } catch  where error.code == .corrupt || error.code == .sql {
        verifier.report.add(.init(kind: .structure, soup: soup.name, detail: error.message))
      }
    }
  }

  // MARK: Structure

  /// Runs SQLite's own check: trees, free pages, and that each index has an entry for each row.
  private mutating func checkStructure() throws(SmartStoreError) {
    let statement = try StoreStatement(
      access.database, "PRAGMA integrity_check(\(StoreReport.findingLimit))")
    do throws(SmartStoreError) {
      while try statement.step() {
        let line = statement.string(0)
        if line != "ok" { report.add(.init(kind: .structure, detail: line)) }
      }
    } catch  where error.code == .corrupt {
      report.add(.init(kind: .structure, detail: error.message))
    }
  }

  /// Checks that each soup has its row and its table, and each table and index spec its soup.
  private mutating func checkMetaTables() throws(SmartStoreError) {
    let tables = try names(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'TABLE_[0-9]*'"
    ).filter { $0.dropFirst("TABLE_".count).allSatisfy { "0"..."9" ~= $0 } }
    let soups = try StoreStatement(access.database, "SELECT id, soupName FROM soup_attrs")
    var known: Set<String> = []
    while try soups.step() {
      let table = "TABLE_\(soups.int64(0))"
      known.insert(table)
      // An interrupted alter is finished when the store is opened.
      if access.catalog.unfinished.contains(soups.string(1)) { continue }
      if !tables.contains(table) {
        report.add(.init(kind: .soup, soup: soups.string(1), detail: "its table is missing"))
      }
    }
    for table in tables where !known.contains(table) {
      report.add(.init(kind: .soup, detail: "table \(table) belongs to no soup"))
    }
    let strays = try names(
      """
      SELECT DISTINCT soupName FROM soup_index_map \
      WHERE soupName NOT IN (SELECT soupName FROM soup_attrs)
      """)
    for name in strays {
      report.add(.init(kind: .soup, soup: name, detail: "it has index specs, but is no soup"))
    }
  }

  private func names(_ sql: String) throws(SmartStoreError) -> [String] {
    let statement = try StoreStatement(access.database, sql)
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }

  // MARK: Elements

  private mutating func checkElements(
    of soup: Soup
  ) throws(SmartStoreError) {
    let rows = try StoreStatement(
      access.database,
      "SELECT id, lastModified\(soup.isExternal ? "" : ", soup") FROM \(soup.table) ORDER BY id")
    let columns = try RowComparison(soup.table, soup.columns, of: soup, id: "id", on: access)
    let fullText =
      try soup.hasFullText
      ? RowComparison(
        soup.fullTextTable, soup.fullTextColumns.map { soup.columns[$0] }, of: soup, id: "rowid",
        on: access) : nil
    // An alter without re-indexing leaves columns empty. One finding per entry would hide the
    // others.
    var notIndexed: [MemberKey: Int] = [:]
    var withEscapedNames = 0
    while try rows.step() {
      report.elements += 1
      let id = rows.int64(0)
      let place = StoreReport.Finding.Kind.element
      guard let text = try soup.isExternal ? fileText(of: id, in: soup) : rows.bytes(2) else {
        report.add(
          .init(
            kind: place, soup: soup.name, entryId: id,
            detail: "its file is missing, was changed, or belongs to another element"))
        continue
      }
      guard let element = try? JSONSlice(parsing: text, limits: .stored), element.kind == .object
      else {
        report.add(.init(kind: place, soup: soup.name, entryId: id, detail: "it is no JSON object"))
        continue
      }
      if !soup.isExternal, element.normalizingNames(along: soup.pathsInText) != nil {
        withEscapedNames += 1
      }
      let modified = rows.int64(1)
      if element[SmartStore.soupEntryId]?.int64 != id {
        report.add(
          .init(kind: place, soup: soup.name, entryId: id, detail: "it names another entry id"))
      }
      if element[SmartStore.lastModifiedDate]?.int64 != modified {
        report.add(
          .init(
            kind: place, soup: soup.name, entryId: id, detail: "it names another time of change"))
      }
      var empty: Set<MemberKey> = []
      for (path, isNotIndexed) in try columns.differences(
        element, entryId: id, lastModified: modified)
      {
        guard !isNotIndexed else {
          empty.insert(MemberKey(path))
          notIndexed[MemberKey(path), default: 0] += 1
          continue
        }
        report.add(
          .init(
            kind: .indexColumn, soup: soup.name, entryId: id, path: path,
            detail: "the index holds another value than the element"))
      }
      let texts = try fullText?.differences(element, entryId: id, lastModified: modified) ?? []
      for (path, isNotIndexed) in texts where !(isNotIndexed && empty.contains(MemberKey(path))) {
        report.add(
          .init(
            kind: .fullText, soup: soup.name, entryId: id, path: path,
            detail: "the full-text row is missing or holds another text than the element"))
      }
    }
    if withEscapedNames > 0 {
      report.add(
        .init(
          kind: .notIndexed, soup: soup.name,
          detail:
            "\(withEscapedNames) elements have names that json1 indexes do not find as they are "
            + "written; reIndexSoup rewrites them"))
    }
    for (path, count) in notIndexed.sorted(by: { $0.key.text < $1.key.text }) {
      report.add(
        .init(
          kind: .notIndexed, soup: soup.name, path: path.text,
          detail: "the values of \(count) elements are not indexed; reIndexSoup puts them in"))
    }
  }

  /// Returns the text of an externally stored entry; nil if its file cannot be read.
  private func fileText(of entryId: Int64, in soup: Soup) throws(SmartStoreError) -> [UInt8]? {
    do throws(SmartStoreError) {
      return try access.externalText(of: entryId, in: soup)
    } catch {
      guard error.code == .externalFileUnreadable else { throw error }
      return nil
    }
  }

  private mutating func checkFullText(of soup: Soup) throws(SmartStoreError) {
    let strays = try StoreStatement(
      access.database,
      """
      SELECT rowid FROM \(soup.fullTextTable) \
      WHERE rowid NOT IN (SELECT id FROM \(soup.table)) ORDER BY rowid
      """)
    while try strays.step() {
      report.add(
        .init(
          kind: .fullText, soup: soup.name, entryId: strays.int64(0),
          detail: "there is a full-text row and no element"))
    }
    do throws(SmartStoreError) {
      let table = soup.fullTextTable
      try access.execute("INSERT INTO \(table) (\(table)) VALUES ('integrity-check')")
    } catch  where error.code == .corrupt {
      report.add(
        .init(
          kind: .fullText, soup: soup.name,
          detail: "the word list contradicts the full-text rows"))
    }
  }
}

/// A comparison of a row's columns with the values in its entry, in the form in which they are
/// stored.
private struct RowComparison {
  private let access: StoreAccess
  private let table: String
  private let id: String
  private let columns: [Soup.Column]
  private let sources: [PathSource]

  init(
    _ table: String, _ columns: [Soup.Column], of soup: Soup, id: String, on access: StoreAccess
  ) throws(SmartStoreError) {
    self.access = access
    self.table = table
    self.id = id
    self.columns = columns
    var sources: [PathSource] = []
    for column in columns {
      sources.append(try PathSource(column.path, setting: [], removing: []))
    }
    self.sources = sources
  }

  /// Returns the paths whose columns have another value than the entry, and whether that value is
  /// missing, or in the form of older versions.
  func differences(
    _ element: JSONSlice, entryId: Int64, lastModified: Int64
  ) throws(SmartStoreError) -> [(path: String, isNotIndexed: Bool)] {
    let all = columns.indices
    if try agrees(all, element, entryId, lastModified) { return [] }
    var found: [(path: String, isNotIndexed: Bool)] = []
    for position in all
    where try !agrees(position..<position + 1, element, entryId, lastModified) {
      found.append((columns[position].pathText, try isNotIndexed(position, element, entryId)))
    }
    return found
  }

  private func isNotIndexed(
    _ position: Int, _ element: JSONSlice, _ entryId: Int64
  ) throws(SmartStoreError) -> Bool {
    let column = columns[position]
    let statement = try StoreStatement(
      access.database,
      "SELECT 1 FROM \(table) WHERE \(id) = ?1 AND (\(column.name) IS NULL OR \(column.name) = ?2)")
    statement.bind(entryId, at: 1)
    // Older versions stored numbers, arrays and objects as they are written.
    if column.type == .string || column.type == .fullText,
      let written = element.project(column.path).compactText
    {
      statement.bind(written, at: 2)
    }
    return try statement.step()
  }

  /// Compares with SQLite, so that a value is equal here exactly if it is equal in the index.
  private func agrees(
    _ positions: Range<Int>, _ element: JSONSlice, _ entryId: Int64, _ lastModified: Int64
  ) throws(SmartStoreError) -> Bool {
    let conditions = positions.map { " AND \(columns[$0].name) IS ?" }.joined()
    let statement = try StoreStatement(
      access.database, "SELECT 1 FROM \(table) WHERE \(id) = ?\(conditions)")
    statement.bind(entryId, at: 1)
    for (offset, position) in positions.enumerated() {
      let column = columns[position]
      let parameter = 2 + offset
      switch sources[position] {
      case .element: statement.bind(element.project(column.path), as: column.type, at: parameter)
      case .constant(let value): statement.bind(value, as: column.type, at: parameter)
      case .entryId: statement.bind(entryId, at: parameter)
      case .lastModified: statement.bind(lastModified, at: parameter)
      }
    }
    return try statement.step()
  }
}
