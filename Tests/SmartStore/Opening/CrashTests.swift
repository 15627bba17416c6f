import Foundation
import GRDB
import TestSupport
import Testing

@testable import SmartStore

/// Is everything acknowledged there after a crash, and nothing half?
struct CrashTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  @Test(.covers("SS-210"))
  func `files copied after a commit hold the commit`() throws {
    var options = StoreDatabaseOptions()
    options.checkpointPages = 30
    let store = try folder.open(options)
    for round in 1...15 {
      try store.fill(20, size: 1000)
      let copy = try folder.snapshot()
      let recovered = try folder.open(at: copy)
      #expect(try recovered.count() == round * 20)
      #expect(try recovered.integrity() == "ok")
      try recovered.close()
      try FileManager.default.removeItem(at: copy)
    }
    try store.close()
  }

  @Test func `a crash inside a transaction leaves what was before it`() throws {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 40 << 10
    let store = try folder.open(options)
    try store.fill(100)
    var copies: [URL] = []
    try store.writer.write { database in
      for round in 0..<8 {
        // More than the cache holds: pages of the open transaction are in the log.
        try database.execute(sql: "UPDATE entry SET body = body || 'more', rank = \(round)")
        for _ in 0..<50 {
          try database.execute(
            sql: "INSERT INTO entry (body) VALUES (?)",
            arguments: [String(repeating: "z", count: 2000)])
        }
        copies.append(try folder.snapshot())
      }
    }
    for copy in copies {
      let recovered = try folder.open(at: copy)
      #expect(try recovered.count() == 100)
      #expect(try recovered.integrity() == "ok")
      try recovered.close()
    }
    #expect(try store.count() == 500)
    try store.close()
  }

  @Test
  func `a log torn behind what was on disk opens with whole transactions, and no shorter one`()
    throws
  {
    let store = try folder.open()
    try store.fill(20)
    let base = try folder.snapshot(as: "base")
    try store.commitWithoutSync()
    for _ in 0..<4 { try store.fill(20) }
    let crashed = try folder.snapshot(as: "crashed")
    try store.close()
    let log = try Data(contentsOf: crashed.appendingPathComponent("store.sqlite-wal"))
    let durable = try Data(contentsOf: base.appendingPathComponent("store.sqlite-wal")).count
    var random = SeededGenerator(seed: 22)
    for round in 0..<60 {
      let cut = Int.random(in: 0..<log.count, using: &random)
      var torn = Data(log.prefix(cut))
      if round % 2 == 1 {
        // The rest was allotted, but its sectors never arrived.
        torn.append(Data((cut..<log.count).map { _ in UInt8.random(in: 0...255, using: &random) }))
      }
      let copy = folder.url.appendingPathComponent("torn-\(round)")
      try FileManager.default.copyItem(at: crashed, to: copy)
      try torn.write(to: copy.appendingPathComponent("store.sqlite-wal"))
      guard cut >= durable else {
        let error = #expect(throws: SmartStoreError.self) { try folder.open(at: copy).close() }
        #expect(error?.code == .corruptLog)
        try FileManager.default.removeItem(at: copy)
        continue
      }
      let recovered = try folder.open(at: copy)
      let count = try recovered.count()
      #expect(count % 20 == 0, "cut at \(cut), seed 22")
      #expect(count >= 20, "cut at \(cut), seed 22")
      #expect(try recovered.integrity() == "ok", "cut at \(cut), seed 22")
      try recovered.fill(20)
      #expect(try recovered.count() == count + 20, "cut at \(cut), seed 22")
      try recovered.close()
      try FileManager.default.removeItem(at: copy)
    }
  }

  @Test
  func `copies taken at random instants while another thread writes open with whole transactions`()
    async throws
  {
    var options = StoreDatabaseOptions()
    // No checkpoint: a copy takes two files at different instants.
    options.checkpointPages = 1_000_000
    let store = try folder.open(options)
    try store.fill(20)
    async let writing: Void = Task.detached { [store] in
      for _ in 0..<60 { try store.fill(20, size: 600) }
    }.value
    var copies: [(URL, atLeast: Int)] = []
    for _ in 0..<12 {
      let before = try store.count()
      copies.append((try folder.snapshot(), before))
      await Task.yield()
    }
    try await writing
    for (copy, atLeast) in copies {
      let recovered = try folder.open(at: copy)
      let count = try recovered.count()
      #expect(count >= atLeast)
      #expect(count % 20 == 0)
      #expect(try recovered.integrity() == "ok")
      try recovered.close()
    }
    try store.close()
  }
}
