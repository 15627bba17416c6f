import SalesforceSDKCommon

extension StoreAccess {
  /// Computes the values of some columns of a soup from its entries, and its full-text rows if one
  /// of the columns has full text. An entry that cannot be parsed keeps its values.
  ///
  /// - Parameters:
  ///   - columns: Positions in the soup's columns.
  ///   - normalizesNames: Whether member names with unnecessary escapes, as older versions stored
  ///     them, are rewritten without escapes. Default: no, the texts stay byte for byte.
  ///   - method: The call that requests it.
  ///   - check: Throws if the work was cancelled.
  func reIndex(
    _ soup: Soup, columns: [Int], normalizesNames: Bool = false, method: String = #function,
    check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    guard !columns.isEmpty || normalizesNames else { return }
    let columns = columns.map { soup.columns[$0] }
    // One seek per row, because the table changes during the walk.
    let next = try StoreStatement(
      database,
      "SELECT \(soup.isExternal ? "id" : "id, soup") FROM \(soup.table) WHERE id > ? "
        + "ORDER BY id LIMIT 1")
    let assignments = columns.indices.map { "\(columns[$0].name) = ?\($0 + 2)" }
    let update = try StoreStatement(
      database,
      columns.isEmpty
        ? "SELECT 1"
        : "UPDATE \(soup.table) SET \(assignments.joined(separator: ", ")) WHERE id = ?1")
    var entryId = Int64.min
    var skipped = 0
    next.bind(entryId, at: 1)
    while try next.step() {
      try check()
      entryId = next.int64(0)
      let text = soup.isExternal ? try externalText(of: entryId, in: soup) : next.bytes(1)
      next.reset()
      next.bind(entryId, at: 1)
      let element: JSONSlice
      do throws(JSONError) {
        element = try JSONSlice(parsing: text, limits: .stored)
      } catch {
        skipped += 1
        diagnostics.report(
          JSONFailure(kind: .parse, errorMessage: "\(error)", method: method, text: text))
        continue
      }
      if normalizesNames, !soup.isExternal,
        let normalized = element.normalizingNames(along: soup.pathsInText)
      {
        let rewrite = try StoreStatement(
          database, "UPDATE \(soup.table) SET soup = ?2 WHERE id = ?1")
        rewrite.bind(entryId, at: 1)
        rewrite.bind(normalized.description, at: 2)
        try rewrite.run()
      }
      guard !columns.isEmpty else { continue }
      update.bind(entryId, at: 1)
      for (position, column) in columns.enumerated() {
        update.bind(element.project(column.path), as: column.type, at: position + 2)
      }
      try update.run()
    }
    if skipped > 0 {
      options.logger.error(
        "\(skipped) elements of a soup are no JSON and were not indexed again.")
    }
    if columns.contains(where: \.isFullText) {
      let engine = try engine(ofFullTextTable: soup.fullTextTable)
      try execute("DROP TABLE IF EXISTS \(soup.fullTextTable)")
      try createFullTextTable(of: soup, engine: engine)
      try fillFullText(of: soup)
    }
  }

  /// Writes the full-text rows of all entries from the columns that contain their values. There
  /// must be no full-text rows yet.
  func fillFullText(of soup: Soup) throws(SmartStoreError) {
    let names = soup.fullTextColumns.map { soup.columns[$0].name }.joined(separator: ", ")
    try execute(
      "INSERT INTO \(soup.fullTextTable) (rowid, \(names)) SELECT id, \(names) FROM \(soup.table)")
  }
}

extension StoreTransaction {
  /// Computes the index values of some paths again for all entries of a soup.
  ///
  /// Paths without an index are ignored and logged. The entries and their times do not change,
  /// except member names with unnecessary escapes: older versions stored such names, and json1
  /// indexes and paths without an index do not find them until they are rewritten.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `externalFileUnreadable`, `diskFull`, `io`.
  public borrowing func reIndexSoup(
    named soupName: String, indexPaths: [String]
  ) throws(SmartStoreError) {
    let soup = try access.soup(named: soupName)
    for path in indexPaths where soup.index(forPath: path) == nil {
      access.options.logger.warning("A path without an index cannot be indexed again: \(path)")
    }
    let columns = soup.columns.indices.filter { indexPaths.contains(soup.columns[$0].pathText) }
    let isIndexed = indexPaths.contains { soup.index(forPath: $0) != nil }
    try access.atomically { () throws(SmartStoreError) in
      try access.reIndex(
        soup, columns: columns, normalizesNames: isIndexed, method: #function
      ) {}
      access.didChange(soup)
    }
  }
}
