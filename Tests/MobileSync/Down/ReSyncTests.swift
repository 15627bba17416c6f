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

  /// The statuses that a sync can have when it is run again.
  private static let statuses = ["NEW", "STOPPED", "FAILED", "DONE"]

  @Test(.covers("MS-40"), arguments: statuses, [true, false])
  func `a sync of either direction runs again from every status but RUNNING`(
    status: String, isDown: Bool
  ) async throws {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "theirs"])
    let device = try await Device.open(org)
    try await device.create([["Name": "mine"]])
    let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"])
    let sync =
      isDown
      ? try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query), options: options,
        soupName: Device.soup)
      : try await device.manager.createSyncUp(options: options, soupName: Device.soup)
    try await device.changeStoredSync(sync.id, ["status": .string(status)])
    #expect(try await device.manager.syncStatus(forId: sync.id)?.status.rawValue == status)
    let latch = Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await device.manager.reSync(id: sync.id)
    await latch.arrival()
    #expect(
      await syncErrorCode { _ = try await device.manager.reSync(id: sync.id) } == .alreadyRunning)
    latch.open()
    let ended = try await run.finished()
    #expect(ended.status == .done && ended.totalSize == 1 && ended.type == sync.type)
    #expect(org.records("Account").count == (isDown ? 1 : 2))
    #expect(try await device.rows().count == (isDown ? 2 : 1))
  }

  @Test(.covers("MS-33", "MS-35"))
  func `syncs whose options name no merge mode overwrite`() async throws {
    let device = try await Device.open(InMemoryOrg())
    for json: JSONValue? in [nil, .null, [:], ["fieldlist": ["Name"]]] {
      let options = try SyncOptions(json: json)
      let down = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query), options: options,
        soupName: Device.soup)
      let up = try await device.manager.createSyncUp(options: options, soupName: Device.soup)
      for sync in [down, up] {
        let stored = try await device.manager.syncStatus(forId: sync.id)
        #expect(stored?.options.mergeMode == .overwrite)
        #expect(stored?.options.fieldlist == options.fieldlist)
      }
    }
  }
}
