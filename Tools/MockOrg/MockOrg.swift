import Foundation
import SalesforceSDKCommon
import GRDB
import Logging
import Synchronization

/// A Salesforce org on this machine: its records, its rules, and the answers of its API.
///
/// An org answers once a ``MockOrgServer`` serves it. Its state is its own: several orgs can live side
/// by side in one process.
///
/// ```swift
/// let org = try MockOrg()
/// try await org.load(plan: planFile)
/// let server = try await MockOrgServer.start(org)
/// ```
public final class MockOrg: Sendable {
  /// How the org was set up.
  public let options: MockOrgOptions
  /// The 18-character id of the org.
  public let organizationID: String
  /// The 18-character id of the user that the options describe.
  public let userID: String

  let database: DatabaseQueue
  let schemaState: Mutex<OrgSchema>
  let ids = IDSequence()
  let cursors = QueryCursors()
  let jobs = BulkJobs()
  let sessions: Sessions
  let script = FaultScript()
  let users: [LoginUser]
  private let logger = Logger(label: "fieldforce.mock-org")

  /// Sets up an org with the standard objects, an organization, a profile and a user.
  ///
  /// - Throws: ``MockOrgError`` `storage` if the options' database cannot be opened.
  public init(_ options: MockOrgOptions = MockOrgOptions()) throws(MockOrgError) {
    self.options = options
    organizationID = RecordID.make(prefix: "00D", number: 1)
    userID = RecordID.make(prefix: "005", number: 1)
    sessions = Sessions(
      organizationID: organizationID, lifetime: options.accessTokenLifetime)
    let user = options.user
    users = [
      LoginUser(
        id: userID, username: user.username, password: user.password, firstName: user.firstName,
        lastName: user.lastName, email: user.email)
    ]
    let objects = try StandardSchema.objects()
    schemaState = Mutex(OrgSchema(objects))
    do {
      database = try Self.openDatabase(options)
    } catch {
      throw MockOrgError(
        .storage, "Cannot open the org's database \(options.database?.path ?? "in memory").",
        cause: error)
    }
    do {
      try setUp(objects)
    } catch {
      throw MockOrgError(.storage, "Cannot set up the org's tables.", cause: error)
    }
  }

  private static func openDatabase(_ options: MockOrgOptions) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      // What a mock org holds can be made again; speed is worth more than a power failure.
      SOQLDatabase.prepare(database)
      try database.execute(sql: "PRAGMA synchronous = OFF")
      try database.execute(sql: "PRAGMA temp_store = MEMORY")
      try database.execute(sql: "PRAGMA cache_size = -65536")
    }
    guard let file = options.database else {
      return try DatabaseQueue(configuration: configuration)
    }
    return try DatabaseQueue(path: file.path, configuration: configuration)
  }

  /// Makes the tables, takes up the objects and ids of a database that was here before, and makes the
  /// records that every org has.
  private func setUp(_ objects: [ObjectSchema]) throws {
    try database.write { database in
      try KeptSchema.createTable(database)
      for object in try KeptSchema.read(database) { schemaState.withLock { $0.insert(object) } }
      let schema = schema
      for object in schema.objects {
        for sql in object.table.create { try database.execute(sql: sql) }
        let last = try String.fetchOne(
          database, sql: "SELECT \"Id\" FROM \(object.table.name) ORDER BY \"Id\" DESC LIMIT 1")
        if let last { ids.skip(to: last) }
      }
      let isNew = try String.fetchOne(database, sql: "SELECT \"Id\" FROM \"User\" LIMIT 1") == nil
      if isNew { try OriginalRecords(org: self).create(transaction(database, userID: userID)) }
    }
  }

  /// The objects that the org knows now.
  var schema: OrgSchema { schemaState.withLock { $0 } }

  /// What a request on behalf of a user works with inside a database access.
  func transaction(
    _ database: Database, userID: String, apiVersion: Int = RESTService.versions.upperBound
  ) -> OrgTransaction {
    OrgTransaction(
      database: database, schema: schema, ids: ids, userID: userID,
      organizationID: organizationID, now: options.clock.now, apiVersion: apiVersion,
      requestCount: script.requestCount)
  }

  // MARK: Answering

  /// Answers a request as far as it goes without faults.
  ///
  /// - Parameter baseURL: Where the client reached the org.
  func answer(_ request: OrgRequest, baseURL: String) async -> OrgAnswer {
    let login = LoginService(
      sessions: sessions, users: users, organizationID: organizationID, options: options,
      baseURL: baseURL, now: options.clock.now)
    if let answer = login.answer(request) { return answer }
    guard request.path.starts(with: ["services", "data"]) else { return OrgAnswer(.notFound()) }
    let path = request.path.dropFirst(2)
    if path.isEmpty {
      return request.method == "GET" || request.method == "HEAD"
        ? RESTService.versionList()
        : OrgAnswer(.methodNotAllowed(request.method, allowed: "GET,HEAD"))
    }
    guard let session = login.session(of: request) else {
      var answer = OrgAnswer(.invalidSession())
      answer.headers.append(("WWW-Authenticate", "Token"))
      return answer
    }
    guard let version = RESTService.version(path.first) else { return OrgAnswer(.notFound()) }
    let identityURL = login.identityURL(of: session.userID)
    do {
      let isRead =
        (request.method == "GET" || request.method == "HEAD") && !request.mayMarkRecords
      let work: @Sendable (Database) throws -> OrgAnswer = { database in
        try RESTService(
          transaction: self.transaction(database, userID: session.userID, apiVersion: version),
          org: self, identityURL: identityURL
        ).answer(request, path: Array(path.dropFirst()))
      }
      var answer = try await isRead ? database.read(work) : database.write(work)
      answer.headers.append(("Sforce-Limit-Info", "api-usage=\(script.requestCount)/15000"))
      return answer
    } catch {
      logger.error("A request failed", metadata: ["error": "\(error)"])
      return OrgAnswer(
        ServerError(
          status: 500, "UNKNOWN_EXCEPTION",
          "An unexpected error occurred. Please include this ErrorId if you contact support: 1 (1)")
      )
    }
  }

  // MARK: Faults and log

  /// Adds a rule of misbehaviour behind those that are there.
  public func add(_ fault: MockOrgFault) { script.add(fault) }

  /// Behaves from now on.
  public func removeAllFaults() { script.removeAll() }

  /// The requests that were answered or dropped, oldest first.
  public var requestLog: [MockOrgRequestRecord] { script.log }

  /// Forgets the requests so far.
  public func clearRequestLog() { script.clearLog() }

  /// Ends all access tokens: every client has to refresh.
  public func expireAccessTokens() { sessions.expireAccessTokens() }

  /// Ends all access and refresh tokens: every client has to log in again.
  public func revokeAllTokens() {
    sessions.expireAccessTokens()
    sessions.revokeRefreshTokens()
  }
}
