import Foundation
import Synchronization
import Testing
import TestSupport
@testable import MobileSyncTests

/// Do devices and one org come to agree, whatever happens, without losing a value or making a record
/// twice?
@Suite struct ConvergenceTests {
  /// The number of stories that run at the same time, and of all stories.
  private static let lanes = 2
  private static let stories = 500
  /// With `FIELDFORCE_ALL_SEEDS=1` every seed that fails is reported, and no story is cut down.
  private static let reportsAll =
    ProcessInfo.processInfo.environment["FIELDFORCE_ALL_SEEDS"] != nil
  /// Whether a lane has found a seed that fails: the others end, too.
  private static let isOver = Mutex(false)

  @Test(arguments: 0..<lanes)
  func `devices and an org agree in the end, and no value is lost without a conflict`(
    lane: Int
  ) async throws {
    let first = Effort.seed(1)
    for number in 0..<Effort.times(Self.stories) where number % Self.lanes == lane {
      let seed = first &+ UInt64(number)
      let drawn = ConvergenceCase(seed: seed)
      if Self.isOver.withLock({ $0 }) { return }
      guard let fault = try await ConvergenceHistory.live(drawn) else { continue }
      if Self.reportsAll {
        Issue.record("Seed \(seed): \(fault)")
        continue
      }
      Self.isOver.withLock { $0 = true }
      let short = await drawn.shrunk { simpler in
        (try? await ConvergenceHistory.live(simpler)) != .some(.none)
      }
      let reason = try await ConvergenceHistory.live(short) ?? fault
      Issue.record("Seed \(seed): \(reason)\nThe shortest story that fails:\n\(short)")
      return
    }
  }
}
