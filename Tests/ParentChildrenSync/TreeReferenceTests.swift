import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import Testing

/// Do trees that refer to records of other trees and soups, created locally as well, reach the server whole?
@Suite struct TreeReferenceTests {
  private static let contacts = TreeDevice.contacts
  private static let projects = "projects"
  private static let parentFields = ["Name", "ParentId", "Main__c"]
  private static let childFields = ["LastName", "Project__c"]

  /// A device with a sync up of trees and one of projects.
  private func makeTree() async throws -> TreeDevice {
    let tree = try await TreeDevice(.lookup)
    tree.org.setClock(SalesforceDateNow.milliseconds)
    try await tree.device.registerSoup(Self.projects)
    _ = try await tree.device.manager.createSyncUp(
      target: ParentChildrenSyncUpTarget(
        parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .lookup,
        createFieldlist: Self.parentFields, updateFieldlist: Self.parentFields,
        childrenCreateFieldlist: Self.childFields, childrenUpdateFieldlist: Self.childFields),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "trees")
    _ = try await tree.device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Account__c"]),
      soupName: Self.projects,
      syncName: "projects")
    return tree
  }

  private func make(
    _ id: String, _ fields: JSONObject, type: String = "Account", in soup: String = Device.soup,
    _ tree: TreeDevice
  ) async throws {
    var fields = fields
    fields["Id"] = .string(id)
    if fields["Name"] == nil { fields["Name"] = .string(id) }
    try await tree.device.create([fields], type: type, in: soup)
  }

  private func makeChild(_ id: String, _ fields: JSONObject, _ tree: TreeDevice) async throws {
    try await make(id, fields, type: "Contact", in: Self.contacts, tree)
  }

  private func run(_ name: String, _ tree: TreeDevice) async throws -> SyncState {
    try await tree.device.manager.reSync(named: name).finished()
  }

  private func kinds(_ state: SyncState, _ tree: TreeDevice) async throws -> [String: String] {
    Dictionary(
      try await tree.device.manager.outcomes(forId: state.id).map {
        ($0.recordId ?? "", $0.kind.rawValue)
      }, uniquingKeysWith: { _, last in last })
  }

  private func serverId(_ type: String, _ name: String, _ tree: TreeDevice) -> JSONValue? {
    tree.org.records(type).first { $0["Name"]?.string == name }?["Id"]
  }

  @Test func `a child waits for a record of another soup, its parent and siblings do not`()
    async throws
  {
    let tree = try await makeTree()
    try await make("local_p", [:], tree)
    try await makeChild("local_1", ["AccountId": "local_p", "Project__c": "local_7"], tree)
    try await makeChild("local_2", ["AccountId": "local_p"], tree)
    try await make("local_7", [:], type: "Project", in: Self.projects, tree)
    let first = try await run("trees", tree)
    #expect(try await kinds(first, tree)["local_1"] == "waiting")
    #expect(tree.org.records("Contact").count == 1)
    _ = try await run("projects", tree)
    _ = try await run("trees", tree)
    let made = try #require(tree.org.records("Contact").first { $0["Project__c"] != nil })
    #expect(made["Project__c"] == serverId("Project", "local_7", tree))
    #expect(made["AccountId"] == serverId("Account", "local_p", tree))
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `related syncs run so that trees come after what they refer to`() async throws {
    let tree = try await makeTree()
    try await make("local_p", [:], tree)
    try await makeChild("local_1", ["AccountId": "local_p", "Project__c": "local_7"], tree)
    try await make("local_7", [:], type: "Project", in: Self.projects, tree)
    try await tree.device.manager.reSyncRelated(named: ["trees", "projects"])
    #expect(
      tree.org.records("Contact").first?["Project__c"] == serverId("Project", "local_7", tree))
    #expect(try await tree.device.manager.unsyncedRecords().isEmpty)
  }

  @Test func `rows of other soups get the server's ids of parents and children`() async throws {
    let tree = try await makeTree()
    try await make("local_p", [:], tree)
    try await makeChild("local_1", ["AccountId": "local_p"], tree)
    try await make("local_7", ["Account__c": "local_p"], type: "Project", in: Self.projects, tree)
    try await make("local_8", ["Account__c": "local_1"], type: "Project", in: Self.projects, tree)
    _ = try await run("trees", tree)
    let rows = try await tree.device.rows(in: Self.projects)
    #expect(rows[0]["Account__c"] == serverId("Account", "local_p", tree))
    #expect(rows[1]["Account__c"] == tree.org.records("Contact").first?["Id"])
    _ = try await run("projects", tree)
    #expect(tree.org.records("Project").count == 2)
  }

  @Test func `trees are uploaded in the order of what they refer to`() async throws {
    let tree = try await makeTree()
    try await make("local_a", ["ParentId": "local_b"], tree)
    try await make("local_b", ["ParentId": "local_c"], tree)
    try await make("local_c", [:], tree)
    _ = try await run("trees", tree)
    #expect(tree.org.requests.count == 3)
    for (name, parent) in [("local_a", "local_b"), ("local_b", "local_c")] {
      let record = tree.org.records("Account").first { $0["Name"]?.string == name }
      #expect(record?["ParentId"] == serverId("Account", parent, tree))
    }
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a circle of records of two syncs of trees is closed`() async throws {
    let tree = try await makeTree()
    let tasks = "tasks"
    try await tree.device.registerSoup(tasks, "Project__c")
    let projects = ParentInfo(sobjectType: "Project", soupName: Self.projects)
    let children = ChildrenInfo(
      sobjectType: "Task", sobjectTypePlural: "Tasks", soupName: tasks,
      parentIdFieldName: "Project__c")
    let fields = ["Name", "Account__c"]
    _ = try await tree.device.manager.createSyncUp(
      target: ParentChildrenSyncUpTarget(
        parent: projects, children: children, relationshipType: .lookup, createFieldlist: fields,
        updateFieldlist: fields, childrenCreateFieldlist: [], childrenUpdateFieldlist: []),
      options: SyncOptions(mergeMode: .overwrite), soupName: Self.projects,
      syncName: "project trees")
    try await make("local_p", ["Main__c": "local_7"], tree)
    try await make("local_7", ["Account__c": "local_p"], type: "Project", in: Self.projects, tree)
    try await tree.device.manager.reSyncRelated(named: ["trees", "project trees"])
    #expect(try await tree.device.manager.unsyncedRecords().isEmpty)
    let (account, project) = (tree.org.records("Account"), tree.org.records("Project"))
    #expect(account.count == 1 && project.count == 1)
    #expect(account.first?["Main__c"] == project.first?["Id"])
    #expect(project.first?["Account__c"] == account.first?["Id"])
  }

  @Test(arguments: [false, true])
  func `circles within a tree and between trees are closed in one run`(isBetween: Bool) async throws
  {
    let tree = try await makeTree()
    try await make("local_p", ["Main__c": isBetween ? "local_q" : "local_1"], tree)
    try await makeChild("local_1", ["AccountId": "local_p"], tree)
    if isBetween { try await make("local_q", ["Main__c": "local_p"], tree) }
    let state = try await run("trees", tree)
    #expect(state.status == .done)
    let p = tree.org.records("Account").first { $0["Name"] == "local_p" }
    let main =
      isBetween ? serverId("Account", "local_q", tree) : tree.org.records("Contact").first?["Id"]
    #expect(main != nil && p?["Main__c"] == main)
    if isBetween {
      let q = tree.org.records("Account").first { $0["Name"] == "local_q" }
      #expect(q?["Main__c"] == p?["Id"])
    }
    #expect(try await tree.dirtyCount() == 0)
    #expect(tree.org.records("Account").count == (isBetween ? 2 : 1))
  }
}
