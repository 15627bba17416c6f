import MobileSync
import MobileSyncTestSupport
import MruSyncDown
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct MruSyncDownTargetTests {
  private func target(_ fields: [String] = ["Name"]) throws -> MruSyncDownTarget {
    try MruSyncDownTarget(objectType: "Account", fieldlist: fields)
  }

  private func org(_ count: Int, recent: Int) -> (InMemoryOrg, [String]) {
    let org = InMemoryOrg()
    let ids = (0..<count).map { org.create("Account", ["Name": .string("\($0)")]) }
    org.setRecent(Array(ids.prefix(recent)))
    return (org, ids)
  }

  @Test(.covers("MS-123", "MS-125"))
  func `the recent ids are requested, then their records with id and date`()
    async throws
  {
    let (org, ids) = org(3, recent: 2)
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == 2 && state.maxTimeStamp > 0)
    #expect(org.lines == ["GET /{v}/sobjects/Account/", "GET /{v}/query"])
    #expect(
      org.requests[1].query["q"]
        == "select Name, Id, LastModifiedDate from Account where Id IN ('\(ids[0])', '\(ids[1])')")
    #expect(try await device.rows().count == 2)
  }

  @Test(.covers("MS-124"))
  func `recent ids are read from Id, whatever field finds the records`() async throws {
    let (org, ids) = org(1, recent: 1)
    let device = try await Device.open(org)
    try await device.registerSoup("keyed", "Key__c")
    let target = try MruSyncDownTarget(
      configuration: [
        "sobjectType": "Account", "fieldlist": ["Name"], "idFieldName": "Key__c",
      ])
    _ = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: "keyed"
    ).finished()
    #expect(org.requests[1].query["q"]?.contains("where Key__c IN ('\(ids[0])')") == true)
  }

  @Test(.covers("MS-126"))
  func `without recent items there is nothing and one request`() async throws {
    let (org, _) = org(1, recent: 0)
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(await run.allUpdates() == ["RUNNING 0/-1", "DONE 100/0"])
    #expect(org.lines == ["GET /{v}/sobjects/Account/"])
  }

  @Test(.covers("MS-127", "MS-131"))
  func `a record is a ghost when it is gone, and long lists are cut`()
    async throws
  {
    let (org, ids) = org(1_001, recent: 1_001)
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    org.setRecent([])
    org.delete("Account", ids[7])
    org.forgetRequests()
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 1)
    #expect(org.lines == Array(repeating: "GET /{v}/query", count: 3))
    #expect(org.requests.allSatisfy { ($0.query["q"] ?? "").utf8.count < 13_000 })
    #expect(try await device.rows().count == 1_000)
  }

  @Test(.covers("MS-87"))
  func `a second run downloads everything again, although the sync has a watermark`()
    async throws
  {
    let (org, ids) = org(2, recent: 2)
    let device = try await Device.open(org)
    let first = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(first.maxTimeStamp > 0)
    let second = try await device.manager.reSync(id: first.id).finished()
    #expect(second.totalSize == 2 && second.maxTimeStamp == first.maxTimeStamp)
    #expect(org.lines.count == 4 && Array(org.lines.suffix(2)) == Array(org.lines.prefix(2)))
    #expect(
      org.requests[3].query["q"]
        == "select Name, Id, LastModifiedDate from Account where Id IN ('\(ids[0])', '\(ids[1])')")
  }

  @Test(.covers("MS-122", "MS-266"))
  func `the stored form reads back equal, also with the other spelling`()
    throws
  {
    let target = try target()
    #expect(
      JSONValue.object(target.json) == [
        "sobjectType": "Account", "fieldlist": ["Name"], "type": "mru",
        "iOSImpl": "SFMruSyncDownTarget", "idFieldName": "Id",
        "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try MruSyncDownTarget(configuration: target.json) == target)
    #expect(
      try MruSyncDownTarget(configuration: ["sObjectType": "Account", "fieldlist": ["Name"]])
        == target)
  }

  @Test(
    .covers("MS-267"),
    arguments: [
      (["fieldlist": ["Name"]], "'sobjectType'"), (["sobjectType": "A"], "'fieldlist'"),
    ] as [(JSONObject, String)])
  func `object and fields are required`(configuration: JSONObject, key: String) {
    #expect {
      try MruSyncDownTarget(configuration: configuration)
    } throws: {
      ($0 as? SyncError)?.message.contains(key) == true
    }
  }
}
