import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import Testing
import TestSupport

/// Do trees merge field by field, keep their conflicts, and take new fields, in both soups?
@Suite struct TreeMergeTests {
  private static let fields = ["LastName", "Phone", "AccountId"]

  private static func down(_ childFields: [String] = fields) -> ParentChildrenSyncDownTarget {
    ParentChildrenSyncDownTarget(
      parent: TreeDevice.parent, parentFieldlist: ["Name", "Phone"], children: TreeDevice.children,
      childrenFieldlist: childFields, relationshipType: .lookup)
  }

  private static let up = ParentChildrenSyncUpTarget(
    parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .lookup,
    createFieldlist: ["Name", "Phone"], updateFieldlist: ["Name", "Phone"],
    childrenCreateFieldlist: ["LastName", "Phone"], childrenUpdateFieldlist: ["LastName", "Phone"])

  /// A device that has a tree of one parent and two children, with its two syncs.
  private func synced() async throws -> (TreeDevice, parent: String, children: [String]) {
    let tree = try await TreeDevice(.lookup)
    let (parent, children) = tree.serverTree("acme", children: 2)
    let options = SyncOptions(mergeMode: .mergeFields)
    _ = try await tree.device.manager.createSyncDown(
      target: Self.down(), options: options, soupName: Device.soup, syncName: "down")
    _ = try await tree.device.manager.createSyncUp(
      target: Self.up, options: options, soupName: Device.soup, syncName: "up")
    try await run(tree, "down")
    return (tree, parent, children)
  }

  private func run(_ tree: TreeDevice, _ name: String) async throws {
    _ = try await tree.device.manager.reSync(named: name).finished()
  }

  private func contact(_ tree: TreeDevice, _ id: String) async throws -> JSONValue? {
    try await tree.device.row("Id", id, in: TreeDevice.contacts)
  }

  @Test func `a sync up merges parents and children and sends what was edited alone`() async throws
  {
    let (tree, parent, children) = try await synced()
    try await tree.device.edit(parent, ["Name": "mine"])
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.update("Account", parent, ["Phone": "theirs"])
    tree.org.update("Contact", children[0], ["Phone": "theirs"])
    tree.org.forgetRequests()
    try await run(tree, "up")
    // One question for each object, one request for the tree.
    #expect(tree.org.requests.count == 3)
    #expect(tree.org.requests.last?.body.contains("theirs") == false)
    for record in [tree.org.record("Account", parent), tree.org.record("Contact", children[0])] {
      #expect(record?["Phone"] == "theirs")
    }
    #expect(tree.org.record("Account", parent)?["Name"] == "mine")
    #expect(tree.org.record("Contact", children[0])?["LastName"] == "mine")
    #expect(try await tree.dirtyCount() == 0)
    try await run(tree, "down")
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test func `a sync down merges each row by itself, and the rest of its tree comes too`()
    async throws
  {
    let (tree, parent, children) = try await synced()
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.update("Account", parent, ["Name": "theirs"])
    tree.org.update("Contact", children[0], ["Phone": "theirs"])
    tree.org.update("Contact", children[1], ["LastName": "theirs"])
    try await run(tree, "down")
    #expect(try await tree.device.row("Id", parent)?["Name"] == "theirs")
    #expect(try await contact(tree, children[1])?["LastName"] == "theirs")
    let merged = try await contact(tree, children[0])
    #expect(merged?["LastName"] == "mine" && merged?["Phone"] == "theirs")
    #expect(merged?[SyncKeys.local] == true)
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["theirs": ["mine", "theirs"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a conflict of a child holds its tree back until it is decided`() async throws {
    let (tree, parent, children) = try await synced()
    try await tree.device.edit(parent, ["Name": "mine"])
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.update("Contact", children[0], ["LastName": "theirs"])
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["acme": ["acme 1", "theirs"]])
    let up = try #require(try await tree.device.manager.syncStatus(forName: "up"))
    let report = try await tree.device.manager.report(forId: up.id)
    #expect(report.dirty == 2 && report.conflicts.count == 1)
    let conflict = try #require(
      try await tree.device.store.conflicts(in: TreeDevice.contacts).first)
    #expect(conflict.recordId == children[0] && conflict.kind == .fields)
    try await tree.device.store.resolve(conflict, .mine)
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["mine": ["acme 1", "mine"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a child that was deleted there and edited here is a conflict, not a new record`()
    async throws
  {
    let (tree, _, children) = try await synced()
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.delete("Contact", children[0])
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["acme": ["acme 1"]])
    let conflict = try #require(try await tree.device.store.conflicts().first)
    #expect(conflict.kind == .deletedThere)
    try await tree.device.store.resolve(conflict, .mine)
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["acme": ["acme 1", "mine"]])
  }

  @Test func `a parent that was deleted there and comes back by decision keeps its children`()
    async throws
  {
    let (tree, parent, children) = try await synced()
    try await tree.device.edit(parent, ["Name": "mine"])
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.delete("Account", parent)
    try await run(tree, "up")
    let conflict = try #require(try await tree.device.store.conflicts(in: Device.soup).first)
    #expect(conflict.kind == .deletedThere)
    try await tree.device.store.resolve(conflict, .mine)
    for _ in 0..<2 { try await run(tree, "up") }
    #expect(tree.serverTrees() == ["mine": ["acme 1", "mine"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a child that another user moved to another parent is not moved back`() async throws {
    let (tree, _, children) = try await synced()
    let other = tree.serverTree("other", children: 0).parent
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.update("Contact", children[0], ["AccountId": .string(other)])
    try await run(tree, "up")
    #expect(tree.serverTrees() == ["acme": ["acme 1"], "other": ["mine"]])
  }

  @Test func `records created locally merge like others afterwards`() async throws {
    let (tree, _, _) = try await synced()
    try await tree.localTree("new", children: 1)
    try await run(tree, "up")
    let id = try #require(
      tree.org.records("Contact").first { $0["LastName"] == "new 0" }?["Id"]?.string)
    tree.org.update("Contact", id, ["Phone": "theirs"])
    try await tree.device.edit(id, ["LastName": "mine"], in: TreeDevice.contacts)
    try await run(tree, "up")
    #expect(tree.org.record("Contact", id)?["LastName"] == "mine")
    #expect(tree.org.record("Contact", id)?["Phone"] == "theirs")
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test func `a master that was deleted on both sides takes its children along`() async throws {
    let tree = try await TreeDevice()
    let parent = tree.serverTree("acme", children: 2).parent
    try await tree.syncDown(.mergeFields)
    try await tree.device.delete(parent)
    tree.org.delete("Account", parent)
    try await tree.syncUp(.mergeFields)
    #expect(try await tree.device.rows().isEmpty)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test func `a field that is added to children is fetched for the children that are there`()
    async throws
  {
    let (tree, parent, children) = try await synced()
    for id in children { tree.org.update("Contact", id, ["Title": "Boss"]) }
    try await tree.device.edit(children[1], ["LastName": "mine"], in: TreeDevice.contacts)
    let down = try #require(try await tree.device.manager.syncStatus(forName: "down"))
    let wider = Self.down(Self.fields + ["Title"])
    let changed = try await tree.device.manager.changeSyncDown(forId: down.id, to: wider)
    #expect(changed.fieldsToBackfill == ["Contacts/Title"])
    #expect(changed.maxTimeStamp == down.maxTimeStamp)
    try await run(tree, "down")
    for id in children { #expect(try await contact(tree, id)?["Title"] == "Boss") }
    #expect(try await contact(tree, children[1])?["LastName"] == "mine")
    #expect(try await tree.device.row("Id", parent)?["Name"] == "acme")
    #expect(try await tree.dirtyCount() == 1)
    try await run(tree, "up")
    #expect(tree.org.record("Contact", children[1])?["LastName"] == "mine")
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(.covers("BX-68"))
  func `children of two syncs stay as long as one of them has them`() async throws {
    let (tree, parent, children) = try await synced()
    let narrow = ParentChildrenSyncDownTarget(
      parent: TreeDevice.parent, parentFieldlist: ["Name"],
      parentSoqlFilter: "Phone = '1'", children: TreeDevice.children,
      childrenFieldlist: ["LastName", "AccountId"], relationshipType: .lookup)
    tree.org.update("Account", parent, ["Phone": "1"])
    _ = try await tree.device.manager.syncDown(
      target: narrow, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "narrow"
    ).finished()
    tree.org.update("Account", parent, ["Phone": "2"])
    _ = try await tree.device.manager.cleanResyncGhosts(forName: "narrow")
    #expect(try await tree.device.rows().count == 1)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).count == 2)
    tree.org.delete("Contact", children[0])
    _ = try await tree.device.manager.cleanResyncGhosts(forName: "down")
    #expect(try await tree.device.rows(in: TreeDevice.contacts).count == 1)
  }
}
