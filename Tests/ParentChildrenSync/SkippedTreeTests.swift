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

  /// A tree whose parent is edited here and whose child was changed on the server, one second before the parent.
  private func skipped() async throws -> (
    tree: TreeDevice, parent: String, run: () async throws -> Void
  ) {
    let tree = try await TreeDevice()
    let (parent, children) = tree.serverTree("a", children: 2)
    let manager = tree.device.manager
    _ = try await manager.createSyncDown(
      target: tree.down, options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup,
      syncName: "down")
    let run = { _ = try await manager.reSync(named: "down").finished() }
    try await run()
    try await tree.device.edit(parent, ["Name": "a here"])
    tree.org.update("Contact", children[0], ["LastName": "there"])
    tree.org.update("Account", parent, ["Rating": "Hot"])
    try await run()
    return (tree, parent, run)
  }

  @Test(.covers("MS-79"), arguments: [1, 2])
  func `a clean child of a skipped tree comes afterwards, though it is older than its parent`(
    times: Int
  ) async throws {
    let (tree, parent, run) = try await skipped()
    for _ in 1..<times {
      // What the second run skips is newer than the child.
      tree.org.update("Account", parent, ["Rating": "Cold"])
      try await run()
    }
    try await tree.syncUp(.overwrite)
    try await run()
    #expect(try await tree.localTrees() == ["a here": ["a 1", "there"]])
    #expect(try await tree.device.rows(in: "syncs_skipped").isEmpty)
  }
}
