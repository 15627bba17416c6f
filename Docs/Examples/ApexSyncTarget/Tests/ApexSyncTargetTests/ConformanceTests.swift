import ApexSyncTarget
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Testing

/// Do the two targets keep what sync guarantees? One line each; the endpoint is played in memory.
@Suite struct ConformanceTests {
  @Test(
    arguments: SyncDownConformance(
      CustomersDownTarget(), requests: { ($0 + 1_999) / 2_000 },
      prepare: { device, _ in device.org.playCustomers() }
    ).cases)
  func `the down target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }

  @Test(
    arguments: SyncUpConformance(
      CustomersUpTarget(),
      requests: { count, mode in (count + 49) / 50 + (mode == .leaveIfChanged ? 1 : 0) },
      prepare: { device in device.org.playCustomers() }
    ).cases)
  func `the up target`(_ guarantee: SyncConformanceCase) async throws {
    try await guarantee.check()
  }
}

/// Does the target keep to its region?
@Suite struct RegionTests {
  @Test func `customers of other regions do not come, and one that leaves the region is a ghost`()
    async throws
  {
    let org = InMemoryOrg()
    org.playCustomers()
    let ids = ["North", "North", "South"].map {
      org.create("Account", ["Name": .string($0), "Region": .string($0)])
    }
    let device = try await Device.open(org) { registry in
      try registry.register(CustomersDownTarget.self)
    }
    let sync = try await device.manager.syncDown(
      target: CustomersDownTarget(region: "North"), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == Array(ids.prefix(2)))
    org.update("Account", ids[0], ["Region": "South"])
    #expect(try await device.manager.cleanResyncGhosts(forId: sync.id) == 1)
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == [ids[1]])
  }
}

/// A response of another form says nothing about any customer: the next run requests it again.
@Suite struct ForeignResponseTests {
  private func up(_ device: Device) async throws {
    let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"])
    _ = try await device.manager.syncUp(
      target: CustomersUpTarget(), options: options, soupName: Device.soup
    ).finished()
  }

  private func device(_ org: InMemoryOrg) async throws -> Device {
    org.playCustomers()
    return try await Device.open(org) { try $0.register(CustomersUpTarget.self) }
  }

  @Test func `a list in the place of dates removes no customer`() async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await device(org)
    try await device.download([id])
    try await device.delete(id)
    org.intervene { _, request in
      request.line.hasSuffix("/dates") ? .response(status: 200, body: "[]") : .none
    }
    await #expect(throws: SyncError.self) { try await up(device) }
    #expect(try await device.dirtyRows().count == 1)
    org.intervene(nil)
    try await up(device)
    #expect(org.records("Account").isEmpty)
  }

  @Test func `a list in the place of what was made makes nothing twice`() async throws {
    let org = InMemoryOrg()
    let device = try await device(org)
    try await device.create([["Id": "local_1", "Name": "a"]])
    org.intervene { _, _ in .dropResponse }
    await #expect(throws: SyncError.self) { try await up(device) }
    org.intervene { _, request in
      request.line.hasSuffix("/made") ? .response(status: 200, body: "[]") : .none
    }
    await #expect(throws: SyncError.self) { try await up(device) }
    org.intervene(nil)
    try await up(device)
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }
}

extension InMemoryOrg {
  /// The endpoint, over accounts.
  func playCustomers() {
    let pageSize = pageSize
    @Sendable func customers(
      _ records: Records, _ request: Request
    ) -> [JSONObject] {
      records.all("Account").filter {
        request.query["region"] == nil || $0["Region"]?.string == request.query["region"]
      }
    }
    respond(to: "GET /services/apexrest/Customers/ids") { records, request in
      (200, .array(customers(records, request).compactMap { $0["Id"] }))
    }
    respond(to: "GET /services/apexrest/Customers") { records, request in
      func place(_ record: JSONObject) -> (String, String) {
        (record["LastModifiedDate"]?.string ?? "", record["Id"]?.string ?? "")
      }
      var found = customers(records, request).sorted { place($0) < place($1) }
      if let since = request.query["since"] { found.removeAll { place($0).0 <= since } }
      if let date = request.query["afterDate"], let id = request.query["afterId"] {
        found.removeAll { place($0) <= (date, id) }
      }
      let page = found.prefix(pageSize)
      var next: JSONValue = .null
      if found.count > pageSize, let last = page.last.map(place) {
        next = ["date": .string(last.0), "id": .string(last.1)]
      }
      return (
        200,
        [
          "customers": .array(page.map { .object($0) }), "total": .integer(Int64(found.count)),
          "next": next,
        ]
      )
    }
    respond(to: "POST /services/apexrest/Customers/dates") { records, request in
      let ids = try JSONValue(parsing: request.body)["ids"]?.array ?? []
      var dates = JSONObject()
      for id in ids.compactMap(\.string) {
        dates[id] = records.record("Account", id)?["LastModifiedDate"]
      }
      return (200, .object(dates))
    }
    respond(to: "POST /services/apexrest/Customers/made") { records, request in
      let keys = try JSONValue(parsing: request.body)["keys"]?.array ?? []
      var made = JSONObject()
      for record in records.all("Account") {
        if let key = record["AccountNumber"], keys.contains(key) {
          made[key.string ?? ""] = record["Id"]
        }
      }
      return (200, .object(made))
    }
    respond(to: "POST /services/apexrest/Customers") { records, request in
      let changes = try JSONValue(parsing: request.body)["changes"]?.array ?? []
      return (200, ["results": .array(changes.map { Self.apply($0, &records) })])
    }
  }

  private static func apply(_ change: JSONValue, _ records: inout Records) -> JSONValue {
    var fields = change["fields"]?.object ?? [:]
    if fields["Name"]?.string?.isEmpty == true {
      return ["status": "refused", "error": ["message": "a customer needs a name"]]
    }
    let id = change["id"]?.string ?? ""
    switch change["kind"]?.string {
    case "create":
      fields["AccountNumber"] = change["key"]
      return ["status": "done", "id": .string(records.create("Account", fields))]
    case _ where records.record("Account", id) == nil:
      return ["status": "gone", "error": ["message": "there is no such customer"]]
    case "update": records.update("Account", id, fields)
    default: records.delete("Account", id)
    }
    return ["status": "done", "id": .string(id)]
  }
}
