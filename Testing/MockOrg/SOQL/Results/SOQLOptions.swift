import struct Foundation.Date
import struct Foundation.TimeZone

/// What a SOQL query depends on besides its text and the schema: the arguments of
/// `SOQLQuery.init(compiling: String, schema: OrgSchema, options: SOQLOptions) throws(ServerError)`.
struct SOQLOptions: Sendable {
  /// The instant that date literals such as `TODAY` count from.
  var now: Date
  /// The user's zone, for the days of date literals, `convertTimezone` and `FORMAT`.
  var timeZone = TimeZone.gmt
  /// The user who asks, for `USING SCOPE mine`.
  var userID = ""
  /// The records that the user has viewed last, for `USING SCOPE mru`; called only for that.
  var recentIDs: @Sendable () -> [String] = { [] }
  /// Deleted records too (`queryAll`, `ALL ROWS`).
  var includeDeleted = false
  /// The version of the request, such as 66.
  var apiVersion = 66
  /// Takes what the platform takes in Apex code alone: `ALL ROWS`, `WITH SECURITY_ENFORCED` and its like.
  var allowsApexSyntax = false
}
