import SalesforceSDKCommon

/// The log of this module. Record contents appear at debug level only, if at all.
enum MobileSyncLogger {
  static let log = SalesforceLogger.logger(forComponent: "MobileSync")
}
