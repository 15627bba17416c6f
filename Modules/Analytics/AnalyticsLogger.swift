import SalesforceSDKCommon

/// The log of this module.
enum AnalyticsLogger {
  static let log = SalesforceLogger.logger(forComponent: "SalesforceAnalytics")
}
