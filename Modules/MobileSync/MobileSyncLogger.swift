public import SalesforceSDKCommon

/// The log of sync, for targets too. Record contents appear at debug level only, if at all.
public enum MobileSyncLogger: Sendable {
  /// The logger of the component `MobileSync`.
  public static let log = SalesforceLogger.logger(forComponent: "MobileSync")
}
