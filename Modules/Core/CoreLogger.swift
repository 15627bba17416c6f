import SalesforceSDKCommon

/// The log of this module. It holds ids and addresses without query, never a token or a record.
enum CoreLogger {
  static let log = SalesforceLogger.logger(forComponent: "SalesforceSDKCore")
}
