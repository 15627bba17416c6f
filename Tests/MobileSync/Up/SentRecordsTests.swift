import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// What exactly is uploaded, in which order, and what stays in the rows?
@Suite struct SentRecordsTests {
  private func names(_ request: InMemoryOrg.Request) throws -> [String] {
    try JSONValue(parsing: request.body)["records"]?.array?.compactMap { $0["Name"]?.string } ?? []
  }

  @Test(.covers("MS-65"))
  func `records are uploaded by the numbers of their entries`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let all = (1...12).map { "n\($0)" }
    try await device.create(all.map { ["Name": .string($0)] })
    _ = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(maxBatchSize: 5),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    #expect(try device.org.requests.flatMap(names) == all)
  }

  @Test(.covers("MS-69"))
  func `a record that went up keeps its sync, its other fields and its entry`()
    async throws
  {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    let down = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.edit(id, ["Name": "b", "own": "kept", SyncKeys.lastError: "old"])
    let before = try #require(try await device.row("Id", id))
    _ = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    let after = try #require(try await device.row("Id", id))
    #expect(after[SyncKeys.syncId] == .integer(down.id))
    #expect(after["own"] == "kept" && after["_soupEntryId"] == before["_soupEntryId"])
    #expect(after[SyncKeys.lastError] == nil && after[SyncKeys.local] == false)
  }

  @Test(.covers("MS-39", "BX-59.1", "BX-73"))
  func `a sync up without a target sends collections`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "a"]])
    let state = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    #expect(device.org.lines == ["POST /{v}/composite/sobjects"])
    #expect(state.target["iOSImpl"] == "SFCollectionSyncUpTarget")
  }

  @Test(.covers("MS-76"))
  func `a field of one's own finds the record, and is sent as Id in collections`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.registerSoup("keyed", "Key__c")
    try await device.store.upsert(
      entries: [
        [
          "Key__c": "k1", "Name": "mine", "Stamp__c": "2020-01-01T00:00:00.000+0000",
          "attributes": ["type": "Account"], "__local__": true, "__locally_updated__": true,
        ]
      ], forSoupNamed: "keyed")
    let target = CollectionSyncUpTarget(
      idFieldName: "Key__c", modificationDateFieldName: "Stamp__c")
    _ = try await device.manager.syncUp(
      target: target,
      options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Key__c", "Name", "Stamp__c"]),
      soupName: "keyed"
    ).finished()
    // The org does not know it, so the comparison is all that is sent.
    #expect(org.requests.count == 1)
    #expect(org.requests[0].body == #"{"ids":["k1"],"fields":["Stamp__c","Name"]}"#)
    _ = try await device.manager.syncUp(
      target: target,
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Key__c", "Name", "Stamp__c"]),
      soupName: "keyed"
    ).finished()
    let sent = try JSONValue(parsing: org.requests[1].body)["records"]?.array?.first
    #expect(sent?["Id"] == "k1" && sent?["Name"] == "mine")
    #expect(sent?["Key__c"] == nil && sent?["Stamp__c"] == nil)
  }

  static let targets: [any SyncUpTarget] = [
    BasicSyncUpTarget(), BatchSyncUpTarget(), CollectionSyncUpTarget(),
  ]

  @Test(.covers("MS-307", "MS-203"), arguments: targets.indices)
  func `bodies are JSON, and say so; dates are requested before anything is sent`(
    target: Int
  ) async throws {
    let org = InMemoryOrg()
    let ids = (0..<3).map { org.create("Account", ["Name": .string("\($0)")]) }
    let device = try await Device.open(org)
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    try await run(Self.targets[target], device)
    for request in org.requests where !request.body.isEmpty {
      #expect(request.headers["Content-Type"]?.hasPrefix("application/json") == true)
      #expect(throws: Never.self) { try JSONValue(parsing: request.body) }
    }
    let writes = org.requests.map { request in
      request.line.hasPrefix("PATCH") || request.line == "POST /{v}/composite"
    }
    #expect(writes.firstIndex(of: true) ?? 0 > writes.lastIndex(of: false) ?? 9)
    #expect(org.records("Account").allSatisfy { $0["Name"] == "mine" })
  }

  private func run(_ target: some SyncUpTarget, _ device: Device) async throws {
    _ = try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]),
      soupName: Device.soup
    ).finished()
  }

  @Test(.covers("MS-309"), arguments: [200, 201, 204, 299])
  func `every status from 200 to 299 is success`(status: Int) {
    #expect(
      SyncUpOutcome(status: status, body: nil, error: nil, of: .update) == .succeeded(id: nil))
  }

  @Test(.covers("MS-224"))
  func `a composite response is read part by part`() async throws {
    let org = InMemoryOrg()
    let ids = (0..<4).map { org.create("Account", ["Name": .string("\($0)")]) }
    let device = try await Device.open(org)
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    func part(_ id: String, _ status: Int, _ body: JSONValue) -> JSONValue {
      ["referenceId": .string(id), "httpStatusCode": .integer(Int64(status)), "body": body]
    }
    let answer: JSONValue = [
      "compositeResponse": [
        part(ids[0], 204, .null), part(ids[1], 404, [["errorCode": "NOT_FOUND"]]),
        part(ids[2], 400, [["errorCode": "FIRST", "message": "one"], ["errorCode": "SECOND"]]),
        part(ids[3], 200, ["id": .string(ids[3])]),
      ]
    ]
    org.intervene { _, request in
      request.line == "POST /{v}/composite" ? .response(status: 200, body: answer.text) : .none
    }
    let state = try await device.manager.syncUp(
      target: BatchSyncUpTarget(),
      options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    #expect(
      try await device.manager.outcomes(forId: state.id).map(\.kind)
        == [.succeeded, .rejected, .rejected, .succeeded])
    let refused = try await device.row("Id", ids[2])?[SyncKeys.lastError]?.string ?? ""
    #expect(try JSONValue(parsing: refused)["errorCode"] == "FIRST")
  }

  @Test(.covers("MS-235", "BX-62.2"))
  func `a collection's response is read by position`() async throws {
    let org = InMemoryOrg()
    let ids = (0..<4).map { org.create("Account", ["Name": .string("\($0)")]) }
    let device = try await Device.open(org)
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    func refusal(_ code: String) -> JSONValue {
      ["success": false, "errors": [["statusCode": .string(code), "message": "no"]]]
    }
    let answer: JSONValue = [
      ["id": .string(ids[0]), "success": true], refusal("ENTITY_IS_DELETED"),
      refusal("INVALID_CROSS_REFERENCE_KEY"), refusal("STRING_TOO_LONG"),
    ]
    org.intervene { number, _ in
      number == 1 ? .response(status: 200, body: answer.text) : .none
    }
    _ = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup
    ).finished()
    // What is gone is created again, in both words; what was refused keeps the server's words.
    #expect(try org.requests.map(names) == [["mine", "mine", "mine", "mine"], ["mine", "mine"]])
    #expect(org.records("Account").count == 6)
    let dirty = try await device.dirtyRows()
    #expect(dirty.compactMap { $0["Id"]?.string } == [ids[3]])
  }
}
