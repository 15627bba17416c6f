import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Does a field that is added to a sync reach the records that are there already?
@Suite struct FieldBackfillTests {
  private static let wider = "select Id, Name, Phone, Rating, LastModifiedDate from Account"

  private func synced(
    _ mode: SyncMergeMode = .leaveIfChanged
  ) async throws -> (InMemoryOrg, Device, [String]) {
    let org = InMemoryOrg()
    org.pageSize = 4
    let ids = (0..<10).map { number in
      org.create("Account", ["Name": .string("n\(number)"), "Phone": "1", "Rating": "Hot"])
    }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.reSync(named: "down").finished()
    org.forgetRequests()
    return (org, device, ids)
  }

  private func widen(_ device: Device, to query: String = wider) async throws {
    let sync = try #require(try await device.manager.syncStatus(forName: "down"))
    try await device.manager.changeSyncDown(
      forId: sync.id, to: try SoqlSyncDownTarget(query: query))
  }

  private func run(_ device: Device) async throws {
    _ = try await device.manager.reSync(named: "down").finished()
  }

  @Test(arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `the new field alone is fetched, then what has changed, and once only`(
    mode: SyncMergeMode
  ) async throws {
    let (org, device, ids) = try await synced(mode)
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[9], ["Name": "changed"])
    try await widen(device)
    try await run(device)
    let rows = try await device.rows()
    #expect(rows.allSatisfy { $0["Rating"] == "Hot" })
    #expect(rows.first { $0["Id"]?.string == ids[0] }?["Name"] == "mine")
    #expect(rows.first { $0["Id"]?.string == ids[9] }?["Name"] == "changed")
    #expect(try await device.dirtyRows().count == 1)
    // Three pages of the new field, one of what has changed.
    #expect(org.requests.count == 4)
    #expect(org.requests.first?.query["q"]?.contains("Phone") == false)
    org.forgetRequests()
    try await run(device)
    #expect(org.requests.count == 1)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test(arguments: 1...4)
  func `a back-fill that is interrupted at any request is made up for by the next run`(
    request: Int
  ) async throws {
    let (org, device, _) = try await synced()
    try await widen(device)
    org.intervene { number, _ in number == request ? .unreachable : .none }
    _ = await syncErrorCode { try await run(device) }
    org.intervene(nil)
    try await device.restartProcess()
    try await run(device)
    #expect(try await device.rows().allSatisfy { $0["Rating"] == "Hot" })
  }

  /// A device with a back-fill that the server refuses, since there is no such field.
  private func refused() async throws -> (InMemoryOrg, Device, [String]) {
    let (org, device, ids) = try await synced()
    org.intervene { _, request in
      request.query["q"]?.contains("Raiting") == true
        ? .response(status: 400, body: #"[{"errorCode":"INVALID_FIELD"}]"#) : .none
    }
    try await widen(device, to: Self.wider.replacing("Rating", with: "Raiting"))
    #expect(await syncErrorCode { try await run(device) } == .failed)
    return (org, device, ids)
  }

  @Test func `a field that does not exist is not asked for once the query is corrected`()
    async throws
  {
    let (org, device, ids) = try await refused()
    org.update("Account", ids[0], ["Name": "changed"])
    try await widen(device)
    try await run(device)
    #expect(try await device.rows().allSatisfy { $0["Rating"] == "Hot" })
    #expect(try await device.row("Id", ids[0])?["Name"] == "changed")
  }

  @Test func `a query that was changed back runs as it did`() async throws {
    let (org, device, ids) = try await refused()
    org.update("Account", ids[0], ["Name": "changed"])
    try await widen(device, to: Device.query)
    let sync = try #require(try await device.manager.syncStatus(forName: "down"))
    #expect(sync.fieldsToBackfill.isEmpty && sync.maxTimeStamp > 0)
    org.forgetRequests()
    try await run(device)
    #expect(org.requests.count == 1)
    #expect(try await device.row("Id", ids[0])?["Name"] == "changed")
  }

  @Test(arguments: [false, true])
  func `a field of a related record is added to those that are there`(isEdited: Bool) async throws {
    let org = InMemoryOrg()
    org.intervene { _, request in
      let query = request.query["q"] ?? ""
      let owner = ["Name", "Email"].filter { query.contains("Owner.\($0)") }
        .map { #""\#($0)": "x""# }.joined(separator: ", ")
      let record =
        query.contains(" > ")
        ? ""
        : #"{"Id": "001a", "Name": "n", "LastModifiedDate": "2026-01-01T00:00:00.000+0000", "#
          + #""Owner": {\#(owner)}}"#
      return .response(status: 200, body: #"{"done": true, "records": [\#(record)]}"#)
    }
    let device = try await Device.open(org)
    let query = "select Id, Name, Owner.Name, LastModifiedDate from Account"
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: query), options: SyncOptions(mergeMode: .mergeFields),
      soupName: Device.soup, syncName: "down")
    try await run(device)
    if isEdited { try await device.edit("001a", ["Name": "mine"]) }
    try await widen(
      device, to: "select Id, Name, Owner.Name, Owner.Email, LastModifiedDate from Account")
    try await run(device)
    let row = try #require(try await device.row("001a"))
    #expect(row["Owner"] == ["Name": "x", "Email": "x"])
    #expect(row["Name"]?.string == (isEdited ? "mine" : "n"))
    let base = try await device.store.query(
      using: .buildAllQuerySpec(soupName: "syncs_bases", pageSize: 10)
    ).first { $0["base"] != nil }
    #expect(base?["base"]?["Owner"] == row["Owner"])
  }

  @Test func `a query that is changed twice before it runs brings all that is new`() async throws {
    let (org, device, _) = try await synced()
    try await widen(device)
    try await widen(device, to: Self.wider.replacing("Rating", with: "Rating, Phone2"))
    try await device.restartProcess()
    let sync = try #require(try await device.manager.syncStatus(forName: "down"))
    #expect(sync.fieldsToBackfill == ["Rating", "Phone2"])
    try await run(device)
    #expect(try await device.rows().allSatisfy { $0["Rating"] == "Hot" && $0["Phone2"] != nil })
    org.forgetRequests()
    try await run(device)
    #expect(org.requests.count == 1)
  }

  @Test func `a query that brings other records starts from the beginning`() async throws {
    let (org, device, _) = try await synced()
    try await widen(device, to: Self.wider + " where Phone = '1'")
    let sync = try #require(try await device.manager.syncStatus(forName: "down"))
    #expect(sync.maxTimeStamp == -1 && sync.fieldsToBackfill.isEmpty)
    try await run(device)
    #expect(try await device.rows().allSatisfy { $0["Rating"] == "Hot" })
    #expect(org.requests.count == 3)
  }

  @Test func `a sync up cannot be given a sync down target`() async throws {
    let (_, device, _) = try await synced()
    let up = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    #expect(
      await syncErrorCode {
        try await device.manager.changeSyncDown(
          forId: up.id, to: try SoqlSyncDownTarget(query: Self.wider))
      } == .invalidTarget)
  }
}
