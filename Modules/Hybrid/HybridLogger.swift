import SalesforceSDKCommon

/// The log of this module.
enum HybridLogger {
  static let log = SalesforceLogger.logger(forComponent: "SalesforceHybridSDK")
}
