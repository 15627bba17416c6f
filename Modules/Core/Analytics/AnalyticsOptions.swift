import SalesforceAnalytics
import SalesforceSDKCommon

/// The options of a ``SalesforceAnalyticsManager``.
public struct AnalyticsOptions: Sendable {
  /// The times at which stored events are published (CA-40).
  public enum PublishMode: Sendable, Hashable {
    /// Publishes events of the current user when the program calls
    /// ``SalesforceAnalyticsManager/didEnterBackground()``.
    case background
    /// Publishes events of all accounts with a session at this interval, while
    /// ``SalesforceAnalyticsManager/run()`` runs.
    case periodic(Duration)
    /// Publishes when the program calls ``SalesforceAnalyticsManager/publish(for:)``.
    case manual
    /// Never.
    case disabled
  }

  /// The app's name in analytics; a blank name is ignored, and the former name stays. Default: the
  /// name of the executable.
  public var appName: String {
    didSet { if appName.trimmed.isEmpty { appName = oldValue } }
  }
  /// The times of publication. Default: every 8 hours.
  public var publishMode: PublishMode
  /// The time that ``SalesforceAnalyticsManager/close()`` waits for the last publication. Default:
  /// 5 seconds.
  public var shutdownTimeLimit: Duration
  /// The number of events that each account stores at most. Default: 1,000.
  public var maxEvents: Int
  /// Whether the events of the SDK itself are stored. Default: true.
  public var storesSDKEvents: Bool
  /// Whether the app switches analytics off, as by `SFDCAnalyticsDisabled` in a boot or managed
  /// configuration. Default: the value of that variable in the environment.
  public var isDisabled: Bool
  /// Measures the time between publications and the limit of the last one. Default: the continuous clock.
  public var clock: any Clock<Duration> & Sendable

  /// The place at which analytics are shown to be on. Default: the user agent of the process.
  package var markers = FeatureMarkers.shared

  /// Creates options. Each property documents its default.
  public init(
    publishMode: PublishMode = .periodic(.seconds(8 * 3_600)),
    clock: any Clock<Duration> & Sendable = ContinuousClock()
  ) {
    appName = UserAgent.processName
    self.publishMode = publishMode
    shutdownTimeLimit = .seconds(5)
    maxEvents = EventStoreManager.defaultMaxEvents
    storesSDKEvents = true
    isDisabled = EventStoreManager.isDisabledByEnvironment
    self.clock = clock
  }

  /// Applies the value of `SFDCAnalyticsDisabled` in a boot configuration.
  public mutating func apply(_ configuration: BootConfiguration) {
    if let isDisabled = configuration.raw[EventStoreManager.disabledKey].flatMap(AnalyticsFlag.read)
    {
      self.isDisabled = isDisabled
    }
  }
}

/// A truth value as administrators write it.
enum AnalyticsFlag {
  /// A JSON truth value, or its text in any case; nil for anything else.
  static func read(_ value: JSONValue) -> Bool? {
    if let flag = value.bool { return flag }
    switch value.string?.trimmed.lowercased() {
    case "true": return true
    case "false": return false
    default: return nil
    }
  }
}
