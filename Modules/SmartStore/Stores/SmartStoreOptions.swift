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

  /// The engine for new soups with full-text paths. Existing soups keep theirs until they are
  /// altered.
  public var fullTextVersion: FullTextVersion
  /// Whether opening a plaintext store with a key encrypts it, as ``StoreMaintenance/encrypt(_:)``
  /// does. Otherwise opening it fails with `keyMissing`. Default: false. If true, a program that
  /// can delete a store's files can replace them with records of its own, unless a secret store has
  /// recorded that the store is encrypted. Set it for the one version of an app that encrypts the
  /// plaintext stores of earlier versions.
  public var encryptsPlaintextStore: Bool
  /// Whether stores are only read, while another process may write to them. Their databases do not
  /// change, no store is created or removed, and every call that writes throws ``SmartStoreError``
  /// `readOnly`. Default: false.
  public var isReadOnly: Bool
  /// The time that a write waits for the transaction of another process that has the same store open. Then it fails
  /// with ``SmartStoreError`` `busyOtherProcess`, which names that process. Default: 30 seconds.
  public var otherWritersLimit: Duration = .seconds(30)
  /// The clock, in milliseconds since 1970. Called once for each entry written.
  public var now: @Sendable () -> Int64
  /// The store of events, which contain no names of stores or soups. A store of an account reports
  /// to that account's part of it. Default: events are dropped.
  public var events: any EventStore
  /// The log. Texts of queries are logged at level verbose; bound values are never logged.
  public var logger: SalesforceLogger
  /// Whether each result is parsed before it is returned as JSON text. This checks the store
  /// itself, and costs more than the query. Default: false.
  public var jsonSerializationCheckEnabled: Bool
  /// Whether notifications of malformed JSON include the text, which may contain a user's data.
  /// Default: false.
  public var includesRawJSONInNotifications: Bool
  /// Whether ``SmartStoreInspector`` works. Default: only in debug builds.
  public var isDeveloperSupportEnabled: Bool
  /// The lock that stores follow. Default: none; a manager created with accounts uses the lock of
  /// the accounts if it is strict.
  package var screenLock: ScreenLockManager?
  /// Whether no other process may have the stores open for writing at the same time.
  package var keepsOthersOut = false

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

  /// Whether this package is a debug build.
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
  /// On disk before the call returns. For data that exists nowhere else, such as a local edit.
  case full
  /// On disk soon. The store is consistent after a power failure, but may lack the last commits:
  /// for pages that can be downloaded again.
  case normal
}
