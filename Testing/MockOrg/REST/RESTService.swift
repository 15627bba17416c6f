import Foundation
import GRDB
import SalesforceSDKCommon

/// The resources under `/services/data`, handled inside one database access.
struct RESTService {
  /// The oldest and the newest version that the org speaks; the platform has retired those before 31.
  static let versions = 31...66

  let transaction: OrgTransaction
  /// What outlives a request: cursors, jobs, recent items.
  let org: MockOrg
  let identityURL: String
  /// A composite request around this one is undone if any record fails, so collections are too.
  var requiresAllOrNone = false

  var cursors: QueryCursors { org.cursors }

  /// Handles a request whose path begins with a version; a rule that it breaks becomes the response.
  ///
  /// - Parameter path: The segments behind `/services/data/vXX.0`.
  /// - Throws: Only what is no fault of the request, such as a full disk.
  func respond(to request: OrgRequest, path: [String]) throws -> OrgResponse {
    do {
      return try route(request, path: path)
    } catch let error as ServerError {
      return OrgResponse(error)
    }
  }

  private func route(_ request: OrgRequest, path: [String]) throws -> OrgResponse {
    switch (path.first, path.count) {
    case (nil, _):
      try request.allow("GET,HEAD")
      return resources()
    case ("limits", 1):
      try request.allow("GET,HEAD")
      return try limits()
    case ("limits", 2) where path[1] == "recordCount":
      try request.allow("GET,HEAD")
      return try recordCounts(request)
    case ("sobjects", 1):
      try request.allow("GET,HEAD")
      return try describedSince(request) { globalDescribe() }
    case ("sobjects", _):
      return try sObject(
        request, object: transaction.object(named: path[1]), Array(path.dropFirst(2)))
    case ("query", 1), ("queryAll", 1):
      try request.allow("GET,HEAD")
      return try query(request, includeDeleted: path[0] == "queryAll")
    case ("query", 2), ("queryAll", 2):
      try request.allow("GET,HEAD")
      let runner = QueryRunner(transaction: transaction, cursors: cursors)
      return OrgResponse(status: 200, body: try runner.page(locator: path[1]))
    case ("search", 1): return try search(request)
    case ("parameterizedSearch", 1): return try parameterizedSearch(request)
    case ("jobs", _): return try jobs(request, Array(path.dropFirst()))
    case ("composite", _):
      return try composite(request, Array(path.dropFirst()))
    case ("recent", 1):
      try request.allow("GET,HEAD")
      return try recent(request)
    case ("search", 2):
      try request.allow("GET,HEAD")
      return try searchResource(request, path[1])
    case ("compactLayouts", 1):
      try request.allow("GET,HEAD")
      return try compactLayouts(request)
    case ("ui-api", _): return try userInterface(request, Array(path.dropFirst()))
    case ("connect", _), ("chatter", _): return try connect(request, Array(path.dropFirst()))
    default:
      throw ServerError.notFound()
    }
  }

  // MARK: Resources

  /// A description, unless the client has it already.
  func describedSince(
    _ request: OrgRequest, _ describe: () throws -> OrgResponse
  ) throws -> OrgResponse {
    let conditions = try Conditions(request)
    let modified = Int(org.schemas.modified.timeIntervalSince1970.rounded(.down))
    let response = try describe()
    // Eight digits, as the platform's.
    let tag = "\"\(Digests.sha256Hex(String(decoding: response.body, as: UTF8.self)).prefix(8))\""
    return conditions.applied(to: response, modified: modified, tag: tag)
  }

  /// The response to `/services/data`.
  static func versionList() -> OrgResponse {
    .json { writer in
      writer.beginArray()
      for version in versions {
        writer.beginObject()
        writer.key("label")
        writer.string(label(of: version))
        writer.key("url")
        writer.string("/services/data/v\(version).0")
        writer.key("version")
        writer.string("\(version).0")
        writer.endObject()
      }
      writer.endArray()
    }
  }

  /// Three releases a year since Winter '14, which was 29.
  static func label(of version: Int) -> String {
    let seasons = ["Winter", "Spring", "Summer"]
    let number = version - 29
    return "\(seasons[number % 3]) '\(14 + number / 3)"
  }

  private func resources() -> OrgResponse {
    let names = [
      "chatter", "compactLayouts", "composite", "connect", "jobs", "limits", "query", "queryAll",
      "recent", "search", "sobjects", "ui-api", "parameterizedSearch",
    ]
    return .json { writer in
      writer.beginObject()
      for name in names {
        writer.key(name)
        writer.string("\(transaction.versionPath)/\(name)")
      }
      writer.key("identity")
      writer.string(identityURL)
      writer.endObject()
    }
  }

  // MARK: Query

  private func query(_ request: OrgRequest, includeDeleted: Bool) throws -> OrgResponse {
    if let text = request[query: "explain"] { return try explain(text) }
    guard let text = request[query: "q"], !text.trimmingBlanks().isEmpty else {
      throw ServerError("MALFORMED_QUERY", "SOQL statements cannot be empty or null")
    }
    let query = try SOQLQuery(
      compiling: text, schema: transaction.schema,
      options: try transaction.soqlOptions(includeDeleted: includeDeleted))
    let runner = QueryRunner(transaction: transaction, cursors: cursors)
    return OrgResponse(
      status: 200, body: try runner.firstPage(of: query, batchSize: Self.batchSize(of: request)))
  }

  /// The page size that `Sforce-Query-Options: batchSize=N` asks for, within 200 to 2,000.
  private static func batchSize(of request: OrgRequest) -> Int {
    let option = (request.headers["sforce-query-options"] ?? "").split(separator: ",").compactMap {
      option -> Int? in
      let parts = option.split(separator: "=")
      guard parts.count == 2, String(parts[0]).trimmingBlanks().lowercased() == "batchsize" else {
        return nil
      }
      return Int(String(parts[1]).trimmingBlanks())
    }.first
    return option.map { min(max($0, 200), 2000) } ?? 2000
  }
}

extension OrgRequest {
  /// Refuses other methods than those of a comma-separated list.
  func allow(_ methods: String) throws(ServerError) {
    if !methods.split(separator: ",").contains(where: { $0 == method }) {
      throw .methodNotAllowed(method, allowed: methods)
    }
  }
}
