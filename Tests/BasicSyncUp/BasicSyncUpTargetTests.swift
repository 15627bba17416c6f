import BasicSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct BasicSyncUpTargetTests {
  private func up(
    _ device: Device, _ target: BasicSyncUpTarget = BasicSyncUpTarget(),
    _ mode: SyncMergeMode = .overwrite, fields: [String] = ["Name"]
  ) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: fields),
      soupName: Device.soup)
  }

  /// A device with clean rows of records on the server.
  private func device(_ org: InMemoryOrg, _ names: String...) async throws -> (Device, [String]) {
    let device = try await Device.open(org)
    let ids = names.map { org.create("Account", ["Name": .string($0)]) }
    try await device.download(ids)
    return (device, ids)
  }

  @Test(.covers("MS-184", "MS-185", "MS-187"))
  func `a create is a POST, an edit a PATCH, a deletion a DELETE`()
    async throws
  {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a", "b")
    try await device.edit(ids[0], ["Name": "a2", "Phone": "not listed"])
    try await device.delete(ids[1])
    try await device.create([["Name": "c"]])
    let state = try await up(device).finished()
    #expect(state.totalSize == 3)
    #expect(
      org.lines == [
        "PATCH /{v}/sobjects/Account/\(ids[0])", "DELETE /{v}/sobjects/Account/\(ids[1])",
        "POST /{v}/sobjects/Account",
      ])
    #expect(org.requests.map(\.body) == [#"{"Name":"a2"}"#, "", #"{"Name":"c"}"#])
    #expect(org.requests.allSatisfy { $0.qualifier == "MobileSync" })
    #expect(org.records("Account").compactMap { $0["Name"]?.string } == ["a2", "c"])
    #expect(try await device.dirtyRows().isEmpty)
    let rows = Set(try await device.rows().compactMap { $0["Id"]?.string })
    #expect(rows == Set(org.records("Account").compactMap { $0["Id"]?.string }))
  }

  @Test(.covers("MS-47"))
  func `each record of a run has its update`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"], ["Name": "b"], ["Name": "c"]])
    let run = try await up(device)
    #expect(
      await run.allUpdates() == [
        "RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3",
      ])
  }

  @Test(.covers("MS-334"))
  func `a run that is stopped after three of ten records is at 30, and the next sends seven`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create((0..<10).map { ["Name": .string("\($0)")] })
    let latch = Latch()
    org.intervene { number, _ in
      if number == 3 { await latch.pass() }
      return .none
    }
    let run = try await up(device)
    await latch.arrival()
    await device.manager.stop()
    latch.open()
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .stopped && error?.state?.progress == 30)
    let rows = try await device.rows()
    #expect(rows.count { $0[SyncKeys.local] == false } == 3)
    #expect(rows.count { $0[SyncKeys.local] == true } == 7)
    #expect(org.requests.count == 3)
    try await device.manager.restart(restartStoppedSyncs: false)
    let next = try await device.manager.reSync(id: run.state.id).finished()
    #expect(next.totalSize == 7 && next.status == .done)
    #expect(org.requests.count == 10 && org.records("Account").count == 10)
  }

  @Test(arguments: [(200, "<html>"), (200, "[]"), (202, "{"), (404, "<html>")])
  func `the page of something before the platform makes no row clean and removes none`(
    status: Int, page: String
  ) async throws {
    let org = InMemoryOrg()
    for isDeleted in [false, true] {
      let (device, ids) = try await device(org, "a")
      if isDeleted {
        try await device.delete(ids[0])
      } else {
        try await device.edit(ids[0], ["Name": "mine"])
      }
      org.intervene { _, _ in .response(status: status, body: page) }
      let run = try await up(device)
      let error = await #expect(throws: SyncError.self) { try await run.finished() }
      #expect((error?.cause as? SyncError)?.code == .unexpectedResponse)
      #expect(try await device.dirtyRows().count == 1)
      org.intervene(nil)
      _ = try await up(device).finished()
      #expect(org.record("Account", ids[0])?["Name"] == (isDeleted ? nil : "mine"))
    }
  }

  @Test func `a foreign page in the place of a record does not pass for a deletion there`()
    async throws
  {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.delete(ids[0])
    org.intervene { _, _ in .response(status: 404, body: "<html>") }
    let run = try await up(device, BasicSyncUpTarget(), .mergeFields)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .unexpectedResponse)
    #expect(try await device.dirtyRows().count == 1)
    org.intervene(nil)
    _ = try await up(device, BasicSyncUpTarget(), .mergeFields).finished()
    #expect(org.record("Account", ids[0]) == nil)
  }

  @Test(.covers("MS-184", "MS-210"))
  func `a record with an external id is upserted by it`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let known = org.create("Account", ["Name": "there", "Ext__c": "e/1"])
    try await device.create([["Name": "here", "Ext__c": "e/1"], ["Name": "new", "Ext__c": "e2"]])
    let target = BasicSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await up(device, target, fields: ["Name", "Ext__c"]).finished()
    #expect(
      org.lines == [
        "PATCH /{v}/sobjects/Account/Ext__c/e%2F1", "PATCH /{v}/sobjects/Account/Ext__c/e2",
      ])
    // The server refuses the external id in the body.
    #expect(org.requests[0].body == #"{"Name":"here"}"#)
    #expect(org.record("Account", known)?["Name"] == "here")
    #expect(try await device.row("Name", "here")?["Id"]?.string == known)
    #expect(org.records("Account").count == 2)
  }

  @Test(.covers("MS-184"))
  func `after an upsert without an id in the response, the id is queried`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let known = org.create("Account", ["Name": "there", "Ext__c": "e1"])
    try await device.create([["Name": "here", "Ext__c": "e1"]])
    org.intervene { _, request in
      request.line.hasPrefix("PATCH") ? .response(status: 204, body: "") : .none
    }
    let target = BasicSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Ext__c"))
    _ = try await up(device, target).finished()
    #expect(org.lines.last == "GET /{v}/sobjects/Account/Ext__c/e1")
    #expect(try await device.row("Name", "here")?["Id"]?.string == known)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-184"))
  func `an upsert by the id field keeps that id`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let known = org.create("Account", ["Name": "there"])
    try await device.create([["Id": .string(known), "Name": "here"]])
    org.intervene { _, _ in .response(status: 204, body: "") }
    let target = BasicSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Id"))
    _ = try await up(device, target).finished()
    #expect(org.lines == ["PATCH /{v}/sobjects/Account/Id/\(known)"])
    #expect(try await device.row("Name", "here")?["Id"]?.string == known)
  }

  @Test(.covers("MS-186", "BX-62.1"))
  func `an edited record that is gone is created again, or left dirty`()
    async throws
  {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.edit(ids[0], ["Name": "a2"])
    org.delete("Account", ids[0])
    _ = try await up(device, BasicSyncUpTarget(), .leaveIfChanged).finished()
    #expect(try await device.dirtyRows().count == 1)
    #expect(org.records("Account").isEmpty)

    _ = try await up(device).finished()
    let made = try #require(org.records("Account").first)
    #expect(made["Name"] == "a2" && made["Id"]?.string != ids[0])
    #expect(try await device.row("Name", "a2")?["Id"] == made["Id"])
    #expect(try await device.dirtyRows().isEmpty)
  }

  // look: it is there   deleted elsewhere   PATCH: 404
  @Test(.covers("MS-186"), arguments: [true, false])
  func `an edit of a record that goes after the comparison is a conflict`(
    hasDate: Bool
  ) async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    if !hasDate { try await device.edit(ids[0], ["LastModifiedDate": .null]) }
    try await device.edit(ids[0], ["Name": "a2"])
    let before = try await device.rows()
    org.intervene { _, request in
      if request.line.hasPrefix("PATCH") { org.delete("Account", ids[0]) }
      return .none
    }
    let state = try await up(device, BasicSyncUpTarget(), .leaveIfChanged).finished()
    #expect(try await device.rows() == before)
    #expect(try await device.manager.outcomes(forId: state.id).map(\.kind) == [.conflict])
    #expect(try await device.store.conflicts().map(\.kind) == [.deletedThere])
  }

  @Test(.covers("MS-186"))
  func `a 404 for another reason than the record keeps the server's error`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.edit(ids[0], ["Name": "a2"])
    org.intervene { _, request in
      request.line.hasPrefix("PATCH")
        ? .response(status: 404, body: #"[{"errorCode":"NOT_FOUND","message":"lookup"}]"#) : .none
    }
    _ = try await up(device, BasicSyncUpTarget(), .leaveIfChanged).finished()
    let row = try #require(try await device.dirtyRows().first)
    #expect(row[SyncKeys.lastError]?.string?.contains("lookup") == true)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test(.covers("MS-186"))
  func `a record that cannot be created again keeps the error`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.edit(ids[0], ["Name": "a2"])
    org.delete("Account", ids[0])
    org.intervene { _, request in
      request.line.hasPrefix("POST")
        ? .response(status: 400, body: #"[{"errorCode":"X","message":"no"}]"#) : .none
    }
    _ = try await up(device).finished()
    let row = try #require(try await device.dirtyRows().first)
    #expect(row["Id"]?.string == ids[0] && row[SyncKeys.lastError]?.string?.contains("no") == true)
  }

  @Test(.covers("MS-187", "BX-62.1"))
  func `a deletion of what is gone already removes the row`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.delete(ids[0])
    org.delete("Account", ids[0])
    _ = try await up(device).finished()
    #expect(try await device.rows().isEmpty)
  }

  @Test(.covers("MS-188"))
  func `a refused record keeps the server's whole response, the others are uploaded`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([
      ["Name": "a"], ["Name": .string(String(repeating: "x", count: 256))], ["Name": "b"],
      ["Name": ""], ["Name": "c"],
    ])
    let state = try await up(device).finished()
    #expect(state.status == .done && state.totalSize == 5)
    let dirty = try await device.dirtyRows()
    #expect(dirty.count == 2)
    for row in dirty {
      #expect(row[SyncKeys.locallyCreated] == true)
      let error = try JSONValue(parsing: row[SyncKeys.lastError]?.string ?? "")
      #expect(error[0]?["errorCode"]?.string != nil)
    }
  }

  @Test(.covers("MS-189", "MS-327"))
  func `without a network the run fails and what was sent stays clean`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"], ["Name": "b"], ["Name": "c"]])
    org.intervene { number, _ in number == 2 ? .unreachable : .none }
    let run = try await up(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(try await device.dirtyRows().count == 2)
    org.forgetRequests()
    org.intervene(nil)
    let again = try await device.manager.reSync(id: run.state.id).finished()
    #expect(again.totalSize == 2)
    #expect(org.records("Account").count == 3)
  }

  @Test(.covers("MS-191", "MS-308"))
  func `an unknown object type is a refusal, also of a create`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { _, _ in
      .response(status: 404, body: #"[{"errorCode":"NOT_FOUND","message":"x"}]"#)
    }
    _ = try await up(device).finished()
    #expect(org.lines.count == 1)
    let row = try #require(try await device.dirtyRows().first)
    #expect(row[SyncKeys.lastError]?.string?.contains("NOT_FOUND") == true)
  }

  @Test(.covers("MS-195"))
  func `a create whose response was lost is found and not repeated`() async throws {
    let org = InMemoryOrg()
    org.setClock(SalesforceDateNow.milliseconds)
    let device = try await Device.open(org)
    try await device.create([["Name": "a"]])
    org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    let run = try await up(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    _ = try await device.manager.reSync(id: run.state.id).finished()
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-199"))
  func `the date of each record is requested, two requests in all`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a", "b")
    try await device.edit(ids[0], ["Name": "a2"])
    try await device.edit(ids[1], ["Name": "b2"])
    try await device.create([["Name": "c"]])
    org.update("Account", ids[1], ["Name": "there"])
    _ = try await up(device, BasicSyncUpTarget(), .leaveIfChanged).finished()
    #expect(
      org.lines == [
        "GET /{v}/sobjects/Account/\(ids[0])", "GET /{v}/sobjects/Account/\(ids[1])",
        "PATCH /{v}/sobjects/Account/\(ids[0])", "POST /{v}/sobjects/Account",
      ])
    #expect(org.requests[0].query == ["fields": "LastModifiedDate,Name"])
    #expect(org.record("Account", ids[1])?["Name"] == "there")
  }

  @Test(.covers("MS-204"))
  func `a change between check and write is a conflict and not lost`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.edit(ids[0], ["Name": "here"])
    org.intervene { _, request in
      if request.line.hasPrefix("PATCH") { org.update("Account", ids[0], ["Name": "there"]) }
      return .none
    }
    let run = try await up(device, BasicSyncUpTarget(), .leaveIfChanged)
    _ = try await run.finished()
    // What the server has instead is fetched after the refusal.
    #expect(org.lines.count == 3)
    #expect(try await device.store.conflicts().first?.fields.first?.theirs == "there")
    #expect(org.record("Account", ids[0])?["Name"] == "there")
    let row = try #require(try await device.dirtyRows().first)
    #expect(row["Name"] == "here" && row[SyncKeys.lastError] == nil)
    #expect(try await device.manager.outcomes(forId: run.state.id).map(\.kind) == [.conflict])
    #expect(try await device.manager.outcomeCounts(forId: run.state.id).skipped == 1)
  }

  @Test(.covers("MS-204"))
  func `a date with milliseconds does not refuse its own record`() async throws {
    let org = InMemoryOrg()
    let (device, ids) = try await device(org, "a")
    try await device.edit(
      ids[0], ["Name": "here", "LastModifiedDate": "2023-11-14T22:13:21.500+0000"])
    _ = try await up(device, BasicSyncUpTarget(), .leaveIfChanged).finished()
    #expect(
      org.requests.last?.headers["If-Unmodified-Since"] == "Tue, 14 Nov 2023 22:13:22 GMT")
    #expect(org.record("Account", ids[0])?["Name"] == "here")
  }

  @Test(.covers("MS-262", "MS-266"))
  func `the stored form names the platform's class and reads back equal`()
    throws
  {
    let target = BasicSyncUpTarget(
      fields: SyncUpFields(createFieldlist: ["A"]), idFieldName: "Key",
      modificationDateFieldName: "Changed")
    #expect(
      JSONValue.object(target.json) == [
        "createFieldlist": ["A"], "type": "rest", "iOSImpl": "SFSyncUpTarget",
        "idFieldName": "Key", "modificationDateFieldName": "Changed",
      ])
    #expect(try BasicSyncUpTarget(configuration: target.json) == target)
  }
}
