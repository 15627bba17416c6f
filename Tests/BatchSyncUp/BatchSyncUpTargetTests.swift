import BatchSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct BatchSyncUpTargetTests {
  private func up(
    _ device: Device, _ target: BatchSyncUpTarget = BatchSyncUpTarget(),
    _ mode: SyncMergeMode = .overwrite, fields: [String] = ["Name"]
  ) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: fields),
      soupName: Device.soup)
  }

  private func parts(_ request: InMemoryOrg.Request) throws -> [JSONValue] {
    try JSONValue(parsing: request.body)["compositeRequest"]?.array ?? []
  }

  @Test(.covers("MS-223"))
  func `a batch is one composite request in the order of the soup`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let ids = ["a", "b"].map { org.create("Account", ["Name": .string($0)]) }
    try await device.download(ids)
    try await device.delete(ids[0])
    try await device.edit(ids[1], ["Name": "b2"])
    try await device.create([
      ["Id": "local_1", "Name": "c"], ["Id": "local_2", "Name": "d", "Ext__c": "e1"],
    ])
    let target = BatchSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await up(device, target).finished()
    #expect(org.lines == ["POST /{v}/composite"])
    let body = try JSONValue(parsing: org.requests[0].body)
    let root = "/services/data/v66.0/sobjects/Account"
    #expect(
      body == [
        "allOrNone": false,
        "compositeRequest": [
          [
            "method": "DELETE", "url": .string("\(root)/\(ids[0])"), "referenceId": .string(ids[0]),
          ],
          [
            "method": "PATCH", "url": .string("\(root)/\(ids[1])"), "referenceId": .string(ids[1]),
            "body": ["Name": "b2"],
          ],
          [
            "method": "POST", "url": .string(root), "referenceId": "local_1", "body": ["Name": "c"],
          ],
          [
            "method": "PATCH", "url": .string("\(root)/Ext__c/e1"), "referenceId": "local_2",
            "body": ["Name": "d"],
          ],
        ],
      ])
    #expect(try await device.dirtyRows().isEmpty)
    #expect(
      Set(try await device.rows().compactMap { $0["Id"]?.string })
        == Set(org.records("Account").compactMap { $0["Id"]?.string }))
  }

  @Test(.covers("MS-184"))
  func `what went with an upsert whose id cannot be queried is not sent again`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([
      ["Id": "local_1", "Name": "plain"], ["Id": "local_2", "Name": "keyed", "Ext__c": "e1"],
    ])
    let made = org.create("Account", ["Name": "plain"])
    org.create("Account", ["Name": "keyed", "Ext__c": "e1"])
    org.intervene { number, _ in
      if number > 1 { return .response(status: 429, body: "[]") }
      let answers = [
        #"{"referenceId":"local_1","httpStatusCode":201,"body":{"id":"\#(made)","success":true}}"#,
        #"{"referenceId":"local_2","httpStatusCode":204,"body":null}"#,
      ]
      return .response(
        status: 200, body: #"{"compositeResponse":[\#(answers.joined(separator: ","))]}"#)
    }
    let target = BatchSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await up(device, target).finished()
    #expect(try await device.row("Name", "plain")?["Id"]?.string == made)
    org.intervene(nil)
    _ = try await up(device, target).finished()
    #expect(org.records("Account").count == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-331"), arguments: [(1, 1), (25, 1), (26, 2), (500, 20)])
  func `a batch has at most 25 records`(count: Int, requests: Int) async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create((0..<count).map { ["Name": .string("\($0)")] })
    let run = try await up(device)
    #expect(await run.allUpdates().count == count + 2)
    #expect(org.lines == Array(repeating: "POST /{v}/composite", count: requests))
    #expect(org.records("Account").count == count)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-227"))
  func `dates are requested in bulk before anything is sent`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let ids = (0..<30).map { org.create("Account", ["Name": .string("\($0)")]) }
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": "here"]) }
    org.update("Account", ids[3], ["Name": "there"])
    _ = try await up(device, BatchSyncUpTarget(), .leaveIfChanged).finished()
    #expect(
      org.lines == [
        "POST /{v}/composite/sobjects/Account", "POST /{v}/composite", "POST /{v}/composite",
      ])
    #expect(org.record("Account", ids[3])?["Name"] == "there")
    #expect(try await device.dirtyRows().count == 1)
  }

  @Test(.covers("MS-217", "MS-333", "BX-62.1"))
  func `only what is gone is sent a second time`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let ids = (0..<4).map { org.create("Account", ["Name": .string("\($0)")]) }
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": .string("edited \(id)")]) }
    try await device.create([["Name": "new"]])
    org.delete("Account", ids[1])
    _ = try await up(device).finished()
    #expect(org.lines.count == 2)
    let again = try parts(org.requests[1])
    #expect(again.map { $0["method"] } == ["POST"])
    #expect(org.records("Account").count == 5)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-218.1", "MS-225"))
  func `rows with equal or unfit ids do not mix up their responses`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([
      ["Id": "local_1", "Name": "a"], ["Id": "local_1", "Name": ""],
      ["Id": "local-2", "Name": "c"],
      ["Id": "", "Name": "d"],
    ])
    _ = try await up(device).finished()
    let names = try parts(org.requests[0]).compactMap { $0["referenceId"]?.string }
    #expect(names.count == 4 && Set(names).count == 4 && names[0] == "local_1")
    let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
    #expect(names.allSatisfy { $0.allSatisfy(allowed.contains) })
    let dirty = try await device.dirtyRows()
    #expect(dirty.map { $0["Name"] } == [""])
    #expect(dirty.first?[SyncKeys.lastError]?.string?.contains("REQUIRED_FIELD") == true)
  }

  @Test(.covers("MS-221"))
  func `a record that the response does not name stays dirty`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Id": "local_1", "Name": "a"], ["Id": "local_2", "Name": "b"]])
    org.intervene { _, _ in
      .response(
        status: 200,
        body:
          #"{"compositeResponse":[{"referenceId":"local_2","httpStatusCode":201,"body":{"id":"001000000000098AAA"}}]}"#
      )
    }
    let run = try await up(device)
    _ = try await run.finished()
    #expect(try await device.dirtyRows().map { $0["Name"] } == ["a"])
    #expect(
      try await device.manager.outcomes(forId: run.state.id).map(\.kind)
        == [.unanswered, .succeeded])
  }

  @Test(.covers("MS-313"), arguments: [#"{"compositeResponse":5}"#, "[]", #"{"a":1}"#])
  func `a response of another form fails the run`(body: String) async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { _, _ in .response(status: 200, body: body) }
    let run = try await up(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(try await device.dirtyRows().count == 1)
  }

  @Test(.covers("MS-195"))
  func `creates whose responses were lost are found and not repeated`() async throws {
    let org = InMemoryOrg()
    org.setClock(SalesforceDateNow.milliseconds)
    let device = try await Device.open(org)
    try await device.create((0..<3).map { ["Name": .string("\($0)")] })
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await device.manager.reSync(id: run.state.id).finished()
    #expect(org.records("Account").count == 3)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-218.1"))
  func `entries without an id take part under references of their own and get the server's ids`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.store.upsert(
      entries: ["a", "", "c"].map { name in
        [
          "Name": .string(name), "attributes": ["type": "Account"], SyncKeys.local: true,
          SyncKeys.locallyCreated: true, SyncKeys.locallyUpdated: false,
          SyncKeys.locallyDeleted: false,
        ]
      }, forSoupNamed: Device.soup)
    _ = try await up(device).finished()
    let references = try parts(org.requests[0]).map { $0["referenceId"] }
    #expect(references == ["record_0", "record_1", "record_2"])
    for name in ["a", "c"] {
      let row = try #require(try await device.row("Name", name))
      #expect(org.record("Account", row["Id"]?.string ?? "")?["Name"]?.string == name)
      #expect(row[SyncKeys.local] == false)
    }
    // The one that was refused, for its empty name, has no id still.
    let refused = try await device.dirtyRows()
    #expect(refused.count == 1 && refused[0]["Name"] == "" && refused[0]["Id"] == nil)
    #expect(refused[0][SyncKeys.lastError]?.string?.contains("REQUIRED_FIELD_MISSING") == true)
  }

  @Test(
    .covers("MS-214", "MS-222"),
    arguments: [(nil, 25), (0, 25), (26, 25), (10, 10)] as [(Int64?, Int)])
  func `the batch size is at most 25`(given: Int64?, expected: Int) throws {
    var configuration: JSONObject = [:]
    configuration["maxBatchSize"] = given.map { .integer($0) }
    #expect(try BatchSyncUpTarget(configuration: configuration).maxBatchSize == expected)
  }

  @Test(.covers("MS-258", "MS-266"))
  func `the stored form names the platform's class and reads back equal`()
    throws
  {
    let target = BatchSyncUpTarget(
      fields: SyncUpFields(updateFieldlist: ["A"]), maxBatchSize: 5, idFieldName: "Key")
    #expect(
      JSONValue.object(target.json) == [
        "updateFieldlist": ["A"], "maxBatchSize": 5, "type": "rest",
        "iOSImpl": "SFBatchSyncUpTarget", "idFieldName": "Key",
        "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try BatchSyncUpTarget(configuration: target.json) == target)
  }
}
