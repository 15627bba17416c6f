import Foundation
import GRDB
import SalesforceSDKCommon

/// The org's own endpoint, `/mock-org`, by which tests in any language and the start page look into it
/// and tell it what to do. Nothing of it exists on the platform.
///
/// It opens to the access token of the connection document, even after the org has ended that token's
/// session, and to a browser that has loaded the start page with the key of the connection document.
struct ControlService {
  static let root = "mock-org"

  let org: MockOrg
  let baseURL: String

  func respond(to request: OrgRequest) async -> OrgResponse {
    if request.path.isEmpty { return startPage(request) }
    if request.path.count == 3, request.path[1] == "page",
      let file = StartPage.file(named: request.path[2])
    {
      return pageFile(file, request)
    }
    guard isAdmitted(request) else {
      return OrgResponse(
        ServerError(
          status: 401, "INVALID_SESSION_ID",
          "The control endpoint opens to the access token of the connection document, and to a browser "
            + "at its pageUrl."))
    }
    do {
      return try await route(request, Array(request.path.dropFirst()))
    } catch let error as ServerError {
      return OrgResponse(error)
    } catch let error as MockOrgError {
      return OrgResponse(ServerError("INVALID_INPUT", error.message))
    } catch let error as JSONError {
      return OrgResponse(.jsonParser(error.message))
    } catch {
      return OrgResponse(
        ServerError(status: 500, "UNKNOWN_EXCEPTION", "The org's database failed."))
    }
  }

  // MARK: Who may

  /// Whether a request comes from the holder of the connection document.
  func isAdmitted(_ request: OrgRequest) -> Bool {
    if let token = LoginService.bearerToken(of: request) { return org.control.isAdmitted(token) }
    let cookies = (request.headers["cookie"] ?? "").split(separator: ";")
    return cookies.contains {
      String($0).trimmingBlanks() == "\(cookieName)=\(org.control.cookie)"
    }
  }

  /// A browser sends its cookies to every port of a host: those of several orgs need names of their own.
  private var cookieName: String {
    "\(Self.root)-\(URL(string: baseURL)?.port ?? 80)"
  }

  /// The page, or, for the key of the connection document, the cookie that lets the page work.
  ///
  /// Any user of this machine can load the page, which holds nothing of the org.
  private func startPage(_ request: OrgRequest) -> OrgResponse {
    if request[query: "key"] == org.control.pageKey {
      return OrgResponse(
        status: 303,
        headers: [
          (
            "Set-Cookie",
            "\(cookieName)=\(org.control.cookie); Path=/\(Self.root); HttpOnly; SameSite=Strict"
          ), ("Location", "/"), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"),
        ])
    }
    guard let file = StartPage.file(named: "index.html") else { return OrgResponse(.notFound()) }
    return pageFile(file, request)
  }

  private func pageFile(_ file: StartPage.File, _ request: OrgRequest) -> OrgResponse {
    guard request.method == "GET" || request.method == "HEAD" else {
      return OrgResponse(.methodNotAllowed(request.method, allowed: "GET,HEAD"))
    }
    let headers = [
      ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
      (
        "Content-Security-Policy",
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; "
          + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
      ),
    ]
    return OrgResponse(
      status: 200, headers: headers, body: file.bytes, contentType: file.contentType)
  }

  // MARK: Routes

  private func route(_ request: OrgRequest, _ path: [String]) async throws -> OrgResponse {
    switch (path.first, path.count, request.method) {
    case ("status", 1, "GET"): return try await status()
    case ("objects", 2, "GET"): return try await records(of: path[1], request)
    case ("log", 1, "GET"): return log(request)
    case ("log", 1, "DELETE"): org.clearRequestLog()
    case ("analytics", 1, "GET"): return analytics(request)
    case ("analytics", 1, "DELETE"): org.clearAnalyticsLines()
    case ("faults", 1, "GET"): return faults()
    case ("faults", 1, "POST"):
      let json = try request.json()
      let list = json.kind == .array ? json : try JSONSlice(parsing: "[\(json.description)]")
      try org.add(faults: list, from: "the request")
      return faults(status: 201)
    case ("faults", 1, "DELETE"): org.removeAllFaults()
    case ("faults", 2, "DELETE"):
      guard let number = Int(path[1]), org.script.remove(number) else {
        throw ServerError.notFound()
      }
    case ("clock", 1, "POST"): return try setClock(request.object())
    case ("snapshots", 2, "PUT"): try await keepSnapshot(path[1])
    case ("snapshots", 3, "POST") where path[2] == "restore":
      guard let snapshot = org.control.snapshot(path[1]) else { throw ServerError.notFound() }
      try await org.restore(snapshot)
    case ("reset", 1, "POST"): try await org.reset()
    case ("sessions", 1, "DELETE"):
      if request[query: "refreshTokens"] == "true" {
        org.revokeAllTokens()
      } else {
        org.expireAccessTokens()
      }
    case ("briefcase", 1, "PUT"): try setBriefcase(request.json())
    case ("notifications", 1, "POST"): return try addNotification(request.object())
    default: throw ServerError.notFound()
    }
    return .empty()
  }

  // MARK: Looking

  private func status() async throws -> OrgResponse {
    let schema = org.schema
    let counts = try await org.read { database in
      try schema.objects.map { object in
        (
          object,
          try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM \(object.table.name) WHERE \"IsDeleted\" = 0") ?? 0
        )
      }
    }
    return .json { writer in
      writer.beginObject()
      for (key, value) in [
        ("organizationName", org.options.organizationName), ("organizationId", org.organizationID),
        ("instanceUrl", baseURL), ("username", org.options.user.username),
        ("password", org.passwords[org.userID] ?? org.options.user.password),
        ("clientId", org.options.clientId),
        ("clientSecret", org.options.clientSecret), ("redirectUri", org.options.redirectURI),
        ("apiVersion", "\(RESTService.versions.upperBound).0"),
        ("now", DateText.dateTime(org.options.clock.now)),
      ] {
        writer.key(key)
        writer.string(value)
      }
      writer.key("clockIsFrozen")
      writer.bool(org.options.clock.isFrozen)
      writer.key("requests")
      writer.integer(org.script.requestCount)
      writer.key("snapshots")
      writer.strings(org.control.snapshotNames)
      writer.key("objects")
      writer.beginArray()
      for (object, count) in counts {
        writer.beginObject()
        for (key, value) in [("name", object.name), ("label", object.labelPlural)] {
          writer.key(key)
          writer.string(value)
        }
        writer.key("keyPrefix")
        writer.string(orNull: object.keyPrefix)
        writer.key("custom")
        writer.bool(object.custom)
        writer.key("fields")
        writer.integer(object.fields.count)
        writer.key("count")
        writer.integer(count)
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private static let pageSize = 50

  /// The latest records of an object, with the fields that tell them apart first.
  private func records(of name: String, _ request: OrgRequest) async throws -> OrgResponse {
    guard let object = org.schema.object(named: name) else { throw ServerError.notFound() }
    let offset = max(0, Int(request[query: "offset"] ?? "") ?? 0)
    let glance = LayoutPlan(object).compactFields.filter(\.hasColumn)
    let fields =
      [object.field(named: "Id")].compactMap { $0 } + glance
      + object.fields.filter { field in
        field.hasColumn && field.type != .base64 && field.type != .id
          && !glance.contains { $0.name == field.name }
      }
    let query = SOQLQuery(allFieldsOf: object, only: fields)
    let bytes = try await org.read { [org] database in
      let transaction = org.transaction(database, userID: org.userID)
      let statement = try database.makeStatement(
        sql: query.sql
          + " WHERE \(SOQLQuery.rootAlias).\"IsDeleted\" = 0 ORDER BY \(SOQLQuery.rootAlias).rowid DESC"
          + " LIMIT \(Self.pageSize) OFFSET \(offset)")
      let rows = try Row.fetchCursor(statement)
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("fields")
      writer.strings(fields.map(\.name))
      writer.key("records")
      writer.beginArray()
      let json = RecordJSON(transaction: transaction)
      let row = StatementRow(statement)
      while try rows.next() != nil { try json.write(row, as: query.record, to: &writer) }
      writer.endArray()
      writer.endObject()
      return writer.bytes
    }
    return OrgResponse(status: 200, body: bytes)
  }

  private func log(_ request: OrgRequest) -> OrgResponse {
    let after = Int(request[query: "after"] ?? "") ?? 0
    return .json { writer in
      writer.beginObject()
      writer.key("requests")
      writer.beginArray()
      for entry in org.script.log(after: after).suffix(500) {
        writer.beginObject()
        writer.key("number")
        writer.integer(entry.number)
        for (key, value) in [
          ("method", entry.method), ("target", entry.target), ("userAgent", entry.userAgent),
          ("date", DateText.dateTime(entry.date)), ("fault", entry.fault),
        ] as [(String, String?)] {
          writer.key(key)
          writer.string(orNull: value)
        }
        writer.key("status")
        if let status = entry.status { writer.integer(status) } else { writer.null() }
        for (key, value) in [
          ("requestBytes", entry.requestBytes), ("responseBytes", entry.responseBytes),
          ("microseconds", Int(entry.duration.seconds * 1e6)),
        ] {
          writer.key(key)
          writer.integer(value)
        }
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }

  private func faults(status: Int = 200) -> OrgResponse {
    .json(status) { writer in
      writer.beginObject()
      writer.key("faults")
      writer.beginArray()
      for rule in org.script.rules {
        let fault = rule.fault
        writer.beginObject()
        writer.key("number")
        writer.integer(rule.number)
        for (key, value) in [
          ("action", fault.action.name), ("method", fault.method), ("path", fault.path),
          ("object", fault.object),
        ] as [(String, String?)] {
          writer.key(key)
          writer.string(orNull: value)
        }
        writer.key("probability")
        RecordJSON.write(fault.probability.databaseValue, type: .double, to: &writer)
        writer.key("skip")
        writer.integer(fault.skipping)
        writer.key("count")
        if let count = fault.count { writer.integer(count) } else { writer.null() }
        for (key, value) in [("matched", rule.matched), ("hits", rule.hits)] {
          writer.key(key)
          writer.integer(value)
        }
        writer.endObject()
      }
      writer.endArray()
      writer.endObject()
    }
  }
}
