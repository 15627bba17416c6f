import GRDB
import SalesforceSDKCommon

/// Handles the requests inside a composite, batch or graph request.
struct SubrequestRunner {
  /// Most sub-requests of one composite or batch request.
  private static let limit = 25
  let service: RESTService

  /// Handles sub-requests in order; later ones may refer to the responses of earlier ones.
  func responses(to requests: [JSONSlice], stopsAtFailure: Bool) throws -> CompositeRun {
    var run = CompositeRun(responses: [], failure: nil)
    var references = CompositeReferences()
    for (index, subrequest) in requests.enumerated() {
      let name = subrequest["referenceId"]?.string ?? ""
      if stopsAtFailure, run.failure != nil {
        run.responses.append((name, OrgResponse(CompositeRun.halted)))
        continue
      }
      let response = try self.respond(to: subrequest, references, allOrNone: stopsAtFailure)
      run.responses.append((name, response))
      if response.status < 300 { references.record(response.body, as: name) }
      // 304 is no failure: the client has the record already.
      let isFailure =
        response.status >= 300 && response.status != 304
        || stopsAtFailure && response.hasFailedRecords
      if isFailure, run.failure == nil { run.failure = index }
    }
    return run
  }

  private func respond(
    to subrequest: JSONSlice, _ references: CompositeReferences, allOrNone: Bool
  ) throws -> OrgResponse {
    do {
      let url = try references.resolve(subrequest["url"]?.string ?? "", escaping: false)
      var body: [UInt8] = []
      if let given = subrequest["body"], !given.isNull {
        body = Array(try references.resolve(given.description, escaping: true).utf8)
      }
      var headers: [String: String] = [:]
      for (name, value) in subrequest["httpHeaders"].map({ Array($0.members) }) ?? [] {
        headers[name.lowercased()] = value.string
      }
      return try respond(
        to: OrgRequest(
          method: subrequest["method"]?.string ?? "GET", target: url, headers: headers, body: body),
        allOrNone: allOrNone)
    } catch let error as ServerError {
      return OrgResponse(error)
    }
  }

  /// Handles a request inside another one; its URL names a version of its own.
  func respond(to request: OrgRequest, allOrNone: Bool = false) throws -> OrgResponse {
    var path = request.path[...]
    if path.starts(with: ["services", "data"]) { path = path.dropFirst(2) }
    guard let version = RESTVersions.number(path.first) else { throw ServerError.notFound() }
    path = path.dropFirst()
    if path.first == "composite",
      !["graph", "sobjects", "tree"].contains(path.dropFirst().first ?? "")
    {
      throw ServerError(
        "INVALID_INPUT", "A composite or batch request cannot stand inside another one.")
    }
    var inner = service.transaction
    inner.apiVersion = version
    inner.duplicates.read(request)
    var service = RESTService(
      transaction: inner, org: service.org, identityURL: service.identityURL)
    service.requiresAllOrNone = allOrNone
    return try service.respond(to: request, path: Array(path))
  }

  // MARK: Checks

  /// Sub-requests inherit some headers of the request around them and cannot have their own.
  static func checkHeaders(_ requests: [JSONSlice]) throws(ServerError) {
    for request in requests {
      for (name, _) in request["httpHeaders"].map({ Array($0.members) }) ?? []
      where ["accept", "authorization", "content-type"].contains(name.lowercased()) {
        throw ServerError(
          "INVALID_INPUT", "The header \(name) can't be specified in a subrequest.")
      }
    }
  }

  /// Every sub-request needs a name of its own.
  static func checkReferenceIDs(_ requests: [JSONSlice]) throws(ServerError) {
    var names: Set<String> = []
    for request in requests {
      guard let name = request["referenceId"]?.string, !name.isEmpty else {
        throw ServerError("INVALID_INPUT", "Every subrequest has to have a referenceId.")
      }
      guard names.insert(name).inserted else {
        throw ServerError(
          "INVALID_INPUT",
          "The referenceId \(name) is not unique. Every referenceId has to be unique.")
      }
    }
  }

  static func checkCount(_ count: Int) throws(ServerError) {
    if count == 0 {
      throw ServerError("INVALID_INPUT", "At least one subrequest is required.")
    }
    if count > limit {
      throw ServerError(
        "LIMIT_EXCEEDED", "The request can’t contain more than \(limit) operations.")
    }
  }
}

/// The responses of a composite request's sub-requests.
struct CompositeRun {
  static let halted = ServerError(
    "PROCESSING_HALTED",
    "The transaction was rolled back since another operation in the same transaction failed.")

  /// By reference id, which a request lacks that stands for a refused one.
  var responses: [(name: String?, response: OrgResponse)] = []
  /// The first sub-request that failed.
  var failure: Int?

  /// Gives all sub-requests but the one that failed the response of those that are undone because of it.
  mutating func haltOthers() {
    guard let failure else { return }
    for index in responses.indices where index != failure {
      responses[index].response = OrgResponse(Self.halted)
    }
  }

  var json: ResponseJSON {
    get throws {
      [
        "compositeResponse": try .array(responses) { name, response in
          [
            "body": try response.json,
            "httpHeaders": .object(response.headers.map { ($0.name, .string($0.value)) }),
            "httpStatusCode": .integer(response.status), "referenceId": .string(orNull: name),
          ]
        }
      ]
    }
  }
}
