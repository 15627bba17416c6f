import struct Foundation.Date

/// What a SOQL query depends on besides its text and the schema: the arguments of
/// `SOQLQuery.init(compiling: String, schema: OrgSchema, options: SOQLOptions) throws(ServerError)`.
struct SOQLOptions: Sendable {
  /// The instant that date literals such as `TODAY` count from.
  var now: Date
  /// The user's distance from UTC, for the days of date literals.
  var secondsFromUTC = 0
  /// Deleted records too (`queryAll`, `ALL ROWS`).
  var includeDeleted = false
  /// The version of the request, such as 66.
  var apiVersion = 66
}
