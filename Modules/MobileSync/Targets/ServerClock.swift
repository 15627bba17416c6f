import SalesforceSDKCommon
import Synchronization

/// What is known of the server's time, whatever the clock of this machine says.
///
/// ``SyncContext/learnServerTime()`` sees to it that something is known before a record is created. Only the time
/// of a server whose responses have no date is estimated by the clock of this machine.
final class ServerClock: Sendable {
  /// How far the dates of responses and of records may be apart, in milliseconds.
  private static let tolerance: Int64 = 60 * 60 * 1_000
  /// How far a clock is off that was set in the wrong one of all time zones, in milliseconds.
  private static let anyZone: Int64 = 26 * 60 * 60 * 1_000

  private let latest = Mutex<(time: Int64, received: ContinuousClock.Instant)?>(nil)

  /// A response said that it was from this time.
  func note(_ date: SalesforceDate) {
    latest.withLock { $0 = (date.milliseconds, ContinuousClock.now) }
  }

  /// The time of the last response, in milliseconds since 1970, to the second; nil before the first.
  var now: Int64? { latest.withLock { $0?.time } }

  /// The time of the last response and what has passed since then.
  var estimate: Int64? {
    latest.withLock { $0 }.map { time, received in
      time + Int64((ContinuousClock.now - received) / .milliseconds(1))
    }
  }

  /// A time, by the last response, that was over at `start`, when nothing that came since had been requested: a minute
  /// less, since the dates of the server's parts may differ. nil before the first response.
  func time(before start: ContinuousClock.Instant) -> Int64? {
    now.map { $0 - Int64((ContinuousClock.now - start + .seconds(60)) / .milliseconds(1)) }
  }

  /// A time of the server's, in milliseconds since 1970, that is certainly over.
  ///
  /// - Parameter now: What the clock of this machine says.
  func past(_ now: Int64) -> Int64 {
    self.now.map { $0 - Self.tolerance } ?? now - Self.anyZone
  }
}
