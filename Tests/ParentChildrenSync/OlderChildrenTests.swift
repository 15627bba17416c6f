import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Does a parent that was out of a sync for a while return with its children as they are?
@Suite struct OlderChildrenTests {
  /// Trees whose parents can leave the query.
  private func target(_ relationship: RelationshipType) -> ParentChildrenSyncDownTarget {
    ParentChildrenSyncDownTarget(
      parent: TreeDevice.parent, parentFieldlist: ["Name"], parentSoqlFilter: "Region__c = 'in'",
      children: TreeDevice.children, childrenFieldlist: ["LastName"],
      relationshipType: relationship)
  }

  private func tree(_ name: String, _ tree: TreeDevice) -> (parent: String, children: [String]) {
    let made = tree.serverTree(name, children: 2)
    tree.org.update("Account", made.parent, ["Region__c": "in"])
    return made
  }

  private func download(_ relationship: RelationshipType, _ tree: TreeDevice) async throws -> Int64
  {
    let run = try await tree.device.manager.syncDown(
      target: target(relationship), options: SyncOptions(mergeMode: .mergeFields),
      soupName: Device.soup)
    return try await run.finished().id
  }

  @Test(.covers("MS-152"), arguments: [true, false])
  func `a parent that returns brings the children that changed while it was away`(
    wasDeleted: Bool
  ) async throws {
    let device = try await TreeDevice(.lookup)
    let org = device.org
    let a = tree("a", device)
    let b = tree("b", device)
    let id = try await download(.lookup, device)
    if wasDeleted {
      org.delete("Account", a.parent)
    } else {
      org.update("Account", a.parent, ["Region__c": "out"])
    }
    org.update("Contact", a.children[0], ["LastName": "changed"])
    org.update("Account", b.parent, ["Name": "c"])
    _ = try await device.device.manager.reSync(id: id).finished()
    if wasDeleted {
      org.undelete(a.parent)
    } else {
      org.update("Account", a.parent, ["Region__c": "in"])
    }
    _ = try await device.device.manager.reSync(id: id).finished()
    #expect(try await device.localTrees() == ["a": ["a 1", "changed"], "c": ["b 0", "b 1"]])
  }

  @Test(.covers("MS-152", "MS-160"), arguments: [RelationshipType.lookup, .masterDetail])
  func `a parent that returns after its ghosts were cleaned brings all its children`(
    relationship: RelationshipType
  ) async throws {
    let device = try await TreeDevice(relationship)
    let org = device.org
    // Children and parents come on several pages.
    org.pageSize = 1
    let a = tree("a", device)
    let b = tree("b", device)
    let id = try await download(relationship, device)
    org.update("Account", a.parent, ["Region__c": "out"])
    #expect(try await device.device.manager.cleanResyncGhosts(forId: id) == 1)
    #expect(try await device.localTrees() == ["b": ["b 0", "b 1"]])
    for parent in [b.parent, a.parent] { org.update("Account", parent, ["Region__c": "in"]) }
    _ = try await device.device.manager.reSync(id: id).finished()
    #expect(try await device.localTrees() == ["a": ["a 0", "a 1"], "b": ["b 0", "b 1"]])
    #expect(try await device.idsAgree())
  }

  @Test(.covers("MS-152", "MS-153"), arguments: [false, true])
  func `a run that continues an interrupted one brings children that are older than its watermark`(
    isFirst: Bool
  ) async throws {
    let device = try await TreeDevice(.lookup)
    let org = device.org
    org.pageSize = 1
    let a = tree("a", device)
    let b = tree("b", device)
    let c = tree("c", device)
    func run() async throws {
      _ = try await device.device.manager.reSync(named: "down").finished()
    }
    _ = try await device.device.manager.createSyncDown(
      target: target(.lookup), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup, syncName: "down")
    if !isFirst { try await run() }
    for child in c.children { org.update("Contact", child, ["LastName": "c"]) }
    for parent in [a.parent, b.parent, c.parent] {
      org.update("Account", parent, ["Region__c": "in"])
    }
    let first = org.requests.count
    org.intervene { number, request in
      number > first + 2 && !request.line.hasSuffix("/query") ? .unreachable : .none
    }
    await #expect(throws: SyncError.self) { try await run() }
    org.intervene(nil)
    try await run()
    #expect(try await device.localTrees() == device.serverTrees())
    #expect(try await device.localTrees()["c"] == ["c", "c"])
  }

  @Test func `children that the device has are not fetched again`() async throws {
    let device = try await TreeDevice(.lookup)
    let org = device.org
    let a = tree("a", device)
    let id = try await download(.lookup, device)
    let before = try await device.device.rows(in: TreeDevice.contacts)
    org.update("Account", a.parent, ["Name": "b"])
    let first = org.requests.count
    _ = try await device.device.manager.reSync(id: id).finished()
    #expect(org.requests.count - first == 3)
    #expect(try await device.device.rows(in: TreeDevice.contacts) == before)
    #expect(try await device.localTrees() == ["b": ["a 0", "a 1"]])
  }

  @Test func `an edited child of a parent that returns keeps its edit`() async throws {
    let device = try await TreeDevice(.lookup)
    let org = device.org
    let a = tree("a", device)
    let id = try await download(.lookup, device)
    org.update("Account", a.parent, ["Region__c": "out"])
    org.update("Contact", a.children[0], ["LastName": "there"])
    let b = tree("b", device)
    _ = try await device.device.manager.reSync(id: id).finished()
    try await device.device.edit(a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    org.update("Account", a.parent, ["Region__c": "in"])
    _ = try await device.device.manager.reSync(id: id).finished()
    let row = try #require(try await device.device.row(a.children[0], in: TreeDevice.contacts))
    #expect(row["LastName"] == "here")
    #expect(try await device.device.store.conflicts().map(\.recordId) == [a.children[0]])
    #expect(try await device.device.row(b.children[0], in: TreeDevice.contacts) != nil)
  }
}
