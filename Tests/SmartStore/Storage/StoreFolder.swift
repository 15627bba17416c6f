import Crypto
import Foundation
import GRDB

@testable import SmartStore

/// A folder for one test's store, removed with the test.
final class StoreFolder: Sendable {
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
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
    where !name.hasSuffix("-shm") {
      contents[name] = try Data(contentsOf: directory.appendingPathComponent(name))
    }
    return contents
  }

  /// A copy of the store as it is on disk now, as a crash would leave it.
  func snapshot(of directory: URL? = nil, as name: String = UUID().uuidString) throws -> URL {
    let copy = url.appendingPathComponent(name, isDirectory: true)
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    for (name, data) in try contents(of: directory) where name != "store.lock" {
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

  /// The number of rows that ``fill(_:size:marker:)`` left.
  func count() throws -> Int {
    try writer.read { database in
      try Int.fetchOne(database, sql: "SELECT count(*) FROM entry") ?? 0
    }
  }

  /// What SQLite finds wrong in the database: "ok" if nothing.
  func integrity() throws -> String {
    try writer.read { database in
      try String.fetchAll(database, sql: "PRAGMA integrity_check").joined(separator: "\n")
    }
  }
}
