import SalesforceSDKCommon

/// Where this module logs.
enum HybridLogger {
  static let log = SalesforceLogger.logger(forComponent: "SalesforceHybridSDK")
}
