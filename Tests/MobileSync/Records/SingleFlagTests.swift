import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// What becomes of entries whose app sets one flag, and not the flag that stands for all of them?
@Suite struct SingleFlagTests {
  private func down(_ device: Device, _ mode: SyncMergeMode) async throws -> Int64 {
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup)
    return try await run.finished().id
  }

  @Test(arguments: [SoupIndexType.string, .integer, .json1])
  func `entries with one flag of a change are counted, protected and uploaded`(
    flagIndex: SoupIndexType
  ) async throws {
    let org = InMemoryOrg()
    for name in ["a", "b", "c"] { org.create("Account", ["Name": .string(name)]) }
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    let device = try await Device.open(org, flagIndex: flagIndex)
    let sync = try await down(device, .leaveIfChanged)

    var edited = try #require(try await device.row(ids[0]))
    edited["Name"] = "edited"
    edited[SyncKeys.locallyUpdated] = true
    var deleted = try #require(try await device.row(ids[1]))
    deleted[SyncKeys.locallyDeleted] = true
    let created: JSONValue = [
      "Id": "local_9", "attributes": ["type": "Account"], "Name": "created",
      SyncKeys.locallyCreated: true,
    ]
    try await device.store.upsert(entries: [edited, deleted, created], forSoupNamed: Device.soup)
    #expect(try await device.manager.unsyncedRecords() == [Device.soup: 3])

    // Neither a download nor the cleaning of ghosts takes them.
    org.update("Account", ids[0], ["Phone": "1"])
    _ = try await device.manager.reSync(id: sync).finished()
    #expect(try await device.row(ids[0])?["Name"] == "edited")
    org.delete("Account", ids[0])
    #expect(try await device.manager.cleanResyncGhosts(forId: sync) == 0)
    #expect(try await device.manager.unsyncedRecords() == [Device.soup: 3])

    let up = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    _ = try await up.finished()
    let names = org.records("Account").compactMap { $0["Name"]?.string }.sorted()
    #expect(names == ["c", "created", "edited"])
    #expect(try await device.manager.unsyncedRecords().isEmpty)
  }
}
