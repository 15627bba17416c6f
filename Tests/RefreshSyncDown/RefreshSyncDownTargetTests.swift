import MobileSync
import MobileSyncTestSupport
import RefreshSyncDown
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct RefreshSyncDownTargetTests {
  private func target(_ count: Int = 500, oldest: Bool = false) throws -> RefreshSyncDownTarget {
    try RefreshSyncDownTarget(
      soupName: Device.soup, objectType: "Account", fieldlist: ["Name"], countIdsPerSoql: count,
      comparesOldestDate: oldest)
  }

  /// A device whose soup has the org's records.
  private func device(_ count: Int) async throws -> (Device, InMemoryOrg, [String]) {
    let org = InMemoryOrg()
    let ids = (0..<count).map { org.create("Account", ["Name": .string("\($0)")]) }
    org.create("Account", ["Name": "not on this device"])
    let device = try await Device.open(org)
    try await device.download(ids)
    return (device, org, ids)
  }

  @Test(
    .covers("MS-132"), arguments: [(1, 1), (25, 1), (500, 1), (501, 2), (1_000, 2), (10_000, 20)])
  func `500 ids go with a request`(count: Int, requests: Int) async throws {
    let (device, org, _) = try await device(count)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == count && state.progress == 100)
    #expect(org.lines == Array(repeating: "GET /{v}/query", count: requests))
    #expect(try await device.rows().count == count)
  }

  @Test(.covers("MS-132", "MS-133"))
  func `the query names the ids in order, and id and date among the fields`()
    async throws
  {
    let (device, org, ids) = try await device(3)
    let run = try await device.manager.syncDown(
      target: try target(2), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(
      await run.allUpdates() == ["RUNNING 0/-1", "RUNNING 0/3", "RUNNING 66/3", "DONE 100/3"])
    #expect(
      org.requests.map { $0.query["q"] } == [
        "select Name, Id, LastModifiedDate from Account where Id IN ('\(ids[0])', '\(ids[1])')",
        "select Name, Id, LastModifiedDate from Account where Id IN ('\(ids[2])')",
      ])
  }

  @Test(.covers("MS-134"))
  func `records that were created locally are not requested`() async throws {
    let (device, org, ids) = try await device(2)
    try await device.create([
      ["Name": "x"], ["Id": "zzz", "Name": "after"], ["Id": "local", "Name": "no local id"],
    ])
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == 4)
    let query = org.requests[0].query["q"] ?? ""
    #expect(query.hasSuffix("IN ('\(ids[0])', '\(ids[1])', 'local', 'zzz')"))
  }

  @Test(.covers("MS-135"))
  func `a re-sync asks each group for what changed since its newest date`()
    async throws
  {
    let (device, org, ids) = try await device(10)
    let first = try await device.manager.syncDown(
      target: try target(1), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await first.finished()
    org.update("Account", ids[0], ["Name": "changed 0"])
    org.update("Account", ids[2], ["Name": "changed 2"])
    org.forgetRequests()
    let run = try await device.manager.reSync(id: state.id)
    var expected = ["RUNNING 0/-1", "RUNNING 0/10", "RUNNING 10/10", "RUNNING 10/10"]
    expected += Array(repeating: "RUNNING 20/10", count: 8) + ["DONE 100/10"]
    #expect(await run.allUpdates() == expected)
    let date = try #require(org.record("Account", ids[1])?["LastModifiedDate"]?.string)
    #expect(
      org.requests[1].query["q"]
        == "select Name, Id, LastModifiedDate from Account where Id IN ('\(ids[1])') "
        + "AND LastModifiedDate > \(date)")
    #expect(try await device.row("Id", ids[2])?["Name"] == "changed 2")
  }

  @Test(.covers("MS-136"))
  func `with the oldest date nothing of a mixed group is missed`() async throws {
    for oldest in [false, true] {
      let (device, org, ids) = try await device(2)
      // The first record is older here than the second, and was changed before the second's date.
      org.update("Account", ids[0], ["Name": "changed"])
      org.update("Account", ids[1], ["Name": "newer"])
      try await device.store.upsert(
        entries: [.object(try #require(org.record("Account", ids[1])))],
        forSoupNamed: Device.soup, withExternalIdPath: "Id")
      let target = try target(oldest: oldest)
      let sync = try await device.manager.createSyncDown(
        target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      try await device.changeStoredSync(sync.id, ["maxTimeStamp": .integer(org.now)])
      _ = try await device.manager.reSync(id: sync.id).finished()
      let expected: JSONValue = oldest ? "changed" : "0"
      #expect(try await device.row("Id", ids[0])?["Name"] == expected)
    }
  }

  @Test(.covers("MS-137"))
  func `a record that the app removes during the run shifts nothing`() async throws {
    let (device, org, ids) = try await device(4)
    for id in ids { org.update("Account", id, ["Name": "changed"]) }
    org.intervene { number, _ in
      if number == 2 {
        let first = try? QuerySpec.buildExactQuerySpec(
          soupName: Device.soup, path: "Id", matchKey: .string(ids[0]), pageSize: 1)
        if let first {
          _ = try? await device.store.removeEntries(
            usingQuerySpec: first, forSoupNamed: Device.soup)
        }
      }
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try target(1), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(try await device.rows().allSatisfy { $0["Name"] == "changed" })
    #expect(try await device.rows().count == 3)
  }

  @Test(.covers("MS-138"))
  func `ghosts are searched in slices, without a date`() async throws {
    let (device, org, ids) = try await device(5)
    let run = try await device.manager.syncDown(
      target: try target(2), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    org.delete("Account", ids[4])
    org.forgetRequests()
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 1)
    #expect(
      org.requests.map { $0.query["q"] } == [
        "select Id from Account where Id IN ('\(ids[0])', '\(ids[1])')",
        "select Id from Account where Id IN ('\(ids[2])', '\(ids[3])')",
        "select Id from Account where Id IN ('\(ids[4])')",
      ])
  }

  @Test(.covers("MS-138"))
  func `a stop between two slices ends the search, and no record is removed`() async throws {
    let (device, org, ids) = try await device(5)
    let state = try await device.manager.syncDown(
      target: try target(2), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    for id in ids { org.delete("Account", id) }
    org.forgetRequests()
    let latch = Latch()
    org.intervene { number, _ in
      if number == 2 { await latch.pass() }
      return .none
    }
    let cleaning = Task { try await device.manager.cleanResyncGhosts(forId: state.id) }
    await latch.arrival()
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await cleaning.value } == .stopped)
    #expect(org.requests.count == 2)
    #expect(try await device.rows().count == 5)
  }

  @Test(.covers("MS-139"))
  func `an empty soup costs no request`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "DONE 100/0"])
    #expect(org.requests.isEmpty)
  }

  @Test(
    .covers("MS-128", "MS-130"),
    arguments: [
      (["countIdsPerSoql": 20], 20), (["coundIdsPerSoql": 20], 20), (["countIdsPerSoql": 501], 500),
      (["countIdsPerSoql": 0], 500), ([:], 500),
    ] as [(JSONObject, Int)])
  func `the count is read under both spellings and is at most 500`(
    more: JSONObject, expected: Int
  ) throws {
    var configuration: JSONObject = [
      "soupName": "s", "sObjectType": "Account", "fieldlist": ["Name"],
    ]
    for (key, value) in more { configuration[key] = value }
    let target = try RefreshSyncDownTarget(configuration: configuration)
    #expect(target.countIdsPerSoql == expected)
    #expect(target.json["countIdsPerSoql"] == .integer(Int64(expected)))
    #expect(try RefreshSyncDownTarget(configuration: target.json) == target)
  }

  @Test(.covers("MS-267"), arguments: ["soupName", "sobjectType", "fieldlist"])
  func `soup, object and fields are required`(key: String) throws {
    var configuration = try target().json
    configuration[key] = nil
    #expect {
      try RefreshSyncDownTarget(configuration: configuration)
    } throws: {
      ($0 as? SyncError)?.message.contains("'\(key)'") == true
    }
  }
}
