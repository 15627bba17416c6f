import GRDB
import SalesforceSDKCommon

extension RESTService {
  /// Most sub-requests of one composite or batch request.
  static let subrequestLimit = 25
  /// How many sub-requests of one composite request may be queries or collections.
  private static let costlyLimit = 5

  /// Everything under `/composite`.
  func composite(_ request: OrgRequest, _ path: [String]) throws -> OrgResponse {
    switch (path.first, path.count) {
    case (nil, _):
      if request.method == "GET" || request.method == "HEAD" { return compositeResources() }
      try request.allow("POST")
      return try compositeRequest(request)
    case ("graph", 1):
      try request.allow("POST")
      return try graph(request)
    case ("batch", 1):
      try request.allow("POST")
      return try batch(request)
    case ("tree", 2):
      try request.allow("POST")
      return try tree(request, transaction.object(named: path[1]))
    case ("sobjects", _): return try collections(request, Array(path.dropFirst()))
    default: throw ServerError.notFound()
    }
  }

  private func compositeResources() -> OrgResponse {
    .json { writer in
      writer.beginObject()
      for name in ["batch", "graph", "sobjects", "tree"] {
        writer.key(name)
        writer.string("\(transaction.versionPath)/composite/\(name)")
      }
      writer.endObject()
    }
  }

  // MARK: Composite

  private func compositeRequest(_ request: OrgRequest) throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["compositeRequest"], list.kind == .array else {
      throw ServerError.jsonParser(
        "The property 'compositeRequest' has to be an array at [line:1, column:1]")
    }
    let requests = Array(list.elements)
    do {
      try Self.checkSubrequests(requests.count)
      try Self.checkCostly(requests)
    } catch {
      // Such a request is handled as if it had one part, which has no name.
      return try .json(error.status) { writer in
        try writer.compositeResponse([(nil, OrgResponse(error))])
      }
    }
    try Self.checkReferenceIDs(requests)
    try Self.checkHeaders(requests)
    let allOrNone = body["allOrNone"]?.bool ?? false
    var run = CompositeRun(responses: [], failure: nil)
    try transaction.database.inSavepoint {
      run = try self.run(requests, stopsAtFailure: allOrNone)
      return allOrNone && run.failure != nil ? .rollback : .commit
    }
    if allOrNone { run.haltOthers() }
    return try .json { writer in try writer.compositeResponse(run.responses) }
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

  /// Handles sub-requests in order; later ones may refer to the responses of earlier ones.
  func run(_ requests: [JSONSlice], stopsAtFailure: Bool) throws -> CompositeRun {
    var run = CompositeRun(responses: [], failure: nil)
    var references = CompositeReferences()
    for (index, subrequest) in requests.enumerated() {
      let name = subrequest["referenceId"]?.string ?? ""
      if stopsAtFailure, run.failure != nil {
        run.responses.append((name, OrgResponse(Self.halted)))
        continue
      }
      let response = try self.respond(to: subrequest, references, allOrNone: stopsAtFailure)
      run.responses.append((name, response))
      if response.status < 300 { references.record(response.body, as: name) }
      let isFailure = response.status >= 300 || stopsAtFailure && response.hasFailedRecords
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
  private func respond(to request: OrgRequest, allOrNone: Bool = false) throws -> OrgResponse {
    var path = request.path[...]
    if path.starts(with: ["services", "data"]) { path = path.dropFirst(2) }
    guard let version = Self.version(path.first) else { throw ServerError.notFound() }
    path = path.dropFirst()
    if path.first == "composite",
      !["graph", "sobjects", "tree"].contains(path.dropFirst().first ?? "")
    {
      throw ServerError(
        "INVALID_INPUT", "A composite or batch request cannot stand inside another one.")
    }
    var inner = transaction
    inner.apiVersion = version
    inner.duplicates.read(request)
    var service = RESTService(transaction: inner, org: org, identityURL: identityURL)
    service.requiresAllOrNone = allOrNone
    return try service.respond(to: request, path: Array(path))
  }

  /// The number in a path segment such as `v66.0`, if the org speaks that version.
  static func version(_ segment: String?) -> Int? {
    guard let segment, segment.hasPrefix("v"), segment.hasSuffix(".0"),
      let version = Int(segment.dropFirst().dropLast(2)), versions.contains(version)
    else { return nil }
    return version
  }

  static let halted = ServerError(
    "PROCESSING_HALTED",
    "The transaction was rolled back since another operation in the same transaction failed.")

  private static func checkSubrequests(_ count: Int) throws(ServerError) {
    if count == 0 {
      throw ServerError("INVALID_INPUT", "At least one subrequest is required.")
    }
    if count > subrequestLimit {
      throw ServerError(
        "LIMIT_EXCEEDED", "The request can’t contain more than \(subrequestLimit) operations.")
    }
  }

  // MARK: Batch

  private func batch(_ request: OrgRequest) throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["batchRequests"], list.kind == .array else {
      throw ServerError.jsonParser(
        "The property 'batchRequests' has to be an array at [line:1, column:1]")
    }
    let requests = Array(list.elements)
    try Self.checkSubrequests(requests.count)
    let haltOnError = body["haltOnError"]?.bool ?? false
    // Each of them counts, unlike those of a composite request; the batch itself does not.
    org.script.count(requests.count - 1)
    var responses: [OrgResponse] = []
    var hasErrors = false
    for subrequest in requests {
      if haltOnError, hasErrors {
        responses.append(
          OrgResponse(
            ServerError(
              status: 412, "BATCH_PROCESSING_HALTED", "Batch processing halted per request")))
        continue
      }
      var response: OrgResponse
      do {
        response = try self.respond(
          to: OrgRequest(
            method: subrequest["method"]?.string ?? "GET", target: subrequest["url"]?.string ?? "",
            body: subrequest["richInput"].map { Array($0.utf8) } ?? []))
      } catch let error as ServerError {
        response = OrgResponse(error)
      }
      if response.status >= 400 { hasErrors = true }
      responses.append(response)
    }
    return try .json { writer in
      writer.beginObject()
      writer.key("hasErrors")
      writer.bool(hasErrors)
      writer.key("results")
      writer.beginArray()
      for response in responses {
        writer.beginObject()
        writer.key("statusCode")
        writer.integer(response.status)
        writer.key("result")
        try writer.body(of: response)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  // MARK: Tree

  private static let treeLimit = 200

  /// Creates records with their children, all or none.
  private func tree(_ request: OrgRequest, _ object: ObjectSchema) throws -> OrgResponse {
    let body = try request.object()
    guard let list = body["records"], list.kind == .array, list.count > 0 else {
      throw ServerError.jsonParser(
        "The property 'records' has to be an array of records at [line:1, column:1]")
    }
    var created: [(name: String, id: String)] = []
    var failed: (name: String, error: ServerError)?
    var names: Set<String> = []
    func create(_ record: JSONSlice, _ object: ObjectSchema, parent: (String, String)?) throws {
      let name = record["attributes"]?["referenceId"]?.string ?? ""
      do {
        guard !name.isEmpty else {
          throw ServerError(
            "INVALID_INPUT", "Include a referenceId in the attributes of each record.", fields: [])
        }
        guard names.insert(name).inserted else {
          throw ServerError(
            "INVALID_INPUT", "Duplicate ReferenceId provided in the request.", fields: [])
        }
        guard created.count < Self.treeLimit else {
          throw ServerError(
            "EXCEEDED_MAX_SOBJECTS", "A tree has at most \(Self.treeLimit) records.", fields: [])
        }
        guard try objectType(of: record).name == object.name else {
          throw ServerError(
            "INVALID_INPUT", "The record's type is not \(object.name).", fields: [])
        }
        let children = record.members.compactMap { key, value in
          object.childRelationship(named: key).map { (key, value, $0) }
        }
        let members = try record.setting(
          parent.map { [(key: $0.0, value: .string($0.1))] } ?? [], removing: children.map(\.0))
        created.append((name, try writer(object, request).create(members)))
        let id = created[created.count - 1].id
        for (_, value, relationship) in children {
          let child = try transaction.object(named: relationship.childObject)
          for record in value["records"].map({ Array($0.elements) }) ?? [] {
            try create(record, child, parent: (relationship.field, id))
          }
        }
      } catch let error as ServerError {
        if failed == nil { failed = (name, error) }
        throw error
      }
    }
    do {
      try transaction.atomically {
        for record in list.elements { try create(record, object, parent: nil) }
      }
    } catch let error as ServerError {
      return Self.treeFailure(failed ?? ("", error))
    }
    return .json(201) { writer in
      writer.beginObject()
      writer.key("hasErrors")
      writer.bool(false)
      writer.key("results")
      writer.beginArray()
      for record in created {
        writer.beginObject()
        writer.key("referenceId")
        writer.string(record.name)
        writer.key("id")
        writer.string(record.id)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private static func treeFailure(_ failure: (name: String, error: ServerError)) -> OrgResponse {
    .json(400) { writer in
      writer.beginObject()
      writer.key("hasErrors")
      writer.bool(true)
      writer.key("results")
      writer.beginArray()
      writer.beginObject()
      writer.key("referenceId")
      writer.string(failure.name)
      writer.key("errors")
      writer.beginArray()
      writer.beginObject()
      writer.key("statusCode")
      writer.string(failure.error.code)
      writer.key("message")
      writer.string(failure.error.message)
      writer.key("fields")
      writer.strings(failure.error.fields ?? [])
      writer.endObject()
      writer.endArray()
      writer.endObject()
      writer.endArray()
      writer.endObject()
    }
  }
}

extension JSONWriter {
  /// Writes the object with the responses of sub-requests.
  mutating func compositeResponse(_ responses: [(name: String?, response: OrgResponse)]) throws {
    beginObject()
    key("compositeResponse")
    beginArray()
    for (name, response) in responses {
      beginObject()
      key("body")
      try body(of: response)
      key("httpHeaders")
      beginObject()
      for header in response.headers {
        key(header.name)
        string(header.value)
      }
      endObject()
      key("httpStatusCode")
      integer(response.status)
      key("referenceId")
      string(orNull: name)
      endObject()
    }
    endArray()
    endObject()
  }

  /// Writes the body of another response; null if it has none.
  fileprivate mutating func body(of response: OrgResponse) throws {
    if response.body.isEmpty { null() } else { raw(try JSONSlice(parsing: response.body)) }
  }
}
