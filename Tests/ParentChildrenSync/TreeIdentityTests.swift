import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import Testing

/// Are the records of trees created once, also if a response is lost?
@Suite struct TreeIdentityTests {
  private static let parent = ParentInfo(
    sobjectType: "Account", soupName: Device.soup, externalIdFieldName: "Key__c",
    fillsExternalId: true)
  private static let children = ChildrenInfo(
    sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: TreeDevice.contacts,
    parentIdFieldName: "AccountId", externalIdFieldName: "Key__c", fillsExternalId: true)
  private static let target = ParentChildrenSyncUpTarget(
    parent: parent, children: children, relationshipType: .lookup,
    createFieldlist: ["Name", "Key__c"], updateFieldlist: ["Name", "Key__c"],
    childrenCreateFieldlist: ["LastName", "Key__c"],
    childrenUpdateFieldlist: ["LastName", "Key__c"])

  @Test func `the option to fill the external id is stored with parents and children`() throws {
    #expect(Self.target.json["parent"]?["fillsExternalId"] == true)
    #expect(Self.target.json["children"]?["fillsExternalId"] == true)
    let read = try ParentChildrenSyncUpTarget(configuration: Self.target.json)
    #expect(read == Self.target && read.parent.fillsExternalId && read.children.fillsExternalId)
    #expect(TreeDevice.parent.json["fillsExternalId"] == nil)
    #expect(TreeDevice.children.json["fillsExternalId"] == nil)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a tree whose external ids are filled is created once, however often it is sent`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.setClock(SalesforceDateNow.milliseconds)
    try await tree.localTree("a", children: 2)
    func up() async throws {
      _ = try await tree.device.manager.syncUp(
        target: Self.target, options: SyncOptions(mergeMode: mode), soupName: Device.soup
      ).finished()
    }
    tree.org.intervene { _, request in
      request.line.hasPrefix("POST /{v}/composite") ? .dropAnswer : .none
    }
    for _ in 1...2 { _ = await syncErrorCode { try await up() } }
    tree.org.intervene(nil)
    try await up()
    #expect(tree.serverTrees() == ["a": ["a 0", "a 1"]])
    #expect(tree.org.records("Contact").count == 2)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
    let keys = Set(
      (tree.org.records("Account") + tree.org.records("Contact")).compactMap {
        $0["Key__c"]?.string
      })
    #expect(keys.count == 3 && keys.allSatisfy { $0.count == 36 })
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a tree in doubt is held, and its children follow the parent that is chosen`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.setClock(SalesforceDateNow.milliseconds)
    try await tree.localTree("a", children: 2)
    tree.org.intervene { _, _ in .dropAnswer }
    _ = await syncErrorCode { try await tree.syncUp(mode) }
    tree.org.intervene(nil)
    let parent = try #require(tree.org.records("Account").first?["Id"]?.string)
    tree.org.update("Account", parent, ["Name": "theirs"])
    for _ in 0..<2 { try await tree.syncUp(mode) }
    #expect(tree.org.records("Account").count == 1 && tree.org.records("Contact").count == 2)
    let conflict = try #require(try await tree.device.store.conflicts().first)
    #expect(conflict.kind == .inDoubt && conflict.candidates.map(\.id) == [parent])
    try await tree.device.store.resolve(conflict, .record(parent))
    try await tree.syncUp(mode)
    #expect(tree.serverTrees() == ["theirs": ["a 0", "a 1"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
    #expect(try await tree.device.store.conflicts().isEmpty)
  }
}
