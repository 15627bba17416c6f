import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// What does running a sync down again leave as it is?
@Suite struct ReSyncTests {
  @Test(.covers("MS-90", "MS-98"))
  func `a re-sync removes nothing, and cleaning ghosts leaves the sync as it is`()
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

  @Test(.covers("MS-33"))
  func `syncs without options overwrite`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let down = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let up = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    #expect(down.options.mergeMode == .overwrite && up.options.mergeMode == .overwrite)
  }
}
