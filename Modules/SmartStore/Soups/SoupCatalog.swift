import GRDB
import SalesforceSDKCommon
import Synchronization

/// The soups of a store as of one version of its schema.
///
/// SQLite counts every change of tables in the schema version, which is part of the snapshot that
/// reads it. A catalog with the same number as the snapshot is therefore correct for it, also after
/// a rollback and if another process changes the tables.
final class SoupCatalog: Sendable {
  let schemaVersion: Int64
  /// The soups by the bytes of their names, as SQLite compares them.
  let soups: [MemberKey: Soup]
  /// Soups whose alter was interrupted: the replaced table still exists.
  let unfinished: Set<String>
  /// Converted Smart SQL statements that are valid for these soups.
  let conversions: Mutex<SmartSQLCache>
  /// Statements of queries on one soup, prepared at first use.
  let statements = Mutex(QueryStatementsCache())

  init(
    schemaVersion: Int64, soups: [MemberKey: Soup], unfinished: Set<String> = [],
    conversions: SmartSQLCache = SmartSQLCache()
  ) {
    self.schemaVersion = schemaVersion
    self.soups = soups
    self.unfinished = unfinished
    self.conversions = Mutex(conversions)
  }

  /// Returns the soup with this name.
  func soup(named name: String) -> Soup? { soups[MemberKey(name)] }

  /// Returns this catalog with another mapping for one soup, without the conversions that use it.
  func replacing(_ soup: Soup?, named name: String) -> SoupCatalog {
    var soups = soups
    soups[MemberKey(name)] = soup
    var kept = conversions.withLock { $0 }
    kept.removeStatements(mentioning: name)
    return SoupCatalog(
      schemaVersion: schemaVersion, soups: soups, unfinished: unfinished, conversions: kept)
  }

  /// Returns the same soups under another schema version.
  func at(schemaVersion: Int64) -> SoupCatalog {
    SoupCatalog(
      schemaVersion: schemaVersion, soups: soups, unfinished: unfinished,
      conversions: conversions.withLock { $0 })
  }

  /// Returns the schema version of the snapshot that `database` reads. Begins the snapshot.
  static func schemaVersion(_ database: Database) throws(SmartStoreError) -> Int64 {
    let statement = try StoreStatement(database, "PRAGMA schema_version")
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Refuses column names that a store never creates, because they become part of SQL.
  func checkColumnNames() throws(SmartStoreError) {
    for soup in soups.values {
      for column in soup.columns where !Soup.isColumnName(column.name, of: soup.table) {
        throw SmartStoreError(
          .corrupt,
          "The table soup_index_map names a column that no store makes, for path '\(column.pathText)' of soup "
            + "'\(soup.name)'. Restore the store from a backup.")
      }
    }
  }

  /// Reads the meta tables.
  ///
  /// A soup exists if both its row and its table do, or if its alter is unfinished. An unknown
  /// index type counts as string.
  static func load(
    _ database: Database, schemaVersion: Int64
  ) throws(SmartStoreError) -> SoupCatalog {
    var indexes: [MemberKey: [SoupIndex]] = [:]
    let map = try StoreStatement(
      database,
      "SELECT soupName, path, columnName, columnType FROM soup_index_map ORDER BY rowid")
    while try map.step() {
      let type = SoupIndexType(rawValue: map.string(3))
      indexes[MemberKey(map.string(0)), default: []].append(
        SoupIndex(
          path: map.string(1), type: type.isKnown ? type : .string, columnName: map.string(2)))
    }
    var soups: [MemberKey: Soup] = [:]
    var unfinished: Set<String> = []
    let attributes = try StoreStatement(
      database,
      """
      SELECT soup_attrs.id, soup_attrs.soupName, soup_attrs.externalStorage, \
      max(name = 'TABLE_' || soup_attrs.id || '_old') FROM soup_attrs \
      JOIN sqlite_master ON type = 'table' \
      AND name IN ('TABLE_' || soup_attrs.id, 'TABLE_' || soup_attrs.id || '_old') \
      GROUP BY soup_attrs.id ORDER BY soup_attrs.id
      """)
    while try attributes.step() {
      let name = attributes.string(1)
      guard attributes.int64(3) == 0 else {
        unfinished.insert(name)
        continue
      }
      let key = MemberKey(name)
      soups[key] = Soup(
        name: name, number: attributes.int64(0), indexes: indexes[key, default: []],
        isExternal: attributes.int64(2) != 0)
    }
    return SoupCatalog(schemaVersion: schemaVersion, soups: soups, unfinished: unfinished)
  }
}

/// A cache of the newest catalog that any connection of a store has read.
final class SoupCatalogCache: Sendable {
  private let newest = Mutex<SoupCatalog?>(nil)

  /// The newest catalog, if any connection has read one.
  var known: SoupCatalog? { newest.withLock { $0 } }

  /// Returns the catalog of the snapshot that `database` reads.
  func current(_ database: Database) throws(SmartStoreError) -> SoupCatalog {
    try current(database, schemaVersion: try SoupCatalog.schemaVersion(database))
  }

  /// Returns the catalog of the snapshot that `database` reads, whose schema has this version.
  func current(
    _ database: Database, schemaVersion: Int64
  ) throws(SmartStoreError) -> SoupCatalog {
    if let known, known.schemaVersion == schemaVersion { return known }
    let loaded = try SoupCatalog.load(database, schemaVersion: schemaVersion)
    try loaded.checkColumnNames()
    publish(loaded)
    return loaded
  }

  /// Caches a committed catalog for other connections. An older one than the cached is ignored.
  func publish(_ catalog: SoupCatalog) {
    newest.withLock { newest in
      if let known = newest, known.schemaVersion >= catalog.schemaVersion { return }
      newest = catalog
    }
  }
}
