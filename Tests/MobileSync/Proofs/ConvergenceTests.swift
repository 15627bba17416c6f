import Testing
import TestSupport

/// Do three devices and one org come to agree, whatever happens, without losing an edit or making a
/// record twice?
@Suite struct ConvergenceTests {
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
