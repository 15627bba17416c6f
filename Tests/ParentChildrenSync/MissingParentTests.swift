import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing

/// What becomes of unsynced children whose parent is gone?
@Suite struct MissingParentTests {
  private static let contacts = TreeDevice.contacts
  private static let modes = [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields]

  /// A device with a downloaded tree of one parent and two children.
  private func synced(
    _ relationship: RelationshipType
  ) async throws -> (tree: TreeDevice, parent: String, children: [String]) {
    let tree = try await TreeDevice(relationship)
    let (parent, children) = tree.serverTree("a", children: 2)
    try await tree.syncDown(.mergeFields)
    return (tree, parent, children)
  }

  private func conflict(_ tree: TreeDevice) async throws -> SyncConflict {
    try #require(try await tree.device.store.conflicts(in: Self.contacts).first)
  }

  private func child(_ tree: TreeDevice, _ id: String) async throws -> JSONValue? {
    try await tree.device.row("Id", id, in: Self.contacts)
  }

  @Test(arguments: modes)
  func `a child that is deleted locally is deleted on the server, though its parent is gone`(
    mode: SyncMergeMode
  ) async throws {
    let (tree, parent, children) = try await synced(.lookup)
    try await tree.device.delete(parent)
    try await tree.syncUp(mode)
    #expect(try await tree.device.row("Id", parent) == nil)
    try await tree.device.delete(children[0], in: Self.contacts)
    try await tree.syncUp(mode)
    #expect(tree.org.records("Contact").compactMap { $0["Id"]?.string } == [children[1]])
    #expect(try await child(tree, children[0]) == nil)
    #expect(try await tree.dirtyCount() == 0)
  }

  /// A detail whose master was deleted on the server, and which is to come back: no master takes it.
  private func detail() async throws -> (tree: TreeDevice, children: [String]) {
    let (tree, parent, children) = try await synced(.masterDetail)
    try await tree.device.edit(children[0], ["LastName": "mine"], in: Self.contacts)
    tree.org.delete("Account", parent)
    try await tree.syncUp(.mergeFields)
    let deleted = try await conflict(tree)
    #expect(deleted.kind == .deletedThere)
    try await tree.device.store.resolve(deleted, .mine)
    let state = try await tree.syncUp(.mergeFields)
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.map(\.kind) == [.conflict])
    return (tree, children)
  }

  @Test func `a master that was deleted on the server is created again with all its details`()
    async throws
  {
    let (tree, _) = try await detail()
    let missing = try await conflict(tree)
    #expect(missing.kind == .parentMissing && missing.missingParent?.isRequired == true)
    #expect(
      await syncErrorCode { try await tree.device.store.resolve(missing, .detach) }
        == .invalidResolution)
    #expect(
      await syncErrorCode { try await tree.device.store.resolve(missing, .mine) }
        == .invalidResolution)
    try await tree.device.store.resolve(missing, .recreateParent)
    try await tree.syncUp(.mergeFields)
    #expect(tree.serverTrees() == ["a": ["a 1", "mine"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test func `the edit of a detail whose master was deleted on the server is dropped on demand`()
    async throws
  {
    let (tree, children) = try await detail()
    try await tree.device.store.resolve(try await conflict(tree), .theirs)
    #expect(try await child(tree, children[0]) == nil)
    try await tree.syncUp(.mergeFields)
    #expect(tree.org.records("Contact").isEmpty)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  /// A child that was created locally, under a parent that was deleted on the server.
  private func newChild() async throws -> (tree: TreeDevice, parent: String) {
    let (tree, parent, _) = try await synced(.lookup)
    try await tree.device.create(
      [["Id": "local_1", "LastName": "new", "AccountId": .string(parent)]], type: "Contact",
      in: Self.contacts)
    tree.org.delete("Account", parent)
    try await tree.syncUp(.mergeFields)
    #expect(tree.org.records("Contact").count == 2)
    return (tree, parent)
  }

  @Test func `a child can be detached from a parent that was deleted on the server`() async throws {
    let (tree, parent) = try await newChild()
    let missing = try await conflict(tree)
    #expect(missing.kind == .parentMissing && missing.missingParent?.recordId == parent)
    try await tree.device.store.resolve(missing, .detach)
    try await tree.syncUp(.mergeFields)
    let made = tree.org.records("Contact").first { $0["LastName"] == "new" }
    #expect(made != nil && made?["AccountId"]?.string == nil)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test func `children follow a parent that is created again`() async throws {
    let (tree, _) = try await newChild()
    try await tree.device.store.resolve(try await conflict(tree), .recreateParent)
    try await tree.syncUp(.mergeFields)
    #expect(tree.serverTrees() == ["a": ["a 0", "a 1", "new"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test func `a missing parent that is restored on the server takes its children again`()
    async throws
  {
    let (tree, parent) = try await newChild()
    #expect(try await tree.device.store.conflicts().count == 1)
    tree.org.undelete(parent)
    try await tree.syncUp(.mergeFields)
    #expect(tree.serverTrees() == ["a": ["a 0", "a 1", "new"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(arguments: modes)
  func `an edited child whose parent has no entry can be detached, or gets another parent`(
    mode: SyncMergeMode
  ) async throws {
    let (tree, parent, children) = try await synced(.lookup)
    let other = tree.serverTree("b", children: 0).parent
    try await tree.syncDown(.mergeFields)
    try await tree.device.delete(parent)
    try await tree.syncUp(mode)
    for id in children {
      try await tree.device.edit(id, ["LastName": .string("mine \(id)")], in: Self.contacts)
    }
    tree.org.forgetRequests()
    try await tree.syncUp(mode)
    let found = try await tree.device.store.conflicts(in: Self.contacts)
    #expect(found.map(\.kind) == [.parentMissing, .parentMissing])
    #expect(found.allSatisfy { $0.missingParent?.entryId == nil })
    #expect(
      await syncErrorCode { try await tree.device.store.resolve(found[0], .recreateParent) }
        == .invalidResolution)
    try await tree.device.store.resolve(found[0], .detach)
    try await tree.device.edit(children[1], ["AccountId": .string(other)], in: Self.contacts)
    #expect(try await tree.device.store.conflicts().isEmpty)
    try await tree.syncUp(mode)
    #expect(tree.org.record("Contact", children[0])?["AccountId"] == .null)
    #expect(tree.org.record("Contact", children[0])?["LastName"]?.string == "mine \(children[0])")
    #expect(tree.serverTrees() == ["b": ["mine \(children[1])"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a child whose parent was deleted on the server does not count as deleted itself`()
    async throws
  {
    let (tree, parent, children) = try await synced(.lookup)
    try await tree.device.edit(children[0], ["LastName": "mine"], in: Self.contacts)
    tree.org.delete("Account", parent)
    try await tree.syncUp(.leaveIfChanged)
    let conflicts = try await tree.device.store.conflicts()
    #expect(conflicts.map(\.recordId) == [parent])
    #expect(conflicts.map(\.kind) == [.deletedThere])
    try await tree.device.store.resolve(conflicts[0], .theirs)
    try await tree.syncUp(.leaveIfChanged)
    let missing = try await conflict(tree)
    #expect(missing.kind == .parentMissing && missing.recordId == children[0])
    try await tree.device.store.resolve(missing, .detach)
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.org.record("Contact", children[0])?["LastName"] == "mine")
    #expect(try await tree.dirtyCount() == 0)
  }

  // MARK: Deleted masters

  @Test(arguments: [SyncMergeMode.leaveIfChanged, .mergeFields], [true, false])
  func `the deletion of a master waits for a decision if the server has details that changed`(
    mode: SyncMergeMode, isNew: Bool
  ) async throws {
    let (tree, parent, children) = try await synced(.masterDetail)
    try await tree.device.delete(parent)
    let changed =
      isNew
      ? tree.org.create("Contact", ["LastName": "theirs", "AccountId": .string(parent)])
      : children[0]
    if !isNew { tree.org.update("Contact", changed, ["LastName": "theirs"]) }
    for _ in 0..<2 { try await tree.syncUp(mode) }
    #expect(tree.org.record("Account", parent) != nil)
    #expect(tree.org.records("Contact").contains { $0["LastName"] == "theirs" })
    let conflicts = try await tree.device.store.conflicts()
    if isNew || mode == .mergeFields {
      #expect(conflicts.map(\.kind) == [.deletedHere])
      let field = conflicts.first?.fields.first { $0.name == "__children__" }
      #expect(field?.theirs?[changed]?.string != nil)
    }
    for conflict in conflicts { try await tree.device.store.resolve(conflict, .mine) }
    try await tree.syncUp(mode)
    #expect(tree.org.records("Account").isEmpty && tree.org.records("Contact").isEmpty)
    #expect(try await tree.device.rows().isEmpty)
    #expect(try await tree.device.rows(in: Self.contacts).isEmpty)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(arguments: [false, true])
  func `a download does not hide that a tree was changed after its master was deleted here`(
    isLate: Bool
  ) async throws {
    let tree = try await TreeDevice(.masterDetail)
    let parent = tree.serverTree("a", children: 2).parent
    let manager = tree.device.manager
    _ = try await manager.createSyncDown(
      target: tree.down,
      options: SyncOptions(mergeMode: .mergeFields, lateCommitWindow: .seconds(20)),
      soupName: Device.soup, syncName: "down")
    func down() async throws { _ = try await manager.reSync(named: "down").finished() }
    try await down()
    try await tree.device.delete(parent)
    tree.org.create("Contact", ["LastName": "theirs", "AccountId": .string(parent)])
    // Of a transaction that commits late the master comes again as it was.
    if !isLate { tree.org.update("Account", parent, ["Rating": "Hot"]) }
    try await down()
    try await tree.syncUp(.mergeFields)
    #expect(tree.org.records("Contact").count == 3)
    let conflict = try #require(try await tree.device.store.conflicts().first)
    #expect(conflict.kind == .deletedHere && conflict.recordId == parent)
    #expect(conflict.fields.map(\.name) == ["__children__"])
    try await tree.device.store.resolve(conflict, .theirs)
    try await tree.syncUp(.mergeFields)
    try await down()
    #expect(try await tree.localTrees() == ["a": ["a 0", "a 1", "theirs"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `details that were uploaded from here do not hold the deletion of their master back`()
    async throws
  {
    let (tree, parent, children) = try await synced(.masterDetail)
    try await tree.device.edit(children[0], ["LastName": "mine"], in: Self.contacts)
    try await tree.syncUp(.mergeFields)
    try await tree.device.delete(parent)
    try await tree.syncUp(.mergeFields)
    #expect(tree.org.records("Account").isEmpty)
    #expect(try await tree.device.store.conflicts().isEmpty)
  }
}
