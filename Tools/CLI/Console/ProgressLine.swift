import Foundation
import SalesforceSDKCommon
import Synchronization

/// A line on standard error that shows how far work is, with rate and remaining time.
///
/// It appears once the work has taken a second, only on a terminal, and disappears when the work ends or something
/// else is printed.
final class ProgressLine: Sendable {
  private struct State {
    var title: String
    var unit = ""
    var done = 0
    var total: Int?
    var isVisible = false
    var lastDrawn: ContinuousClock.Instant?
  }

  private let state: Mutex<State>
  private let start: ContinuousClock.Instant
  private let terminal = Terminal.errors
  private let ticker = Mutex<Task<Void, Never>?>(nil)

  /// The line that is on the screen. There is at most one.
  private static let current = Mutex<ProgressLine?>(nil)
  /// The time without a line.
  private static let patience = Duration.seconds(1)

  /// Whether the line stays away from commands that act on signals themselves: servers, and work with a line of
  /// its own.
  private let isDefault: Bool

  /// Shows `title` and the time until ``show(_:of:_:)`` says more.
  ///
  /// - Parameter isDefault: Whether the line is that of any command, for the case that it takes long.
  init(title: String, isDefault: Bool = false) {
    state = Mutex(State(title: title))
    start = .now
    self.isDefault = isDefault
    guard terminal.isTerminal else { return }
    Self.current.withLock { $0 = self }
    ticker.withLock {
      $0 = Task { [weak self] in
        while !Task.isCancelled {
          try? await Task.sleep(for: .milliseconds(500))
          self?.draw(after: .milliseconds(400))
        }
      }
    }
  }

  /// Shows the progress of the work.
  ///
  /// - Parameters:
  ///   - total: `nil` if it is not known.
  ///   - unit: The unit of the numbers, such as `records`.
  func show(_ done: Int, of total: Int?, _ unit: String) {
    state.withLock { state in
      state.done = done
      state.total = total
      state.unit = unit
    }
    draw(after: .milliseconds(100))
  }

  /// Removes the line for good.
  func clear() {
    ticker.withLock { $0 }?.cancel()
    Self.current.withLock { if $0 === self { $0 = nil } }
    hide()
  }

  /// Removes the line until its next change, so that something else can be printed.
  static func interrupt() { current.withLock { $0 }?.hide() }

  /// Removes the line for good, because the results follow.
  static func end() { current.withLock { $0 }?.clear() }

  private func hide() {
    state.withLock { state in
      guard state.isVisible else { return }
      state.isVisible = false
      FileHandle.standardError.write(Data("\r\u{1B}[K".utf8))
    }
  }

  private func draw(after pause: Duration) {
    guard terminal.isTerminal, !Interruption.isReading, Self.current.withLock({ $0 === self })
    else { return }
    if isDefault, TerminationSignals.areClaimed { return }
    let now = ContinuousClock.now
    guard now - start >= Self.patience else { return }
    // Written under the lock: two threads may draw at once.
    state.withLock { state in
      if let last = state.lastDrawn, now - last < pause { return }
      state.lastDrawn = now
      state.isVisible = true
      let text = Self.text(
        state.title, done: state.done, total: state.total, unit: state.unit, elapsed: now - start,
        columns: terminal.columns)
      FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }
  }

  /// The line for a terminal of that width, which it does not fill, since some terminals wrap a full line.
  static func text(
    _ title: String, done: Int, total: Int?, unit: String, elapsed: Duration, columns: Int
  ) -> String {
    let seconds = max(elapsed / .seconds(1), 0.001)
    let rate = Double(done) / seconds
    var parts: [String] = []
    var bar = ""
    if let total, total > 0 {
      let share = min(max(Double(done) / Double(total), 0), 1)
      let cells = columns >= 70 ? 20 : 8
      let filled = Int(share * Double(cells))
      bar =
        " " + String(repeating: "█", count: filled)
        + String(repeating: "·", count: cells - filled) + " \(Int(share * 100)) %"
      parts.append("\(done) of \(total) \(unit)")
    } else if done > 0 {
      parts.append("\(done) \(unit)")
    }
    if done > 0 {
      parts.append("\(Int(rate.rounded())) \(unit)/s")
      if let total, total > done {
        parts.append("\(Duration.seconds(Double(total - done) / rate).short) left")
      }
    } else {
      parts.append(elapsed.short)
    }
    let words = TerminalText.escaped(title, keepsLines: false)
    // What is missing where the window is narrow: first the amount, then the rate.
    for dropped in 0...parts.count {
      let line = words + bar + "  " + parts.dropFirst(dropped).joined(separator: ", ")
      if line.displayWidth < columns { return line }
    }
    return (words + bar).truncated(to: columns - 1)
  }
}

extension Duration {
  /// Whole minutes and seconds, or tenths of a second if it is short.
  var short: String {
    let seconds = self / .seconds(1)
    if seconds < 10 { return "\((seconds * 10).rounded() / 10) s" }
    guard seconds < 360_000 else { return "more than 100 h" }
    if seconds < 60 { return "\(Int(seconds)) s" }
    if seconds < 3_600 { return "\(Int(seconds) / 60) min \(Int(seconds) % 60) s" }
    return "\(Int(seconds) / 3_600) h \(Int(seconds) / 60 % 60) min"
  }
}
