public import SalesforceSDKCommon

/// The log of sync, also for targets. Record contents appear only at debug level, if at all.
public enum MobileSyncLogger: Sendable {
  /// The logger of the component `MobileSync`.
  public static let log = SalesforceLogger.logger(forComponent: "MobileSync")
}
