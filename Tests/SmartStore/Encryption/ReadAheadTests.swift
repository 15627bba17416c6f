import Foundation
import GRDB
import GRDBSQLite
import Testing

@testable import SmartStore

/// Does a walk whose pages are read ahead see what every other one sees?
struct ReadAheadTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Opens the folder's store with room for few pages.
  private func open(_ vfs: EncryptedVFS? = .standard) throws -> StoreDatabase {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 200 << 10
    options.vfs = vfs
    return try folder.open(options)
  }

  /// Two tables whose pages lie between each other's, folded into the database file.
  private func fill() throws {
    let store = try open()
    for round in 0..<40 {
      try store.fill(500, marker: "round \(round)")
      try store.writer.write { database in
        try database.execute(
          sql: "CREATE TABLE IF NOT EXISTS other (id INTEGER PRIMARY KEY, body TEXT)")
        for _ in 0..<(round % 7) {
          try database.execute(
            sql: "INSERT INTO other (body) VALUES (?)",
            arguments: [String(repeating: "o", count: 9000)])
        }
      }
    }
    try store.close()
  }

  private func rows(_ database: Database) throws -> [String] {
    try String.fetchAll(database, sql: "SELECT id || body || rank FROM entry")
  }

  @Test func `pages are read many at a time, and are those of any other walk`() throws {
    try fill()
    let disk = try #require(FaultyDisk())
    let store = try open(EncryptedVFS(over: disk.name))
    // Counts the reads and fails none.
    disk.arm(.init(operations: [.read], after: .max, code: SQLITE_IOERR))
    let expected = try store.writer.read { try rows($0) }
    let pages = disk.operations
    #expect(expected.count == 20_000 && pages > 1000)
    for _ in 0..<3 {
      disk.arm(.init(operations: [.read], after: .max, code: SQLITE_IOERR))
      let found = try store.writer.writeWithoutTransaction { database in
        try database.readingAhead { try rows(database) }
      }
      #expect(found == expected)
      #expect(disk.operations < pages / 4, "\(disk.operations) of \(pages)")
    }
    disk.arm(nil)
    try store.close()
  }

  @Test
  func `what is in the log is never read from the file, nor is what is copied at the same time`()
    throws
  {
    try fill()
    let store = try open()
    try store.writer.write { try $0.execute(sql: "UPDATE entry SET rank = id WHERE id % 100 < 50") }
    let expected = try store.writer.read { try rows($0) }
    var found: [String] = []
    try store.writer.writeWithoutTransaction { database in
      try database.readingAhead {
        try database.inTransaction(.deferred) {
          let cursor = try String.fetchCursor(database, sql: "SELECT id || body || rank FROM entry")
          while let row = try cursor.next() {
            found.append(row)
            guard found.count == 7000 else { continue }
            // Copies the log while the walk goes on, and ends when that is done.
            let checkpoints = try #require(store.checkpoints)
            checkpoints.didWrite(1 << 30)
            checkpoints.waitUntilIdle()
          }
          return .commit
        }
      }
    }
    #expect(found == expected)
    // What was opened ahead of one transaction is not there for the next.
    try store.writer.write { try $0.execute(sql: "UPDATE entry SET rank = -id") }
    try store.checkpoint()
    // Backwards nothing is read ahead: pages from before would still be at hand.
    let areChanged = try store.writer.read { database in
      try Bool.fetchAll(database, sql: "SELECT rank = -id FROM entry ORDER BY id DESC")
    }
    #expect(areChanged.count == 20_000 && areChanged.allSatisfy { $0 })
    let changed = try store.writer.writeWithoutTransaction { database in
      try database.readingAhead { try rows(database) }
    }
    #expect(try store.writer.read { try rows($0) } == changed)
    #expect(changed != expected)
    try store.close()
  }

  @Test func `a damaged page is an error as ever`() throws {
    try fill()
    let path = folder.file("store.sqlite")
    var file = try Data(contentsOf: path)
    file[file.count / 2] ^= 1
    try file.write(to: path)
    let store = try open()
    #expect(throws: DatabaseError.self) {
      try store.writer.writeWithoutTransaction { database in
        _ = try database.readingAhead { try rows(database) }
      }
    }
    try store.close()
  }
}
