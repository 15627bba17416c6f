import Foundation

/// Shows the progress of a load, and reports its result.
struct LoadingProgress {
  let title: String

  /// Runs `load`, which calls its argument with the number of loaded records and of all, and returns what
  /// to say in the end.
  func follow(_ load: (@escaping @Sendable (Int, Int) -> Void) async throws -> String) async throws
  {
    let line = ProgressLine(title: title)
    let start = ContinuousClock.now
    let result: String
    do {
      result = try await load { done, total in
        line.show(done, of: total, "records")
      }
    } catch {
      line.clear()
      throw error
    }
    line.clear()
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    Console.say(
      "\(title): \(result) in \(seconds.formatted(.number.precision(.fractionLength(1)))) s")
  }
}
