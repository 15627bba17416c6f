import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import Testing

/// What becomes of trees that are deleted locally while another user works on them?
@Suite struct TreeDeletionTests {
  private static let contacts = TreeDevice.contacts

  @Test func `a child whose deletion is taken back before its row goes stays, and is uploaded`()
    async throws
  {
    let tree = try await TreeDevice()
    let parent = tree.serverTree("a", children: 1).parent
    try await tree.syncDown()
    try await tree.device.edit(parent, ["Name": "edited"])
    try await tree.device.create(
      [["Id": "local_1", "LastName": "new", "AccountId": .string(parent)]], type: "Contact",
      in: Self.contacts)
    try await tree.device.delete("local_1", in: Self.contacts)
    tree.org.forgetRequests()
    // While the dates are requested, it is decided already that the row goes.
    tree.org.intervene { _, request in
      if request.line.hasPrefix("GET /{v}/query") {
        try? await tree.device.edit(
          "local_1", [SyncKeys.locallyDeleted: false], in: Self.contacts)
      }
      return .none
    }
    try await tree.syncUp(.leaveIfChanged)
    tree.org.intervene(nil)
    #expect(try await tree.device.row("local_1", in: Self.contacts)?["LastName"] == "new")
    try await tree.syncUp()
    #expect(tree.serverTrees() == ["edited": ["a 0", "new"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test func `a record of the server that was moved under a deleted new master is deleted there`()
    async throws
  {
    let tree = try await TreeDevice(.masterDetail)
    let child = tree.serverTree("old", children: 1).children[0]
    try await tree.syncDown()
    let new = try await tree.localTree("new", children: 1)
    try await tree.device.edit(child, ["AccountId": .string(new)], in: Self.contacts)
    try await tree.device.delete(new)
    let state = try await tree.syncUp()
    #expect(tree.serverTrees() == ["old": []])
    #expect(try await tree.localTrees() == ["old": []])
    #expect(try await tree.device.rows(in: Self.contacts).isEmpty)
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(
      outcomes.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [
        .nothingToDo, .nothingToDo, .succeeded,
      ])
  }

  @Test func `a new master stays until its children of the server are deleted`() async throws {
    let tree = try await TreeDevice(.masterDetail)
    let child = tree.serverTree("old", children: 1).children[0]
    try await tree.syncDown()
    let new = try await tree.localTree("new", children: 0)
    try await tree.device.edit(child, ["AccountId": .string(new)], in: Self.contacts)
    try await tree.device.delete(new)
    tree.org.forgetRequests()
    tree.org.intervene { number, _ in number == 1 ? .dropResponse : .none }
    #expect(await syncErrorCode { try await tree.syncUp() } == .failed)
    tree.org.intervene(nil)
    #expect(try await tree.device.row(new) != nil)
    try await tree.syncUp()
    #expect(try await tree.device.row(new) == nil)
    #expect(try await tree.device.rows(in: Self.contacts).isEmpty)
  }

  @Test func `edits of children that their master takes along say so`() async throws {
    let tree = try await TreeDevice(.masterDetail)
    let (parent, children) = tree.serverTree("a", children: 2)
    try await tree.syncDown()
    try await tree.device.edit(children[1], ["LastName": "before"], in: Self.contacts)
    try await tree.device.delete(parent)
    tree.org.forgetRequests()
    tree.org.intervene { _, _ in
      try? await tree.device.edit(children[0], ["LastName": "meanwhile"], in: Self.contacts)
      try? await tree.device.create(
        [["LastName": "new", "AccountId": .string(parent)]], type: "Contact", in: Self.contacts)
      return .none
    }
    let state = try await tree.syncUp()
    #expect(try await tree.device.rows(in: Self.contacts).isEmpty)
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.filter { $0.kind == .succeeded }.map(\.soupName) == [Device.soup])
    let lost = outcomes.filter { $0.error?["statusCode"] == "PARENT_DELETED" }
    #expect(lost.count == 2 && lost.allSatisfy { $0.kind == .rejected })
  }

  @Test func `a master that is deleted while a run compares goes with a run that has compared it`()
    async throws
  {
    let tree = try await TreeDevice(.masterDetail)
    let (parent, children) = tree.serverTree("a", children: 2)
    try await tree.syncDown(.mergeFields)
    try await tree.device.edit(children[0], ["LastName": "mine"], in: Self.contacts)
    tree.org.update("Contact", children[1], ["LastName": "theirs"])
    tree.org.forgetRequests()
    tree.org.intervene { number, _ in
      if number == 1 { try? await tree.device.delete(parent) }
      return .none
    }
    try await tree.syncUp(.mergeFields)
    tree.org.intervene(nil)
    #expect(tree.org.record("Contact", children[1])?["LastName"] == "theirs")
    try await tree.syncUp(.mergeFields)
    let conflict = try #require(try await tree.device.store.conflicts().first)
    #expect(conflict.kind == .deletedHere && conflict.recordId == parent)
    #expect(conflict.fields.first { $0.name == "__children__" }?.theirs?[children[1]] != nil)
    try await tree.device.store.resolve(conflict, .mine)
    try await tree.syncUp(.mergeFields)
    #expect(tree.org.records("Account").isEmpty && tree.org.records("Contact").isEmpty)
  }
}
