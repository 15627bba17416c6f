import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

/// Do records that were created here, and that no download has brought, go with the last sync that could have?
@Suite struct UnclaimedRecordTests {
  /// A device with two syncs down of one soup, and a record that it has created and uploaded.
  private func device() async throws -> (InMemoryOrg, Device, String) {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    for (name, condition) in [("a", "Name = 'n'"), ("b", "Phone = '1'")] {
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: "\(Device.query) where \(condition)"),
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: name)
    }
    try await device.create([["Name": "n", "Phone": "1"]])
    _ = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phone"]),
      soupName: Device.soup
    ).finished()
    return (org, device, try #require(org.records("Account").first?["Id"]?.string))
  }

  private func ghosts(_ device: Device, _ names: String...) async throws -> [Int] {
    var counts: [Int] = []
    for name in names { counts.append(try await device.manager.cleanResyncGhosts(forName: name)) }
    return counts
  }

  @Test func `a record that none of the syncs has goes when all have looked`() async throws {
    let (org, device, id) = try await device()
    org.delete("Account", id)
    #expect(try await ghosts(device, "a", "a") == [0, 0])
    #expect(try await device.rows().count == 1)
    #expect(try await ghosts(device, "b") == [1])
    #expect(try await device.rows().isEmpty)
  }

  @Test(arguments: ["a", "b"])
  func `a record that one of the syncs has stays, until it does not any more`(
    owner: String
  ) async throws {
    let (org, device, id) = try await device()
    org.update("Account", id, owner == "a" ? ["Phone": "2"] : ["Name": "other"])
    #expect(try await ghosts(device, "a", "b", "a", "b") == [0, 0, 0, 0])
    #expect(try await device.rows().count == 1)
    org.update("Account", id, ["Name": "other", "Phone": "2"])
    #expect(try await ghosts(device, owner) == [1])
  }

  @Test func `a record that a sync has brought since is that sync's`() async throws {
    let (org, device, id) = try await device()
    org.update("Account", id, ["Phone": "2"])
    #expect(try await ghosts(device, "b") == [0])
    _ = try await device.manager.reSync(named: "a").finished()
    #expect(try await ghosts(device, "b") == [0])
    #expect(try await device.rows().count == 1)
    org.delete("Account", id)
    #expect(try await ghosts(device, "b", "a") == [0, 1])
  }

  @Test func `a record that moved to another sync since that one looked is not removed`()
    async throws
  {
    let (org, device, id) = try await device()
    org.update("Account", id, ["Name": "other"])
    #expect(try await ghosts(device, "a") == [0])
    org.update("Account", id, ["Name": "n", "Phone": "2"])
    _ = try await device.manager.reSync(named: "a").finished()
    #expect(try await ghosts(device, "b", "a") == [0, 0])
    #expect(try await device.rows().count == 1)
  }

  @Test func `a record that was edited since is not removed`() async throws {
    let (org, device, id) = try await device()
    org.delete("Account", id)
    #expect(try await ghosts(device, "a") == [0])
    try await device.edit(id, ["Phone": "3"])
    #expect(try await ghosts(device, "b", "a") == [0, 0])
    #expect(try await device.dirtyRows().count == 1)
  }

  @Test func `a sync that was deleted holds nothing back`() async throws {
    let (org, device, id) = try await device()
    org.delete("Account", id)
    #expect(try await ghosts(device, "a") == [0])
    try await device.manager.deleteSync(forName: "b")
    #expect(try await ghosts(device, "a") == [1])
  }
}
