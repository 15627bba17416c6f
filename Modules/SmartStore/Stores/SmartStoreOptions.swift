import Foundation
public import SalesforceAnalytics
public import SalesforceSDKCommon
package import SalesforceSDKCore

/// Options of a store, apart from its location and its encryption.
public struct SmartStoreOptions: Sendable {
  /// The engine of full-text tables.
  public enum FullTextVersion: String, Sendable {
    case fts4, fts5
  }

  /// The engine that new soups with full-text paths get. Soups that are there keep theirs until
  /// they are altered.
  public var fullTextVersion: FullTextVersion
  /// Whether a plaintext store that is opened with a key becomes an encrypted one on the way, as by
  /// ``StoreMaintenance/encrypt(_:)`` (SS-13). Otherwise opening it fails with `keyMissing`. Off by default:
  /// with it, a program that can remove a store's files can put records of its own in their place, unless a secret
  /// store remembers that the store is encrypted. Switch it on for the one version of an app that encrypts
  /// what earlier versions kept in plaintext.
  public var encryptsPlaintextStore: Bool
  /// Whether stores are only read, while another process may write to them. Their databases do not change, no
  /// store is created or removed, and every call that writes throws ``SmartStoreError`` `readOnly`. Off by
  /// default.
  public var isReadOnly: Bool
  /// The clock, in milliseconds since 1970. Called once for each entry written.
  public var now: @Sendable () -> Int64
  /// The store of events, which name neither soups nor stores. A store of an account reports to the part of it
  /// for that account. Default: events are dropped.
  public var events: any EventStore
  /// The log. The text of queries is written at level verbose, bound values nowhere.
  public var logger: SalesforceLogger
  /// Whether each result is parsed before it is returned as JSON text. A check of the store itself, off by
  /// default: it costs more than the query.
  public var jsonSerializationCheckEnabled: Bool
  /// Whether notifications of broken JSON carry the text, which may hold a user's data. Off by
  /// default.
  public var includesRawJSONInNotifications: Bool
  /// Whether ``SmartStoreInspector`` works. Default: only in debug builds.
  public var isDeveloperSupportEnabled: Bool
  /// Locks stores together with the app. Default: nothing; a manager that is made with accounts sets theirs if it is strict.
  package var screenLock: ScreenLockManager?

  public init(
    fullTextVersion: FullTextVersion = .fts5, encryptsPlaintextStore: Bool = false,
    isReadOnly: Bool = false,
    now: @escaping @Sendable () -> Int64 = SmartStoreOptions.systemClock,
    events: any EventStore = DiscardingEventStore(),
    logger: SalesforceLogger = .logger(forComponent: "SmartStore"),
    jsonSerializationCheckEnabled: Bool = false,
    includesRawJSONInNotifications: Bool = false,
    isDeveloperSupportEnabled: Bool = SmartStoreOptions.isDebugBuild
  ) {
    self.fullTextVersion = fullTextVersion
    self.encryptsPlaintextStore = encryptsPlaintextStore
    self.isReadOnly = isReadOnly
    self.now = now
    self.events = events
    self.logger = logger
    self.jsonSerializationCheckEnabled = jsonSerializationCheckEnabled
    self.includesRawJSONInNotifications = includesRawJSONInNotifications
    self.isDeveloperSupportEnabled = isDeveloperSupportEnabled
  }

  /// Whether this package was built for debugging.
  public static var isDebugBuild: Bool {
    #if DEBUG
      true
    #else
      false
    #endif
  }

  /// The system's wall clock.
  public static let systemClock: @Sendable () -> Int64 = {
    Int64((Date().timeIntervalSince1970 * 1000).rounded(.down))
  }
}

/// The durability of a commit when the power fails. Every commit survives the end of the process.
public enum Durability: Sendable, Hashable {
  /// On disk before the call returns. For what exists nowhere else, such as a local edit.
  case full
  /// On disk soon. Consistent whenever the power fails, but the last commits may be missing: for
  /// pages that can be downloaded again.
  case normal
}
