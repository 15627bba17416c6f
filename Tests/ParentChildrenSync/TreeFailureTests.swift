import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

@testable import SmartStoreTests

/// Trees whose records are lost, refused or new.
@Suite struct TreeFailureTests {
  /// The steps of a composite request.
  private func steps(_ request: InMemoryOrg.Request) throws -> [JSONValue] {
    try JSONValue(parsing: request.body)["compositeRequest"]?.array ?? []
  }

  @Test(.covers("MS-157"))
  func `a page whose children cannot be saved leaves no parent`() async throws {
    let tree = try await TreeDevice()
    tree.serverTree("a", children: 1)
    let b = tree.serverTree("b", children: 1)
    let table = try await tree.device.store.query(
      "select id from soup_attrs where soupName = '\(TreeDevice.contacts)'")
    let number = try #require(table.first?[0]?.int64)
    try await tree.device.store.unsafelyExecute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON TABLE_\(number) \
      WHEN NEW.soup LIKE '%\(b.children[0])%' BEGIN SELECT RAISE(ABORT, 'injected'); END
      """)
    await #expect(throws: SyncError.self) { try await tree.syncDown() }
    #expect(try await tree.localTrees().isEmpty)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
  }

  @Test(.covers("MS-161"))
  func `ghosts of children are found over pages of parents and pages of children`() async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.pageSize = 1
    tree.org.setChildPageSize(1)
    let trees = ["a", "b", "c"].map { tree.serverTree($0, children: 3) }
    let state = try await tree.syncDown()
    #expect(try await tree.localTrees() == tree.serverTrees())
    for one in trees { tree.org.delete("Contact", one.children[1]) }
    let counts = try await tree.device.manager.cleanResyncGhostCounts(forId: state.id)
    #expect(counts.bySoup == [TreeDevice.contacts: 3])
    #expect(try await tree.localTrees() == tree.serverTrees())
  }

  @Test(.covers("MS-242"))
  func `with leave-if-changed a child that was created here is no conflict`() async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(a.parent)]], type: "Contact",
      in: TreeDevice.contacts)
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.serverTrees() == ["a": ["a 0", "new"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-246"))
  func `without lists of its own a child sends its parent's id alone`() async throws {
    let tree = try await TreeDevice()
    try await tree.localTree("a", children: 1)
    let target = ParentChildrenSyncUpTarget(
      parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .masterDetail)
    let run = try await tree.device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup)
    _ = try await run.finished()
    let steps = try steps(tree.org.requests[0])
    #expect(steps.count == 2)
    #expect(steps[0]["body"] == ["Name": "a"])
    let parent = try #require(steps[0]["referenceId"]?.string)
    #expect(steps[1]["body"] == ["AccountId": .string("@{\(parent).id}")])
  }

  @Test(.covers("MS-249"))
  func `with leave-if-changed a lost child keeps its edit and becomes a conflict`()
    async throws
  {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(a.children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    // It goes between the check and the upload.
    tree.org.intervene { _, request in
      if request.line == "POST /{v}/composite" { tree.org.delete("Contact", a.children[0]) }
      return .none
    }
    try await tree.syncUp(.leaveIfChanged)
    let row = try #require(
      try await tree.device.row("Id", a.children[0], in: TreeDevice.contacts))
    #expect(row[SyncKeys.local] == true && row["LastName"] == "mine")
    #expect(tree.serverTrees() == ["a": ["a 1"]])
    let conflicts = try await tree.device.store.conflicts()
    #expect(conflicts.map(\.kind) == [.deletedThere])
    #expect(conflicts.map(\.recordId) == [a.children[0]])
  }

  @Test(.covers("MS-250"))
  func `a server that says gone each time gets two further calls`() async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "mine"])
    try await tree.device.edit(a.children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.forgetRequests()
    tree.org.intervene { _, request in
      guard request.line == "POST /{v}/composite",
        let steps = try? JSONValue(parsing: request.body)["compositeRequest"]?.array
      else { return .none }
      let gone = steps.map { step -> JSONValue in
        [
          "referenceId": step["referenceId"] ?? .null, "httpStatusCode": 404,
          "body": [["errorCode": "ENTITY_IS_DELETED", "message": "entity is deleted"]],
        ]
      }
      let body = JSONValue.object(["compositeResponse": .array(gone)]).text
      return .response(status: 200, body: body)
    }
    _ = try? await tree.syncUp()
    #expect(tree.org.lines.filter { $0 == "POST /{v}/composite" }.count <= 3)
    #expect(try await tree.dirtyCount() == 2)
    tree.org.intervene(nil)
    try await tree.syncUp()
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-253"))
  func `children of a look-up parent that the server deleted keep its id`() async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    tree.org.delete("Account", a.parent)
    try await tree.device.delete(a.parent)
    try await tree.syncUp()
    #expect(try await tree.device.rows().isEmpty)
    let child = try #require(
      try await tree.device.row("Id", a.children[0], in: TreeDevice.contacts))
    #expect(child["AccountId"]?.string == a.parent && child[SyncKeys.local] == false)
  }
}
