/// The pauses between the searches for a create that the server may still complete.
struct SearchPatience: Sendable {
  /// The time that a run waits in all.
  static let longest = Duration.seconds(10)
  private static let longestPause = Duration.seconds(2)

  private var next = Duration.milliseconds(250)
  private var left = longest

  /// The next pause, each half as long again as the one before.
  ///
  /// - Parameter end: The time after which a search is conclusive.
  /// - Returns: nil if the run has waited long enough.
  mutating func pause(until end: Duration) -> Duration? {
    guard left > .zero else { return nil }
    let pause = min(next, left, max(end, .milliseconds(1)))
    left -= pause
    next = min(next * 3 / 2, Self.longestPause)
    return pause
  }
}
