extension StoreAccess {
  /// Refuses json1 paths that SQLite cannot follow, before a table depends on them.
  func checkExtractable(_ indexes: [SoupIndex]) throws(SmartStoreError) {
    for index in indexes where index.type == .json1 {
      // What is written at the path must be found there again.
      let statement = try StoreStatement(
        database, "SELECT json_extract(json_set('{}', '$.' || ?1, 1), '$.' || ?1)")
      statement.bind(index.path, at: 1)
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
          "Invalid index spec: json1 cannot follow the path \"\(index.path)\".", cause: cause)
      }
    }
  }

  /// Creates a soup's table, its indexes and its full-text table.
  func createTables(of soup: Soup) throws(SmartStoreError) {
    let table = soup.table
    let own = [
      "id INTEGER PRIMARY KEY AUTOINCREMENT", "soup TEXT", "created INTEGER",
      "lastModified INTEGER",
    ]
    let columns = soup.columns.map { "\($0.name) \($0.type.columnType)" }
    try execute("CREATE TABLE \(table) (\((own + columns).joined(separator: ", ")))")
    for column in [SmartStore.createdColumn, SmartStore.lastModifiedColumn] {
      try execute("CREATE INDEX \(table)_\(column)_idx ON \(table) ( \(column) )")
    }
    for (position, index) in soup.indexes.enumerated() {
      guard let column = index.columnName else { continue }
      try execute("CREATE INDEX \(table)_\(position)_idx ON \(table) ( \(column) )")
    }
    if soup.hasFullText {
      let columns = soup.fullTextColumns.map { soup.columns[$0].name }
      try execute(
        "CREATE VIRTUAL TABLE \(soup.fullTextTable) USING \(options.fullTextVersion.rawValue)"
          + "(\(columns.joined(separator: ", ")))")
    }
  }

  /// Writes the rows that say which path is where.
  func recordIndexes(of soup: Soup) throws(SmartStoreError) {
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

  /// Creates the meta tables of a new store; brings those of older versions up to date.
  ///
  /// Version 1 lacked `long_operations_status`; until version 3 `soup_attrs` was `soup_names`.
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
  }

  private func hasTable(_ name: String) throws(SmartStoreError) -> Bool {
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
