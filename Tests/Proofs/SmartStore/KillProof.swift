import Foundation
import SalesforceSDKCommon
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Is everything acknowledged there, and nothing half, after a process was killed at any instant?
@Suite(.ownThreads) struct KillProof {
  private let folder: TemporaryFolder
  private let script: CrashScript
  private var store: URL { folder.file("store") }

  init() throws {
    folder = try TemporaryFolder(inMemory: true)
    script = CrashScript(seed: Effort.seed(7))
  }

  @Test(.covers("SS-35", "SS-51", "SS-210"))
  func `after SIGKILL at any instant all that was acknowledged is there`()
    async throws
  {
    var random = SeededGenerator(seed: script.seed)
    var model = CrashModel()
    var next = 0
    var interrupted = 0
    for round in 0..<Effort.times(100) {
      let child = try ChildProcess(
        "StoreCrashChild", [store.path, "\(script.seed)", "\(next)", "\(model.key)"])
      // Some die before the store is open, the others some steps later, and a little later still.
      var lines = Int.random(in: 0...12, using: &random)
      var said: [String] = []
      while lines > 0, let line = child.line() {
        said.append(line)
        lines -= 1
      }
      let patience = Int.random(in: 0..<4, using: &random) == 0 ? 30_000 : 3000
      let instant =
        ContinuousClock.now + .microseconds(Int.random(in: 0..<patience, using: &random))
      while ContinuousClock.now < instant {}
      #expect(child.kill(), "round \(round): the child ended by itself after \(said)")
      while let line = child.line() { said.append(line) }

      for step in said.compactMap({ Int($0) }) {
        try #require(step == next, "round \(round)")
        model = model.after(script.action(step), step: step)
        next += 1
      }
      // The step that was under way happened completely or not at all.
      let action = script.action(next)
      let after = model.after(action, step: next)
      guard FileManager.default.fileExists(atPath: store.path + "/store.sqlite") else {
        #expect(next == 0, "round \(round)")
        continue
      }
      let found = try await CrashModel.found(
        at: store, keys: [0, 1, CrashScript.plaintext], script: script)
      #expect(
        found == model || found == after,
        "round \(round), step \(next) \(action), seed \(script.seed)")
      if found == after, after != model {
        interrupted += 1
        next += 1
      }
      model = found
    }
    #expect(next > 100)
  }
}
