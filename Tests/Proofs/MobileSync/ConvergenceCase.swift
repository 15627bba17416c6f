import TestSupport
@testable import MobileSyncTests

/// A story in its world.
struct ConvergenceCase: Sendable, CustomStringConvertible {
  var world: ConvergenceWorld
  var story: ConvergenceStory

  init(world: ConvergenceWorld, story: ConvergenceStory) {
    self.world = world
    self.story = story
  }

  /// The case of a seed.
  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    world = ConvergenceWorld(&random)
    story = ConvergenceStory(&random)
  }

  var description: String {
    "\(world)\n"
      + story.steps.enumerated().map { "\($0.offset + 1). \($0.element)" }.joined(separator: "\n")
  }

  /// The shortest story in the simplest world that still fails, by leaving out one step or property
  /// after the other.
  func shrunk(_ fails: (ConvergenceCase) async -> Bool) async -> ConvergenceCase {
    var found = await self.shortened(fails)
    var isSimpler = true
    while isSimpler {
      isSimpler = false
      for world in found.world.simpler {
        let simpler = ConvergenceCase(world: world, story: found.story)
        guard found.world.simpler.contains(world), await fails(simpler) else { continue }
        found = simpler
        isSimpler = true
        break
      }
    }
    return await found.shortened(fails)
  }

  private func shortened(_ fails: (ConvergenceCase) async -> Bool) async -> ConvergenceCase {
    var steps = story.steps
    var size = max(steps.count / 2, 1)
    while true {
      var start = 0
      var removedAny = false
      while start < steps.count {
        var shorter = steps
        shorter.removeSubrange(start..<min(start + size, steps.count))
        if await fails(ConvergenceCase(world: world, story: ConvergenceStory(steps: shorter))) {
          steps = shorter
          removedAny = true
        } else {
          start += size
        }
      }
      if size == 1, !removedAny {
        return ConvergenceCase(world: world, story: ConvergenceStory(steps: steps))
      }
      if !removedAny { size = max(size / 2, 1) }
    }
  }
}
