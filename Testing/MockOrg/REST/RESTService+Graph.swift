import GRDB
import SalesforceSDKCommon

/// `/composite/graph`: several composite requests in one, each all or none.
extension RESTService {
  private static let graphLimit = 75
  /// Most sub-requests of all graphs together.
  private static let nodeLimit = 500

  func graph(_ request: OrgRequest) throws -> OrgResponse {
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
      try Self.checkReferenceIDs(Array(list.elements))
      try Self.checkHeaders(Array(list.elements))
    }
    guard nodes <= Self.nodeLimit else {
      throw ServerError(
        "LIMIT_EXCEEDED", "The graphs have \(nodes) nodes. The limit is \(Self.nodeLimit) nodes.")
    }
    let results = try graphs.map { try run($0) }
    return try .json { writer in
      writer.beginObject()
      writer.key("graphs")
      writer.beginArray()
      for (graph, result) in zip(graphs, results) {
        writer.beginObject()
        writer.key("graphId")
        writer.string(graph["graphId"]?.string ?? "")
        writer.key("graphResponse")
        try writer.compositeResponse(result.responses)
        writer.key("isSuccessful")
        writer.bool(result.isSuccessful)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private func run(
    _ graph: JSONSlice
  ) throws -> (responses: [(name: String?, response: OrgResponse)], isSuccessful: Bool) {
    let requests = graph["compositeRequest"].map { Array($0.elements) } ?? []
    var run = CompositeRun(responses: [], failure: nil)
    try transaction.database.inSavepoint {
      run = try self.run(requests, stopsAtFailure: true)
      return run.failure == nil ? .commit : .rollback
    }
    run.haltOthers()
    return (run.responses, run.failure == nil)
  }
}

/// The responses of a composite request's sub-requests.
struct CompositeRun {
  var responses: [(name: String?, response: OrgResponse)]
  /// The first sub-request that failed.
  var failure: Int?

  /// Gives all sub-requests but the one that failed the response of those that are undone because of it.
  mutating func haltOthers() {
    guard let failure else { return }
    for index in responses.indices where index != failure {
      responses[index].response = OrgResponse(RESTService.halted)
    }
  }
}
