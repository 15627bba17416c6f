import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Synchronization
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
      request.line.hasPrefix("POST /{v}/composite") ? .dropResponse : .none
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

  @Test(arguments: ["001A000000abcDE", "001A000000abcDEiay"], [false, true])
  func `a child that names its parent by another form of the id is the parent's`(
    form: String, isNew: Bool
  ) async throws {
    let tree = try await TreeDevice(.lookup)
    let parent: JSONObject = [
      "Id": "001A000000abcDEIAY", "Name": "a", "attributes": ["type": "Account"],
      SyncKeys.local: false,
    ]
    try await tree.device.store.upsert(entries: [.object(parent)], forSoupNamed: Device.soup)
    if isNew {
      try await tree.device.create(
        [["LastName": "b", "AccountId": .string(form)]], type: "Contact", in: TreeDevice.contacts)
    } else {
      try await tree.device.store.upsert(
        entries: [["Id": "003A000000abcDEIAY", "LastName": "b", "AccountId": .string(form)]],
        forSoupNamed: TreeDevice.contacts)
      try await tree.device.edit(
        "003A000000abcDEIAY", ["LastName": "c"], in: TreeDevice.contacts)
    }
    // No request is needed for it.
    tree.org.intervene { _, _ in .unreachable }
    _ = await syncErrorCode { try await tree.syncUp(.overwrite) }
    let child = try await tree.device.rows(in: TreeDevice.contacts).first
    #expect(child?["AccountId"] == "001A000000abcDEIAY")
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a tree in doubt is held, and its children follow the parent that is chosen`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice(.lookup, sendingAlso: ["Phone"])
    tree.org.setClock(SalesforceDateNow.milliseconds)
    try await tree.localTree("a", children: 2, with: ["Phone": "1"])
    tree.org.intervene { _, _ in .dropResponse }
    _ = await syncErrorCode { try await tree.syncUp(mode) }
    tree.org.intervene(nil)
    let parent = try #require(tree.org.records("Account").first?["Id"]?.string)
    tree.org.update("Account", parent, ["Phone": "theirs"])
    for _ in 0..<2 { try await tree.syncUp(mode) }
    #expect(tree.org.records("Account").count == 1 && tree.org.records("Contact").count == 2)
    let conflict = try #require(try await tree.device.store.conflicts().first)
    #expect(conflict.kind == .inDoubt && conflict.candidates.map(\.id) == [parent])
    try await tree.device.store.resolve(conflict, .record(parent))
    try await tree.syncUp(mode)
    #expect(tree.serverTrees() == ["a": ["a 0", "a 1"]])
    #expect(tree.org.record("Account", parent)?["Phone"] == "theirs")
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a tree whose values a flow replaced is held, parent and children`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice(.lookup, sendingAlso: ["Phone"])
    tree.org.setClock(SalesforceDateNow.milliseconds)
    tree.org.runAfterChanges { change in
      guard change.old == nil, change.new?["Phone"] == "1" else { return [] }
      return [InMemoryOrg.FlowUpdate(change.type, change.id, ["Phone": "none"])]
    }
    try await tree.localTree("a", children: 1, with: ["Phone": "1"])
    tree.org.intervene { _, _ in .dropResponse }
    _ = await syncErrorCode { try await tree.syncUp(mode) }
    tree.org.intervene(nil)
    for _ in 0..<2 { try await tree.syncUp(mode) }
    #expect(tree.serverTrees() == ["a": ["a 0"]])
    for _ in 0..<2 {
      for conflict in try await tree.device.store.conflicts() {
        #expect(conflict.kind == .inDoubt && conflict.candidates.count == 1)
        try await tree.device.store.resolve(conflict, .record(conflict.candidates[0].id))
      }
      try await tree.syncUp(mode)
    }
    #expect(tree.serverTrees() == ["a": ["a 0"]])
    #expect(tree.org.records("Contact").map { $0["Phone"] } == ["none"])
    #expect(try await tree.idsAgree())
    #expect(try await tree.device.store.conflicts().isEmpty)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a rescued child whose create was lost is found by another device`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice()
    let parent = tree.serverTree("a", children: 0).parent
    try await tree.syncDown(mode)
    _ = try await tree.device.manager.createSyncUp(
      target: tree.up, options: SyncOptions(mergeMode: mode), soupName: Device.soup, syncName: "up")
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(parent)]], type: "Contact", in: TreeDevice.contacts)
    tree.org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
    _ = try? await tree.device.manager.reSync(named: "up").finished()
    tree.org.intervene(nil)
    let pair = RescueKeyPair()
    let user = RescueUser(organizationId: "00D000000000001AAA", userId: "005000000000001AAA")
    let bundle = try await tree.device.store.exportRescue(
      for: .publicKey(pair.publicKey), of: user, registry: tree.device.registry
    ).bundle
    let second = try await Device.open(tree.org)
    try await second.registerSoup(TreeDevice.contacts, "AccountId")
    _ = try await second.manager.syncDown(
      target: tree.down, options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
    _ = try await second.store.importRescue(
      bundle, with: .privateKey(pair.privateKey), of: user, registry: second.registry)
    _ = try await second.manager.syncUp(
      target: tree.up, options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
    #expect(tree.org.records("Contact").count == 1)
    #expect(try await second.dirtyRows(in: TreeDevice.contacts).isEmpty)
  }

  // MARK: Replaced records

  /// A device with a tree of two children whose records have external ids.
  private func keyed(
    _ relationship: RelationshipType
  ) async throws -> (tree: TreeDevice, parent: String, children: [String]) {
    let tree = try await TreeDevice(relationship)
    let parent = tree.org.create("Account", ["Name": "a", "Key__c": "ka"])
    let children = ["c0", "c1"].map {
      tree.org.create(
        "Contact",
        ["LastName": .string($0), "Key__c": .string("k\($0)"), "AccountId": .string(parent)])
    }
    try await down(tree)
    return (tree, parent, children)
  }

  private func down(_ tree: TreeDevice) async throws {
    let target = ParentChildrenSyncDownTarget(
      parent: Self.parent, parentFieldlist: ["Name", "Key__c"], children: Self.children,
      childrenFieldlist: ["LastName", "Key__c", "AccountId"], relationshipType: tree.relationship)
    let manager = tree.device.manager
    if try await !manager.hasSync(forName: "down") {
      _ = try await manager.createSyncDown(
        target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
        syncName: "down")
    }
    _ = try await manager.reSync(named: "down").finished()
    _ = try await manager.cleanResyncGhosts(forName: "down")
  }

  private func overwrite(_ tree: TreeDevice) async throws {
    let target = ParentChildrenSyncUpTarget(
      parent: Self.parent, children: Self.children, relationshipType: tree.relationship,
      createFieldlist: ["Name", "Key__c"], updateFieldlist: ["Name", "Key__c"],
      childrenCreateFieldlist: ["LastName", "Key__c"],
      childrenUpdateFieldlist: ["LastName", "Key__c"])
    _ = try await tree.device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
  }

  @Test(arguments: [RelationshipType.lookup, .masterDetail], [false, true])
  func `a new child does not replace the record that stands in the place of its parent by now`(
    relationship: RelationshipType, isDownloaded: Bool
  ) async throws {
    let (tree, parent, _) = try await keyed(relationship)
    try await tree.device.create(
      [["LastName": "new", "AccountId": .string(parent)]], type: "Contact",
      in: TreeDevice.contacts)
    tree.org.delete("Account", parent)
    let other = tree.org.create("Account", ["Name": "theirs", "Key__c": "ka"])
    if isDownloaded { try await down(tree) }
    try await overwrite(tree)
    #expect(tree.org.records("Account").map { $0["Name"] } == ["theirs"])
    #expect(
      tree.org.records("Contact").first { $0["LastName"] == "new" }?["AccountId"]?.string == other)
    #expect(try await tree.device.rows().map { $0["Name"] } == ["theirs"])
    try await down(tree)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.localTrees()["theirs"] == tree.serverTrees()["theirs"])
  }

  @Test(arguments: [RelationshipType.lookup, .masterDetail])
  func `a parent that is created again replaces no record in the place of its unedited children`(
    relationship: RelationshipType
  ) async throws {
    let (tree, parent, children) = try await keyed(relationship)
    try await tree.device.edit(parent, ["Name": "mine"])
    for child in children where tree.org.record("Contact", child) != nil {
      tree.org.delete("Contact", child)
    }
    tree.org.delete("Account", parent)
    let elsewhere = tree.org.create("Account", ["Name": "b", "Key__c": "kb"])
    let other = tree.org.create(
      "Contact", ["LastName": "theirs", "Key__c": "kc0", "AccountId": .string(elsewhere)])
    try await overwrite(tree)
    #expect(tree.org.record("Contact", other)?["LastName"] == "theirs")
    #expect(tree.org.record("Contact", other)?["AccountId"]?.string == elsewhere)
    #expect(tree.serverTrees()["mine"] == ["c1"])
    try await down(tree)
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.idsAgree())
  }

  /// Runs until the request that creates a lost parent again, which does not arrive, or whose response does not.
  private func interrupt(
    _ tree: TreeDevice, isArriving: Bool, _ run: () async throws -> Void
  ) async throws {
    let sent = Mutex(0)
    tree.org.intervene { _, request in
      guard request.line.hasSuffix("/composite") else { return .none }
      let number = sent.withLock { sent in
        sent += 1
        return sent
      }
      return number < 2 ? .none : isArriving ? .dropResponse : .unreachable
    }
    await #expect(throws: SyncError.self) { try await run() }
    #expect(sent.withLock { $0 } == 2)
    tree.org.intervene(nil)
    try await tree.device.restartProcess()
  }

  @Test(arguments: [RelationshipType.lookup, .masterDetail], [false, true])
  func `a parent without edits replaces nothing after an interrupted run was to create it again`(
    relationship: RelationshipType, isArriving: Bool
  ) async throws {
    let (tree, parent, children) = try await keyed(relationship)
    try await tree.device.edit(children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.delete("Account", parent)
    try await interrupt(tree, isArriving: isArriving) { try await overwrite(tree) }
    if let id = tree.org.records("Account").first?["Id"]?.string {
      tree.org.update("Account", id, ["Name": "theirs"])
    } else {
      tree.org.create("Account", ["Name": "theirs", "Key__c": "ka"])
    }
    try await overwrite(tree)
    #expect(tree.org.records("Account").map { $0["Name"] } == ["theirs"])
    #expect(tree.serverTrees()["theirs"]?.contains("here") == true)
    try await down(tree)
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.localTrees()["theirs"] == tree.serverTrees()["theirs"])
  }

  @Test(arguments: [RelationshipType.lookup, .masterDetail])
  func `a tree that was restored after an interrupted run is not created a second time`(
    relationship: RelationshipType
  ) async throws {
    let tree = try await TreeDevice(relationship)
    let (parent, children) = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.delete("Account", parent)
    try await interrupt(tree, isArriving: false) { try await tree.syncUp() }
    tree.org.undelete(parent)
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["a": ["a 1", "here"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }

  @Test(arguments: [RelationshipType.lookup, .masterDetail])
  func `a tree whose creation was not acknowledged is not created a second time`(
    relationship: RelationshipType
  ) async throws {
    let tree = try await TreeDevice(relationship)
    let (parent, children) = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(children[0], ["LastName": "here"], in: TreeDevice.contacts)
    tree.org.delete("Account", parent)
    try await interrupt(tree, isArriving: true) { try await tree.syncUp() }
    try await tree.syncUp()
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["a": ["a 1", "here"]])
    #expect(try await tree.localTrees() == tree.serverTrees())
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.idsAgree())
  }
}
