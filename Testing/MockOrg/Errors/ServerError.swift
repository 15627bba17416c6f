import SalesforceSDKCommon

/// An error as the org returns it: a code, a sentence and the fields that it is about.
///
/// It is thrown by the rules of records and queries and written by the REST layer, alone in an array
/// for a single request, or inside a result where a request carries several records.
struct ServerError: Error, Sendable, Equatable {
  /// The HTTP status of a request that fails for this reason alone.
  var status: Int
  /// The platform's code, such as `INVALID_FIELD`.
  var code: String
  var message: String
  var fields: [String]?
  /// The methods that the resource has, for a request with another one.
  var allowedMethods: String?
  /// What a duplicate rule found.
  var duplicateResult: JSONSlice?

  init(status: Int = 400, _ code: String, _ message: String, fields: [String]? = nil) {
    self.status = status
    self.code = code
    self.message = message
    self.fields = fields
  }
}
