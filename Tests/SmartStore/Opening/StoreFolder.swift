import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon

@testable import SmartStore

/// A folder for one test's store, removed with the test.
final class StoreFolder: Sendable {
  /// The files that are there to be locked.
  static let lockFiles: Set = [
    "store.lock", "store.opening", "store.turn", "store.queue", "store.readers",
  ]

  let url: URL
  let key = SymmetricKey(size: .bits256)

  init() throws {
    url = FileManager.default.temporaryDirectory
      .appendingPathComponent("store-\(UUID().uuidString)", isDirectory: true)
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  var store: URL { url.appendingPathComponent("defaultStore", isDirectory: true) }

  /// Opens the store of this folder with its key.
  func open(
    _ options: StoreDatabaseOptions = .init(), key: SymmetricKey? = nil, at directory: URL? = nil
  ) throws(SmartStoreError) -> StoreDatabase {
    try StoreDatabase.open(
      at: directory ?? store, encryption: .encrypted(FixedKeyProvider(key ?? self.key)),
      options: options)
  }

  /// A file of the store.
  func file(_ name: String) -> URL { store.appendingPathComponent(name) }

  /// The content of every file of the store by name; the index of the log, which SQLite rebuilds, is
  /// none of them.
  func contents(of directory: URL? = nil) throws -> [String: Data] {
    let directory = directory ?? store
    var contents: [String: Data] = [:]
    // The anchor before the log: of a store that is written to it must not be newer.
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    where !name.hasSuffix("-shm") {
      contents[name] = try Data(contentsOf: directory.appendingPathComponent(name))
    }
    return contents
  }

  /// A copy of the store as it is on disk now, as a crash would leave it.
  func snapshot(of directory: URL? = nil, as name: String = UUID().uuidString) throws -> URL {
    let copy = url.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    for (name, data) in try contents(of: directory) where !Self.lockFiles.contains(name) {
      try data.write(to: copy.appendingPathComponent(name))
    }
    return copy
  }
}

extension StoreDatabase {
  /// A table of texts, and `count` rows of about `size` bytes.
  func fill(_ count: Int, size: Int = 200, marker: String = "row") throws {
    try writer.write { database in
      try database.execute(
        sql: "CREATE TABLE IF NOT EXISTS entry (id INTEGER PRIMARY KEY, body TEXT, rank INTEGER)")
      for index in 0..<count {
        let body = "\(marker)-\(index)-" + String(repeating: "abcdefgh", count: size / 8)
        try database.execute(
          sql: "INSERT INTO entry (body, rank) VALUES (?, ?)", arguments: [body, index * 7 % 1000])
      }
    }
  }

  /// A soup in table `TABLE_1`, as a store makes it, and `count` entries of about `size` bytes.
  func fillSoup(_ count: Int, size: Int = 200) throws {
    let soup = Soup(
      name: "entry", number: 1, indexes: [SoupIndex("body:string"), SoupIndex("rank:integer")])
    try writer.write { database in
      let access = StoreAccess(
        database, catalog: SoupCatalog(schemaVersion: 0, soups: [:]),
        diagnostics: StoreDiagnostics(SmartStoreOptions()), isSingleCall: false,
        files: ExternalFiles(database: url.path, encryptor: nil))
      if try !access.hasTable(soup.table) {
        try access.migrateMetaTables()
        try database.execute(sql: "INSERT INTO soup_attrs (id, soupName) VALUES (1, 'entry')")
        try access.createTables(of: soup)
        try access.createIndexes(of: soup)
        try access.recordIndexSpecs(of: soup)
      }
      for index in 0..<count {
        let id = 1 + (try Int.fetchOne(database, sql: "SELECT max(id) FROM TABLE_1") ?? 0)
        let body = "row-\(index)-" + String(repeating: "abcdefgh", count: size / 8)
        let entry: JSONValue = [
          "body": .string(body), "rank": .integer(Int64(index)),
          "_soupEntryId": .integer(Int64(id)), "_soupLastModifiedDate": 1,
        ]
        try database.execute(
          sql: """
            INSERT INTO TABLE_1 (id, soup, created, lastModified, TABLE_1_0, TABLE_1_1) \
            VALUES (?, ?, 1, 1, ?, ?)
            """, arguments: [id, entry.text, body, index])
      }
    }
  }

  /// Lets commits return without waiting for the disk, as with `Durability.normal`.
  func commitWithoutSync() throws {
    try writer.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
  }

  /// The number of rows that ``fill(_:size:marker:)`` or ``fillSoup(_:size:)`` left.
  func count() throws -> Int {
    try writer.read { database in
      let table = try database.tableExists("entry") ? "entry" : "TABLE_1"
      return try Int.fetchOne(database, sql: "SELECT count(*) FROM \(table)") ?? 0
    }
  }

  /// What SQLite finds wrong in the database: "ok" if nothing.
  func integrity() throws -> String {
    try writer.read { database in
      try String.fetchAll(database, sql: "PRAGMA integrity_check").joined(separator: "\n")
    }
  }
}
