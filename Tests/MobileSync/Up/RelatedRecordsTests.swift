import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Do records that were made offline and refer to each other reach the server whole?
@Suite struct RelatedRecordsTests {
  private static let fields = ["Name", "ParentId", "AccountId", "ContactId", "Main__c"]

  private struct Row {
    let id: String
    var soup = Device.soup
    var type = "Account"
    var fields: JSONObject = [:]
  }

  private func makeDevice(_ org: InMemoryOrg) async throws -> Device {
    org.setClock(SalesforceDateNow.milliseconds)
    let device = try await Device.open(org)
    for soup in ["contacts", "cases"] {
      try await device.store.registerSoup(
        withName: soup,
        withIndices: [
          SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
        ])
    }
    for soup in [Device.soup, "contacts", "cases"] {
      _ = try await device.manager.createSyncUp(
        target: CollectionSyncUpTarget(),
        options: SyncOptions(mergeMode: .overwrite, fieldlist: Self.fields), soupName: soup,
        syncName: soup)
    }
    return device
  }

  private func make(_ rows: [Row], on device: Device) async throws {
    for row in rows {
      var record = row.fields
      record["Id"] = .string(row.id)
      if record["Name"] == nil { record["Name"] = .string(row.id) }
      record["attributes"] = ["type": .string(row.type)]
      record[SyncKeys.local] = true
      record[SyncKeys.locallyCreated] = true
      try await device.store.upsert(entries: [.object(record)], forSoupNamed: row.soup)
    }
  }

  /// The server's records by name; each field that refers to another shows that one's name.
  private func shape(_ org: InMemoryOrg) -> [String: [String: String]] {
    let records = ["Account", "Contact", "Case"].flatMap { org.records($0) }
    let names = Dictionary(
      records.map { ($0["Id"]?.string ?? "", $0["Name"]?.string ?? "") },
      uniquingKeysWith: { first, _ in first })
    return Dictionary(
      records.map { record in
        (
          record["Name"]?.string ?? "",
          Dictionary(
            uniqueKeysWithValues: Self.fields.dropFirst().compactMap { field in
              record[field]?.string.map { (field, names[$0] ?? "?") }
            })
        )
      }, uniquingKeysWith: { first, _ in first })
  }

  private func dirty(_ device: Device) async throws -> [String: Int] {
    try await device.manager.unsyncedRecords()
  }

  @Test
  func
    `three levels within one object are uploaded level by level, whatever their order in the soup`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(id: "local_3", fields: ["ParentId": "local_2"]),
        Row(id: "local_1"),
        Row(id: "local_2", fields: ["ParentId": "local_1"]),
        Row(id: "local_4", fields: ["ParentId": "local_1"]),
      ], on: device)
    _ = try await device.manager.reSync(named: Device.soup).finished()
    #expect(
      shape(org) == [
        "local_1": [:], "local_2": ["ParentId": "local_1"], "local_3": ["ParentId": "local_2"],
        "local_4": ["ParentId": "local_1"],
      ])
    #expect(org.requests.count == 3)
    #expect(try await dirty(device).isEmpty)
    let rows = try await device.rows()
    let parent = try #require(rows.first { $0["Name"] == "local_1" }?["Id"])
    #expect(rows.filter { $0["ParentId"] == parent }.count == 2)
  }

  @Test(.covers("BX-65.2"))
  func `soups that refer to each other are uploaded in their order, and all rows get the new ids`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(
          id: "local_c", soup: "cases", type: "Case",
          fields: ["AccountId": "local_a", "ContactId": "local_p"]),
        Row(id: "local_p", soup: "contacts", type: "Contact", fields: ["AccountId": "local_a"]),
        Row(id: "local_a"),
      ], on: device)
    let states = try await device.manager.reSyncRelated(named: ["cases", "contacts", Device.soup])
    #expect(states.map(\.soupName) == ["cases", "contacts", Device.soup])
    #expect(
      shape(org) == [
        "local_a": [:], "local_p": ["AccountId": "local_a"],
        "local_c": ["AccountId": "local_a", "ContactId": "local_p"],
      ])
    #expect(org.requests.count == 3)
    #expect(try await dirty(device).isEmpty)
    let id = try await device.store.serverId(ofLocalId: "local_a")
    #expect(id == org.records("Account").first?["Id"]?.string)
  }

  @Test func `a record waits while what it refers to has not been uploaded`() async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(id: "local_p", soup: "contacts", type: "Contact", fields: ["AccountId": "local_a"]),
        Row(id: "local_a", fields: ["Name": ""]),
      ], on: device)
    // The account is refused, having no name.
    try await device.manager.reSyncRelated(named: [Device.soup, "contacts"])
    let contacts = try #require(try await device.manager.syncStatus(forName: "contacts"))
    #expect(try await device.manager.outcomes(forId: contacts.id).map(\.kind) == [.waiting])
    #expect(try await device.manager.outcomeCounts(forId: contacts.id).skipped == 1)
    #expect(org.records("Contact").isEmpty)
    #expect(try await dirty(device) == [Device.soup: 1, "contacts": 1])

    try await device.edit("local_a", ["Name": "now"])
    try await device.manager.reSyncRelated(named: [Device.soup, "contacts"])
    #expect(shape(org) == ["now": [:], "local_p": ["AccountId": "now"]])
    #expect(try await dirty(device).isEmpty)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields], [false, true])
  func `a record that refers to itself is created, and then refers to itself on the server`(
    mode: SyncMergeMode, isResponseLost: Bool
  ) async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: mode, fieldlist: Self.fields), soupName: Device.soup,
      syncName: "own")
    try await make(
      [
        Row(
          id: "local_1",
          fields: ["Name": "self", "ParentId": "local_1", "Main__c": "local_1"]),
        Row(id: "local_2", fields: ["ParentId": "local_1"]),
      ], on: device)
    if isResponseLost {
      org.intervene { _, _ in .dropResponse }
      _ = await syncErrorCode { _ = try await device.manager.reSync(named: "own").finished() }
      org.intervene(nil)
    }
    _ = try await device.manager.reSync(named: "own").finished()
    #expect(
      shape(org) == [
        "self": ["ParentId": "self", "Main__c": "self"], "local_2": ["ParentId": "self"],
      ])
    #expect(org.records("Account").count == 2)
    #expect(try await dirty(device).isEmpty)
    let row = try #require(try await device.rows().first { $0["Name"] == "self" })
    #expect(row["ParentId"] == row["Id"] && row["Main__c"] == row["Id"])
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func
    `records that refer to each other in a circle are uploaded, the reference that closes it last`(
      mode: SyncMergeMode
    ) async throws
  {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(id: "local_1", fields: ["ParentId": "local_2"]),
        Row(id: "local_2", fields: ["ParentId": "local_1", "Main__c": "local_1"]),
      ], on: device)
    _ = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: mode, fieldlist: Self.fields),
      soupName: Device.soup
    ).finished()
    #expect(
      shape(org) == [
        "local_1": ["ParentId": "local_2"],
        "local_2": ["ParentId": "local_1", "Main__c": "local_1"],
      ])
    #expect(try await dirty(device).isEmpty)
  }

  @Test func `a circle through two soups is closed too`() async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(id: "local_a", fields: ["Main__c": "local_p"]),
        Row(id: "local_p", soup: "contacts", type: "Contact", fields: ["AccountId": "local_a"]),
      ], on: device)
    try await device.manager.reSyncRelated(named: ["contacts", Device.soup])
    #expect(
      shape(org) == ["local_a": ["Main__c": "local_p"], "local_p": ["AccountId": "local_a"]])
    #expect(try await dirty(device).isEmpty)
  }

  @Test func `an id that an app still holds after the record went up is translated`() async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make([Row(id: "local_a")], on: device)
    _ = try await device.manager.reSync(named: Device.soup).finished()
    try await make(
      [Row(id: "local_b", fields: ["ParentId": "local_a"])], on: device)
    try await device.restartProcess()
    _ = try await device.manager.reSync(named: Device.soup).finished()
    #expect(shape(org) == ["local_a": [:], "local_b": ["ParentId": "local_a"]])
  }

  @Test(arguments: 1...3)
  func `a response that is lost on any level is made up for by the next run`(
    request: Int
  ) async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make(
      [
        Row(id: "local_3", fields: ["ParentId": "local_2"]), Row(id: "local_1"),
        Row(id: "local_2", fields: ["ParentId": "local_1"]),
      ], on: device)
    org.intervene { number, _ in number == request ? .dropResponse : .none }
    _ = await syncErrorCode {
      _ = try await device.manager.reSync(named: Device.soup).finished()
    }
    org.intervene(nil)
    try await device.restartProcess()
    _ = try await device.manager.reSync(named: Device.soup).finished()
    #expect(
      shape(org) == [
        "local_1": [:], "local_2": ["ParentId": "local_1"], "local_3": ["ParentId": "local_2"],
      ])
    #expect(org.records("Account").count == 3)
    #expect(try await dirty(device).isEmpty)
  }

  @Test func `text that only looks like an id is sent as it is`() async throws {
    let org = InMemoryOrg()
    let device = try await makeDevice(org)
    try await make([Row(id: "local_a", fields: ["Name": "local_heroes"])], on: device)
    _ = try await device.manager.reSync(named: Device.soup).finished()
    #expect(org.records("Account").first?["Name"] == "local_heroes")
  }
}
