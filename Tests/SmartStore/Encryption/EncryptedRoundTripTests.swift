import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import SmartStore
import TestSupport

/// Does an encrypted store keep what was written, whatever SQLite does with its pages?
struct EncryptedRoundTripTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  @Test(.covers("SS-11"))
  func `rows are there after closing and opening again`() throws {
    var store = try folder.open()
    try store.fill(1000)
    try store.close()
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.store.path)
    #expect(
      names.sorted() == [
        "store.created", "store.key", "store.lock", "store.opening", "store.sqlite",
        "store.sqlite-anchor",
      ])

    store = try folder.open()
    #expect(try store.count() == 1000)
    #expect(try store.integrity() == "ok")
    try store.close()
  }

  @Test(.covers("SS-10.1"), arguments: [true, false])
  func `a new store's folder and files belong to the owner alone`(isEncrypted: Bool) throws {
    let store =
      try isEncrypted
      ? folder.open() : StoreDatabase.open(at: folder.store, encryption: .plaintext)
    try store.fill(1)
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.store.path) {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: folder.store.path)
    #expect(attributes[.posixPermissions] as? Int == 0o700)
    try store.close()
  }

  @Test func `a transaction larger than the page cache is whole, and a rolled back one is gone`()
    throws
  {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 200 << 10
    options.readerCacheBytes = 200 << 10
    let store = try folder.open(options)
    try store.fill(20_000)
    #expect(throws: DatabaseError.self) {
      try store.writer.write { database in
        try database.execute(sql: "UPDATE entry SET body = body || 'x', rank = rank + 1")
        try database.execute(sql: "DELETE FROM entry WHERE id % 3 = 0")
        throw DatabaseError(message: "stop")
      }
    }
    #expect(try store.count() == 20_000)
    try store.writer.write { database in
      // Two statements that touch the same pages: frames of the log are overwritten in place.
      try database.execute(sql: "UPDATE entry SET rank = rank + 1")
      try database.execute(sql: "CREATE INDEX entry_rank ON entry (rank, body)")
      try database.inSavepoint {
        try database.execute(sql: "UPDATE entry SET body = body || 'y'")
        return .rollback
      }
      try database.execute(sql: "UPDATE entry SET rank = rank + 1")
    }
    #expect(try store.integrity() == "ok")
    let copy = try folder.snapshot()
    try store.close()

    let recovered = try folder.open(at: copy)
    #expect(try recovered.count() == 20_000)
    #expect(try recovered.integrity() == "ok")
    let sum = try recovered.writer.read { try Int.fetchOne($0, sql: "SELECT sum(rank) FROM entry") }
    #expect(sum == (0..<20_000).reduce(0) { $0 + $1 * 7 % 1000 + 2 })
    try recovered.close()
  }

  @Test func `vacuum, a large sort and an index build work without temporary files`() throws {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 200 << 10
    let store = try folder.open(options)
    try store.fill(10_000, size: 400)
    try store.writer.write { try $0.execute(sql: "DELETE FROM entry WHERE id % 4 <> 0") }
    let before = try store.size()
    try store.vacuum()
    #expect(try store.size() < before / 2)
    let first = try store.writer.read { database in
      try Int.fetchOne(
        database, sql: "SELECT id FROM entry ORDER BY body || random() DESC, rank LIMIT 1")
    }
    #expect(first != nil)
    try store.writer.write { try $0.execute(sql: "CREATE INDEX entry_body ON entry (body)") }
    #expect(try store.integrity() == "ok")
    try store.close()
    let reopened = try folder.open()
    #expect(try reopened.count() == 2500)
    try reopened.close()
  }

  @Test(.covers("SS-22"))
  func `the size includes the log and grows with the rows`() throws {
    let store = try folder.open()
    let empty = try store.size()
    #expect(empty > 0)
    try store.fill(100)
    #expect(try store.size() > empty)
    try store.close()
  }

  @Test func `readers go on while a write transaction is open`() throws {
    let store = try folder.open()
    try store.fill(500)
    var options = StoreDatabaseOptions()
    options.access = .readOnly
    let reader = try folder.open(options)
    try store.writer.writeWithoutTransaction { database in
      try database.inTransaction(.immediate) {
        try database.execute(sql: "DELETE FROM entry")
        #expect(try reader.count() == 500)
        return .commit
      }
    }
    #expect(try reader.count() == 0)
    try reader.close()
    try store.close()
  }

  @Test func `a store with characters in its path that mean something in a URI opens`() throws {
    let directory = folder.url.appendingPathComponent("a b?c#d%41&e=f;g é", isDirectory: true)
    var store = try folder.open(at: directory)
    try store.fill(3)
    #expect(store.url.path.hasPrefix(directory.resolvingSymlinksInPath().path))
    try store.close()
    store = try folder.open(at: directory)
    #expect(try store.count() == 3)
    try store.close()
  }

  @Test(.covers("SS-13"))
  func `stores are encrypted unless plaintext is requested`() throws {
    let store = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    try store.fill(10)
    try store.close()
    let start = try Data(contentsOf: folder.file("store.sqlite")).prefix(16)
    #expect(start == Data("SQLite format 3\0".utf8))
    let reopened = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    #expect(try reopened.count() == 10)
    try reopened.close()
  }

  @Test func `settings that keep pages encrypted cannot be changed`() throws {
    let store = try folder.open()
    for statement in [
      "PRAGMA journal_mode = DELETE", "PRAGMA journal_mode = MEMORY", "PRAGMA page_size = 8192",
      "PRAGMA temp_store = FILE", "PRAGMA mmap_size = 1000000",
      "ATTACH 'file:\(folder.url.path)/other.sqlite?vfs=unix' AS other",
      "VACUUM INTO '\(folder.url.path)/copy.sqlite'",
    ] {
      #expect(throws: DatabaseError.self, "\(statement)") {
        try store.writer.writeWithoutTransaction { try $0.execute(sql: statement) }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
    let settings = try store.writer.writeWithoutTransaction { database in
      try ["journal_mode", "page_size", "temp_store", "synchronous", "cache_size"].map { name in
        try String.fetchOne(database, sql: "PRAGMA \(name)") ?? ""
      }
    }
    let cache = "-\(StoreDatabaseOptions().writerCacheBytes >> 10)"
    #expect(settings == ["wal", "4096", "2", "2", cache])
    try store.close()
  }

  @Test func `opening through the VFS without a known store fails and creates nothing`() throws {
    let vfs = try #require(EncryptedVFS.standard)
    let path = folder.url.appendingPathComponent("plain.sqlite").path
    for uri in [
      "file:\(path)?vfs=\(vfs.name)", "file:\(path)?vfs=\(vfs.name)&ffkey=nobody",
    ] {
      #expect(throws: DatabaseError.self, "\(uri)") {
        let queue = try DatabaseQueue(path: uri)
        try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
  }

  @Test func `a backup of a plain database into the store is refused and leaves the store whole`()
    throws
  {
    let store = try folder.open()
    try store.fill(100)
    let plain = try DatabaseQueue()
    try plain.write { try $0.execute(sql: "CREATE TABLE other (x); INSERT INTO other VALUES (1)") }
    #expect(throws: DatabaseError.self) { try plain.backup(to: store.writer) }
    try store.close()
    let reopened = try folder.open()
    #expect(try reopened.count() == 100)
    #expect(try reopened.integrity() == "ok")
    try reopened.close()
  }

  @Test(.covers("SS-33"))
  func `the engine tells what it is`() {
    #expect(StoreEngine.cipherProviderVersion().hasPrefix("AES-256-GCM"))
    #expect(StoreEngine.compileOptions.contains("ENABLE_FTS5"))
    #expect(StoreEngine.runtimeSettings().contains("PRAGMA temp_store = MEMORY;"))
    #expect(StoreEngine.version == "Fieldforce page format 1")
    #expect(!StoreEngine.isFIPSValidated)
    #expect(StoreEngine.sqliteVersion.hasPrefix("3."))
  }
}
