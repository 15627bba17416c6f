import SalesforceAnalytics
import SalesforceSDKCommon

/// How a ``SalesforceAnalyticsManager`` behaves.
public struct AnalyticsOptions: Sendable {
  /// When stored events are published (CA-40).
  public enum PublishMode: Sendable, Hashable {
    /// Those of the current user when the program calls ``SalesforceAnalyticsManager/didEnterBackground()``.
    case background
    /// Those of all accounts with a session, each time this long has passed, while
    /// ``SalesforceAnalyticsManager/run()`` runs.
    case periodic(Duration)
    /// When the program calls ``SalesforceAnalyticsManager/publish(for:)``.
    case manual
    /// Never.
    case disabled
  }

  /// The app's name in analytics; a blank one is not taken, the former name stays. Default: the name of the
  /// executable.
  public var appName: String {
    didSet { if appName.trimmed.isEmpty { appName = oldValue } }
  }
  /// When events are published. Default: every 8 hours.
  public var publishMode: PublishMode
  /// How long ``SalesforceAnalyticsManager/close()`` waits for the last publication. Default: 5 seconds.
  public var shutdownTimeLimit: Duration
  /// The number of events that each account stores at most. Default: 1,000.
  public var maxEvents: Int
  /// Whether the events of the SDK itself are stored. Default: true.
  public var storesSDKEvents: Bool
  /// Whether the app switches analytics off, as by `SFDCAnalyticsDisabled` in a boot or managed configuration.
  /// Default: what the environment says under that name.
  public var isDisabled: Bool
  /// Measures the time between publications and the limit of the last one. Default: the continuous clock.
  public var clock: any Clock<Duration> & Sendable

  /// Takes the defaults, which stand at each property.
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

  /// Takes over what a boot configuration says under `SFDCAnalyticsDisabled`.
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
