import Foundation
import SalesforceSDKCommon

/// A request to one resource of the REST API, and what its handler works with.
struct RESTCall {
  let service: RESTService
  let request: OrgRequest
  let values: PathValues

  /// A value of the path, by the name that the route gives it.
  subscript(name: String) -> String { values[name] }

  /// A description, unless the client has it already.
  func described(_ describe: () throws -> OrgResponse) throws -> OrgResponse {
    let conditions = try Conditions(request)
    let modified = Int(service.org.schemas.modified.timeIntervalSince1970.rounded(.down))
    let response = try describe()
    // Eight digits, as the platform's.
    let tag = "\"\(Digests.sha256Hex(String(decoding: response.body, as: UTF8.self)).prefix(8))\""
    return conditions.applied(to: response, modified: modified, tag: tag)
  }
}

/// A handler of the requests to one resource.
///
/// It reads records through a compiled query or the transaction, and changes them through a ``RecordWriter``. What it
/// throws as ``ServerError`` is the response.
protocol Resource: SendableMetatype {
  init(call: RESTCall)
  var call: RESTCall { get }
}

extension Resource {
  var request: OrgRequest { call.request }
  var transaction: OrgTransaction { call.service.transaction }
  /// What outlives a request: cursors, jobs, recent items.
  var org: MockOrg { call.service.org }

  /// The object that the path names.
  var object: ObjectSchema {
    get throws(ServerError) { try transaction.object(named: call["object"]) }
  }

  /// A writer of an object's records whose errors point into the request's body.
  func writer(_ object: ObjectSchema) -> RecordWriter {
    var transaction = transaction
    transaction.body = request.body
    return RecordWriter(transaction: transaction, object: object)
  }

  /// Notes that the user has seen, made or changed a record.
  func view(_ id: String) { org.recents.view(id, by: transaction.userID) }

  /// The URL of a resource below the version's.
  func url(_ path: String) -> String { "\(transaction.versionPath)/\(path)" }
}
