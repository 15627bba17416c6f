import SalesforceSDKCommon
import Synchronization

/// The server's time, independent of the clock of this machine.
///
/// ``SyncContext/learnServerTime()`` ensures that the time is known before a record is created.
/// Only the time of a server whose responses have no date is estimated by the clock of this
/// machine.
final class ServerClock: Sendable {
  /// The maximum difference between the dates of responses and of records, in milliseconds.
  private static let tolerance: Int64 = 60 * 60 * 1_000
  /// The maximum difference between the clocks of the server's parts, in milliseconds.
  private static let skew: Int64 = 5 * 1_000
  /// The time in milliseconds in which a request may still create a record after its response was found lost: the
  /// platform ends a transaction after ten minutes, and a request can be delayed on its way.
  private static let lateness: Int64 = 15 * 60 * 1_000
  /// The maximum error of a clock that was set in a wrong time zone, in milliseconds.
  private static let anyZone: Int64 = 26 * 60 * 60 * 1_000

  /// The time that has passed on this machine.
  let instant: @Sendable () -> ContinuousClock.Instant

  private let latest = Mutex<(time: Int64, received: ContinuousClock.Instant)?>(nil)

  init(instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.instant = instant
  }

  /// A response said that it was from this time.
  func note(_ date: SalesforceDate) {
    let received = instant()
    latest.withLock { $0 = (date.milliseconds, received) }
  }

  /// The time of the last response, in milliseconds since 1970, to the second; nil before the first.
  var now: Int64? { latest.withLock { $0?.time } }

  /// The time of the last response and what has passed since then.
  var estimate: Int64? {
    latest.withLock { $0 }.map { time, received in
      time + Int64((instant() - received) / .milliseconds(1))
    }
  }

  /// The time that the server had at `start`, by the last response; nil before the first.
  func estimate(at start: ContinuousClock.Instant) -> Int64? {
    estimate.map { $0 - Int64((instant() - start) / .milliseconds(1)) }
  }

  /// A time, by the last response, that was over at `start`, when nothing that came since had been requested: a minute
  /// less, since the dates of the server's parts may differ. nil before the first response.
  func time(before start: ContinuousClock.Instant) -> Int64? {
    now.map { $0 - Int64((instant() - start + .seconds(60)) / .milliseconds(1)) }
  }

  /// The time of the server, in milliseconds since 1970, before which a request that is sent now creates nothing.
  ///
  /// - Parameter now: The time of this machine's clock.
  func earliestArrival(_ now: Int64) -> Int64 { estimate.map { $0 - Self.skew } ?? past(now) }

  /// The time of the server after which a request creates nothing whose response is known to be lost now; nil before
  /// the first response.
  var latestArrival: Int64? { estimate.map { $0 + Self.lateness } }

  /// A time of the server's, in milliseconds since 1970, that is certainly over.
  ///
  /// - Parameter now: The time of this machine's clock.
  func past(_ now: Int64) -> Int64 {
    self.now.map { $0 - Self.tolerance } ?? now - Self.anyZone
  }
}
