import GRDB
import SalesforceSDKCommon

import struct Foundation.Date

/// What a request works with while it holds the org's database: everything that rules depend on.
///
/// It lives only inside a database access and is never kept.
struct OrgTransaction {
  let database: Database
  let schema: OrgSchema
  let ids: IDSequence
  /// The user on whose behalf the request runs.
  let userID: String
  let organizationID: String
  /// The instant of the request: all records that it touches bear it.
  let now: Date
  /// `now` as records show it.
  let stamp: String
  /// The version in the request's path, such as 66.
  var apiVersion: Int
  /// The number of requests that the org has served, for its limits.
  var requestCount = 0
  /// The request's body, to name lines and columns in errors.
  var body: [UInt8] = []
  /// Takes clauses of queries that the platform knows in Apex code alone.
  var acceptsApexClauses = false
  /// Where clients reach the org, for URLs in records.
  var baseURL = ""
  /// The records that the user has viewed last.
  var recentIDs: @Sendable () -> [String] = { [] }
  /// The rules that look for duplicates of what is written, and what the request says about them.
  var duplicates = DuplicateCheck()

  init(
    database: Database, schema: OrgSchema, ids: IDSequence, userID: String, organizationID: String,
    now: Date, apiVersion: Int, requestCount: Int = 0
  ) {
    self.database = database
    self.schema = schema
    self.ids = ids
    self.userID = userID
    self.organizationID = organizationID
    self.now = now
    self.apiVersion = apiVersion
    self.requestCount = requestCount
    stamp = DateText.dateTime(now)
  }

  /// The path that all resources of the request's version share.
  var versionPath: String { "/services/data/v\(apiVersion).0" }

  /// The object of a name in whatever case.
  ///
  /// - Throws: ``ServerError`` `NOT_FOUND`.
  func object(named name: String) throws(ServerError) -> ObjectSchema {
    guard let object = schema.object(named: name) else { throw .notFound() }
    return object
  }

  /// Whether the user may look at a bulk job: at their own, or at all where they may do everything.
  func sees(jobOf userID: String) -> Bool { schema.access == nil || self.userID == userID }

  /// Runs `body` so that all its changes are undone if it throws.
  func atomically<T>(_ body: () throws -> T) throws -> T {
    var result: T?
    try database.inSavepoint {
      result = try body()
      return .commit
    }
    guard let result else { throw CancellationError() }
    return result
  }
}
