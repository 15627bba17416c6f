import GRDB
import SalesforceSDKCommon

/// `/composite/graph`: several composite requests in one, each all or none.
struct GraphResource: Resource {
  private static let graphLimit = 75
  /// Most sub-requests of all graphs together.
  private static let nodeLimit = 500
  let call: RESTCall

  func perform() throws -> OrgResponse {
    let graphs = try graphs()
    let runs = try graphs.map { try run($0) }
    return .json([
      "graphs": try .array(zip(graphs, runs)) { graph, run in
        [
          "graphId": .string(graph["graphId"]?.string ?? ""), "graphResponse": try run.json,
          "isSuccessful": .bool(run.failure == nil),
        ]
      }
    ])
  }

  /// The graphs of the request's body.
  private func graphs() throws(ServerError) -> [JSONSlice] {
    let body = try request.object()
    guard let list = body["graphs"], list.kind == .array else {
      throw ServerError.jsonParser("The property 'graphs' has to be an array at [line:1, column:1]")
    }
    let graphs = Array(list.elements)
    guard !graphs.isEmpty, graphs.count <= Self.graphLimit else {
      throw ServerError(
        "INVALID_INPUT", "A request has 1 to \(Self.graphLimit) graphs, not \(graphs.count).")
    }
    var names: Set<String> = []
    var nodes = 0
    for graph in graphs {
      guard let name = graph["graphId"]?.string, !name.isEmpty, names.insert(name).inserted else {
        throw ServerError("INVALID_INPUT", "Every graph has to have a graphId of its own.")
      }
      guard let list = graph["compositeRequest"], list.kind == .array, list.count > 0 else {
        throw ServerError("INVALID_INPUT", "The graph \(name) has no compositeRequest.")
      }
      nodes += list.count
      try SubrequestRunner.checkReferenceIDs(Array(list.elements))
      try SubrequestRunner.checkHeaders(Array(list.elements))
    }
    guard nodes <= Self.nodeLimit else {
      throw ServerError(
        "LIMIT_EXCEEDED", "The graphs have \(nodes) nodes. The limit is \(Self.nodeLimit) nodes.")
    }
    return graphs
  }

  private func run(_ graph: JSONSlice) throws -> CompositeRun {
    let requests = graph["compositeRequest"].map { Array($0.elements) } ?? []
    var run = CompositeRun()
    try transaction.database.inSavepoint {
      run = try SubrequestRunner(service: call.service)
        .responses(to: requests, stopsAtFailure: true)
      return run.failure == nil ? .commit : .rollback
    }
    run.haltOthers()
    return run
  }
}
