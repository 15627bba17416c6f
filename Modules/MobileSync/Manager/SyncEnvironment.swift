#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
public import SalesforceAnalytics
import SalesforceSDKCommon

/// The dependencies of a manager, which tests can replace.
public struct SyncEnvironment: Sendable {
  /// The time, in milliseconds since 1970.
  public var now: @Sendable () -> Int64
  /// Returns the unique part of a local id. Default: 64 random bits.
  public var uniqueNumber: @Sendable () -> UInt64
  /// Waits. Default: by the system's clock. A test can let its own clock pass instead.
  public var wait: @Sendable (Duration) async throws -> Void
  /// The time since some moment, to measure how long requests take. Default: the system's clock.
  public var instant: @Sendable () -> ContinuousClock.Instant
  /// The maximum time in which the server may complete a create after this device stopped waiting for the response.
  /// Default: 60 s.
  ///
  /// A create is sent again only if the server does not have the record after this time. Make it longer for an org
  /// whose triggers take minutes.
  public var lateArrival: Duration
  /// The store of events; for a store of an account, its part for that account is used. Default:
  /// events are dropped.
  public var events: any EventStore

  /// Creates an environment, by default with the system's clock and random generator.
  public init(
    now: (@Sendable () -> Int64)? = nil, uniqueNumber: (@Sendable () -> UInt64)? = nil,
    events: any EventStore = DiscardingEventStore(),
    wait: (@Sendable (Duration) async throws -> Void)? = nil,
    instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    lateArrival: Duration = .seconds(60)
  ) {
    self.now = now ?? { SalesforceDate(Date()).milliseconds }
    self.uniqueNumber = uniqueNumber ?? { .random(in: .min ... .max) }
    self.events = events
    self.wait = wait ?? { try await Task.sleep(for: $0) }
    self.instant = instant
    self.lateArrival = lateArrival
  }
}
