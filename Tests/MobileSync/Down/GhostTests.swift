import MobileSyncTestSupport
import SalesforceAnalytics
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

@testable import MobileSync
import TestSupport

@Suite struct GhostTests {
  private func down(_ device: Device, where condition: String? = nil) async throws -> Int64 {
    let query =
      "select Id, Name, Phone, LastModifiedDate from Account"
      + (condition.map { " where \($0)" } ?? "")
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: query), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup)
    return try await run.finished().id
  }

  private func names(_ device: Device) async throws -> [String] {
    try await device.rows().compactMap { $0["Name"]?.string }
  }

  @Test(.covers("MS-92", "MS-95"))
  func `only clean records that the server lost are removed`() async throws {
    let org = InMemoryOrg()
    let ids = ["a", "b", "c", "d"].map { org.create("Account", ["Name": .string($0)]) }
    let device = try await Device.open(org)
    let sync = try await down(device)
    try await device.edit(ids[1], ["Phone": "1"])
    try await device.create([["Name": "new"]])
    for id in ids[0...1] { org.delete("Account", id) }
    let before = try await device.manager.syncStatus(forId: sync)
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 1)
    #expect(try await names(device) == ["b", "c", "d", "new"])
    // MS-98: the stored sync is as it was.
    #expect(try await device.manager.syncStatus(forId: sync) == before)
  }

  @Test(.covers("MS-97"))
  func `each sync cleans what it downloaded last`() async throws {
    let org = InMemoryOrg()
    var ids: [String] = []
    for number in 0...5 {
      ids.append(
        org.create(
          "Account",
          ["Name": .string("id\(number)"), "Phone": number < 3 ? "low" : "high"]))
    }
    let device = try await Device.open(org)
    let first = try await down(device, where: "Phone = 'low'")
    org.update("Account", ids[2], ["Phone": "high"])
    let second = try await down(device, where: "Phone = 'high'")
    for id in [ids[0], ids[2], ids[5]] { org.delete("Account", id) }
    #expect(try await device.manager.cleanResyncGhosts(forId: first) == 1)
    #expect(try await names(device) == ["id1", "id2", "id3", "id4", "id5"])
    #expect(try await device.manager.cleanResyncGhosts(forId: second) == 2)
    #expect(try await names(device) == ["id1", "id3", "id4"])
  }

  @Test(.covers("MS-94"))
  func `without an index on the sync's id the whole soup counts`() async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "low"])
    org.create("Account", ["Name": "b", "Phone": "high"])
    let device = try await Device.open(org, withSyncIdIndex: false)
    _ = try await down(device, where: "Phone = 'low'")
    let second = try await down(device, where: "Phone = 'high'")
    org.delete("Account", id)
    #expect(try await device.manager.cleanResyncGhosts(forId: second) == 1)
    #expect(try await names(device) == ["b"])
  }

  @Test(.covers("MS-94"))
  func `with no local records no request is sent`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let sync = try await down(device)
    org.forgetRequests()
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 0)
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-96"))
  func `an empty response makes all records ghosts and a failed one none`() async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await down(device)
    for intervention in [
      InMemoryOrg.Intervention.unreachable, .response(status: 500, body: ""),
      .response(status: 200, body: "{}"), .response(status: 200, body: #"{"records":[{}]}"#),
    ] {
      org.intervene { _, _ in intervention }
      #expect(
        await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: sync) } != nil)
      #expect(try await device.rows().count == 1)
    }
    org.intervene { _, _ in .response(status: 200, body: #"{"totalSize":0,"records":[]}"#) }
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 1)
  }

  @Test(.covers("MS-73"))
  func `long lists of ghosts are removed in slices`() async throws {
    let org = InMemoryOrg()
    for number in 0..<1_203 { org.create("Account", ["Name": .string("it's \(number)")]) }
    let device = try await Device.open(org)
    let sync = try await down(device)
    for record in org.records("Account").dropFirst(2) {
      org.delete("Account", record["Id"]?.string ?? "")
    }
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 1_201)
    #expect(try await device.rows().count == 2)
  }

  @Test(.covers("MS-93", "MS-42"))
  func `ghosts are for syncs down, and existence is checked first`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let up = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    let code = await syncErrorCode {
      _ = try await device.manager.cleanResyncGhosts(forId: up.id)
    }
    #expect(code == .ghostsNeedSyncDown)
    await device.manager.stop()
    #expect(
      await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: -1) }
        == .doesNotExist)
    #expect(
      await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: up.id) }
        == .managerStopped)
  }

  @Test(.covers("MS-100"))
  func `a stop during the cleaning ends it and frees the sync`() async throws {
    let org = InMemoryOrg()
    for number in 0..<30 { org.create("Account", ["Name": .string("\(number)")]) }
    let device = try await Device.open(org)
    let sync = try await down(device)
    org.pageSize = 10
    org.forgetRequests()
    let latch = Latch()
    org.intervene { number, _ in
      if number == 2 { await latch.pass() }
      return .none
    }
    let cleaning = Task { try await device.manager.cleanResyncGhosts(forId: sync) }
    await latch.arrival()
    #expect(
      await syncErrorCode { _ = try await device.manager.reSync(id: sync) } == .alreadyRunning)
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await cleaning.value } == .stopped)
    #expect(await device.manager.isStopped)
    #expect(org.requests.count == 2)
    #expect(try await device.rows().count == 30)
  }

  @Test(.covers("MS-100"))
  func `a cleaning that waits behind another operation ends with a stop and frees its sync`()
    async throws
  {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let (sync, other) = (try await down(device), try await down(device))
    org.forgetRequests()
    let latch = Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await device.manager.reSync(id: other)
    await latch.arrival()
    let cleaning = Task { try await device.manager.cleanResyncGhosts(forId: sync) }
    // Until the cleaning waits too.
    while await syncErrorCode({ try await device.manager.checkNotActive(sync) }) == nil {
      await Task.yield()
    }
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await cleaning.value } == .stopped)
    #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    #expect(await device.manager.isStopped)
    #expect(org.requests.count == 1)
    #expect(try await device.rows().count == 1)
    try await device.manager.restart(restartStoppedSyncs: false)
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 0)
  }

  @Test(.covers("MS-316", "MS-99", "MS-101"))
  func `cleaning posts an event`() async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await down(device)
    org.delete("Account", id)
    _ = try await device.manager.cleanResyncGhosts(forId: sync)
    let event = try #require(device.events.events.last)
    #expect(event.name == "cleanResyncGhosts")
    #expect(event.attributes["numRecords"] == 1 && event.attributes["syncTarget"] == "soql")
  }
}

/// Do several syncs that bring the same records leave each other's alone?
@Suite struct SharedRecordTests {
  /// A device with two syncs of one soup, and a record that both bring.
  private func shared() async throws -> (InMemoryOrg, Device, String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "n", "Phone": "1", "Kind__c": "both"])
    let device = try await Device.open(org)
    for (name, condition) in [("a", "Name = 'n'"), ("b", "Phone = '1'")] {
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: "\(Device.query) where \(condition)"),
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: name)
      _ = try await device.manager.reSync(named: name).finished()
    }
    return (org, device, id)
  }

  @Test(.covers("BX-68"), arguments: ["a", "b"], ["a", "b"])
  func `a record stays as long as one of its syncs has it, and goes with the last`(
    loser: String, first: String
  ) async throws {
    let (org, device, id) = try await shared()
    _ = try await device.manager.reSync(named: first).finished()
    org.update("Account", id, loser == "a" ? ["Name": "other"] : ["Phone": "2"])
    #expect(try await device.manager.cleanResyncGhosts(forName: loser) == 0)
    #expect(try await device.rows().count == 1)
    let winner = loser == "a" ? "b" : "a"
    let sync = try #require(try await device.manager.syncStatus(forName: winner))
    #expect(try await device.rows().first?[SyncKeys.syncId]?.int64 == sync.id)

    org.update("Account", id, ["Name": "other", "Phone": "2"])
    #expect(try await device.manager.cleanResyncGhosts(forName: loser) == 0)
    #expect(try await device.manager.cleanResyncGhosts(forName: winner) == 1)
    #expect(try await device.rows().isEmpty)
  }

  @Test(.covers("BX-68"))
  func `a sync that was deleted holds nothing back`() async throws {
    let (org, device, id) = try await shared()
    try await device.manager.deleteSync(forName: "b")
    org.delete("Account", id)
    #expect(try await device.manager.cleanResyncGhosts(forName: "a") == 1)
    #expect(try await device.rows().isEmpty)
  }

  @Test(.covers("BX-68"))
  func `a sync that met the record while it was edited has it too`() async throws {
    let (org, device, id) = try await shared()
    try await device.edit(id, ["Name": "mine"])
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup, syncName: "c")
    _ = try await device.manager.reSync(named: "c").finished()
    _ = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    org.update("Account", id, ["Phone": "2"])
    for name in ["a", "b"] {
      #expect(try await device.manager.cleanResyncGhosts(forName: name) == 0)
    }
    #expect(try await device.rows().count == 1)
    org.delete("Account", id)
    #expect(try await device.manager.cleanResyncGhosts(forName: "c") == 1)
  }
}
