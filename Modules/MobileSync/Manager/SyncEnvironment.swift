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
  /// Gives the part of a local id that makes it unique. Default: 64 random bits.
  public var uniqueNumber: @Sendable () -> UInt64
  /// Where events go; for a store of an account, to the part of it for that account. Default: nowhere.
  public var events: any EventStore

  /// Takes the system's clock and randomness unless others are given.
  public init(
    now: (@Sendable () -> Int64)? = nil, uniqueNumber: (@Sendable () -> UInt64)? = nil,
    events: any EventStore = DiscardingEventStore()
  ) {
    self.now = now ?? { SalesforceDate(Date()).milliseconds }
    self.uniqueNumber = uniqueNumber ?? { .random(in: .min ... .max) }
    self.events = events
  }
}
