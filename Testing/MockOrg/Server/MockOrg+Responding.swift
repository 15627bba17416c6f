import Foundation
import GRDB
import Logging
import SalesforceSDKCommon

/// The way of a request through the org: which service it is for, whether its session is good, and the one database
/// access in which it is handled.
extension MockOrg {
  /// What is special about one request.
  struct Circumstances: Sendable {
    /// Where the client reached the org.
    var baseURL: String
    /// How far the request's time lies from the clock's.
    var offset: Duration = .zero
    /// A refresh gives a new refresh token, whatever the options say.
    var rotatesRefreshToken = false
  }

  /// Handles a request as far as it goes without faults.
  ///
  /// - Parameter baseURL: Where the client reached the org.
  func respond(to request: OrgRequest, baseURL: String) async -> OrgResponse {
    await respond(to: request, Circumstances(baseURL: baseURL))
  }

  func respond(to request: OrgRequest, _ circumstances: Circumstances) async -> OrgResponse {
    let login = login(circumstances)
    if let response = login.respond(to: request) { return response }
    if request.path.isEmpty || request.path.first == ControlService.root {
      return await ControlService(org: self, baseURL: circumstances.baseURL).respond(to: request)
    }
    if let page = PageService(login: login, folder: options.pages).respond(to: request) {
      return page
    }
    if request.path.dropLast() == ContentFiles.downloadRoot[...] {
      return await download(request, login, circumstances)
    }
    guard request.path.first == "services", request.path.count > 1 else {
      return OrgResponse(.notFound())
    }
    switch request.path[1] {
    case "data": return await data(request, login, circumstances)
    case "async": return await classicBulk(request, login, circumstances)
    case "apexrest": return await apex(request, login)
    case let name where name.lowercased() == "soap":
      return await soap(request, login, circumstances)
    default: return OrgResponse(.notFound())
    }
  }

  /// The REST API. The list of its versions needs no session.
  private func data(
    _ request: OrgRequest, _ login: LoginService, _ circumstances: Circumstances
  ) async -> OrgResponse {
    guard request.path.count > 2 else {
      return request.method == "GET" || request.method == "HEAD"
        ? RESTVersions.list()
        : OrgResponse(.methodNotAllowed(request.method, allowed: "GET,HEAD"))
    }
    let request = request.readingSuffix
    let path = request.path.dropFirst(2)
    let response: OrgResponse
    if let session = login.session(of: request) {
      guard let version = RESTVersions.number(path.first) else { return OrgResponse(.notFound()) }
      response = await perform(request, session, version, login, circumstances) { service in
        try service.respond(to: request, path: Array(path.dropFirst()))
      }
    } else {
      response = Self.noSession(request)
    }
    return ResponseXML.isWanted(request) ? ResponseXML.converted(response) : response
  }

  /// The first Bulk API, which has a header of its own for the session.
  private func classicBulk(
    _ request: OrgRequest, _ login: LoginService, _ circumstances: Circumstances
  ) async -> OrgResponse {
    let path = request.path.dropFirst(2)
    guard let token = request.headers["x-sfdc-session"] ?? LoginService.bearerToken(of: request),
      let session = sessions.session(token, now: options.clock.now)
    else {
      let isJSON = request.headers["content-type"]?.contains("json") == true
      return (isJSON ? ClassicForm.json : .xml)
        .failure(ServerError(status: 401, "InvalidSessionId", "Invalid session id"))
    }
    guard let version = RESTVersions.number(path.first.map { "v\($0)" }) else {
      return OrgResponse(.notFound())
    }
    return await perform(request, session, version, login, circumstances) { service in
      try ClassicBulkService(rest: service).respond(to: request, path: Array(path.dropFirst()))
    }
  }

  private func apex(_ request: OrgRequest, _ login: LoginService) async -> OrgResponse {
    guard login.session(of: request) != nil else { return Self.noSession(request) }
    var response = await apexEndpoints.respond(
      to: request, path: Array(request.path.dropFirst(2)), self)
    response.headers.append(usageHeader)
    return response
  }

  /// Whether a request comes with a good session or, to the control endpoint, with leave to use that.
  func admits(_ request: OrgRequest, _ circumstances: Circumstances) -> Bool {
    if request.path.first == ControlService.root {
      return ControlService(org: self, baseURL: circumstances.baseURL).isAdmitted(request)
    }
    let token = request.headers["x-sfdc-session"] ?? LoginService.bearerToken(of: request)
    return token.map { sessions.session($0, now: options.clock.now) != nil } ?? false
  }

  /// Whether a call of SOAP begins with a session of this org.
  func hasSession(inEnvelope bytes: [UInt8]) -> Bool {
    BodyLimits.session(inEnvelope: bytes)
      .map { sessions.session($0, now: options.clock.now) != nil } ?? false
  }

  /// Responds with the content of a version at its `VersionDataUrl`.
  private func download(
    _ request: OrgRequest, _ login: LoginService, _ circumstances: Circumstances
  ) async -> OrgResponse {
    guard let session = login.session(of: request) else { return Self.noSession(request) }
    let version = RESTVersions.known.upperBound
    return await perform(request, session, version, login, circumstances) { service in
      do {
        guard ["GET", "HEAD"].contains(request.method) else {
          throw ServerError.methodNotAllowed(request.method, allowed: "GET,HEAD")
        }
        guard let id = RecordID.normalized(request.path.last ?? "") else {
          throw ServerError.notFound()
        }
        return try BlobResource.content(
          of: "VersionData", in: service.transaction.object(named: "ContentVersion"), id: id,
          service.transaction, request)
      } catch let error as ServerError {
        return OrgResponse(error)
      }
    }
  }

  private func login(_ circumstances: Circumstances) -> LoginService {
    var options = options
    if circumstances.rotatesRefreshToken { options.rotatesRefreshTokens = true }
    let users = users.map { user in
      var user = user
      user.password = passwords[user.id] ?? user.password
      return user
    }
    return LoginService(
      sessions: sessions, users: users, organizationID: organizationID, options: options,
      keys: keys, baseURL: circumstances.baseURL,
      now: transactionTime(offset: circumstances.offset))
  }

  private static func noSession(_ request: OrgRequest) -> OrgResponse {
    let isMalformed =
      request.headers["authorization"] != nil && LoginService.bearerToken(of: request) == nil
    var response = OrgResponse(isMalformed ? .invalidHeaderType() : .invalidSession())
    response.headers.append(("WWW-Authenticate", "Token"))
    return response
  }

  /// The header by which a client learns how many of the day's requests are used.
  private var usageHeader: (name: String, value: String) {
    ("Sforce-Limit-Info", "api-usage=\(script.apiRequestCount)/\(options.dailyRequests)")
  }

  /// Handles a request of a session inside one access of the database.
  func perform(
    _ request: OrgRequest, _ session: Session, _ version: Int, _ login: LoginService,
    _ circumstances: Circumstances, _ body: @escaping @Sendable (RESTService) throws -> OrgResponse
  ) async -> OrgResponse {
    if options.enforcesDailyRequests, script.apiRequestCount > options.dailyRequests {
      return OrgResponse(
        ServerError(status: 403, "REQUEST_LIMIT_EXCEEDED", "TotalRequests Limit exceeded."))
    }
    let identityURL = login.identityURL(of: session.userID)
    do {
      let isRead =
        (request.method == "GET" || request.method == "HEAD") && !request.mayMarkRecords
      let work: @Sendable (Database) throws -> OrgResponse = { database in
        var transaction = self.transaction(
          database, userID: session.userID, apiVersion: version, offset: circumstances.offset)
        transaction.baseURL = circumstances.baseURL
        transaction.duplicates.read(request)
        return try body(
          RESTService(transaction: transaction, org: self, identityURL: identityURL))
      }
      var response = try await isRead ? read(work) : database.write(work)
      response.headers.append(usageHeader)
      return response
    } catch {
      logger.error("A request failed", metadata: ["error": "\(error)"])
      return OrgResponse(
        ServerError(
          status: 500, "UNKNOWN_EXCEPTION",
          "An unexpected error occurred. Please include this ErrorId if you contact support: 1 (1)")
      )
    }
  }
}

extension Duration {
  /// The duration in seconds.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
