import Crypto
import Foundation
import GRDB
import TestSupport
import Testing

@testable import SmartStore

/// Is a log that was damaged told from one that a crash has torn, where transactions did not wait for the
/// disk? Where they did, `WALBindingTests` looks at it.
struct WALDamageTests {
  private let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// A store as a crash leaves it, with a log of `transactions` small transactions that did not wait for the
  /// disk.
  private func crashed(_ transactions: Int) throws -> URL {
    let store = try folder.open()
    try store.fill(1)
    _ = try store.checkpoint()
    try store.commitWithoutSync()
    for _ in 0..<transactions { try store.fill(1) }
    let copy = try folder.snapshot()
    try store.close()
    return copy
  }

  private func log(in directory: URL) -> URL { directory.appending(path: "store.sqlite-wal") }

  /// What is found in the log after `change`, and how many rows are left.
  private func outcome(
    _ directory: URL, _ change: (inout Data) -> Void
  ) throws -> (damage: WALDamage?, rows: Int) {
    var bytes = (try? Data(contentsOf: log(in: directory))) ?? Data()
    change(&bytes)
    try bytes.write(to: log(in: directory))
    let store = try folder.open(at: directory)
    defer { try? store.close() }
    return (store.logDamage, try store.count())
  }

  private func frames(_ bytes: Data) -> Int {
    (bytes.count - PageFormat.logHeaderSize) / PageFormat.frameSize
  }

  private func offset(ofFrame number: Int) -> Int {
    PageFormat.logHeaderSize + (number - 1) * PageFormat.frameSize
  }

  @Test func `a whole log, a torn one and none are no damage`() throws {
    let crashed = try crashed(10)
    let whole = try Data(contentsOf: log(in: crashed))
    let last = frames(whole)
    #expect(try outcome(try folder.snapshot(of: crashed)) { _ in } == (nil, 11))
    for size in [0, 10, 32, whole.count - 5000, whole.count - 1] {
      let torn = try folder.snapshot(of: crashed)
      let found = try outcome(torn) { $0 = whole.prefix(size) }
      #expect(found.damage == nil, "\(size) bytes")
    }
    // The last transaction, in any of its parts.
    for place in [0, 4, 8, 16, 24, 4000, 4119] {
      let torn = try folder.snapshot(of: crashed)
      let found = try outcome(torn) {
        $0 = whole; $0[offset(ofFrame: last) + place] ^= 0x10
      }
      #expect(found.damage == nil, "byte \(place)")
      #expect(found.rows == 10)
    }
  }

  /// Where one bit is changed, and the first frame that does not fit then.
  @Test(.covers("SS-26"), arguments: [0, 4, 8, 16, 24, 4000, 4119])
  func `a damaged frame before the last transactions is found and the log kept`(
    place: Int
  ) throws {
    let crashed = try crashed(10)
    let whole = try Data(contentsOf: log(in: crashed))
    for frame in [1, 2, 3] {
      let damaged = try folder.snapshot(of: crashed)
      var bytes = whole
      bytes[offset(ofFrame: frame) + place] ^= 0x10
      let found = try outcome(damaged) { $0 = bytes }
      #expect(found.damage?.frame == frame)
      #expect(found.damage.map { $0.transactions >= 7 } == true, "\(frame)")
      let kept = damaged.appending(path: "store.sqlite-wal.damaged-1")
      #expect(try Data(contentsOf: kept) == bytes)
    }
  }

  @Test(.covers("SS-26"))
  func `a damaged log is kept once, and never made unreadable`() throws {
    let crashed = try crashed(10)
    var bytes = try Data(contentsOf: log(in: crashed))
    bytes[offset(ofFrame: 2) + 30] ^= 0x10
    // An opening that failed afterwards has left a copy, of this damage or of an earlier one.
    let again = try folder.snapshot(of: crashed)
    try bytes.write(to: again.appending(path: "store.sqlite-wal.damaged-1"))
    #expect(try outcome(again) { $0 = bytes }.damage?.frame == 2)
    #expect(StorePaths(directory: again).damagedLogs.count == 1)
    try Data([1]).write(to: crashed.appending(path: "store.sqlite-wal.damaged-1"))
    #expect(try outcome(crashed) { $0 = bytes }.damage?.frame == 2)
    let paths = StorePaths(directory: crashed)
    #expect(paths.damagedLogs == [paths.damagedLog(1), paths.damagedLog(2)])

    let files = StoreMaintenance(at: crashed)
    let newKey = SymmetricKey(size: .bits256)
    let (old, new) = (FixedKeyProvider(folder.key), FixedKeyProvider(newKey))
    for work: () throws -> Void in [
      { try files.reencrypt(from: old, to: new) }, { try files.decrypt(old) },
    ] {
      let error = #expect(throws: SmartStoreError.self) { try work() }
      #expect(error?.code == .exportFailed)
    }
    for copy in paths.damagedLogs { try FileManager.default.removeItem(atPath: copy) }
    try files.reencrypt(from: old, to: new)
    let store = try folder.open(key: newKey, at: crashed)
    #expect(try store.integrity() == "ok")
    try store.close()
  }

  @Test(.covers("SS-26"), arguments: [0, 3, 5, 8, 12, 17, 31])
  func `a damaged header of the log is found and the log kept`(place: Int) throws {
    let crashed = try crashed(3)
    let found = try outcome(crashed) { $0[place] ^= 1 }
    #expect(found.damage == WALDamage(frame: 0, transactions: 3))
    #expect(found.rows == 1)
  }

  @Test func `frames of an earlier log behind the end are no damage`() throws {
    let store = try folder.open()
    for _ in 0..<10 { try store.fill(1) }
    try store.writer.writeWithoutTransaction {
      try $0.execute(sql: "PRAGMA wal_checkpoint(RESTART)")
    }
    try store.fill(1)
    let copy = try folder.snapshot()
    try store.close()
    #expect(frames(try Data(contentsOf: log(in: copy))) > 10)
    #expect(try outcome(copy) { _ in } == (nil, 11))
    // Nor is what is no log at all, in a store that needs none.
    let other = try folder.snapshot(of: copy)
    #expect(try outcome(other) { $0 = Data(repeating: 7, count: 50_000) } == (nil, 11))
  }

  @Test func `transactions that were rolled back or not ended are no damage`() throws {
    var options = StoreDatabaseOptions()
    options.writerCacheBytes = 20 << 10
    let store = try folder.open(options)
    try store.fill(1)
    for ending in [Database.TransactionCompletion.rollback, .commit, .rollback] {
      try store.writer.writeWithoutTransaction { database in
        try database.inTransaction {
          // More than the cache holds, so that pages go to the log before the end.
          for _ in 0..<400 {
            try database.execute(
              sql: "INSERT INTO entry (body, rank) VALUES (hex(randomblob(500)), 1)")
          }
          let copy = try folder.snapshot()
          #expect(frames(try Data(contentsOf: log(in: copy))) > 20)
          #expect(try outcome(copy) { _ in }.damage == nil)
          return ending
        }
      }
      try store.fill(1)
      #expect(try outcome(try folder.snapshot()) { _ in }.damage == nil)
    }
    try store.close()
  }
}
