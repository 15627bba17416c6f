import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Is everything acknowledged there, and nothing half, when three processes write to one store and are killed at any
/// instant?
@Suite(.ownThreads) struct SharedKillProof {
  private let folder: TemporaryFolder
  private let seed = Effort.seed(11)
  private var place: URL { folder.file("store") }

  init() throws { folder = try TemporaryFolder(inMemory: true) }

  /// A process, and the last step that it acknowledged.
  private final class Writer {
    let name: String
    let process: ChildProcess
    var said = -1

    init(_ number: Int, _ place: URL, seed: UInt64) throws {
      name = "writer\(number)"
      process = try ChildProcess(
        "StoreCrashChild", ["share", place.path, name, "\(seed &+ UInt64(number))"])
    }

    /// Takes note of one line.
    ///
    /// - Returns: False at the end.
    func listen() -> Bool {
      guard let line = process.line() else { return false }
      said = Int(line) ?? said
      return true
    }
  }

  @Test func `writers that are killed lose nothing that they acknowledged, and leave no half step`()
    async throws
  {
    var random = SeededGenerator(seed: seed)
    var count = 0
    func start() throws -> Writer {
      count += 1
      return try Writer(count, place, seed: seed)
    }
    var acknowledged: [String: Int] = [:]
    for round in 0..<Effort.times(3) {
      var writers = [try start(), try start(), try start()]
      for _ in 0..<12 {
        let victim = Int.random(in: writers.indices, using: &random)
        // Some are killed while they open the store.
        var lines = Int.random(in: 0...12, using: &random)
        while lines > 0, writers[victim].listen() { lines -= 1 }
        let instant = ContinuousClock.now + .microseconds(Int.random(in: 0..<4000, using: &random))
        while ContinuousClock.now < instant {}
        #expect(writers[victim].process.kill(), "round \(round), \(writers[victim].name)")
        while writers[victim].listen() {}
        acknowledged[writers[victim].name] = writers[victim].said
        writers[victim] = try start()
      }
      // Sometimes the last ones die at once, so that the next opening recovers the WAL.
      for writer in writers {
        #expect(writer.process.kill(), "round \(round), \(writer.name)")
        while writer.listen() {}
        acknowledged[writer.name] = writer.said
      }
      let store = try await SharedWriter.open(place)
      #expect(try await store.verify().isClean, "round \(round), seed \(seed)")
      let found = try await SharedSteps(store)
      var total = 0
      for (name, last) in acknowledged {
        let steps = found.steps[name] ?? []
        let all = last < 0 ? Set<Int>() : Set(0...last)
        #expect(
          steps == all || steps == all.union([last + 1]),
          "round \(round), \(name) acknowledged \(last), seed \(seed)")
        total += steps.count
      }
      #expect(found.total == total, "round \(round), seed \(seed)")
      try await store.close()
      #expect(
        try StoreMaintenance(at: place).verify(CrashScript.encryption(0)).isClean,
        "round \(round), seed \(seed)")
    }
  }
}
