import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// What does running a sync down again leave as it is?
@Suite struct ReSyncTests {
  @Test func `MS-90 MS-98 a re-sync removes nothing, and cleaning ghosts leaves the sync as it is`()
    async throws
  {
    let org = InMemoryOrg()
    let ids = (0..<3).map { org.create("Account", ["Name": .string("\($0)")]) }
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.delete("Account", ids[1])
    _ = try await device.manager.reSync(id: sync.id).finished()
    #expect(try await device.rows().count == 3)
    let before = try await device.manager.syncStatus(forId: sync.id)
    #expect(try await device.manager.cleanResyncGhosts(forId: sync.id) == 1)
    #expect(try await device.manager.syncStatus(forId: sync.id) == before)
    #expect(try await device.rows().count == 2)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a change in the second of the watermark after the query comes with the next run`(
    mode: SyncMergeMode
  ) async throws {
    let org = InMemoryOrg()
    org.setClock(1_700_000_000_000)
    org.setTickLength(1)
    org.setQueryTime(0)
    let first = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    var sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup, syncName: "down"
    ).finished()
    let watermark = sync.maxTimeStamp
    org.create("Account", ["Name": "b"])
    org.update("Account", first, ["Name": "changed"])
    try await device.restartProcess()
    org.setClock(1_700_000_005_000)
    sync = try await device.manager.reSync(named: "down").finished()
    #expect(sync.maxTimeStamp == watermark && sync.totalSize == 2)
    #expect(try await device.rows().compactMap { $0["Name"]?.string } == ["changed", "b"])
    // Now the second is over.
    sync = try await device.manager.reSync(named: "down").finished()
    #expect(sync.maxTimeStamp == watermark && sync.totalSize == 0)
  }

  @Test func `MS-33 syncs without options overwrite`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let down = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let up = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    #expect(down.options.mergeMode == .overwrite && up.options.mergeMode == .overwrite)
  }
}
