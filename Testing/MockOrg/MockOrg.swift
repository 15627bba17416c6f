import Foundation
import SalesforceSDKCommon
import GRDB
import Logging
import Synchronization

/// A Salesforce org on this machine: its records, its rules, and the responses of its API.
///
/// An org is reachable once a ``MockOrgServer`` serves it. Its state is its own: several orgs can live side
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
  let schemas: SchemaStore
  let ids = IDSequence()
  let cursors = QueryCursors()
  let jobs = BulkJobs()
  let recents = RecentItems()
  let notifications = Notifications()
  let analytics = AnalyticsLog()
  let briefcaseRules = BriefcaseRules()
  let apexEndpoints = ApexEndpoints()
  let duplicateRules = DuplicateRules()
  let sessions: Sessions
  let keys = SigningKeys()
  let script = FaultScript()
  let control: ControlState
  let users: [LoginUser]
  let passwords = Passwords()
  let logger = Logger(label: "fieldforce.mock-org")

  /// Sets up an org with the standard objects, an organization, and its users with their profiles.
  ///
  /// - Throws: ``MockOrgError`` `storage` if the options' database cannot be opened.
  public init(_ options: MockOrgOptions = MockOrgOptions()) throws(MockOrgError) {
    self.options = options
    organizationID = RecordID.make(prefix: "00D", number: 1)
    userID = RecordID.make(prefix: "005", number: 1)
    sessions = Sessions(
      organizationID: organizationID, lifetime: options.accessTokenLifetime,
      forgivesLostRefreshes: options.forgivesLostRefreshes)
    control = ControlState()
    users = Self.loginUsers(options)
    schemas = SchemaStore(
      OrgSchema(try StandardSchema.objects()), modified: options.clock.now, users: users)
    do {
      database = try Self.openDatabase(options)
    } catch {
      throw MockOrgError(
        .storage, "Cannot open the org's database \(options.database?.path ?? "in memory").",
        cause: error)
    }
    do {
      try setUp()
    } catch {
      throw MockOrgError(.storage, "Cannot set up the org's tables.", cause: error)
    }
  }

  /// The users of the options; those with the same profile share its id.
  private static func loginUsers(_ options: MockOrgOptions) -> [LoginUser] {
    var profiles: [MockOrgProfile] = []
    return ([options.user] + options.otherUsers).enumerated().map { index, user in
      if !profiles.contains(user.profile) { profiles.append(user.profile) }
      let profile = (profiles.firstIndex(of: user.profile) ?? 0) + 1
      return LoginUser(
        id: RecordID.make(prefix: "005", number: index + 1),
        profileID: RecordID.make(prefix: "00e", number: profile), profile: user.profile,
        username: user.username, password: user.password, firstName: user.firstName,
        lastName: user.lastName, email: user.email,
        identityPolicy: user.identityPolicy ?? options.identityPolicy)
    }
  }

  private static func openDatabase(_ options: MockOrgOptions) throws -> DatabaseQueue {
    let clock = options.clock
    var configuration = Configuration()
    configuration.prepareDatabase { database in
      // What a mock org holds can be made again; speed is worth more than a power failure.
      SOQLDatabase.prepare(database)
      FormulaDatabase.prepare(database, clock: clock)
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
  /// records that every org has. A database of an older version gets the columns and records that were
  /// added since.
  private func setUp() throws {
    try database.write { database in
      try KeptSchema.createTable(database)
      for object in try KeptSchema.read(database) {
        schemas.insert(
          schema.object(named: object.name).map { object.completed(by: $0) } ?? object)
      }
      var added: [String: Set<String>] = [:]
      for object in schema.objects {
        added[object.name] = Set(try TableChange(object).apply(database))
        let last = try String.fetchOne(
          database, sql: "SELECT \"Id\" FROM \(object.table.name) ORDER BY \"Id\" DESC LIMIT 1")
        if let last { ids.skip(to: last) }
      }
      try RollUpTriggers(schema).create(database)
      let original = OriginalRecords(org: self, addedColumns: added)
      try original.create(transaction(database, userID: userID))
    }
  }

  /// Looks at the database.
  ///
  /// GRDB's `read` forbids writing by a pragma, after which SQLite prepares every statement again: a GET
  /// of one record took three times as long.
  func read<T: Sendable>(_ body: @Sendable (Database) throws -> T) async throws -> T {
    try await database.unsafeRead(body)
  }

  /// The objects that the org knows now.
  var schema: OrgSchema { schemas.full }

  /// What a request on behalf of a user works with inside a database access.
  ///
  /// - Parameter offset: How far the request's time lies from the clock's.
  func transaction(
    _ database: Database, userID: String, apiVersion: Int = RESTVersions.known.upperBound,
    offset: Duration = .zero
  ) -> OrgTransaction {
    var transaction = OrgTransaction(
      database: database, schema: schemas.schema(for: userID), ids: ids, userID: userID,
      organizationID: organizationID,
      now: transactionTime(offset: offset),
      apiVersion: apiVersion, requestCount: script.apiRequestCount)
    transaction.acceptsApexClauses = options.acceptsApexClauses
    transaction.duplicates.rules = duplicateRules.all
    transaction.baseURL = control.address
    transaction.recentIDs = { [recents] in recents.items(of: userID) }
    return transaction
  }

  /// The time of a request that lies away from the clock's, as far as the clock can show it.
  func transactionTime(offset: Duration) -> Date {
    MockOrgClock.known(options.clock.now.addingTimeInterval(offset.seconds))
  }

  // MARK: Faults and log

  /// Adds a fault rule behind those that are there.
  public func add(_ fault: MockOrgFault) { script.add(fault) }

  /// Behaves from now on.
  public func removeAllFaults() { script.removeAll() }

  /// The requests that were served or dropped, oldest first.
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
