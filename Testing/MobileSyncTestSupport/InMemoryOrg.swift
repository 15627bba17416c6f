import HTTPTypes
public import MobileSync
public import SalesforceSDKCommon
public import SalesforceSDKCore
import Synchronization

/// A server for tests of sync: records in memory, the platform's responses, and a log of every
/// request.
///
/// It supports queries with one level of children, `and`, `>`, `>=`, `<`, `<=`, `=`, `in` (also
/// of a sub-select) and one order, `count`, `min` and `max`, paging, single records, the deleted records of an object, the
/// collection and the composite resource, bulk jobs, recent items, descriptions, layouts and
/// briefcases; for everything else, a test provides responses. It refuses, as the platform does:
/// more than 200 records, `attributes` that do not come first, names that are missing or have more
/// than 255 characters, lookups to missing records, and references to ids that it did not assign.
public final class InMemoryOrg: SyncRequestSender {
  /// The handling of one request.
  public enum Intervention: Sendable {
    /// The request is handled as usual.
    case none
    /// The connection fails before the server sees it.
    case unreachable
    /// The server processes the request and the response is lost.
    case dropResponse
    /// The server responds, with null in place of every id that is a value.
    case withoutIds
    /// The server processes the request, and the response ends in the middle of its body.
    case cutBody
    /// The server returns this response instead.
    case response(status: Int, body: String)
    /// The server returns this response instead, with its headers.
    case exactly(RestResponse)
  }

  /// A request as the org received it.
  public struct Request: Sendable {
    /// Method and path, such as `POST /{v}/composite/sobjects`.
    ///
    /// The path is the one that a `RestClient` sends, with `/{v}` in place of `/services/data/v66.0` where the request
    /// names a version; see `RestRequest.path`.
    public let line: String
    /// The query's values by name.
    public let query: [String: String]
    /// The headers by name.
    public let headers: [String: String]
    /// The body as text.
    public let body: String
    /// The qualifier in the user agent.
    public let qualifier: String?

    /// Whether it reads records: also the retrieval by ids in a body, whose path names an object.
    var isQuery: Bool {
      line.hasPrefix("GET ") || line.hasPrefix("POST ") && line.contains("/composite/sobjects/")
    }

    /// Returns the number of occurrences of a text in the body.
    public func count(of text: String) -> Int { body.ranges(of: text).count }
  }

  /// A relationship between two objects.
  struct Relation: Sendable {
    let name: String
    let parent: String
    let child: String
    let field: String
    let cascades: Bool
  }

  /// An endpoint of a test's own.
  struct Custom: Sendable {
    let start: String
    let respond: @Sendable (inout State, Request) throws -> (Int, JSONValue)
  }

  struct State: Sendable {
    var objects: [String: [String: JSONObject]] = [:]
    var deleted: Set<String> = []
    /// The times at which records were deleted, by id.
    var deletionDates: [String: Int64] = [:]
    /// The fields with which records were created, by id.
    var originals: [String: JSONObject] = [:]
    /// The deleted records by id, as they can be restored.
    var bin: [String: JSONObject] = [:]
    var saving: (@Sendable (String, inout JSONObject) -> Void)?
    var flow: (@Sendable (Change) -> [FlowUpdate])?
    var cursors: [String: [JSONObject]] = [:]
    var requests: [Request] = []
    var clock: Int64 = 1_700_000_000_000
    var queryTime: Int64 = 2_000
    var tickLength: Int64 = 1_000
    var lateness: Int64 = 0
    var lastNumber = 0
    var idField = SyncKeys.defaultIdField
    var pageSize = 2_000
    var childPageSize = 2_000
    var relations: [Relation] = []
    var recent: [String] = []
    var found: [String] = []
    var briefcase: [String: [String]] = [:]
    var briefcasePageSize = 2_000
    var bulkJobs: [String: BulkJob] = [:]
    var custom: [Custom] = []
    var intervene: (@Sendable (Int, Request) async -> Intervention)?
  }

  let state = Mutex(State())

  /// Creates an org without records.
  ///
  /// - Parameter idField: A field with the record's id, in addition to `Id`.
  public init(idField: String = SyncKeys.defaultIdField) {
    state.withLock { $0.idField = idField }
  }

  // MARK: What tests do

  /// Every request so far.
  public var requests: [Request] { state.withLock { $0.requests } }

  /// Methods and paths of every request so far.
  public var lines: [String] { requests.map(\.line) }

  /// Clears the log of requests.
  public func forgetRequests() { state.withLock { $0.requests = [] } }

  /// The number of records per page.
  public var pageSize: Int {
    get { state.withLock { $0.pageSize } }
    set { state.withLock { $0.pageSize = newValue } }
  }

  /// Sets a closure that decides, by number and content, how each request is handled. It may wait
  /// or do other work first.
  public func intervene(_ body: (@Sendable (Int, Request) async -> Intervention)?) {
    state.withLock { $0.intervene = body }
  }

  /// Creates a record as another user would; a second passes.
  @discardableResult
  public func create(_ type: String, _ fields: JSONObject) -> String {
    state.withLock { $0.create(type, fields) }
  }

  /// Changes a record as another user would; a second passes.
  public func update(_ type: String, _ id: String, _ fields: JSONObject) {
    state.withLock { $0.update(type, id, fields) }
  }

  /// Deletes a record as another user would.
  public func delete(_ type: String, _ id: String) {
    state.withLock { $0.delete(type, id) }
  }

  /// Returns the record with this id.
  public func record(_ type: String, _ id: String) -> JSONObject? {
    state.withLock { $0.objects[type]?[id] }
  }

  /// Returns the fields with which the record with this id was created.
  public func original(_ id: String) -> JSONObject? { state.withLock { $0.originals[id] } }

  /// Returns all records of a type, by id.
  public func records(_ type: String) -> [JSONObject] {
    state.withLock { state in
      (state.objects[type] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }
  }

  /// The time on the server, in milliseconds since 1970.
  public var now: Int64 { state.withLock { $0.clock } }

  // MARK: Responding

  /// The path of a request as a client sends it, by the rule of `RestRequest.path`.
  private static func path(of request: RestRequest) -> String {
    // Requests that carry others name the version; all are logged alike.
    let path = request.path.replacing(/^\/v\d+\.0\//, with: "/{v}/")
    let names = path.split(separator: "/")
    let isOfAPI = request.endpoint == RestRequest.defaultEndpoint && names.first ?? "{v}" == "{v}"
    if isOfAPI || request.isAbsolute { return path }
    var request = request
    request.query = []
    return request.target()
  }

  /// The org's time, so that no request is needed to fetch it.
  public var serverTime: SalesforceDate? {
    state.withLock { SalesforceDate(milliseconds: $0.clock) }
  }

  public func response(to request: RestRequest) async throws -> RestResponse {
    let seen = Request(
      line: "\(request.method) \(Self.path(of: request))",
      query: Dictionary(
        request.query.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last }),
      headers: Dictionary(
        request.headers.map { ($0.name.rawName, $0.value) },
        uniquingKeysWith: { _, last in last }),
      body: request.body.map { String(decoding: $0, as: UTF8.self) } ?? "",
      qualifier: request.userAgentQualifier)
    let (number, intervene) = state.withLock { state in
      state.requests.append(seen)
      return (state.requests.count, state.intervene)
    }
    try Task.checkCancellation()
    switch await intervene?(number, seen) ?? .none {
    case .none:
      try Task.checkCancellation()
      return try state.withLock { state in
        let response = try state.respond(to: seen)
        let delay = seen.isQuery ? state.queryTime : 0
        let date = SalesforceDate(milliseconds: state.clock + delay).httpText
        var headers = response.headers
        headers[.date] = date
        return RestResponse(status: response.status, headers: headers, body: response.body)
      }
    case .unreachable:
      throw TransportError(.unreachable, "the server cannot be reached")
    case .dropResponse:
      _ = try state.withLock { try $0.respond(to: seen) }
      try Task.checkCancellation()
      throw TransportError(.truncated, "the connection broke")
    case .withoutIds:
      let response = try state.withLock { try $0.respond(to: seen) }
      let text = String(decoding: response.body, as: UTF8.self)
      return RestResponse(
        status: response.status, body: Array(text.replacing(/"001\d{15}"/, with: "null").utf8))
    case .cutBody:
      let response = try state.withLock { try $0.respond(to: seen) }
      return RestResponse(
        status: response.status, body: Array(response.body.prefix(response.body.count / 2)))
    case .response(let status, let body):
      return RestResponse(status: status, body: Array(body.utf8))
    case .exactly(let response): return response
    }
  }
}

extension InMemoryOrg {
  /// Sets the time that passes with each change, in milliseconds. Dates are still in whole seconds.
  public func setTickLength(_ milliseconds: Int64) {
    state.withLock { $0.tickLength = milliseconds }
  }

  /// Sets the time between a change and the next query, in milliseconds, as in the dates of
  /// responses. Default: 2,000, so that the second of the last change is over.
  public func setQueryTime(_ milliseconds: Int64) {
    state.withLock { $0.queryTime = milliseconds }
  }

  /// Makes the changes in `body` commit late: their dates are in the past.
  @discardableResult
  public func committingLate<Value>(by milliseconds: Int64, _ body: () -> Value) -> Value {
    state.withLock { $0.lateness = milliseconds }
    defer { state.withLock { $0.lateness = 0 } }
    return body()
  }

  /// Lets time pass on the server.
  public func advanceClock(by time: Duration) {
    let milliseconds = Int64((time / .milliseconds(1)).rounded(.up))
    state.withLock { $0.clock += milliseconds }
  }

  /// Sets the time on the server, in milliseconds since 1970.
  public func setClock(_ milliseconds: Int64) { state.withLock { $0.clock = milliseconds } }
}

/// The time of this machine.
public enum SalesforceDateNow: Sendable {
  /// In milliseconds since 1970.
  public static var milliseconds: Int64 { SyncEnvironment().now() }
}
