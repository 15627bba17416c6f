/// The schedule of requests for the list of notifications: a value without a clock (HT-72).
struct PollSchedule: Sendable {
  /// The pause after news.
  let shortest: Duration
  /// The longest pause.
  let longest: Duration
  private var pause: Duration

  init(shortest: Duration = .seconds(60), longest: Duration = .seconds(900)) {
    self.shortest = shortest
    self.longest = max(longest, shortest)
    pause = shortest
  }

  /// The pause after a request.
  ///
  /// - Parameters:
  ///   - hasNews: Whether it brought a notification. Otherwise, also after a failure, the pause after the next one doubles.
  ///   - chance: A random number, 0..<1, which spreads the requests of many programs: a pause is 80 to 120 percent.
  mutating func next(hasNews: Bool, chance: Double) -> Duration {
    if hasNews { pause = shortest }
    defer { if !hasNews { pause = min(pause * 2, longest) } }
    return pause * (0.8 + 0.4 * min(max(chance, 0), 1))
  }
}
