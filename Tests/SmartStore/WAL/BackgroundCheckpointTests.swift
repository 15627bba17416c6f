import Foundation
import GRDBSQLite
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Is everything committed still there when the log is checkpointed in the background?
@Suite(.ownThreads)
struct BackgroundCheckpointTests {
  /// Stops a checkpoint when it has read how long the log is, and has not looked yet how much of it
  /// is copied. Nothing leaves SQLite between the two, unless it finds that a connection is changing the
  /// index: then it reads under the writer's lock. So for an instant the index looks like that.
  private final class Pause: Sendable {
    private enum Step { case begin, readsIndex, seesChange, hasLock, over }

    let reached = Latch()
    let end = Latch()
    private let step = Mutex(Step.begin)

    /// One byte of the second copy of the index's header.
    private static let place = 48 + 8

    func see(_ call: FaultyDisk.IndexCall, _ index: UnsafeMutableRawPointer) {
      let isReached = step.withLock { step -> Bool in
        switch (step, call) {
        case (.begin, .lock(1)): step = .readsIndex
        case (.readsIndex, .barrier):
          step = .seesChange
          flip(index)
        case (.seesChange, .lock(0)):
          step = .hasLock
          flip(index)
        case (.hasLock, .unlock(0)):
          step = .over
          return true
        default: break
        }
        return false
      }
      guard isReached else { return }
      reached.open()
      end.waitBlocking()
    }

    private func flip(_ index: UnsafeMutableRawPointer) {
      let byte = (index + Self.place).assumingMemoryBound(to: UInt8.self)
      byte.pointee ^= 0xFF
    }
  }

  /// ```
  /// other    checkpoint: reads "20 frames" ....................... looks what is copied, copies
  /// writer                                  commits: a new log?
  /// ```
  @Test(.timeLimit(.minutes(5)))
  func `the log is not restarted under a checkpoint, which would lose what is committed next`()
    async throws
  {
    let folder = try StoreFolder()
    let disk = try #require(FaultyDisk())
    var options = StoreDatabaseOptions()
    options.vfs = EncryptedVFS(over: disk.name)
    let store = try folder.open(options)
    let checkpoints = try #require(store.checkpoints)
    try store.fill(400)
    try store.checkpoint()
    let pause = Pause()
    disk.watchIndex { pause.see($0, $1) }
    checkpoints.didWrite(options.checkpointInterval)
    await pause.reached.wait()
    disk.watchIndex(nil)
    try store.fill(1)
    pause.end.open()
    checkpoints.waitUntilIdle()
    // Past the end of the first log, then into the next one.
    for _ in 0..<60 { try store.fill(1, size: 3000) }
    for _ in 0..<2 {
      try store.checkpoint()
      try store.fill(1)
    }
    #expect(try store.integrity() == "ok")
    #expect(try store.count() == 463)
    try store.close()
    let reopened = try folder.open()
    #expect(try reopened.count() == 463)
    #expect(try reopened.integrity() == "ok")
    try reopened.close()
  }

  @Test func `what is written is copied to the database in the background, and a crash loses none`()
    async throws
  {
    let folder = try StoreFolder()
    var files = StoreDatabaseOptions()
    files.checkpointInterval = 64 << 10
    // Never by the writer.
    files.checkpointPages = 1_000_000
    let store = try await SmartStore.open(
      at: folder.store, encryption: .encrypted(FixedKeyProvider(folder.key)), files: files)
    try await store.registerSoup(
      withName: "orders", withIndices: [SoupIndex(path: "number", type: .integer)])
    let text = JSONValue.string(String(repeating: "x", count: 8000))
    for number in 0..<40 {
      let order: JSONValue = ["number": .integer(Int64(number)), "text": text]
      _ = try await store.upsert(entries: [order], forSoupNamed: "orders")
    }
    let checkpoints = try #require(store.database.checkpoints)
    checkpoints.waitUntilIdle()
    let size = try DurableFile(path: store.path).size() ?? 0
    #expect(size > 300_000)
    let crashed = try await SmartStore.open(
      at: try folder.snapshot(), encryption: .encrypted(FixedKeyProvider(folder.key)))
    for store in [store, crashed] {
      let numbers = try await store.column("SELECT {orders:number} FROM {orders} ORDER BY 1")
      #expect(numbers == (0..<40).map { .integer($0) })
      try await store.close()
    }
  }

  @Test func `a plaintext store copies its log in the background only if SQLite is safe`()
    async throws
  {
    let folder = try StoreFolder()
    let store = try StoreDatabase.open(at: folder.store, encryption: .plaintext)
    let isSafe = BackgroundCheckpoints.isSafe(isSealed: false)
    #expect((store.checkpoints != nil) == isSafe)
    try store.close()
  }

  @Test(arguments: [
    (3_040_001, false), (3_044_005, false), (3_044_006, true), (3_045_000, false),
    (3_050_006, false), (3_050_007, true), (3_051_002, false), (3_051_003, true),
    (3_053_000, true),
  ])
  func `SQLite is taken for safe from the versions on that have the repair`(
    version: Int32, isSafe: Bool
  ) {
    #expect(BackgroundCheckpoints.isSafe(isSealed: false, version: version) == isSafe)
    #expect(BackgroundCheckpoints.isSafe(isSealed: true, version: version))
  }
}
