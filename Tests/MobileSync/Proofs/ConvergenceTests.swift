import Synchronization
import Testing
import TestSupport

/// Do three devices and one org come to agree, whatever happens, without losing an edit or making a
/// record twice?
@Suite struct ConvergenceTests {
  // The proof of the proof: of a story with a culprit, or with two that fail together only, they alone
  // are left.
  @Test(arguments: [1, 2]) func `a story that fails is cut down to what makes it fail`(
    culprits: Int
  ) async {
    let story = ConvergenceScript(seed: Effort.seed(1)).steps.filter { !Self.isCulprit($0) }
    for place in 0...story.count {
      var steps = story
      steps.insert(.lateCreate, at: place)
      if culprits == 2 { steps.insert(.restart(device: 7), at: story.count / 2) }
      let tried = Mutex(0)
      let short = await ConvergenceScript(steps: steps, hoursAhead: [1, 2, 3]).shrunk { shorter in
        tried.withLock { $0 += 1 }
        return shorter.steps.count(where: Self.isCulprit) == culprits
      }
      #expect(short.steps.count == culprits && short.steps.allSatisfy(Self.isCulprit))
      #expect(short.hoursAhead == [1, 2, 3])
      #expect(tried.withLock { $0 } < 10 * steps.count + 10)
    }
  }

  private static func isCulprit(_ step: ConvergenceScript.Step) -> Bool {
    switch step {
    case .lateCreate, .restart: true
    default: false
    }
  }

  @Test func `a story that fails in the world of devices and org is cut down too`() async throws {
    // An edit that gets lost behind everybody's back stands for a fault of the engine.
    let steps = ConvergenceScript(seed: Effort.seed(1)).steps.filter { !Self.isCulprit($0) }
    let story = ConvergenceScript(steps: steps + [.lateCreate] + steps)
    let short = await story.shrunk { shorter in
      (try? await ConvergenceWorld.live(shorter, losing: Self.isCulprit)) != nil
    }
    #expect(short.steps.count == 1 && short.steps.allSatisfy(Self.isCulprit))
  }

  /// How many stories run at the same time, and how many there are in all.
  private static let lanes = 2
  private static let stories = 500

  @Test(arguments: 0..<lanes)
  func `three devices and one org agree in the end, and no edit is lost without a conflict`(
    lane: Int
  ) async throws {
    let first = Effort.seed(1)
    for number in 0..<Effort.times(Self.stories) where number % Self.lanes == lane {
      let seed = first &+ UInt64(number)
      let script = ConvergenceScript(seed: seed)
      guard let fault = try await ConvergenceWorld.live(script) else { continue }
      let short = await script.shrunk { shorter in
        (try? await ConvergenceWorld.live(shorter)) != .some(.none)
      }
      let reason = try await ConvergenceWorld.live(short) ?? fault
      Issue.record("Seed \(seed): \(reason)\nThe shortest story that fails:\n\(short)")
      return
    }
  }
}
