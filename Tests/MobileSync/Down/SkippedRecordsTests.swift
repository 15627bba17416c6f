import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Does what a sync down skipped, because an edit stood in its way, come once the edit is gone?
@Suite struct SkippedRecordsTests {
  private static let leave = SyncOptions(
    mergeMode: .leaveIfChanged, fieldlist: ["Name", "Phone"])

  private func synced(
    _ options: SyncOptions = leave
  ) async throws -> (org: InMemoryOrg, device: Device, ids: [String]) {
    let org = InMemoryOrg()
    let ids = ["a", "b"].map { org.create("Account", ["Name": .string($0), "Phone": "1"]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options,
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(), options: options, soupName: Device.soup, syncName: "up")
    try await run(device, "down")
    return (org, device, ids)
  }

  private func run(_ device: Device, _ name: String) async throws {
    _ = try await device.manager.reSync(named: name).finished()
  }

  private func agree(_ org: InMemoryOrg, _ device: Device) async throws -> Bool {
    for record in org.records("Account") {
      guard let row = try await device.row("Id", record["Id"]?.string ?? ""),
        ["Name", "Phone", "LastModifiedDate"].allSatisfy({ row[$0] == record[$0] }),
        row[SyncKeys.local] == false
      else { return false }
    }
    return true
  }

  @Test(.covers("MS-79"), arguments: [false, true])
  func `a record that was skipped comes when the app has undone its edit`(restarts: Bool)
    async throws
  {
    let (org, device, ids) = try await synced()
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[0], ["Phone": "theirs"])
    org.update("Account", ids[1], ["Phone": "later"])
    try await run(device, "down")
    // The watermark has moved on; the app takes its edit back.
    try await device.edit(
      ids[0],
      ["Name": "a", SyncKeys.local: false, SyncKeys.locallyUpdated: false])
    let row = try #require(try await device.row("Id", ids[0])?.object)
    var clean = row
    for key in [SyncKeys.local, SyncKeys.locallyUpdated] { clean[key] = false }
    try await device.store.upsert(entries: [.object(clean)], forSoupNamed: Device.soup)
    if restarts { try await device.restartProcess() }
    try await run(device, "down")
    #expect(try await agree(org, device))
    // What came is forgotten: another run asks for what is new alone.
    org.forgetRequests()
    try await run(device, "down")
    #expect(org.requests.count == 1)
    #expect(try await device.rows(in: "syncs_skipped").isEmpty)
  }

  @Test(.covers("MS-79"), arguments: [SyncResolution.mine, .theirs])
  func `a record that was skipped comes whole after its conflict was resolved`(
    resolution: SyncResolution
  ) async throws {
    let (org, device, ids) = try await synced()
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[0], ["Phone": "theirs"])
    org.update("Account", ids[1], ["Phone": "later"])
    for name in ["down", "up"] { try await run(device, name) }
    try await device.store.resolve(
      try #require(try await device.store.conflicts().first), resolution)
    for name in ["up", "down"] { try await run(device, name) }
    #expect(try await agree(org, device))
    #expect(try await device.rows(in: "syncs_skipped").isEmpty)
  }

  @Test func `a record whose deletion was taken back after a download comes whole`() async throws {
    let (org, device, ids) = try await synced(
      SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"]))
    try await device.delete(ids[0])
    org.update("Account", ids[0], ["Name": "theirs"])
    for name in ["down", "up"] { try await run(device, name) }
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .deletedHere)
    try await device.store.resolve(conflict, .theirs)
    for name in ["up", "down"] { try await run(device, name) }
    #expect(try await agree(org, device))
    #expect(try await device.rows(in: "syncs_skipped").isEmpty)
  }

  @Test(.covers("MS-79"))
  func `while the edit stands the record stays as it is here, run after run`()
    async throws
  {
    let (org, device, ids) = try await synced()
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[0], ["Phone": "theirs"])
    for _ in 0..<3 { try await run(device, "down") }
    #expect(try await device.row("Id", ids[0])?["Phone"] == "1")
    #expect(try await device.rows(in: "syncs_skipped").count == 1)
  }

  @Test(.covers("MS-79"))
  func `a record that the server did not change is not remembered`() async throws {
    let (_, device, ids) = try await synced()
    try await device.edit(ids[0], ["Name": "mine"])
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: Self.leave,
      soupName: Device.soup
    ).finished()
    #expect(try await device.rows(in: "syncs_skipped").isEmpty)
  }

  @Test(.covers("MS-79"))
  func `a deleted sync forgets what it skipped`() async throws {
    let (org, device, ids) = try await synced()
    try await device.edit(ids[0], ["Name": "mine"])
    org.update("Account", ids[0], ["Phone": "theirs"])
    try await run(device, "down")
    try await device.manager.deleteSync(forName: "down")
    #expect(try await device.rows(in: "syncs_skipped").isEmpty)
  }
}
