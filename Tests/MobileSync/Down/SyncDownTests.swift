import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

@Suite struct SyncDownTests {
  private func target(_ query: String = Device.query) throws -> SoqlSyncDownTarget {
    try SoqlSyncDownTarget(query: query)
  }

  private func orgWithAccounts(_ count: Int) -> InMemoryOrg {
    let org = InMemoryOrg()
    for number in 0..<count { org.create("Account", ["Name": .string("Name \(number)")]) }
    return org
  }

  private func download(
    _ device: Device, mode: SyncMergeMode = .overwrite, name: String? = nil
  ) async throws -> SyncRun {
    try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: mode), soupName: Device.soup,
      syncName: name)
  }

  // MARK: Records

  @Test(.covers("MS-66"))
  func `a downloaded record is clean, belongs to the sync and keeps its text`()
    async throws
  {
    let org = orgWithAccounts(3)
    let device = try await Device.open(org)
    let run = try await download(device)
    let state = try await run.finished()
    let rows = try await device.rows()
    #expect(rows.count == 3 && state.totalSize == 3)
    for row in rows {
      for flag in [
        SyncKeys.local, SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted,
      ] { #expect(row[flag]?.bool == false) }
      #expect(row[SyncKeys.syncId]?.int64 == state.id)
      #expect(row["attributes"]?["type"]?.string == "Account")
    }
    #expect(state.maxTimeStamp == org.now)
  }

  @Test(.covers("MS-66"))
  func `an existing row is replaced as a whole and keeps its entry id`() async throws {
    let org = orgWithAccounts(1)
    let device = try await Device.open(org)
    let id = try #require(org.records("Account").first?["Id"]?.string)
    try await device.store.upsert(
      entries: [
        ["Id": .string(id), "Old": 1, SyncKeys.local: false, SyncKeys.lastError: "no"]
      ], forSoupNamed: Device.soup)
    _ = try await download(device).finished()
    let row = try #require(try await device.rows().first)
    #expect(try await device.rows().count == 1)
    #expect(row["Old"] == nil && row[SyncKeys.lastError] == nil && row["_soupEntryId"] == 1)
  }

  @Test(.covers("MS-79"))
  func `overwrite replaces edits made before the run, leave-if-changed keeps them`()
    async throws
  {
    for mode in [SyncMergeMode.overwrite, .leaveIfChanged] {
      let org = orgWithAccounts(3)
      let device = try await Device.open(org)
      _ = try await download(device, name: "a").finished()
      let ids = org.records("Account").compactMap { $0["Id"]?.string }
      try await device.edit(ids[0], ["Name": "mine"])
      try await device.delete(ids[1])
      try await device.create([["Name": "new"]])
      let before = try await device.rows()
      for id in ids { org.update("Account", id, ["Name": "theirs"]) }

      let run = try await device.manager.syncDown(
        target: try target(), options: SyncOptions(mergeMode: mode), soupName: Device.soup)
      #expect(try await run.finished().totalSize == 3)
      let after = try await device.rows()
      #expect(after.count == 4)
      if mode == .leaveIfChanged {
        #expect(after[0] == before[0] && after[1] == before[1])
      } else {
        #expect(after[0]["Name"] == "theirs" && after[0][SyncKeys.local] == false)
        #expect(after[1][SyncKeys.locallyDeleted] == false)
      }
      #expect(after[2]["Name"] == "theirs")
      #expect(after[3] == before[3])
    }
  }

  @Test(.covers("MS-64"), arguments: [SoupIndexType.string, .integer, .json1])
  func `dirty records are found whatever the index on the flag`(type: SoupIndexType)
    async throws
  {
    let org = orgWithAccounts(2)
    let device = try await Device.open(org, flagIndex: type)
    _ = try await download(device, name: "a").finished()
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    try await device.edit(ids[0], ["Name": "mine"])
    try await device.store.upsert(
      entries: [["Id": "without a flag"]], forSoupNamed: Device.soup)
    org.update("Account", ids[0], ["Name": "theirs"])
    let again = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: Device.soup)
    _ = try await again.finished()
    #expect(try await device.row("Id", ids[0])?["Name"] == "mine")
    org.delete("Account", ids[0])
    org.delete("Account", ids[1])
    // The other sync has brought the record, too.
    #expect(try await device.manager.cleanResyncGhosts(forId: again.state.id) == 0)
    #expect(try await device.manager.cleanResyncGhosts(forName: "a") == 1)
    #expect(try await device.rows().map { $0["Id"]?.string } == [ids[0], "without a flag"])
  }

  // MARK: Updates and paging

  @Test(.covers("MS-49", "MS-77", "MS-44", "MS-45", "MS-46"))
  func `one page reports its beginning, its total and its end`()
    async throws
  {
    let device = try await Device.open(orgWithAccounts(10))
    let run = try await download(device)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "RUNNING 0/10", "DONE 100/10"])
  }

  @Test(.covers("MS-46"))
  func `three pages report their shares and the requests follow the pages`()
    async throws
  {
    let org = orgWithAccounts(30)
    org.pageSize = 10
    let device = try await Device.open(org)
    let run = try await download(device)
    #expect(
      await run.allUpdates() == [
        "RUNNING 0/-1", "RUNNING 0/30", "RUNNING 33/30", "RUNNING 66/30", "DONE 100/30",
      ])
    #expect(org.requests.count == 3)
    #expect(try await device.rows().count == 30)
  }

  @Test(.covers("MS-45"))
  func `nothing on the server is done at once`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let run = try await download(device)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "DONE 100/0"])
  }

  @Test(.covers("MS-7"))
  func `every request carries the mark of sync`() async throws {
    let org = orgWithAccounts(30)
    org.pageSize = 10
    let device = try await Device.open(org)
    let run = try await download(device)
    _ = try await run.finished()
    _ = try await device.manager.cleanResyncGhosts(forId: run.state.id)
    #expect(org.requests.count == 6)
    #expect(org.requests.allSatisfy { $0.qualifier == "MobileSync" })
  }

  @Test(.covers("MS-31"))
  func `the row is saved before an update is delivered`() async throws {
    let org = orgWithAccounts(20)
    org.pageSize = 10
    let device = try await Device.open(org)
    let latch = Latch()
    org.intervene { number, _ in
      if number == 2 { await latch.pass() }
      return .none
    }
    let run = try await download(device)
    for await state in run.updates where state.progress == 50 {
      #expect(try await device.manager.syncStatus(forId: state.id) == state)
      latch.open()
    }
    #expect(try await device.manager.syncStatus(forId: run.state.id)?.status == .done)
  }

  // MARK: Again

  @Test(.covers("MS-89"))
  func `running again asks for what changed and fetches only that`() async throws {
    let org = orgWithAccounts(10)
    let device = try await Device.open(org)
    let first = try await download(device, name: "accounts").finished()
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    let before = try await device.rows()
    org.update("Account", ids[2], ["Name": "changed"])
    org.update("Account", ids[5], ["Name": "changed"])
    org.forgetRequests()
    let again = try await device.manager.reSync(named: "accounts").finished()
    #expect(again.totalSize == 2 && again.status == .done && again.id == first.id)
    #expect(again.maxTimeStamp > first.maxTimeStamp)
    let after = try await device.rows()
    #expect(zip(before, after).filter { $0 != $1 }.count == 2)
    let expected = SalesforceDate(milliseconds: first.maxTimeStamp).text
    #expect(
      org.requests.first?.query["q"]?.contains("where LastModifiedDate > \(expected)") == true)
  }

  // MARK: Failures

  @Test(
    .covers("MS-84", "MS-110", "MS-313", "MS-68"),
    arguments: [
      (200, "{\"records\": [", SyncError.Code.unexpectedResponse),
      (200, "<html>", .unexpectedResponse), (200, "{\"totalSize\":1}", .unexpectedResponse),
      (200, "", .unexpectedResponse), (200, "[]", .unexpectedResponse),
      (500, "[{\"errorCode\":\"UNKNOWN_EXCEPTION\"}]", .server), (401, "", .server),
      (503, "", .server), (400, "[{\"errorCode\":\"MALFORMED_QUERY\"}]", .server),
      (200, #"{"totalSize":1,"records":[{"Name":"x"}]}"#, .recordWithoutId),
      (200, #"{"totalSize":1,"records":[{"Id":null}]}"#, .recordWithoutId),
      (200, #"{"totalSize":1,"records":["x"]}"#, .recordWithoutId),
    ])
  func `a bad response fails the run with its cause and changes nothing`(
    status: Int, body: String, expected: SyncError.Code
  ) async throws {
    let org = orgWithAccounts(30)
    org.pageSize = 10
    let device = try await Device.open(org)
    // Pages are requested ahead: the second is known by its place, not by its number.
    org.intervene { _, request in
      request.line.hasSuffix("-10") ? .response(status: status, body: body) : .none
    }
    let run = try await download(device, name: "a")
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.code == .failed)
    #expect((error?.cause as? SyncError)?.code == expected)
    let state = try #require(try await device.manager.syncStatus(forName: "a"))
    #expect(state == error?.state && state.status == .failed && state.progress == 33)
    let code = try JSONValue(parsing: state.error)["code"]?.int64
    #expect(code == Int64((error?.cause as? SyncError)?.status ?? 0))
    #expect(try await device.rows().count == 10)
    #expect(state.maxTimeStamp == org.now - 20_000)
  }

  @Test(.covers("MS-328"))
  func `a network lost on page 3 of 5 keeps two pages and the next run goes on there`()
    async throws
  {
    let org = orgWithAccounts(50)
    org.pageSize = 10
    let device = try await Device.open(org)
    // Pages are requested ahead: the third is known by its place, not by its number.
    org.intervene { _, request in request.line.hasSuffix("-20") ? .unreachable : .none }
    let run = try await download(device, name: "a")
    await #expect(throws: SyncError.self) { try await run.finished() }
    let failed = try #require(try await device.manager.syncStatus(forName: "a"))
    #expect(failed.status == .failed && failed.progress == 40)
    #expect(failed.maxTimeStamp == org.now - 30_000)
    #expect(try await device.rows().count == 20)
    org.intervene(nil)
    let again = try await device.manager.reSync(named: "a").finished()
    // The record that carries exactly the saved date comes again.
    #expect(again.totalSize == 31)
    #expect(try await device.rows().count == 50)
  }

  @Test(.covers("MS-312", "MS-62"))
  func `a missing soup or index fails the run before any request`() async throws {
    let org = orgWithAccounts(1)
    let device = try await Device.open(org)
    try await device.store.registerSoup(
      withName: "bare", withIndices: [SoupIndex(path: "Name", type: .string)])
    for soup in ["bare", "missing"] {
      let run = try await device.manager.syncDown(
        target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: soup)
      let error = await #expect(throws: SyncError.self) { try await run.finished() }
      #expect((error?.cause as? SyncError)?.code == .store)
      #expect(error?.state?.status == .failed)
    }
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-82", "MS-179"))
  func `a page with a missing date does not move the watermark; the later double wins`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let body = #"""
      {"totalSize":3,"records":[
        {"Id":"1","Name":"a","LastModifiedDate":"2015-02-05T21:12:03.956+0000"},
        {"Id":"1","Name":"b","LastModifiedDate":"2016-02-05T13:12:03.956-0800"},
        {"Id":"2","Name":"c"}]}
      """#
    org.intervene { _, _ in .response(status: 200, body: body) }
    let run = try await download(device)
    let state = try await run.finished()
    #expect(state.maxTimeStamp == -1 && state.totalSize == 3)
    #expect(try await device.rows().map { $0["Name"]?.string } == ["b", "c"])
  }

  @Test(.covers("MS-6"))
  func `dates are compared as instants`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let body = #"""
      {"totalSize":2,"records":[
        {"Id":"1","LastModifiedDate":"2015-02-05T13:12:03.956-0800"},
        {"Id":"2","LastModifiedDate":"2015-02-05T20:12:03.956Z"}]}
      """#
    org.intervene { _, _ in .response(status: 200, body: body) }
    let state = try await download(device).finished()
    #expect(state.maxTimeStamp == 1_423_170_723_956)
  }

  @Test(.covers("MS-80"))
  func `an empty page is not the end`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    org.intervene { number, _ in
      switch number {
      case 1:
        .response(
          status: 200,
          body: #"{"totalSize":1,"records":[],"nextRecordsUrl":"/services/data/v66.0/query/x"}"#)
      default:
        .response(
          status: 200,
          body: #"{"records":[{"Id":"1","LastModifiedDate":"2015-02-05T21:12:03.956Z"}]}"#)
      }
    }
    let run = try await download(device)
    #expect(try await run.finished().status == .done)
    #expect(try await device.rows().count == 1)
  }

  // MARK: Edits during a run

  @Test(.covers("MS-78"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged], 1...4)
  func `an edit at any step of a run survives, stays dirty and is uploaded`(
    mode: SyncMergeMode, step: Int
  ) async throws {
    let org = orgWithAccounts(30)
    org.pageSize = 10
    let device = try await Device.open(org)
    _ = try await download(device, name: "a").finished()
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    for id in ids { org.update("Account", id, ["Name": "theirs"]) }
    // One edit from before the run, in the same records.
    try await device.edit(ids[3], ["Name": "old edit"])
    org.forgetRequests()
    org.intervene { number, _ in
      if number == step {
        for id in [ids[0], ids[3], ids[15], ids[29]] {
          try? await device.edit(id, ["Name": "mine"])
        }
      }
      return .none
    }
    let again = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    _ = try await again.finished()
    org.intervene(nil)
    if step == 4 {
      for id in [ids[0], ids[3], ids[15], ids[29]] { try await device.edit(id, ["Name": "mine"]) }
    }
    for id in [ids[0], ids[3], ids[15], ids[29]] {
      let row = try #require(try await device.row("Id", id))
      #expect(row["Name"] == "mine" && row[SyncKeys.local] == true)
    }
    let up = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    #expect(try await up.finished().totalSize == 4)
    for id in [ids[0], ids[3], ids[15], ids[29]] {
      #expect(org.record("Account", id)?["Name"] == "mine")
    }
    #expect(try await device.dirtyRows().isEmpty)
  }

  // MARK: Kills

  @Test(.covers("MS-60"), arguments: 1...5)
  func `a process that dies at any step leaves a store from which the next run converges`(
    step: Int
  ) async throws {
    let org = orgWithAccounts(40)
    org.pageSize = 10
    let device = try await Device.open(org)
    let latch = Latch()
    org.intervene { number, _ in
      if number == step { await latch.pass() }
      return .none
    }
    let run = try await download(device, name: "a")
    if step <= 4 {
      await latch.arrival()
    } else {
      _ = try await run.finished()
    }
    let closing = Task { _ = try await device.restartProcess() }
    await Task.yield()
    latch.open()
    try await closing.value
    org.intervene(nil)
    let stored = try #require(try await device.manager.syncStatus(forName: "a"))
    #expect(stored.status == (step <= 4 ? .stopped : .done))
    org.forgetRequests()
    _ = try await device.manager.reSync(named: "a").finished()
    #expect(try await device.rows().count == 40)
    #expect(org.requests.count <= 4)
  }
}
