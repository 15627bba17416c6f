import GRDB
import SalesforceSDKCommon
import Synchronization

/// The soups of a store as of one version of its schema.
///
/// SQLite counts every change of tables in the schema version, which belongs to the snapshot that
/// reads it. A catalogue that carries the same number as the snapshot is therefore right for it,
/// also after a roll-back and next to another process.
final class SoupCatalog: Sendable {
  let schemaVersion: Int64
  /// By the bytes of their names, as SQLite tells them apart.
  let soups: [MemberKey: Soup]
  /// Soups whose alter was interrupted: the table that it replaces is still there.
  let unfinished: Set<String>
  /// Conversions of Smart SQL that hold for these soups.
  let conversions: Mutex<SmartSQLCache>
  /// Statements of queries on one soup, prepared on first use.
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

  /// The soup with this name.
  func soup(named name: String) -> Soup? { soups[MemberKey(name)] }

  /// This catalogue with another mapping for one soup. Conversions that mention it are left behind.
  func replacing(_ soup: Soup?, named name: String) -> SoupCatalog {
    var soups = soups
    soups[MemberKey(name)] = soup
    var kept = conversions.withLock { $0 }
    kept.removeStatements(mentioning: name)
    return SoupCatalog(
      schemaVersion: schemaVersion, soups: soups, unfinished: unfinished, conversions: kept)
  }

  /// The same soups under another schema version.
  func at(schemaVersion: Int64) -> SoupCatalog {
    SoupCatalog(
      schemaVersion: schemaVersion, soups: soups, unfinished: unfinished,
      conversions: conversions.withLock { $0 })
  }

  /// The schema version of the snapshot that `database` reads. Begins the snapshot.
  static func schemaVersion(_ database: Database) throws(SmartStoreError) -> Int64 {
    let statement = try StoreStatement(database, "PRAGMA schema_version")
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Refuses names of columns that no store makes: statements are made of them.
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
  /// A soup exists if both its row and its table do, unless it is half altered. A type word that no
  /// version writes is taken as string.
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

/// The newest catalogue that any connection of a store has seen.
final class SoupCatalogCache: Sendable {
  private let newest = Mutex<SoupCatalog?>(nil)

  /// The newest catalogue, if any connection has read one.
  var known: SoupCatalog? { newest.withLock { $0 } }

  /// The catalogue of the snapshot that `database` reads.
  func current(_ database: Database) throws(SmartStoreError) -> SoupCatalog {
    try current(database, schemaVersion: try SoupCatalog.schemaVersion(database))
  }

  /// The catalogue of the snapshot that `database` reads, whose schema has this version.
  func current(
    _ database: Database, schemaVersion: Int64
  ) throws(SmartStoreError) -> SoupCatalog {
    if let known, known.schemaVersion == schemaVersion { return known }
    let loaded = try SoupCatalog.load(database, schemaVersion: schemaVersion)
    try loaded.checkColumnNames()
    publish(loaded)
    return loaded
  }

  /// Offers a committed catalogue to the connections to come. An older one is not taken.
  func publish(_ catalog: SoupCatalog) {
    newest.withLock { newest in
      if let known = newest, known.schemaVersion >= catalog.schemaVersion { return }
      newest = catalog
    }
  }
}
