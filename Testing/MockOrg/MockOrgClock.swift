public import Foundation
import SalesforceSDKCommon
import Synchronization

/// The clock of an org: the real time, or a time that a test moves.
public final class MockOrgClock: Sendable {
  private enum State {
    case real
    case frozen(Date)
  }

  private let state: Mutex<State>

  /// The first and the last instant that the clock shows: the platform's dates end there.
  static let earliest = Date(timeIntervalSince1970: -8_520_336_000)
  static let latest = Date(timeIntervalSince1970: 64_092_211_199)

  /// The instant, or the nearest that the clock shows.
  static func known(_ date: Date) -> Date { min(max(date, earliest), latest) }

  /// The time of the machine.
  public init() { state = Mutex(.real) }

  /// A time that stands still until ``advance(by:)`` or ``freeze(at:)`` moves it.
  ///
  /// - Parameter date: In the years 1700 to 4000; another one counts as the nearest of those.
  public init(frozenAt date: Date) { state = Mutex(.frozen(Self.known(date))) }

  /// The time now.
  public var now: Date {
    state.withLock { state in
      switch state {
      case .real: Date()
      case .frozen(let date): date
      }
    }
  }

  /// The time now as the `Date` header of a response has it.
  var httpText: String {
    let milliseconds = (now.timeIntervalSince1970 * 1_000).rounded(.down)
    return SalesforceDate(milliseconds: Int64(milliseconds)).httpText
  }

  /// Whether the time stands still.
  public var isFrozen: Bool {
    state.withLock { state in
      if case .frozen = state { true } else { false }
    }
  }

  /// Goes with the machine's time again.
  public func run() { state.withLock { $0 = .real } }

  /// Stands still at `date` from now on.
  public func freeze(at date: Date) { state.withLock { $0 = .frozen(Self.known(date)) } }

  /// Moves a frozen time on by some seconds; a running one is frozen at that distance.
  public func advance(by duration: Duration) {
    let seconds = Double(duration.components.seconds)
    let later = now.addingTimeInterval(seconds + Double(duration.components.attoseconds) / 1e18)
    state.withLock { $0 = .frozen(Self.known(later)) }
  }
}
