import MobileSync
import Synchronization
import Testing
import TestSupport
@testable import MobileSyncTests

/// The proof of the convergence proof: does it notice faults, and does it cut a failing story down to
/// what makes it fail?
@Suite struct ConvergenceShrinkingTests {
  private typealias Step = ConvergenceStory.Step

  @Test(arguments: [1, 2]) func `a story that fails is cut down to what makes it fail`(
    culprits: Int
  ) async {
    let drawn = ConvergenceCase(seed: Effort.seed(1))
    let story = drawn.story.steps.filter { !Self.isCulprit($0) }
    for place in 0...story.count {
      var steps = story
      steps.insert(.lateCreate(pick: 0), at: place)
      if culprits == 2 { steps.insert(.restart(device: 7), at: story.count / 2) }
      let tried = Mutex(0)
      let short = await ConvergenceCase(world: drawn.world, story: ConvergenceStory(steps: steps))
        .shrunk { shorter in
          tried.withLock { $0 += 1 }
          return shorter.story.steps.count(where: Self.isCulprit) == culprits
        }
      #expect(short.story.steps.count == culprits)
      #expect(short.story.steps.allSatisfy(Self.isCulprit))
      #expect(short.world == ConvergenceWorld())
      #expect(tried.withLock { $0 } < 10 * steps.count + 400)
    }
  }

  @Test func `a world is made as simple as the fault allows`() async {
    for seed in 1...50 as ClosedRange<UInt64> {
      var drawn = ConvergenceCase(seed: seed)
      drawn.world.shape = .chain
      drawn.world.normalizes = true
      drawn.world.modes[0].down = .overwrite
      let short = await drawn.shrunk { simpler in
        simpler.world.shape == .chain && simpler.world.normalizes
          && simpler.world.modes[0].down == .overwrite
      }
      var expected = ConvergenceWorld()
      expected.shape = .chain
      expected.normalizes = true
      expected.modes[0].down = .overwrite
      #expect(short.world == expected)
      #expect(short.story.steps.isEmpty)
    }
  }

  @Test(arguments: ConvergenceHistory.Sabotage.allCases, ConvergenceWorld.Shape.allCases)
  func `each kind of fault is noticed in each shape of soups`(
    sabotage: ConvergenceHistory.Sabotage, shape: ConvergenceWorld.Shape
  ) async throws {
    var world = ConvergenceWorld()
    world.shape = shape
    let steps: [Step] = [
      .edit(side: .device(0), pick: 1, field: 0), .sync(device: 0, .related, nil),
      .sync(device: 0, .down(0), nil), .lateCreate(pick: 0),
    ]
    let drawn = ConvergenceCase(world: world, story: ConvergenceStory(steps: steps))
    #expect(try await ConvergenceHistory.live(drawn) == nil)
    let fault = try await ConvergenceHistory.live(drawn) { Self.isCulprit($0) ? sabotage : nil }
    // The only entry of a soup comes again: an emptied soup is downloaded as a whole.
    let isHealed = sabotage == .loseEntry && shape == .chain
    #expect((fault == nil) == isHealed)
  }

  @Test func `a story that fails among devices and org is cut down too`() async throws {
    var drawn = ConvergenceCase(seed: Effort.seed(1))
    drawn.story.steps.removeAll(where: Self.isCulprit)
    drawn.story.steps.insert(.lateCreate(pick: 0), at: drawn.story.steps.count / 2)
    let short = await drawn.shrunk { shorter in
      (try? await ConvergenceHistory.live(shorter) { Self.isCulprit($0) ? .loseValue : nil }) != nil
    }
    #expect(short.story.steps.count == 1)
    #expect(short.story.steps.allSatisfy(Self.isCulprit))
    #expect(short.world == ConvergenceWorld())
  }

  private static func isCulprit(_ step: Step) -> Bool {
    switch step {
    case .lateCreate, .restart: true
    default: false
    }
  }
}
