import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct ParentChildrenSyncUpTests {
  private func parts(_ request: InMemoryOrg.Request) throws -> [JSONValue] {
    try JSONValue(parsing: request.body)["compositeRequest"]?.array ?? []
  }

  @Test(.covers("MS-332"))
  func `five trees created locally are five requests, and children get their parents' ids`()
    async throws
  {
    let tree = try await TreeDevice()
    for name in ["a", "b", "c", "d", "e"] { try await tree.localTree(name, children: 3) }
    let state = try await tree.syncUp()
    #expect(state.totalSize == 5)
    #expect(tree.org.lines == Array(repeating: "POST /{v}/composite", count: 5))
    #expect(try tree.org.requests.allSatisfy { try parts($0).count == 4 })
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(tree.serverTrees()["c"] == ["c 0", "c 1", "c 2"])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-244", "MS-245"))
  func `the parent goes first, children refer to it or carry its id`()
    async throws
  {
    let tree = try await TreeDevice()
    let known = tree.serverTree("known", children: 1)
    try await tree.syncDown()
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(known.parent)]], type: "Contact",
      in: TreeDevice.contacts)
    let local = try await tree.localTree("made", children: 1)
    tree.org.forgetRequests()
    try await tree.syncUp()
    let first = try parts(tree.org.requests[0])
    // The parent is clean, so it is not sent.
    #expect(first.map { $0["method"] } == ["POST"])
    #expect(first[0]["body"] == ["LastName": "new", "AccountId": .string(known.parent)])
    let second = try parts(tree.org.requests[1])
    #expect(second.map { $0["referenceId"]?.string }[0] == local)
    #expect(second[1]["body"] == ["LastName": "made 0", "AccountId": .string("@{\(local).id}")])
  }

  @Test(.covers("MS-244", "MS-247"))
  func `a deleted master takes its children along with one step`() async throws {
    let tree = try await TreeDevice(.masterDetail)
    let a = tree.serverTree("a", children: 3)
    try await tree.syncDown()
    try await tree.device.edit(a.children[0], ["LastName": "x"], in: TreeDevice.contacts)
    try await tree.device.delete(a.parent)
    tree.org.forgetRequests()
    try await tree.syncUp()
    #expect(try parts(tree.org.requests[0]).map { $0["method"] } == ["DELETE"])
    #expect(tree.org.records("Contact").isEmpty)
    #expect(try await tree.device.rows().isEmpty)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
  }

  @Test(.covers("MS-244", "MS-253"))
  func `a deleted look-up parent goes last and its children stay`() async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(a.children[0], ["LastName": "x"], in: TreeDevice.contacts)
    try await tree.device.delete(a.parent)
    tree.org.forgetRequests()
    try await tree.syncUp()
    let steps = try parts(tree.org.requests[0])
    #expect(steps.map { $0["method"] } == ["PATCH", "DELETE"])
    #expect(steps[0]["body"] == ["LastName": "x"])
    #expect(try await tree.device.rows().isEmpty)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).count == 2)
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-324"))
  func `a tree made and deleted here leaves without a request`() async throws {
    let tree = try await TreeDevice()
    let local = try await tree.localTree("a", children: 2)
    try await tree.device.delete(local)
    try await tree.syncUp()
    #expect(tree.org.requests.isEmpty)
    #expect(try await tree.device.rows().isEmpty)
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
  }

  @Test(.covers("MS-251"), arguments: [(24, 1), (25, 2), (60, 3)])
  func `a long tree is split, and the rest carries the real parent id`(
    children: Int, requests: Int
  ) async throws {
    let tree = try await TreeDevice()
    try await tree.localTree("a", children: children)
    try await tree.syncUp()
    #expect(tree.org.requests.count == requests)
    #expect(try tree.org.requests.allSatisfy { try parts($0).count <= 25 })
    #expect(tree.serverTrees()["a"]?.count == children)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-240"))
  func `a child without a parent row is never sent and says so`() async throws {
    let tree = try await TreeDevice()
    try await tree.device.create(
      [["LastName": "orphan", "AccountId": "001x"], ["LastName": "nobody's"]], type: "Contact",
      in: TreeDevice.contacts)
    let state = try await tree.syncUp()
    #expect(state.totalSize == 0 && tree.org.requests.isEmpty)
    #expect(try await tree.dirtyCount() == 2)
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.map(\.kind) == [.rejected, .rejected])
    #expect(outcomes.allSatisfy { $0.error?["statusCode"] == "PARENT_NOT_HERE" })
    for row in try await tree.device.rows(in: TreeDevice.contacts) {
      #expect(row[SyncKeys.lastError]?.string?.contains("PARENT_NOT_HERE") == true)
      try await tree.device.delete(row["Id"]?.string ?? "", in: TreeDevice.contacts)
    }
    // Created and deleted locally: no request is needed.
    try await tree.syncUp()
    #expect(try await tree.device.rows(in: TreeDevice.contacts).isEmpty)
  }

  @Test(.covers("MS-188"))
  func `a refused parent keeps its error and its children wait`() async throws {
    let tree = try await TreeDevice()
    let local = try await tree.localTree("", children: 30)
    let state = try await tree.syncUp()
    // The second request would have nothing to refer to.
    #expect(tree.org.requests.count == 1)
    #expect(try await tree.dirtyCount() == 31)
    let row = try #require(try await tree.device.row("Id", local))
    #expect(row[SyncKeys.lastError]?.string?.contains("REQUIRED_FIELD_MISSING") == true)
    let counts = try await tree.device.manager.outcomeCounts(forId: state.id)
    #expect((counts.succeeded, counts.failed) == (0, 31))
    try await tree.device.edit(local, ["Name": "corrected"])
    try await tree.syncUp()
    #expect(tree.serverTrees()["corrected"]?.count == 30)
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a clean child that is refused with its new parent becomes dirty`() async throws {
    let tree = try await TreeDevice()
    let child = tree.serverTree("old", children: 1).children[0]
    try await tree.syncDown()
    let local = try await tree.localTree("", children: 0)
    // Moved by code that sets no flags.
    var moved = try #require(try await tree.device.row(child, in: TreeDevice.contacts))
    moved["AccountId"] = .string(local)
    try await tree.device.store.upsert(entries: [moved], forSoupNamed: TreeDevice.contacts)
    try await tree.syncUp()
    let row = try #require(try await tree.device.dirtyRows(in: TreeDevice.contacts).first)
    #expect(row["Id"]?.string == child && row[SyncKeys.locallyUpdated] == true)
    try await tree.device.edit(local, ["Name": "corrected"])
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["old": [], "corrected": ["old 0"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-236"), arguments: [true, false])
  func `a parent is not made twice because its child refers to what was deleted`(
    isNew: Bool
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.relate("Reports", parent: "Contact", child: "Contact", by: "ReportsToId")
    let gone = tree.org.create("Contact", ["LastName": "gone"])
    tree.org.delete("Contact", gone)
    let parent: String
    if isNew {
      parent = try await tree.localTree("a", children: 0)
    } else {
      parent = tree.serverTree("a", children: 0).parent
      try await tree.syncDown()
    }
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(parent), "ReportsToId": .string(gone)]],
      type: "Contact", in: TreeDevice.contacts)
    let target = ParentChildrenSyncUpTarget(
      parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .lookup,
      createFieldlist: ["Name"], updateFieldlist: ["Name"],
      childrenCreateFieldlist: ["LastName", "ReportsToId"],
      childrenUpdateFieldlist: ["LastName", "ReportsToId"])
    for _ in 0..<2 {
      _ = try await tree.device.manager.syncUp(
        target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
      ).finished()
    }
    #expect(tree.org.records("Account").count == 1 && tree.org.records("Contact").isEmpty)
    #expect(try await tree.device.dirtyRows().isEmpty)
    let child = try #require(try await tree.device.dirtyRows(in: TreeDevice.contacts).first)
    #expect(child[SyncKeys.lastError]?.string?.contains("ENTITY_IS_DELETED") == true)
  }

  @Test(.covers("MS-236"), arguments: [true, false])
  func `a record of a tree that exists is not created twice because a lookup points nowhere`(
    ofParent: Bool
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    tree.org.relate("Reports", parent: "Contact", child: "Contact", by: "ReportsToId")
    tree.org.relate("Subsidiaries", parent: "Account", child: "Account", by: "ParentId")
    let gone = tree.org.create(ofParent ? "Account" : "Contact", ["LastName": "gone"])
    tree.org.delete(ofParent ? "Account" : "Contact", gone)
    let there = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    if ofParent {
      try await tree.device.edit(there.parent, ["Name": "b", "ParentId": .string(gone)])
    } else {
      try await tree.device.edit(
        there.children[0], ["LastName": "b", "ReportsToId": .string(gone)],
        in: TreeDevice.contacts)
    }
    // The creations lack the lookups.
    let target = ParentChildrenSyncUpTarget(
      parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .lookup,
      createFieldlist: ["Name"], updateFieldlist: ["Name", "ParentId"],
      childrenCreateFieldlist: ["LastName"], childrenUpdateFieldlist: ["LastName", "ReportsToId"])
    // The server says the same of a lookup that points nowhere as of a record that is gone.
    tree.org.intervene { _, request in
      guard let parts = try? JSONValue(parsing: request.body)["compositeRequest"]?.array,
        parts.contains(where: { $0.description.contains(gone) })
      else { return .none }
      let responses = parts.map { part -> JSONValue in
        [
          "referenceId": part["referenceId"] ?? .null, "httpStatusCode": 404,
          "body": [["errorCode": "ENTITY_IS_DELETED", "message": "entity is deleted"]],
        ]
      }
      return .response(
        status: 200, body: JSONValue.object(["compositeResponse": .array(responses)]).description)
    }
    for _ in 0..<2 {
      _ = try await tree.device.manager.syncUp(
        target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
      ).finished()
    }
    #expect(tree.serverTrees() == ["a": ["a 0"]])
    let soup = ofParent ? Device.soup : TreeDevice.contacts
    let entry = try #require(try await tree.device.dirtyRows(in: soup).first)
    #expect(entry["Id"]?.string == (ofParent ? there.parent : there.children[0]))
    #expect(entry[SyncKeys.lastError]?.string?.contains("ENTITY_IS_DELETED") == true)
  }

  // MARK: Lost on the server

  @Test(.covers("MS-248"))
  func `a lost master is created again with all its children`() async throws {
    let tree = try await TreeDevice(.masterDetail)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "edited"])
    tree.org.delete("Account", a.parent)
    #expect(tree.org.records("Contact").isEmpty)
    tree.org.forgetRequests()
    try await tree.syncUp()
    #expect(tree.org.requests.count == 2)
    #expect(tree.serverTrees() == ["edited": ["a 0", "a 1"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-248"))
  func `a lost look-up parent is created again and its children follow it`() async throws {
    let tree = try await TreeDevice(.lookup)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "edited"])
    tree.org.delete("Account", a.parent)
    // Another user has changed a clean child: its fields are not touched.
    tree.org.update("Contact", a.children[0], ["LastName": "there"])
    tree.org.forgetRequests()
    try await tree.syncUp()
    #expect(tree.org.requests.count == 2)
    #expect(tree.serverTrees() == ["edited": ["a 1", "there"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-249"))
  func `a child that says its parent is gone brings the parent back`() async throws {
    let tree = try await TreeDevice(.masterDetail)
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(a.parent)]], type: "Contact",
      in: TreeDevice.contacts)
    tree.org.delete("Account", a.parent)
    tree.org.forgetRequests()
    try await tree.syncUp()
    // The second asks whether the parent is what is gone.
    #expect(tree.org.requests.count == 3)
    #expect(tree.serverTrees() == ["a": ["a 0", "new"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-249", "MS-250"))
  func `a lost child alone is created again, the others are not sent again`()
    async throws
  {
    let tree = try await TreeDevice(.masterDetail)
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    for child in a.children {
      try await tree.device.edit(child, ["LastName": "x"], in: TreeDevice.contacts)
    }
    tree.org.delete("Contact", a.children[0])
    tree.org.forgetRequests()
    try await tree.syncUp()
    #expect(
      try tree.org.requests.map { try parts($0).map { $0["method"] } } == [
        ["PATCH", "PATCH"], ["POST"],
      ])
    #expect(tree.serverTrees() == ["a": ["x", "x"]])
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-248", "MS-249"))
  func `with leave-if-changed lost records stay dirty without an error`()
    async throws
  {
    let tree = try await TreeDevice(.masterDetail)
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "edited"])
    // It goes between the check and the sending.
    tree.org.intervene { _, request in
      if request.line == "POST /{v}/composite" { tree.org.delete("Account", a.parent) }
      return .none
    }
    tree.org.forgetRequests()
    let state = try await tree.syncUp(.leaveIfChanged)
    // The values of what was edited, the tree's dates, the tree.
    #expect(tree.org.requests.count == 3)
    let row = try #require(try await tree.device.row("Id", a.parent))
    #expect(row[SyncKeys.local] == true && row[SyncKeys.lastError] == nil)
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.map(\.kind) == [.conflict])
    let conflicts = try await tree.device.store.conflicts()
    #expect(conflicts.map(\.kind) == [.deletedThere] && conflicts[0].recordId == a.parent)
  }

  // MARK: Conflicts

  @Test(.covers("MS-242", "MS-243"))
  func `a tree is uploaded only if none of its records was changed`() async throws {
    let tree = try await TreeDevice()
    tree.org.setChildPageSize(1)
    let a = tree.serverTree("a", children: 3)
    let b = tree.serverTree("b", children: 3)
    try await tree.syncDown()
    try await tree.device.edit(a.parent, ["Name": "a edited"])
    try await tree.device.edit(b.parent, ["Name": "b edited"])
    // A clean child of b has changed on the server; it comes on the last page of the response.
    tree.org.update("Contact", b.children[2], ["LastName": "there"])
    tree.org.forgetRequests()
    let state = try await tree.syncUp(.leaveIfChanged)
    #expect(state.totalSize == 2)
    #expect(Set(tree.serverTrees().keys) == ["a edited", "b"])
    #expect(try await tree.dirtyCount() == 1)
    let query = tree.org.requests.compactMap { $0.query["q"] }.first
    #expect(
      query == "select Id, LastModifiedDate, (select Id, LastModifiedDate from Contacts) "
        + "from Account where Id = '\(a.parent)'")
  }

  @Test(.covers("MS-242"))
  func `a date query that is refused skips the tree`() async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await tree.device.delete(a.parent)
    tree.org.intervene { _, _ in .response(status: 400, body: "[]") }
    try await tree.syncUp(.leaveIfChanged)
    #expect(tree.org.records("Account").count == 1)
    #expect(try await tree.dirtyCount() == 1)
  }

  enum Change: String, CaseIterable { case none, edited, deleted }

  /// The matrix of MS-332: parent a with children c and o, each side of a and c changed in every way.
  @Test(.covers("MS-332"), arguments: Change.allCases, Change.allCases)
  func `a tree is uploaded if the server changed nothing, else overwriting decides`(
    parentHere: Change, childHere: Change
  ) async throws {
    for parentThere in Change.allCases {
      for childThere in Change.allCases {
        try await settle(parentHere, childHere, parentThere, childThere)
      }
    }
  }

  private func settle(
    _ parentHere: Change, _ childHere: Change, _ parentThere: Change, _ childThere: Change
  ) async throws {
    let story = "\(parentHere) \(childHere) here, \(parentThere) \(childThere) there"
    let tree = try await TreeDevice(.masterDetail)
    let (a, children) = tree.serverTree("a", children: 2)
    let (c, o) = (children[0], children[1])
    try await tree.syncDown()
    switch parentHere {
    case .none: break
    case .edited: try await tree.device.edit(a, ["Name": "a here"])
    case .deleted: try await tree.device.delete(a)
    }
    switch childHere {
    case .none: break
    case .edited: try await tree.device.edit(c, ["LastName": "c here"], in: TreeDevice.contacts)
    case .deleted: try await tree.device.delete(c, in: TreeDevice.contacts)
    }
    switch childThere {
    case .none: break
    case .edited: tree.org.update("Contact", c, ["LastName": "c there"])
    case .deleted: tree.org.delete("Contact", c)
    }
    switch parentThere {
    case .none: break
    case .edited: tree.org.update("Account", a, ["Name": "a there"])
    case .deleted: tree.org.delete("Account", a)
    }
    let before = (tree.serverTrees(), try await tree.localTrees())
    try await tree.syncUp(.leaveIfChanged)
    let isDirty = parentHere != .none || childHere != .none
    // Deleting a on the server deletes c and o too; o is not deleted here unless a is.
    let isUnchanged =
      parentThere == .none || (parentThere == .deleted && parentHere == .deleted)
    let isChildUnchanged =
      childThere == .none
      || (childThere == .deleted && (childHere == .deleted || parentHere == .deleted))
      || (parentThere == .deleted && parentHere == .deleted)
    if isDirty, isUnchanged, isChildUnchanged {
      #expect(try await tree.dirtyCount() == 0, "\(story)")
    } else {
      #expect(tree.serverTrees() == before.0, "\(story)")
      #expect(try await tree.localTrees() == before.1, "\(story)")
    }

    try await tree.syncUp(.overwrite)
    #expect(try await tree.dirtyCount() == 0, "\(story)")
    if parentHere == .deleted {
      #expect(tree.serverTrees().isEmpty && tree.org.records("Contact").isEmpty, "\(story)")
      #expect(try await tree.localTrees().isEmpty, "\(story)")
      return
    }
    guard isDirty else { return }
    let server = tree.serverTrees()
    if parentHere == .edited { #expect(Array(server.keys) == ["a here"], "\(story)") }
    if childHere == .edited { #expect(server.values.first?.contains("c here") == true, "\(story)") }
    if childHere == .deleted, parentThere != .deleted || parentHere == .edited {
      #expect(server.values.first == ["a 1"], "\(story)")
    }
    if parentThere == .deleted, parentHere == .edited {
      #expect(try await tree.idsAgree(), "\(story)")
      #expect(tree.org.record("Contact", o) == nil, "\(story)")
    }
  }

  // MARK: Guarantees

  @Test(.covers("MS-70"))
  func `edits during the run stay and stay dirty, and follow the parent's new id`()
    async throws
  {
    let tree = try await TreeDevice()
    try await tree.localTree("a", children: 2)
    let device = tree.device
    let child = try #require(
      try await device.rows(in: TreeDevice.contacts).first?["Id"]?.string)
    tree.org.intervene { _, _ in
      try? await device.edit(child, ["LastName": "edited meanwhile"], in: TreeDevice.contacts)
      return .none
    }
    try await tree.syncUp()
    #expect(try await tree.dirtyCount() == 1)
    #expect(try await tree.idsAgree())
    #expect(try await tree.localTrees() == ["a": ["a 1", "edited meanwhile"]])
    tree.org.intervene(nil)
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["a": ["a 1", "edited meanwhile"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-197", "MS-242"))
  func `a tree whose edits arrived without a response is no conflict`()
    async throws
  {
    let tree = try await TreeDevice()
    let (parent, children) = tree.serverTree("acme", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(parent, ["Name": "mine"])
    try await tree.device.edit(children[0], ["LastName": "mine"], in: TreeDevice.contacts)
    tree.org.intervene { _, request in
      request.line == "POST /{v}/composite" ? .dropResponse : .none
    }
    #expect(await syncErrorCode { try await tree.syncUp(.leaveIfChanged) } == .failed)
    tree.org.intervene(nil)
    tree.org.forgetRequests()
    try await tree.syncUp(.leaveIfChanged)
    #expect(!tree.org.lines.contains("POST /{v}/composite"))
    #expect(try await tree.dirtyCount() == 0)
    #expect(tree.serverTrees() == ["mine": ["acme 1", "mine"]])
  }

  @Test(.covers("MS-195"))
  func `a tree whose response was lost is found and not made twice`() async throws {
    let tree = try await TreeDevice()
    tree.org.setClock(SalesforceDateNow.milliseconds)
    try await tree.localTree("a", children: 2)
    try await tree.localTree("b", children: 1)
    tree.org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    await #expect(throws: SyncError.self) { try await tree.syncUp() }
    #expect(tree.org.records("Account").count == 1)
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["a": ["a 0", "a 1"], "b": ["b 0"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(.covers("MS-239", "MS-246", "MS-266"))
  func `the stored form reads back equal, old names are read`() throws {
    let target = ParentChildrenSyncUpTarget(
      parent: TreeDevice.parent, children: TreeDevice.children, relationshipType: .lookup,
      createFieldlist: ["Name"], childrenUpdateFieldlist: [])
    let json = target.json
    #expect(json["type"] == "rest" && json["iOSImpl"] == "SFParentChildrenSyncUpTarget")
    #expect(try ParentChildrenSyncUpTarget(configuration: json) == target)
    var old = json
    old["createFieldlist"] = nil
    old["parentCreateFieldlist"] = ["Name"]
    #expect(try ParentChildrenSyncUpTarget(configuration: old) == target)
  }
}
