import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Does a tree that a sync down skipped, because one of its records was edited, come once that is uploaded?
@Suite struct SkippedTreeTests {
  @Test(.covers("MS-79"))
  func `a clean parent that was skipped for an edited child comes afterwards`()
    async throws
  {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    let b = tree.serverTree("b", children: 1)
    let manager = tree.device.manager
    _ = try await manager.createSyncDown(
      target: tree.down, options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup,
      syncName: "down")
    _ = try await manager.reSync(named: "down").finished()
    try await tree.device.edit(a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.update("Account", a.parent, ["Name": "a there"])
    tree.org.update("Account", b.parent, ["Name": "b later"])
    _ = try await manager.reSync(named: "down").finished()
    #expect(try await tree.device.row("Id", a.parent)?["Name"] == "a")
    try await tree.syncUp(.overwrite)
    _ = try await manager.reSync(named: "down").finished()
    #expect(try await tree.localTrees() == ["a there": ["a 1", "here"], "b later": ["b 0"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
  }
}
