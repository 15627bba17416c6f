import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct CollectionSyncUpTargetTests {
  private func run(
    _ device: Device, _ target: CollectionSyncUpTarget = CollectionSyncUpTarget(),
    _ fields: [String] = ["Name"], _ mode: SyncMergeMode = .overwrite
  ) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: fields),
      soupName: Device.soup)
  }

  private func row(_ type: String, _ id: String, _ flag: String, _ more: JSONObject = [:])
    -> JSONValue
  {
    var row: JSONObject = [
      "Id": .string(id), "Name": .string(id), "attributes": ["type": .string(type)],
      SyncKeys.local: true,
    ]
    row[flag] = true
    for (key, value) in more { row[key] = value }
    return .object(row)
  }

  @Test(.covers("MS-229", "MS-230", "MS-231", "MS-364"))
  func `kinds are uploaded in order and attributes stand first`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: [
        row("Account", "0015", SyncKeys.locallyDeleted),
        row("Account", "local_1", SyncKeys.locallyCreated, ["Ext__c": "e1"]),
        row("Account", "0016", SyncKeys.locallyUpdated),
        row("Account", "local_2", SyncKeys.locallyCreated),
      ], forSoupNamed: Device.soup)
    let target = CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await run(device, target, ["Name", "Ext__c"]).finished()
    // The updated record does not exist on this server, so it is created again at the end.
    #expect(
      org.lines == [
        "POST /{v}/composite/sobjects", "PATCH /{v}/composite/sobjects",
        "PATCH /{v}/composite/sobjects/Account/Ext__c", "DELETE /{v}/composite/sobjects",
        "POST /{v}/composite/sobjects",
      ])
    let bodies = org.requests.map(\.body)
    #expect(
      bodies[0]
        == #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Name":"local_2"}]}"#)
    #expect(
      bodies[1]
        == #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Id":"0016","Name":"0016"}]}"#
    )
    #expect(
      bodies[2]
        == #"{"allOrNone":false,"records":[{"attributes":{"type":"Account"},"Ext__c":"e1","Name":"local_1"}]}"#
    )
    #expect(org.requests[3].query == ["allOrNone": "false", "ids": "0015"])
    #expect(org.requests[0].headers["Content-Type"] == "application/json")
  }

  @Test(.covers("MS-232", "MS-233"))
  func `types are grouped inside a request, upserts have one each`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: ["A", "B", "A", "B"].enumerated().flatMap { index, type in
        [
          row(type, "local_\(index)", SyncKeys.locallyCreated),
          row(type, "local_x\(index)", SyncKeys.locallyCreated, ["Ext__c": .string("\(index)")]),
        ]
      }, forSoupNamed: Device.soup)
    let target = CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await run(device, target).finished()
    #expect(
      org.lines == [
        "POST /{v}/composite/sobjects", "PATCH /{v}/composite/sobjects/A/Ext__c",
        "PATCH /{v}/composite/sobjects/B/Ext__c",
      ])
    let names = try JSONValue(parsing: org.requests[0].body)["records"]?.array?
      .compactMap { $0["Name"]?.string }
    #expect(names == ["local_0", "local_2", "local_1", "local_3"])
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-233"))
  func `more than ten types are sent in several requests`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: (0..<11).map { row("T\($0)", "local_\($0)", SyncKeys.locallyCreated) },
      forSoupNamed: Device.soup)
    _ = try await run(device).finished()
    #expect(org.requests.count == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("BX-59.1", "BX-64", "MS-200"))
  func `dates are requested in bulk, not for records created locally`()
    async throws
  {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: [
        row(
          "Account", id, SyncKeys.locallyUpdated,
          ["LastModifiedDate": "2015-01-01T00:00:00.000+0000"]),
        row("Account", "local_1", SyncKeys.locallyCreated),
      ], forSoupNamed: Device.soup)
    _ = try await run(device, CollectionSyncUpTarget(), ["Name"], .leaveIfChanged).finished()
    #expect(org.lines == ["POST /{v}/composite/sobjects/Account", "POST /{v}/composite/sobjects"])
    #expect(org.requests[0].body == #"{"ids":["\#(id)"],"fields":["LastModifiedDate","Name"]}"#)
    #expect(org.record("Account", id)?["Name"] == "a")
  }

  @Test(.covers("BX-59.2", "MS-202"))
  func `more than 2,000 edits are compared in several requests, each with the dates of its own`()
    async throws
  {
    let org = InMemoryOrg()
    let ids = (0..<2_003).map { org.create("Account", ["Name": .string("\($0)")]) }
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: ids.map { id in
        let date = org.record("Account", id)?["LastModifiedDate"] ?? .null
        return row(
          "Account", id, SyncKeys.locallyUpdated, ["Name": "mine", "LastModifiedDate": date])
      }, forSoupNamed: Device.soup)
    let others = [ids[0], ids[1_999], ids[2_001]]
    for id in others { org.update("Account", id, ["Name": "theirs"]) }
    let run = try await run(device, CollectionSyncUpTarget(), ["Name"], .leaveIfChanged)
    #expect(try await run.finished().totalSize == 2_003)
    let asked = org.requests.filter { $0.line == "POST /{v}/composite/sobjects/Account" }
    #expect(try asked.map { try JSONValue(parsing: $0.body)["ids"]?.array?.count } == [2_000, 3])
    for record in org.records("Account") {
      let isTheirs = others.contains(record["Id"]?.string ?? "")
      #expect(record["Name"] == (isTheirs ? "theirs" : "mine"))
    }
    #expect(Set(try await device.dirtyRows().compactMap { $0["Id"]?.string }) == Set(others))
  }

  @Test(
    .covers("MS-214", "MS-228"),
    arguments: [(nil, 200), (0, 200), (-1, 200), (200, 200), (201, 200), (25, 25)]
      as [(Int64?, Int)])
  func `the batch size is at most 200`(given: Int64?, expected: Int) throws {
    var configuration: JSONObject = [:]
    configuration["maxBatchSize"] = given.map { .integer($0) }
    #expect(try CollectionSyncUpTarget(configuration: configuration).maxBatchSize == expected)
  }

  @Test(.covers("MS-258", "MS-259", "MS-266"))
  func `the stored form names class and lists, and reads back equal`()
    throws
  {
    let target = CollectionSyncUpTarget(
      fields: SyncUpFields(
        createFieldlist: ["A"], updateFieldlist: [], externalIdFieldName: "Ext__c"),
      maxBatchSize: 100)
    #expect(
      JSONValue.object(target.json) == [
        "maxBatchSize": 100, "createFieldlist": ["A"], "updateFieldlist": [],
        "externalIdFieldName": "Ext__c", "type": "rest", "iOSImpl": "SFCollectionSyncUpTarget",
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try CollectionSyncUpTarget(configuration: target.json) == target)
  }

  @Test(.covers("MS-267"), arguments: ["createFieldlist", "updateFieldlist"])
  func `a field list that is none is refused by its key`(key: String) {
    #expect {
      try CollectionSyncUpTarget(configuration: [key: [1]])
    } throws: { error in
      (error as? SyncError)?.message.contains("'\(key)'") == true
    }
  }

  @Test(.covers("MS-236"))
  func `a lookup that points nowhere is tried once more and then refused`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: [row("Account", "0019", SyncKeys.locallyUpdated)], forSoupNamed: Device.soup)
    let refusal =
      #"[{"success":false,"errors":[{"statusCode":"INVALID_CROSS_REFERENCE_KEY","message":"x","fields":[]}]}]"#
    org.intervene { _, _ in .response(status: 200, body: refusal) }
    let run = try await run(device)
    _ = try await run.finished()
    #expect(org.lines == ["PATCH /{v}/composite/sobjects", "POST /{v}/composite/sobjects"])
    let stored = try #require(try await device.rows().first)
    #expect(stored[SyncKeys.local] == true && stored["Id"] == "0019")
    #expect(stored[SyncKeys.lastError]?.string?.contains("INVALID_CROSS_REFERENCE_KEY") == true)
  }
}
