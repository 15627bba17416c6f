import GRDB
import SalesforceSDKCommon

/// `/composite`: several requests, of which later ones can refer to the responses of earlier ones.
struct CompositeResource: Resource {
  /// How many sub-requests may be queries or collections.
  private static let costlyLimit = 5
  let call: RESTCall

  func list() -> OrgResponse {
    let names = ["batch", "graph", "sobjects", "tree"]
    return .json(.object(names.map { ($0, .string(url("composite/\($0)"))) }))
  }

  func perform() throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["compositeRequest"], list.kind == .array else {
      throw ServerError.jsonParser(
        "The property 'compositeRequest' has to be an array at [line:1, column:1]")
    }
    let requests = Array(list.elements)
    do {
      try SubrequestRunner.checkCount(requests.count)
      try Self.checkCostly(requests)
    } catch {
      // Such a request is handled as if it had one part, which has no name.
      let run = CompositeRun(responses: [(nil, OrgResponse(error))])
      return .json(try run.json, status: error.status)
    }
    try SubrequestRunner.checkReferenceIDs(requests)
    try SubrequestRunner.checkHeaders(requests)
    let allOrNone = body["allOrNone"]?.bool ?? false
    var run = CompositeRun()
    try transaction.database.inSavepoint {
      run = try SubrequestRunner(service: call.service)
        .responses(to: requests, stopsAtFailure: allOrNone)
      return allOrNone && run.failure != nil ? .rollback : .commit
    }
    if allOrNone { run.haltOthers() }
    return .json(try run.json)
  }

  /// Queries and collections are dear: a composite request has few of them.
  private static func checkCostly(_ requests: [JSONSlice]) throws(ServerError) {
    let costly = requests.filter { request in
      let path = OrgRequest(method: "GET", target: request["url"]?.string ?? "").path.dropFirst(3)
      return ["query", "queryAll"].contains(path.first)
        || path.starts(with: ["composite", "sobjects"])
    }
    if costly.count > costlyLimit {
      throw ServerError(
        "LIMIT_EXCEEDED",
        "The request can’t contain more than \(costlyLimit) query and sObject Collections operations."
      )
    }
  }
}
