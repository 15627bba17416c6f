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

  private let latest = Mutex<Int64?>(nil)

  /// A response said that it was from this time.
  func note(_ date: SalesforceDate) { latest.withLock { $0 = date.milliseconds } }

  /// The time of the last response, in milliseconds since 1970, to the second; nil before the first.
  var now: Int64? { latest.withLock { $0 } }

  /// A time of the server's, in milliseconds since 1970, that is certainly over.
  ///
  /// - Parameter now: What the clock of this machine says.
  func past(_ now: Int64) -> Int64 {
    latest.withLock { $0 }.map { $0 - Self.tolerance } ?? now - Self.anyZone
  }
}
