import Crypto
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SmartStore

/// Is a change to the files, made without the key, ever taken for data?
struct TamperingTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// Everything in the table, or nil if reading it, or opening the store, fails.
  private func rows(in directory: URL) -> [Row]? {
    guard let store = try? folder.open(at: directory) else { return nil }
    defer { try? store.close() }
    return try? store.writer.read { try Row.fetchAll($0, sql: "SELECT * FROM entry ORDER BY id") }
  }

  @Test func `a flipped bit anywhere in the database is noticed`() throws {
    let store = try folder.open()
    try store.fill(400)
    try store.close()
    let path = folder.file("store.sqlite")
    let whole = try Data(contentsOf: path)
    let expected = try #require(rows(in: folder.store))
    // Opening writes: each flip starts from the same files.
    let start = try folder.contents()
    var random = SeededGenerator(seed: 20)
    for _ in 0..<150 {
      var damaged = whole
      let index = Int.random(in: damaged.indices, using: &random)
      damaged[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let copy = folder.url.appendingPathComponent("flip-\(index)")
      try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
      for (name, data) in start { try data.write(to: copy.appendingPathComponent(name)) }
      try damaged.write(to: copy.appendingPathComponent("store.sqlite"))
      let found = rows(in: copy)
      #expect(found == nil || found == expected, "byte \(index), seed 20")
      if found != nil {
        // Only a free page, or one the query does not need, may go unread.
        #expect(index >= PageFormat.pageSize, "byte \(index) of the first page, seed 20")
      }
      try FileManager.default.removeItem(at: copy)
    }
  }

  @Test
  func `a flipped bit anywhere in the log ends the log or is noticed, and never gives other rows`()
    throws
  {
    var options = StoreDatabaseOptions()
    options.checkpointPages = 100_000
    let store = try folder.open(options)
    try store.fill(20)
    for round in 1...5 { try store.fill(20, marker: "round \(round)") }
    let crashed = try folder.snapshot(as: "crashed")
    let expected = try store.writer.read {
      try Row.fetchAll($0, sql: "SELECT * FROM entry ORDER BY id")
    }
    try store.close()

    let start = try folder.contents(of: crashed)
    let log = try #require(start["store.sqlite-wal"])
    var random = SeededGenerator(seed: 21)
    for _ in 0..<150 {
      var damaged = log
      let index = Int.random(in: damaged.indices, using: &random)
      damaged[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      let copy = folder.url.appendingPathComponent("flip-\(index)")
      try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
      for (name, data) in start { try data.write(to: copy.appendingPathComponent(name)) }
      try damaged.write(to: copy.appendingPathComponent("store.sqlite-wal"))
      if let found = rows(in: copy) {
        #expect(found == Array(expected.prefix(found.count)), "byte \(index), seed 21")
        #expect(found.count % 20 == 0, "byte \(index) split a transaction, seed 21")
      }
      try FileManager.default.removeItem(at: copy)
    }
  }

  @Test func `pages swapped within a store are noticed`() throws {
    let store = try folder.open()
    try store.fill(400)
    try store.close()
    let path = folder.file("store.sqlite")
    var bytes = try Data(contentsOf: path)
    let size = PageFormat.pageSize
    let third = bytes[2 * size..<3 * size]
    let fifth = bytes[4 * size..<5 * size]
    bytes.replaceSubrange(2 * size..<3 * size, with: Data(fifth))
    bytes.replaceSubrange(4 * size..<5 * size, with: Data(third))
    try bytes.write(to: path)
    #expect(rows(in: folder.store) == nil)
  }

  @Test func `a page of another store with the same key is noticed`() throws {
    let other = folder.url.appendingPathComponent("other")
    for directory in [folder.store, other] {
      let store = try folder.open(at: directory)
      try store.fill(400)
      try store.close()
    }
    let path = folder.file("store.sqlite")
    var bytes = try Data(contentsOf: path)
    let foreign = try Data(contentsOf: other.appendingPathComponent("store.sqlite"))
    let page = 3 * PageFormat.pageSize..<4 * PageFormat.pageSize
    bytes.replaceSubrange(page, with: foreign[page])
    try bytes.write(to: path)
    #expect(rows(in: folder.store) == nil)
  }

  @Test func `a page of zeros is noticed`() throws {
    let store = try folder.open()
    try store.fill(400)
    try store.close()
    let path = folder.file("store.sqlite")
    var bytes = try Data(contentsOf: path)
    let page = 3 * PageFormat.pageSize..<4 * PageFormat.pageSize
    bytes.replaceSubrange(page, with: Data(count: PageFormat.pageSize))
    try bytes.write(to: path)
    #expect(rows(in: folder.store) == nil)
  }

  @Test(.covers("SS-26"))
  func `another program that opens a crashed store leaves its log alone`() throws {
    let store = try folder.open()
    try store.fill(100)
    let crashed = try folder.snapshot(as: "crashed")
    try store.close()
    let path = crashed.appendingPathComponent("store.sqlite").path
    #expect(throws: DatabaseError.self) {
      let queue = try DatabaseQueue(path: path)
      try queue.write { try $0.execute(sql: "CREATE TABLE t (x)") }
    }
    #expect(rows(in: crashed)?.count == 100)
  }
}
