import ApexSyncTarget
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Testing

/// The targets at work: an app loads its file of syncs and talks to an org over a socket.
@Suite struct StoryTests {
  @Test func `customers are downloaded, edited offline, and uploaded again`() async throws {
    // The org's modification dates have whole seconds. If the response to an edit is lost, the
    // record on the server may be one second newer than the entry, and a sync that skips newer
    // records would leave the entry dirty.
    var options = MockOrgOptions()
    options.clock = MockOrgClock(frozenAt: Date(timeIntervalSince1970: 1_790_000_000))
    try await withMockOrg(options) { org, server in try await playStory(org, server) }
  }

  private func playStory(_ org: MockOrg, _ server: MockOrgServer) async throws {
    org.setApexEndpoint("Customers") { try await CustomersService.answer($0, $1) }
    for name in ["Acme", "Globex"] { try await org.create("Account", ["Name": .string(name)]) }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try await SmartStore.open(
      owner: .user(organizationId: "00D000000000001EAA", userId: "005000000000001AAA"),
      at: folder, encryption: .plaintext)
    try await store.registerSoup(
      withName: "customers",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: SyncKeys.syncId, type: .integer),
      ])
    let manager = try await makeManager(store, server)

    // The syncs come from the file that the app ships.
    let file = try #require(Bundle.module.url(forResource: "usersyncs", withExtension: "json"))
    let content = Array(try Data(contentsOf: file))
    let files = StoreConfigurationSource { name in name == "usersyncs.json" ? content : nil }
    let loaded = try await manager.setupSyncsFromDefaultConfig(from: files)
    #expect(loaded.problems.isEmpty && loaded.created.count == 2)

    let down = try await manager.reSync(named: "customers down").finished()
    #expect(down.totalSize == 2)
    var rows = try await self.rows(store)
    #expect(rows.compactMap { $0["Name"]?.string } == ["Acme", "Globex"])

    rows[0]["Phone"] = "555-0100"
    rows[0][SyncKeys.local] = true
    rows[0][SyncKeys.locallyUpdated] = true
    let made: JSONValue = [
      "Id": .string(manager.createLocalId()), "Name": "Initech",
      "attributes": ["type": "Account"],
      "__local__": true, "__locally_created__": true,
    ]
    try await store.upsert(entries: [rows[0], made], forSoupNamed: "customers")

    // The response is lost: the server has created the customers, but the device does not know it.
    org.add(MockOrgFault(path: "apexrest/Customers", skipping: 1, action: .dropAfterCommit))
    let lost = try await manager.reSync(named: "customers up")
    let isLost = await fails(lost)
    #expect(isLost)
    _ = try await manager.reSync(named: "customers up").finished()

    let there = try await org.query("SELECT Name, Phone FROM Account ORDER BY Name")
    #expect(there.compactMap { $0["Name"]?.string } == ["Acme", "Globex", "Initech"])
    #expect(there[0]["Phone"]?.string == "555-0100")
    let unsynced = try await manager.unsyncedRecords()
    #expect(unsynced.isEmpty)

    try await org.delete("Account", id: try #require(rows[1]["Id"]?.string))
    _ = try await manager.reSync(named: "customers down").finished()
    let ghosts = try await manager.cleanResyncGhosts(forName: "customers down")
    #expect(ghosts == 1)
    rows = try await self.rows(store)
    #expect(rows.compactMap { $0["Name"]?.string } == ["Acme", "Initech"])
    await manager.close()
    try await store.close()
  }

  private func fails(_ run: SyncRun) async -> Bool {
    do {
      _ = try await run.finished()
      return false
    } catch {
      return error is SyncError
    }
  }

  private func rows(_ store: SmartStore) async throws -> [JSONValue] {
    try await store.query(
      using: .buildAllQuerySpec(soupName: "customers", orderPath: "_soupEntryId", pageSize: 100))
  }

  private func makeManager(_ store: SmartStore, _ server: MockOrgServer) async throws -> SyncManager
  {
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: InMemoryAccountPersister(), transport: transport)
    let account = try await accounts.logIn(
      .tokens(
        accessToken: server.info.accessToken, instance: LoginServer(server.info.instanceUrl),
        app: ConnectedApp(clientId: server.info.clientId, redirectURI: server.info.redirectUri)))
    let registry = SyncTargetRegistry()
    try registry.register(CustomersDownTarget.self)
    try registry.register(CustomersUpTarget.self)
    return try await SyncManagerRegistry(registry: registry).sharedInstance(
      store: store,
      sender: RestClient(account: account, accounts: accounts, transport: transport))
  }
}

/// The class in Apex that the org would have.
enum CustomersService {
  @Sendable static func answer(
    _ request: MockOrgApexRequest, _ org: MockOrg
  ) async throws -> MockOrgApexResponse {
    switch (request.method, request.path.first) {
    case ("GET", "ids"):
      let found = try await org.query("SELECT Id FROM Account\(clause(conditions(request)))")
      return MockOrgApexResponse(json: .array(found.compactMap { $0["Id"]?.value }))
    case ("GET", _):
      var conditions = conditions(request)
      if let since = request[query: "since"] { conditions.append("LastModifiedDate > \(since)") }
      if let date = request[query: "afterDate"], let id = request[query: "afterId"] {
        conditions.append(
          "(LastModifiedDate > \(date) OR (LastModifiedDate = \(date) AND Id > '\(id)'))")
      }
      let found = try await org.query(
        "SELECT Id, Name, Phone, LastModifiedDate FROM Account\(clause(conditions)) "
          + "ORDER BY LastModifiedDate, Id LIMIT \(pageSize + 1)")
      let page = found.prefix(pageSize)
      var next: JSONValue = .null
      if found.count > pageSize, let last = page.last {
        next = ["date": last["LastModifiedDate"]?.value ?? .null, "id": last["Id"]?.value ?? .null]
      }
      return MockOrgApexResponse(
        json: [
          "customers": .array(page.map(\.value)), "next": next,
          "total": .integer(Int64(try await org.count("Account"))),
        ])
    case ("POST", "dates"):
      var dates = JSONObject()
      for id in try request.json()["ids"]?.elements.compactMap(\.string) ?? [] {
        let found = try await org.query("SELECT LastModifiedDate FROM Account WHERE Id = '\(id)'")
        dates[id] = found.first?["LastModifiedDate"]?.value
      }
      return MockOrgApexResponse(json: .object(dates))
    case ("POST", "made"):
      var made = JSONObject()
      for key in try request.json()["keys"]?.elements.compactMap(\.string) ?? [] {
        let found = try await org.query("SELECT Id FROM Account WHERE AccountNumber = '\(key)'")
        made[key] = found.first?["Id"]?.value
      }
      return MockOrgApexResponse(json: .object(made))
    default:
      var results: [JSONValue] = []
      for change in try request.json()["changes"]?.elements.map(\.value) ?? [] {
        results.append(await apply(change, org))
      }
      return MockOrgApexResponse(json: ["results": .array(results)])
    }
  }

  /// Small, so that a story has several pages.
  private static let pageSize = 1

  private static func conditions(_ request: MockOrgApexRequest) -> [String] {
    request[query: "region"].map { ["BillingState = '\($0)'"] } ?? []
  }

  private static func clause(_ conditions: [String]) -> String {
    conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
  }

  private static func apply(_ change: JSONValue, _ org: MockOrg) async -> JSONValue {
    var fields = change["fields"] ?? [:]
    let id = change["id"]?.string ?? ""
    do {
      switch change["kind"]?.string {
      case "create":
        fields["AccountNumber"] = change["key"]
        return ["status": "done", "id": .string(try await org.create("Account", fields))]
      case "update": try await org.update("Account", id: id, fields)
      default: try await org.delete("Account", id: id)
      }
      return ["status": "done", "id": .string(id)]
    } catch {
      let isGone = error.message.hasPrefix("ENTITY_IS_DELETED")
      return [
        "status": isGone ? "gone" : "refused", "error": ["message": .string(error.message)],
      ]
    }
  }
}
