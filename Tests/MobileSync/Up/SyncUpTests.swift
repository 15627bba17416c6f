import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

@Suite struct SyncUpTests {
  /// A device with `count` accounts, downloaded.
  private func synced(_ count: Int) async throws -> (InMemoryOrg, Device, [String]) {
    let org = InMemoryOrg()
    for number in 0..<count { org.create("Account", ["Name": .string("Name \(number)")]) }
    let device = try await Device.open(org)
    try await down(device)
    org.forgetRequests()
    return (org, device, org.records("Account").compactMap { $0["Id"]?.string })
  }

  private func down(_ device: Device, _ mode: SyncMergeMode = .overwrite) async throws {
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup)
    _ = try await run.finished()
  }

  private func up(
    _ device: Device, _ mode: SyncMergeMode = .overwrite, fields: [String] = ["Name", "Phone"],
    target: CollectionSyncUpTarget = CollectionSyncUpTarget(), name: String? = nil
  ) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: fields),
      soupName: Device.soup, syncName: name)
  }

  // MARK: Scenarios

  @Test(.covers("MS-319"))
  func `edits are uploaded, clean rows are left alone`() async throws {
    let (org, device, ids) = try await synced(10)
    try await device.edit(ids[2], ["Name": "mine 2"])
    try await device.edit(ids[7], ["Name": "mine 7"])
    let state = try await up(device).finished()
    #expect(state.totalSize == 2 && state.status == .done)
    #expect(org.record("Account", ids[2])?["Name"] == "mine 2")
    #expect(org.record("Account", ids[7])?["Name"] == "mine 7")
    #expect(org.lines == ["PATCH /{v}/composite/sobjects"])
    #expect(org.requests[0].count(of: "\"Id\"") == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-320", "MS-321"))
  func `a record changed on both sides follows the merge mode`() async throws {
    let (org, device, ids) = try await synced(3)
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[0], ["Name": "theirs"])

    let run = try await up(device, .leaveIfChanged, name: "up")
    #expect(try await run.finished().totalSize == 1)
    #expect(org.record("Account", ids[0])?["Name"] == "theirs")
    #expect(try await device.row("Id", ids[0])?["Name"] == "mine")
    #expect(try await device.dirtyRows().count == 1)
    #expect(await run.allOutcomes().map(\.kind) == [.conflict])

    try await down(device, .leaveIfChanged)
    #expect(try await device.row("Id", ids[0])?["Name"] == "mine")

    let forced = try await up(device, .overwrite)
    _ = try await forced.finished()
    #expect(org.record("Account", ids[0])?["Name"] == "mine")

    org.update("Account", ids[1], ["Name": "theirs"])
    try await device.edit(ids[1], ["Name": "mine"])
    try await down(device, .overwrite)
    let row = try #require(try await device.row("Id", ids[1]))
    #expect(row["Name"] == "theirs" && row[SyncKeys.local] == false)
  }

  @Test(.covers("MS-322", "MS-187"))
  func `a deletion follows the merge mode`() async throws {
    let (org, device, ids) = try await synced(2)
    try await device.delete(ids[0])
    org.update("Account", ids[0], ["Name": "theirs"])
    _ = try await up(device, .leaveIfChanged).finished()
    #expect(org.record("Account", ids[0]) != nil)
    #expect(try await device.row("Id", ids[0])?[SyncKeys.locallyDeleted] == true)
    _ = try await up(device, .overwrite).finished()
    #expect(org.record("Account", ids[0]) == nil)
    #expect(try await device.row("Id", ids[0]) == nil)
    #expect(org.lines.last == "DELETE /{v}/composite/sobjects")
    #expect(org.requests.last?.query == ["allOrNone": "false", "ids": ids[0]])
  }

  @Test(.covers("MS-323", "MS-186"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged])
  func `a record that the server deleted is created again or stays local`(
    mode: SyncMergeMode
  ) async throws {
    let (org, device, ids) = try await synced(3)
    try await device.edit(ids[0], ["Name": "mine"])
    try await device.delete(ids[1])
    org.delete("Account", ids[0])
    org.delete("Account", ids[1])
    let run = try await up(device, mode)
    _ = try await run.finished()
    #expect(try await device.row("Id", ids[1]) == nil)
    let row = try #require(try await device.row("Name", "mine"))
    if mode == .overwrite {
      let id = try #require(row["Id"]?.string)
      #expect(id != ids[0] && row[SyncKeys.local] == false)
      #expect(org.record("Account", id)?["Name"] == "mine")
      #expect(
        org.lines.sorted() == [
          "DELETE /{v}/composite/sobjects", "PATCH /{v}/composite/sobjects",
          "POST /{v}/composite/sobjects",
        ])
    } else {
      #expect(row["Id"]?.string == ids[0] && row[SyncKeys.locallyUpdated] == true)
      #expect(org.records("Account").count == 1)
    }
  }

  @Test(.covers("MS-324", "MS-220"))
  func `a record made and deleted offline costs no request`() async throws {
    let (org, device, _) = try await synced(0)
    try await device.create([["Id": "local_1", "Name": "a"]])
    try await device.delete("local_1")
    let state = try await up(device).finished()
    #expect(state.totalSize == 1 && state.status == .done)
    #expect(try await device.rows().isEmpty)
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-325"))
  func `an external id that exists turns a create into an update`() async throws {
    let (org, device, ids) = try await synced(2)
    org.update("Account", ids[0], ["Phone": "kept"])
    try await device.store.clearSoup(Device.soup)
    try await device.create([
      ["Id": .string(ids[0]), "Name": "one"], ["Id": .string(ids[1]), "Name": "two"],
      ["Name": "three"],
    ])
    let target = CollectionSyncUpTarget(fields: SyncUpFields(externalIdFieldName: "Id"))
    _ = try await up(device, fields: ["Name"], target: target).finished()
    #expect(org.records("Account").count == 3)
    #expect(org.record("Account", ids[0])?["Name"] == "one")
    #expect(org.record("Account", ids[0])?["Phone"] == "kept")
    #expect(
      org.lines == ["POST /{v}/composite/sobjects", "PATCH /{v}/composite/sobjects/Account/Id"])
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-326"))
  func `creates and updates send their own fields`() async throws {
    let (org, device, ids) = try await synced(1)
    try await device.edit(ids[0], ["Name": "not sent", "Phone": "1"])
    try await device.create([["Name": "new", "Phone": "not sent"]])
    let target = CollectionSyncUpTarget(
      fields: SyncUpFields(createFieldlist: ["Name"], updateFieldlist: ["Phone"]))
    _ = try await up(device, target: target).finished()
    #expect(org.record("Account", ids[0])?["Name"] == "Name 0")
    #expect(org.record("Account", ids[0])?["Phone"] == "1")
    let made = try #require(org.records("Account").last)
    #expect(made["Name"] == "new" && made["Phone"] == nil)
  }

  @Test(.covers("MS-311", "BX-63", "MS-188", "MS-71", "MS-72"))
  func `refused records keep the server's words until they are uploaded`()
    async throws
  {
    let (org, device, _) = try await synced(0)
    let long = String(repeating: "x", count: 256)
    try await device.create([
      ["Name": "a"], ["Name": .string(long)], ["Name": "b"], ["Name": ""], ["Name": "c"],
    ])
    let run = try await up(device, name: "up")
    let state = try await run.finished()
    #expect(state.status == .done && state.totalSize == 5)
    let dirty = try await device.dirtyRows()
    #expect(dirty.count == 2)
    for row in dirty {
      let error = try JSONValue(parsing: row[SyncKeys.lastError]?.string ?? "")
      #expect(error["statusCode"]?.string != nil)
      #expect(row[SyncKeys.locallyCreated] == true)
    }
    // The run never claims what it did not do.
    let counts = try await device.manager.outcomeCounts(forId: state.id)
    #expect(counts.succeeded == 3 && counts.failed == 2 && counts.skipped == 0)
    let outcomes = try await device.manager.outcomes(forId: state.id)
    #expect(
      outcomes.map(\.kind) == [.succeeded, .rejected, .succeeded, .rejected, .succeeded])
    let reported = await run.allOutcomes()
    #expect(outcomes == reported)

    try await device.edit(dirty[0]["Id"]?.string ?? "", ["Name": "short"])
    try await device.edit(dirty[1]["Id"]?.string ?? "", ["Name": "filled"])
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.rows().allSatisfy { $0[SyncKeys.lastError] == nil })
    #expect(org.records("Account").count == 5)
    #expect(try await device.manager.outcomeCounts(forId: state.id).succeeded == 2)
  }

  @Test(.covers("MS-193"))
  func `nothing dirty is done without a request`() async throws {
    let (org, device, _) = try await synced(3)
    let run = try await up(device)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "DONE 100/0"])
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-47"))
  func `every record is reported`() async throws {
    let (_, device, _) = try await synced(0)
    try await device.create([["Name": "a"], ["Name": "b"], ["Name": "c"]])
    let run = try await up(device)
    #expect(
      await run.allUpdates() == [
        "RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3",
      ])
  }

  @Test(.covers("MS-207"))
  func `without field lists the run fails before any request`() async throws {
    let (org, device, ids) = try await synced(1)
    try await device.edit(ids[0], ["Name": "mine"])
    let run = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .noFields)
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-190"))
  func `a record without a type is refused here and the others are uploaded`() async throws {
    let (org, device, _) = try await synced(0)
    try await device.create([["Name": "a", "attributes": [:]], ["Name": "b"]])
    let run = try await up(device)
    #expect(try await run.finished().status == .done)
    #expect(
      await run.allOutcomes().map(\.kind).sorted { $0.rawValue < $1.rawValue } == [
        .rejected, .succeeded,
      ])
    #expect(org.records("Account").count == 1)
    let row = try #require(try await device.row("Name", "a"))
    #expect(row[SyncKeys.local] == true && row[SyncKeys.lastError] != nil)
  }

  // MARK: Counts of requests

  @Test(
    .covers("MS-65", "MS-200", "MS-211"),
    arguments: [(1, 1, 2), (200, 1, 2), (201, 2, 3), (1_000, 5, 6), (2_100, 11, 13)])
  func `the requests are those of the cost model`(
    records: Int, overwrite: Int, leave: Int
  ) async throws {
    let (org, device, ids) = try await synced(records)
    for (mode, expected) in [(SyncMergeMode.overwrite, overwrite), (.leaveIfChanged, leave)] {
      try await editAll(device, ids.count)
      org.forgetRequests()
      let state = try await up(device, mode).finished()
      #expect(state.totalSize == records)
      #expect(org.requests.count == expected)
      #expect(try await device.dirtyRows().isEmpty)
      try await down(device)
    }
  }

  private func editAll(_ device: Device, _ count: Int) async throws {
    let edited = try await device.rows().map { row -> JSONValue in
      var row = row
      row["Name"] = "edited"
      row[SyncKeys.local] = true
      row[SyncKeys.locallyUpdated] = true
      return row
    }
    #expect(edited.count == count)
    try await device.store.upsert(entries: edited, forSoupNamed: Device.soup)
  }

  @Test(.covers("MS-331"))
  func `500 records made offline are three requests and 499 updates`() async throws {
    let (org, device, _) = try await synced(0)
    try await device.create((0..<500).map { ["Name": .string("n\($0)")] })
    let run = try await up(device)
    let updates = await run.allUpdates()
    #expect(updates.count == 502)
    #expect(org.requests.count == 3)
    #expect(org.records("Account").count == 500)
    #expect(try await device.dirtyRows().isEmpty)
  }

  // MARK: Batches and bad responses

  @Test(.covers("MS-216", "MS-333", "MS-217"))
  func `after a lost record only that one is sent again`() async throws {
    let (org, device, ids) = try await synced(4)
    for id in ids { try await device.edit(id, ["Name": .string("mine \(id)")]) }
    try await device.create([["Name": "fresh"]])
    org.delete("Account", ids[1])
    _ = try await up(device).finished()
    #expect(org.records("Account").count == 5)
    let fresh = org.records("Account").filter { $0["Name"]?.string == "fresh" }
    #expect(fresh.count == 1)
    let remade = org.records("Account").filter { $0["Name"]?.string == "mine \(ids[1])" }
    #expect(remade.count == 1)
    #expect(org.requests.count == 3)
    #expect(org.requests[2].count(of: "attributes") == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-237"))
  func `a request that fails keeps the results of those before it`() async throws {
    let (org, device, ids) = try await synced(1)
    try await device.edit(ids[0], ["Name": "mine"])
    try await device.create([["Name": "new"]])
    org.intervene { _, request in
      request.line.hasPrefix("PATCH") ? .response(status: 500, body: "[]") : .none
    }
    let run = try await up(device, name: "up")
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .failed && error?.status == 500)
    #expect(try await device.dirtyRows().map { $0["Name"]?.string } == ["mine"])
    org.intervene(nil)
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(org.records("Account").count == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(
    .covers("MS-215", "MS-189", "MS-313"),
    arguments: [
      (400, "[]"), (401, ""), (429, ""), (500, "<html>"), (503, ""), (200, "{}"), (200, "[{"),
      (200, ""),
    ])
  func `a batch that fails as a whole fails the run and leaves records dirty`(
    status: Int, body: String
  ) async throws {
    let (org, device, ids) = try await synced(2)
    try await device.edit(ids[0], ["Name": "mine"])
    let before = try await device.rows()
    org.intervene { _, _ in .response(status: status, body: body) }
    let run = try await up(device)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .failed && error?.state?.progress == 0)
    #expect(try await device.rows() == before)
  }

  @Test(.covers("MS-221", "MS-238"))
  func `a record without a response stays dirty and surplus is ignored`()
    async throws
  {
    let (org, device, ids) = try await synced(3)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    org.intervene { _, _ in
      .response(status: 200, body: #"[{"id":"\#(ids[0])","success":true,"errors":[]},{}]"#)
    }
    let run = try await up(device)
    #expect(try await run.finished().status == .done)
    #expect(await run.allOutcomes().map(\.kind) == [.succeeded, .unanswered, .unanswered])
    #expect(try await device.dirtyRows().count == 2)
    let ok = #"{"id":"x","success":true,"errors":[]}"#
    org.intervene { _, _ in .response(status: 200, body: "[\(ok),\(ok),\(ok),\(ok)]") }
    _ = try await up(device).finished()
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-201", "MS-202"))
  func `dates are queried per type, and a refused query skips its records`()
    async throws
  {
    let (org, device, _) = try await synced(0)
    let contact = org.create("Contact", ["Name": "c"])
    let account = org.create("Account", ["Name": "a"])
    for (type, id) in [("Contact", contact), ("Account", account)] {
      let date = try #require(org.record(type, id)?["LastModifiedDate"])
      try await device.store.upsert(
        entries: [
          [
            "Id": .string(id), "Name": "mine", "LastModifiedDate": date,
            "attributes": ["type": .string(type)], SyncKeys.local: true,
            SyncKeys.locallyUpdated: true,
          ]
        ], forSoupNamed: Device.soup)
    }
    org.intervene { _, request in
      request.line.hasSuffix("/Contact") ? .response(status: 400, body: "[]") : .none
    }
    let run = try await up(device, .leaveIfChanged)
    #expect(try await run.finished().status == .done)
    #expect(
      org.lines == [
        "POST /{v}/composite/sobjects/Account", "POST /{v}/composite/sobjects/Contact",
        // The values are refused, then the dates.
        "POST /{v}/composite/sobjects/Contact", "PATCH /{v}/composite/sobjects",
      ])
    #expect(org.record("Account", account)?["Name"] == "mine")
    #expect(org.record("Contact", contact)?["Name"] == "c")
  }

  // MARK: Stop

  @Test(.covers("MS-194", "BX-74.1", "MS-54", "MS-334"))
  func `a stop completes the batch that is being sent, and the rest is uploaded later`()
    async throws
  {
    let (org, device, ids) = try await synced(3)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    try await device.create([["Name": "n1"], ["Name": "n2"], ["Name": "n3"]])
    let latch = Latch()
    org.intervene { number, _ in
      if number == 2 { await latch.pass() }
      return .none
    }
    // Batches of four: three updates and a create, then two creates.
    let run = try await up(device, target: CollectionSyncUpTarget(maxBatchSize: 4), name: "up")
    await latch.arrival()
    await device.manager.stop()
    latch.open()
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.code == .stopped && error?.state?.progress == 66)
    #expect(org.lines == ["POST /{v}/composite/sobjects", "PATCH /{v}/composite/sobjects"])
    #expect(try await device.dirtyRows().count == 2)
    #expect(org.records("Account").count == 4)
    org.intervene(nil)
    try await device.manager.restart(restartStoppedSyncs: false)
    let again = try await device.manager.reSync(named: "up").finished()
    #expect(again.totalSize == 2 && again.status == .done)
    #expect(org.records("Account").count == 6)
  }

  @Test(.covers("MS-55"))
  func `a stop while dates are requested sends nothing`() async throws {
    let (org, device, ids) = try await synced(1)
    try await device.edit(ids[0], ["Name": "mine"])
    let latch = Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await up(device, .leaveIfChanged)
    await latch.arrival()
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    #expect(org.requests.count == 1)
    #expect(try await device.dirtyRows().count == 1)
  }

  // MARK: Edits during a run

  @Test(.covers("MS-70"), arguments: 1...3, [SyncMergeMode.overwrite, .leaveIfChanged])
  func `an edit while its record is on its way stays dirty and is uploaded next time`(
    step: Int, mode: SyncMergeMode
  ) async throws {
    let (org, device, ids) = try await synced(2)
    try await device.edit(ids[0], ["Name": "first"])
    try await device.create([["Name": "new"]])
    try await device.delete(ids[1])
    org.intervene { number, _ in
      guard number == step else { return .none }
      try? await device.edit(ids[0], ["Phone": "second"])
      if let id = try? await device.row("Name", "new")?["Id"]?.string {
        try? await device.edit(id, ["Phone": "second"])
      }
      return .none
    }
    _ = try await up(device, mode).finished()
    org.intervene(nil)
    for _ in 0..<2 {
      _ = try await up(device).finished()
    }
    #expect(org.record("Account", ids[0])?["Phone"] == "second")
    let made = org.records("Account").filter { $0["Name"] == "new" }
    #expect(made.compactMap { $0["Phone"]?.string } == ["second"])
    #expect(org.records("Account").count == 2)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-70"))
  func `a record edited while it was made has the server's id and counts as updated`()
    async throws
  {
    let (org, device, _) = try await synced(0)
    try await device.create([["Id": "local_1", "Name": "new"]])
    org.intervene { _, _ in
      try? await device.edit("local_1", ["Name": "newer"])
      return .none
    }
    _ = try await up(device).finished()
    let row = try #require(try await device.rows().first)
    #expect(row["Id"] == org.records("Account").first?["Id"])
    #expect(row["Name"] == "newer" && row[SyncKeys.local] == true)
    #expect(row[SyncKeys.locallyCreated] == false && row[SyncKeys.locallyUpdated] == true)
  }

  @Test(.covers("MS-192"))
  func `rows that the app removes or cleans on the way count as done`() async throws {
    let (org, device, ids) = try await synced(3)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    let entry = try #require(try await device.row("Id", ids[1])?["_soupEntryId"]?.int64)
    org.intervene { number, _ in
      if number == 1 {
        try? await device.store.remove(entryIds: [entry], forSoupNamed: Device.soup)
      }
      return .none
    }
    let run = try await up(device, .leaveIfChanged)
    #expect(try await run.finished().totalSize == 3)
    #expect(try await device.rows().count == 2)
    #expect(try await device.dirtyRows().isEmpty)
    #expect(org.record("Account", ids[1])?["Name"] == "Name 1")
  }
}
