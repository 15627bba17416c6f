import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Are the conflicts of trees in mode LEAVE_IF_CHANGED listed, counted and resolvable?
@Suite struct TreeConflictTests {
  private func conflicts(_ tree: TreeDevice) async throws -> [SyncConflict] {
    try await tree.device.store.conflicts()
  }

  @Test(.covers("MS-242"), arguments: [SyncResolution.mine, .theirs])
  func `a change of a clean record of the tree is a conflict that can be resolved`(
    resolution: SyncResolution
  ) async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "a here"])
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    let sync = try await tree.syncUp(.leaveIfChanged)
    let found = try await conflicts(tree)
    #expect(found.map(\.recordId) == [a.children[0]] && found.map(\.kind) == [.changedThere])
    let outcomes = try await tree.device.manager.outcomes(forId: sync.id)
    #expect(outcomes.map(\.kind) == [.conflict] && outcomes.map(\.recordId) == [a.parent])
    #expect(outcomes[0].error?["statusCode"] == "TREE_IN_CONFLICT")
    // Another run lists the same conflict, so that it can be resolved as it was listed.
    try await tree.syncUp(.leaveIfChanged)
    try await tree.device.store.resolve(found[0], resolution)
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.serverTrees() == ["a here": ["a 1", "there"]])
    #expect(try await conflicts(tree).isEmpty)
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-160", "MS-242"))
  func `cleaning ghosts ends the conflict of a child without edits that it removes`() async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 1)
    let state = try await tree.syncDown(.leaveIfChanged)
    try await tree.device.edit(a.parent, ["Name": "here"])
    tree.org.delete("Contact", a.children[0])
    try await tree.syncUp(.leaveIfChanged)
    #expect(try await conflicts(tree).map(\.recordId) == a.children)
    _ = try await tree.device.manager.cleanResyncGhosts(forId: state.id)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
    #expect(try await conflicts(tree).isEmpty)
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.serverTrees() == ["here": []])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-242"))
  func `an edited child that was changed on the server has a conflict with its values`()
    async throws
  {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    _ = try await tree.device.manager.createSyncUp(
      target: tree.up, options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup)
    try await tree.device.edit(a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    try await tree.syncUp(.leaveIfChanged)
    let found = try await conflicts(tree)
    #expect(
      found.map(\.fields) == [
        [SyncConflict.Field(name: "LastName", base: "a 0", mine: "here", theirs: "there")]
      ])
    try await tree.device.store.resolve(found[0], .mine)
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.serverTrees() == ["a": ["a 1", "here"]])
  }

  @Test(.covers("MS-242"), arguments: [0, 500] as [Int64])
  func `a change of an edited child in the second of the download is a conflict`(
    tick: Int64
  ) async throws {
    let tree = try await TreeDevice()
    tree.org.setTickLength(tick)
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    _ = try await tree.device.manager.createSyncUp(
      target: tree.up, options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup)
    try await tree.device.edit(a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.serverTrees() == ["a": ["there"]])
    #expect(try await conflicts(tree).count == 1)
  }

  @Test(arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `a parent is not deleted whose child was changed in the second of its download`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice()
    tree.org.setTickLength(0)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    _ = try await tree.device.manager.createSyncUp(
      target: tree.up, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    try await tree.device.delete(a.parent)
    try await tree.syncUp(mode)
    #expect(tree.serverTrees() == ["a": ["a 1", "there"]])
    let found = try await conflicts(tree)
    #expect(found.map(\.kind) == [.deletedHere])
    // The user has seen the change now.
    try await tree.device.store.resolve(try #require(found.first), .mine)
    try await tree.syncUp(mode)
    #expect(tree.serverTrees().isEmpty)
    #expect(try await conflicts(tree).isEmpty)
  }

  @Test(.covers("MS-242"))
  func `a conflict of a tree ends with the edit that it held back`() async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "a here"])
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    try await tree.syncUp(.leaveIfChanged)
    #expect(try await conflicts(tree).count == 1)
    try await tree.syncUp(.overwrite)
    #expect(try await conflicts(tree).isEmpty)
    #expect(tree.serverTrees() == ["a here": ["there"]])
  }

  // the user edits Email, which no sync sends, and LastName; the server changes LastName; the user takes theirs
  @Test(.covers("MS-206", "MS-242"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `the server's version of a child ends an edit that is not sent, or leaves it unsynced`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown(mode)
    let up = try await tree.device.manager.createSyncUp(
      target: tree.up, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
    for child in a.children {
      _ = try await tree.device.store.editRecord(id: child, in: TreeDevice.contacts) {
        $0["LastName"] = "here"
        $0["Email"] = "mine"
      }
    }
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    func run() async throws { _ = try await tree.device.manager.reSync(id: up.id).finished() }
    try await run()
    let conflict = try #require(try await conflicts(tree).first)
    #expect(conflict.recordId == a.children[0])
    try await tree.device.store.resolve(conflict, .theirs)
    try await run()
    try await tree.syncDown(mode)
    try await run()
    #expect(tree.serverTrees() == ["a": ["here", "there"]])
    let first = try await tree.device.row(a.children[0], in: TreeDevice.contacts)
    let second = try await tree.device.row(a.children[1], in: TreeDevice.contacts)
    #expect(first?["LastName"] == "there")
    if mode == .leaveIfChanged {
      #expect(first?["Email"] ?? .null == .null && first?[SyncKeys.local] == false)
    } else {
      #expect(first?["Email"] == "mine" && first?[SyncKeys.local] == true)
    }
    #expect(second?["Email"] == "mine" && second?[SyncKeys.local] == true)
    #expect(try await conflicts(tree).isEmpty)
  }
}
