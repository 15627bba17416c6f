import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct ParentChildrenSyncDownTests {
  private func school(_ filter: String) -> ParentChildrenSyncDownTarget {
    ParentChildrenSyncDownTarget(
      parent: ParentInfo(
        sobjectType: "Parent", soupName: "parents",
        names: SyncFieldNames(id: "ParentId", modificationDate: "ParentModifiedDate")),
      parentFieldlist: ["ParentName", "Title"], parentSoqlFilter: filter,
      children: ChildrenInfo(
        sobjectType: "Child", sobjectTypePlural: "Children", soupName: "children",
        parentIdFieldName: "parentId",
        names: SyncFieldNames(id: "ChildId", modificationDate: "ChildLastModifiedDate")),
      childrenFieldlist: ["ChildName", "School"], relationshipType: .masterDetail)
  }

  @Test(.covers("MS-151"))
  func `parents and children come with one query`() throws {
    #expect(
      try school("School = 'MIT'").query(since: -1)
        == "select ParentName, Title, ParentId, ParentModifiedDate, (select ChildName, School, ChildId, ChildLastModifiedDate from Children) from Parent where School = 'MIT' order by ParentModifiedDate"
    )
    #expect(try !school("").query(since: 0).contains("where"))
  }

  @Test(.covers("MS-152"))
  func `a re-sync asks for changed parents with their changed children`() throws {
    let date = "2015-02-05T21:12:03.956+0000"
    #expect(
      try school("A = 1 or B = 2").query(since: 1_423_170_723_956)
        == "select ParentName, Title, ParentId, ParentModifiedDate, (select ChildName, School, ChildId, ChildLastModifiedDate from Children where ChildLastModifiedDate > \(date)) from Parent where ParentModifiedDate > \(date) and (A = 1 or B = 2) order by ParentModifiedDate"
    )
  }

  @Test(.covers("MS-154", "MS-155", "MS-157"))
  func `trees go to both soups and the total counts parents`()
    async throws
  {
    let tree = try await TreeDevice()
    let (parent, children) = tree.serverTree("a", children: 2)
    tree.serverTree("b", children: 0)
    let state = try await tree.syncDown()
    #expect(state.totalSize == 2)
    #expect(tree.org.lines == ["GET /{v}/query"])
    #expect(tree.org.requests[0].headers["Sforce-Query-Options"] == nil)
    #expect(try await tree.localTrees() == ["a": ["a 0", "a 1"], "b": []])
    let row = try #require(try await tree.device.row("Id", parent))
    #expect(row["Contacts"] == nil && row[SyncKeys.syncId] == .integer(state.id))
    let child = try #require(
      try await tree.device.row("Id", children[0], in: TreeDevice.contacts))
    #expect(child["AccountId"]?.string == parent && child[SyncKeys.syncId] == .integer(state.id))
    #expect(child[SyncKeys.local] == false)
  }

  @Test(
    .covers("MS-155"),
    arguments: [
      (nil, nil), (2_000, nil), (500, "batchSize=500"), (50, "batchSize=200"),
    ] as [(Int?, String?)])
  func `a page size that is given is requested, the server's own is not`(
    size: Int?, header: String?
  ) async throws {
    let tree = try await TreeDevice()
    var configuration = tree.down.json
    configuration["maxBatchSize"] = size.map { .integer(Int64($0)) }
    let target = try ParentChildrenSyncDownTarget(configuration: configuration)
    _ = try await tree.device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(tree.org.requests.map { $0.headers["Sforce-Query-Options"] } == [header])
  }

  @Test(.covers("MS-156"))
  func `children on pages of their own are fetched too`() async throws {
    let tree = try await TreeDevice()
    tree.org.setChildPageSize(2)
    tree.serverTree("a", children: 5)
    tree.serverTree("b", children: 2)
    try await tree.syncDown()
    // What is left of the first parent's children comes with one more request.
    #expect(tree.org.requests.count == 2)
    #expect(try await tree.localTrees() == tree.serverTrees())
  }

  @Test(.covers("MS-153"))
  func `children's dates count only when the run is complete`() async throws {
    let tree = try await TreeDevice()
    let first = tree.serverTree("a", children: 1)
    tree.serverTree("b", children: 0)
    // The first parent's child is newer than the second parent.
    tree.org.update("Contact", first.children[0], ["LastName": "newest"])
    tree.org.pageSize = 1
    tree.org.intervene { number, _ in number == 2 ? .unreachable : .none }
    let run = try await tree.device.manager.syncDown(
      target: tree.down, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await #expect(throws: SyncError.self) { try await run.finished() }
    let failed = try #require(try await tree.device.manager.syncStatus(forId: run.state.id))
    let date = tree.org.record("Account", first.parent)?["LastModifiedDate"]?.string
    #expect(failed.maxTimeStamp == date.flatMap(SalesforceDate.parse)?.milliseconds)
    tree.org.intervene(nil)
    let state = try await tree.device.manager.reSync(id: run.state.id).finished()
    #expect(state.maxTimeStamp == tree.org.now)
    #expect(try await tree.localTrees() == ["a": ["newest"], "b": []])
  }

  @Test(.covers("MS-158"), arguments: [true, false])
  func `a tree of which anything is edited is left alone as a whole`(edited: Bool)
    async throws
  {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    let b = tree.serverTree("b", children: 1)
    let state = try await tree.syncDown(.leaveIfChanged)
    if edited {
      try await tree.device.edit(
        a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    } else {
      // A child that was created locally.
      try await tree.device.create(
        [["LastName": "here", "AccountId": .string(a.parent)]], type: "Contact",
        in: TreeDevice.contacts)
    }
    for (parent, children) in [a, b] {
      tree.org.update("Account", parent, ["Name": "there"])
      for child in children { tree.org.update("Contact", child, ["LastName": "there"]) }
    }
    _ = try await tree.device.manager.reSync(id: state.id).finished()
    let untouched = try #require(try await tree.device.row("Id", a.parent))
    #expect(untouched["Name"] == "a")
    #expect(
      try await tree.device.row("Id", a.children[1], in: TreeDevice.contacts)?["LastName"] == "a 1")
    #expect(try await tree.device.row("Id", b.parent)?["Name"] == "there")
    #expect(
      try await tree.device.row("Id", b.children[0], in: TreeDevice.contacts)?["LastName"]
        == "there")
  }

  @Test(.covers("MS-78"))
  func `an edit of a child during the run keeps its tree, also in overwrite mode`()
    async throws
  {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    let state = try await tree.syncDown()
    tree.org.update("Account", a.parent, ["Name": "there"])
    let device = tree.device
    tree.org.intervene { _, _ in
      try? await device.edit(a.children[0], ["LastName": "here"], in: TreeDevice.contacts)
      return .none
    }
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await tree.localTrees() == ["a": ["here"]])
    #expect(try await device.dirtyRows(in: TreeDevice.contacts).count == 1)
  }

  @Test(.covers("MS-159", "MS-160", "MS-161"))
  func `ghosts of both soups go, dirty trees stay`() async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.setChildPageSize(1)
    let a = tree.serverTree("a", children: 3)
    let b = tree.serverTree("b", children: 1)
    let c = tree.serverTree("c", children: 1)
    let state = try await tree.syncDown()
    // Of a, one child goes; b goes with its child; c goes, but a child of it is edited here.
    tree.org.delete("Contact", a.children[2])
    tree.org.delete("Account", b.parent)
    tree.org.delete("Contact", b.children[0])
    tree.org.delete("Account", c.parent)
    try await tree.device.edit(c.children[0], ["LastName": "here"], in: TreeDevice.contacts)
    let counts = try await tree.device.manager.cleanResyncGhostCounts(forId: state.id)
    #expect(counts.removed == 1)
    #expect(counts.bySoup == [Device.soup: 1, TreeDevice.contacts: 2])
    #expect(try await tree.localTrees() == ["a": ["a 0", "a 1"], "c": ["here"]])
  }

  @Test(.covers("MS-161"))
  func `ghosts of children are cleaned although no parent is left`() async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 1)
    let state = try await tree.syncDown()
    tree.org.delete("Account", a.parent)
    #expect(try await tree.device.manager.cleanResyncGhosts(forId: state.id) == 1)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
  }

  @Test(.covers("MS-62"))
  func `a child soup without the parent's index fails the run`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    try await device.registerSoup(TreeDevice.contacts)
    let target = ParentChildrenSyncDownTarget(
      parent: TreeDevice.parent, parentFieldlist: [], children: TreeDevice.children,
      childrenFieldlist: [], relationshipType: .lookup)
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(org.requests.isEmpty)
  }

  @Test(.covers("MS-147", "MS-148", "MS-149", "MS-266"))
  func `the stored form reads back equal, names have defaults`()
    throws
  {
    let target = school("School = 'MIT'")
    let json = target.json
    #expect(json["type"] == "parent_children" && json["relationshipType"] == "MASTER_DETAIL")
    #expect(json["idFieldName"] == "ParentId")
    #expect(try ParentChildrenSyncDownTarget(configuration: json) == target)
    let registry = SyncTargetRegistry()
    try registry.register(ParentChildrenSyncDownTarget.self)
    let short: JSONObject = [
      "type": "parentChildren", "parent": ["sobjectType": "Account", "soupName": "accounts"],
      "parentFieldlist": ["Name"],
      "children": [
        "sObjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts",
        "parentIdFieldName": "AccountId",
      ], "childrenFieldlist": ["LastName"], "relationshipType": "LOOKUP",
    ]
    let read = try registry.downTarget(from: short) as? ParentChildrenSyncDownTarget
    #expect(read?.parent == TreeDevice.parent && read?.children == TreeDevice.children)
  }

  @Test(
    .covers("MS-150", "MS-267"),
    arguments: [
      ("parent", nil, "'parent'"), ("children", nil, "'children'"),
      ("relationshipType", "MANY", "MASTER_DETAIL or LOOKUP"),
      ("children", ["sobjectType": "C", "soupName": "c"], "'sobjectTypePlural'"),
    ] as [(String, JSONValue?, String)])
  func `what is missing or unknown is refused by its key`(
    key: String, value: JSONValue?, message: String
  ) {
    var configuration = school("").json
    configuration[key] = value
    #expect {
      try ParentChildrenSyncDownTarget(configuration: configuration)
    } throws: {
      ($0 as? SyncError)?.message.contains(message) == true
    }
  }
}
