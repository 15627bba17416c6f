import SalesforceSDKCommon

/// The resources under `/services/data`, handled inside one database access.
///
/// ``RESTRoutes`` lists them.
struct RESTService {
  let transaction: OrgTransaction
  /// What outlives a request: cursors, jobs, recent items.
  let org: MockOrg
  let identityURL: String
  /// A composite request around this one is undone if any record fails, so collections are too.
  var requiresAllOrNone = false

  /// Handles a request whose path begins with a version; a rule that it breaks becomes the response.
  ///
  /// - Parameter path: The segments behind `/services/data/vXX.0`.
  /// - Throws: Only what is no fault of the request, such as a full disk.
  func respond(to request: OrgRequest, path: [String]) throws -> OrgResponse {
    do {
      let match = try RESTRoutes.table.match(request.method, RESTRoutes.path(for: path), in: self)
      return try match.handler(RESTCall(service: self, request: request, values: match.values))
    } catch let error as ServerError {
      return OrgResponse(error)
    }
  }
}
