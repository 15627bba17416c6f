import Crypto
import Foundation
import GRDBSQLite
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Is the anchor never ahead of the write-ahead log (WAL), whatever SQLite writes over?
struct WALAnchorTests {
  private let folder: TemporaryFolder
  private let keys: StoreKeys
  private let binding: WALBinding

  init() throws {
    folder = try TemporaryFolder(inMemory: true)
    keys = try #require(
      StoreKeys(storeID: UUID(), dataKeys: [(epoch: UInt32(1), key: SymmetricKey(size: .bits256))]))
    let vfs = try #require(sqlite3_vfs_find(nil))
    // The anchor takes the permissions of the database.
    try Data().write(to: folder.file("store.sqlite"))
    let path = folder.file("store.sqlite").path
    let log = try CommittedWAL(path + "-wal", keys: keys, cipher: AESGCMCipher())
    binding = WALBinding(
      path + "-anchor", in: vfs, keys: keys, cipher: AESGCMCipher(), anchor: nil, log: log)
  }

  /// What a crash would leave: the anchor on disk.
  private var stored: WALAnchor? {
    get throws {
      let file = DurableFile(folder.file("store.sqlite-anchor"))
      guard let bytes = try file.read(limit: AnchorFormat.size) else { return nil }
      return AnchorFormat.anchor(in: bytes, keys: keys, cipher: AESGCMCipher())
    }
  }

  private func commit(_ frames: Int, _ salts: UInt64 = 1) -> WALAnchor.Commit {
    WALAnchor.Commit(
      salts: salts, frames: frames, sums: .init(first: UInt32(frames), second: UInt32(salts)))
  }

  private func write(_ frames: ClosedRange<Int>, _ salts: UInt64 = 1) {
    for frame in frames {
      #expect(binding.willWrite(frame: frame, salts: salts) { SQLITE_OK } == SQLITE_OK)
    }
    binding.didWrite(commit(frames.upperBound, salts))
  }

  @Test func `a transaction that SQLite takes back after its sync is not required any more`() throws
  {
    #expect(binding.willBegin(1) { SQLITE_OK } == SQLITE_OK)
    write(1...3)
    binding.didSync(binding.written)
    write(4...6)
    binding.didSync(binding.written)
    #expect(try stored?.last == commit(6))
    // SQLite rolled the second back, and writes another one over it: a crash leaves half of it.
    #expect(binding.willWrite(frame: 4, salts: 1) { SQLITE_OK } == SQLITE_OK)
    #expect(try stored?.last == commit(3))
    #expect(try stored?.isRequired == true)
    // That was taken back, too: the WAL may hold nothing.
    #expect(binding.willWrite(frame: 2, salts: 1) { SQLITE_OK } == SQLITE_OK)
    #expect(try stored?.last == nil)
    #expect(try stored?.isRequired == false)
    #expect(try stored?.next == 1)
  }

  @Test(arguments: 0..<100)
  func `whatever order SQLite writes in, the anchor requires nothing that the WAL lacks`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    var salts: UInt64 = 1
    #expect(binding.willBegin(salts) { SQLITE_OK } == SQLITE_OK)
    // The commits that are whole in the WAL, by the number of their last frame.
    var whole: [Int] = []
    for _ in 0..<60 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        // Over the last transactions, if they were taken back, or behind them.
        let kept =
          Bool.random(using: &random)
          ? whole : Array(whole.dropLast(Int.random(in: 1...3, using: &random)))
        let first = (kept.last ?? 0) + 1
        let last = first + Int.random(in: 0..<4, using: &random)
        for frame in first...last {
          #expect(binding.willWrite(frame: frame, salts: salts) { SQLITE_OK } == SQLITE_OK)
          // From here on the frame and all behind it may be torn.
          whole.removeAll { $0 >= frame }
          try expectCovered(by: whole, salts)
        }
        binding.didWrite(commit(last, salts))
        whole.append(last)
      case 5..<8:
        binding.didSync(binding.written)
      case 8:
        #expect(binding.willCheckpoint() == SQLITE_OK)
      default:
        salts += 1
        #expect(binding.willBegin(salts) { SQLITE_OK } == SQLITE_OK)
        whole = []
      }
      try expectCovered(by: whole, salts)
    }
  }

  private func expectCovered(
    by whole: [Int], _ salts: UInt64, at place: Testing.SourceLocation = #_sourceLocation
  ) throws {
    guard let anchor = try stored, anchor.isRequired, let last = anchor.last else { return }
    #expect(last.salts == salts && whole.contains(last.frames), sourceLocation: place)
  }
}
