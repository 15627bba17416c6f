import SalesforceSDKCommon

extension StoreAccess {
  /// Refuses specs that no soup can have, before anything depends on them.
  ///
  /// - Throws: ``SmartStoreError`` `noIndexSpecs`, `invalidIndexSpec`.
  func check(_ indexes: [SoupIndex], for spec: SoupSpec) throws(SmartStoreError) {
    guard !indexes.isEmpty else {
      throw SmartStoreError(
        .noIndexSpecs, "No indexSpecs specified for soup: \(spec.name). Name at least one path.")
    }
    for index in indexes { try index.validate() }
    guard !spec.isExternal || !indexes.contains(where: { $0.type == .json1 }) else {
      throw SmartStoreError(
        .invalidIndexSpec,
        "Can't have JSON1 index specs in externally stored soup:\(spec.name)")
    }
  }

  /// Refuses json1 paths that SQLite does not follow, or reads as another path, before a table
  /// depends on them.
  func checkExtractable(_ indexes: [SoupIndex]) throws(SmartStoreError) {
    for index in indexes where index.type == .json1 {
      // What an element has at the path must be found there.
      let element = JSONPath(index.path).keys.reversed().reduce(JSONValue.integer(1)) {
        .object([$1: $0])
      }
      let statement = try StoreStatement(database, "SELECT json_extract(?1, '$.' || ?2)")
      statement.bind(element.text, at: 1)
      statement.bind(index.path, at: 2)
      var isFound = false
      var cause: SmartStoreError?
      do throws(SmartStoreError) {
        isFound = try statement.step() && statement.int64(0) == 1
      } catch {
        cause = error
      }
      guard isFound else {
        throw SmartStoreError(
          .invalidIndexSpec,
          "Invalid index spec: json1 cannot follow the path \"\(index.path)\". "
            + "Use another type for it, such as string.", cause: cause)
      }
    }
  }

  /// Creates a soup's table and its full-text table.
  ///
  /// - Parameter engine: The engine of the full-text table. Default: the one in the options for new
  ///   soups.
  func createTables(
    of soup: Soup, engine: SmartStoreOptions.FullTextVersion? = nil
  ) throws(SmartStoreError) {
    var own = ["id INTEGER PRIMARY KEY AUTOINCREMENT"]
    if !soup.isExternal { own.append("soup TEXT") }
    own += ["created INTEGER", "lastModified INTEGER"]
    let columns = soup.columns.map { "\($0.name) \($0.type.columnType)" }
    try execute("CREATE TABLE \(soup.table) (\((own + columns).joined(separator: ", ")))")
    if soup.hasFullText { try createFullTextTable(of: soup, engine: engine) }
  }

  /// Creates the full-text table of a soup, empty.
  ///
  /// - Parameter engine: Default: the one in the options for new soups.
  func createFullTextTable(
    of soup: Soup, engine: SmartStoreOptions.FullTextVersion? = nil
  ) throws(SmartStoreError) {
    let columns = soup.fullTextColumns.map { soup.columns[$0].name }
    let engine = engine ?? options.fullTextVersion
    try execute(
      "CREATE VIRTUAL TABLE \(soup.fullTextTable) USING \(engine.rawValue)"
        + "(\(columns.joined(separator: ", ")))")
  }

  /// Returns the engine of a full-text table; nil if the table does not exist.
  func engine(ofFullTextTable table: String) throws(SmartStoreError)
    -> SmartStoreOptions.FullTextVersion?
  {
    let statement = try StoreStatement(
      database,
      "SELECT sql LIKE '% USING fts4%' FROM sqlite_master WHERE type = 'table' AND name = ?")
    statement.bind(table, at: 1)
    guard try statement.step() else { return nil }
    return statement.int64(0) == 1 ? .fts4 : .fts5
  }

  /// Creates the missing indexes of a soup. SQLite stores an index's statement without the words
  /// `IF NOT EXISTS`.
  func createIndexes(of soup: Soup) throws(SmartStoreError) {
    let table = soup.table
    for (name, column) in zip(soup.timeIndexNames, Soup.timeColumns) {
      try execute("CREATE INDEX IF NOT EXISTS \(name) ON \(table) ( \(column) )")
    }
    for (position, index) in soup.indexes.enumerated() {
      guard let column = index.columnName else { continue }
      try execute(
        "CREATE INDEX IF NOT EXISTS \(soup.indexName(position)) ON \(table) ( \(column) )")
    }
  }

  /// Drops all indexes of a table except those in `kept`.
  func dropIndexes(
    ofTable table: String, keeping kept: Set<String> = []
  ) throws(SmartStoreError) {
    var names: [String] = []
    do {
      let statement = try StoreStatement(
        database,
        "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL")
      statement.bind(table, at: 1)
      while try statement.step() { names.append(statement.string(0)) }
    }
    for name in names where !kept.contains(name) {
      try execute("DROP INDEX \"\(name.replacing("\"", with: "\"\""))\"")
    }
  }

  /// Writes the rows that map paths to columns.
  func recordIndexSpecs(of soup: Soup) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database,
      "INSERT INTO soup_index_map (soupName, path, columnName, columnType) VALUES (?, ?, ?, ?)")
    for index in soup.indexes {
      statement.bind(soup.name, at: 1)
      statement.bind(index.path, at: 2)
      statement.bind(index.columnName ?? "", at: 3)
      statement.bind(index.type.rawValue, at: 4)
      try statement.run()
    }
  }

  /// Creates the meta tables of a new store, and migrates those of older versions.
  ///
  /// Version 1 had no `long_operations_status`; until version 3 `soup_attrs` was called
  /// `soup_names`. Stores that never had external storage lack its column.
  func migrateMetaTables() throws(SmartStoreError) {
    if try hasTable(MetaTable.legacyAttributes), try !hasTable(MetaTable.attributes) {
      // A rename keeps the ids, and with them the names of the soups' tables.
      try execute("ALTER TABLE \(MetaTable.legacyAttributes) RENAME TO \(MetaTable.attributes)")
    }
    try execute(
      """
      CREATE TABLE IF NOT EXISTS soup_attrs (id INTEGER PRIMARY KEY AUTOINCREMENT, soupName TEXT);
      CREATE INDEX IF NOT EXISTS soup_attrs_0 ON soup_attrs ( soupName );
      CREATE TABLE IF NOT EXISTS soup_index_map \
      (soupName TEXT, path TEXT, columnName TEXT, columnType TEXT);
      CREATE INDEX IF NOT EXISTS soup_index_map_0 ON soup_index_map ( soupName );
      CREATE TABLE IF NOT EXISTS long_operations_status \
      (id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, details TEXT, status TEXT, \
      created INTEGER, lastModified INTEGER);
      """)
    if try !hasExternalColumn() {
      try execute(
        "ALTER TABLE \(MetaTable.attributes) ADD COLUMN externalStorage INTEGER DEFAULT 0")
    }
  }

  private func hasExternalColumn() throws(SmartStoreError) -> Bool {
    let statement = try StoreStatement(
      database,
      "SELECT 1 FROM pragma_table_info('soup_attrs') WHERE name = 'externalStorage'")
    return try statement.step()
  }

  /// Refuses to open a store read-only if it has unfinished work: tables of an older version or
  /// none, or an unfinished alter. A bulk load is no obstacle, since only indexes are missing.
  func checkComplete() throws(SmartStoreError) {
    guard try hasTable(MetaTable.attributes), try hasExternalColumn(),
      try hasTable(MetaTable.longOperations),
      try StoreAccess.operations(database).allSatisfy({ $0.type == BulkLoadOperation.type })
    else {
      throw SmartStoreError(
        .readOnly,
        "The store has work to be finished before it can be read. Open it for writing once.")
    }
  }

  func hasTable(_ name: String) throws(SmartStoreError) -> Bool {
    let statement = try StoreStatement(
      database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    statement.bind(name, at: 1)
    return try statement.step()
  }
}

extension SoupIndexType {
  /// The SQL type of a column of this type.
  var columnType: String {
    switch self {
    case .integer: "INTEGER"
    case .floating: "REAL"
    default: "TEXT"
    }
  }
}
