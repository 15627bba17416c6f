import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// An update of a child sends the link to its parent only if the link changed here: most masters cannot be exchanged,
/// and the server refuses their fields even with the value that it has.
@Suite struct TreeLinkTests {
  private func bodies(_ org: InMemoryOrg) throws -> [JSONValue?] {
    try org.requests.filter { $0.line == "POST /{v}/composite" }.flatMap { request in
      try JSONValue(parsing: request.body)["compositeRequest"]?.array?.map { $0["body"] } ?? []
    }
  }

  private func edit(
    _ tree: TreeDevice, _ id: String, _ change: @escaping @Sendable (inout JSONObject) -> Void
  ) async throws {
    try await tree.device.store.editRecord(id: id, in: TreeDevice.contacts, change)
  }

  @Test(
    .covers("MS-245"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `an edited child goes without its link, one that was moved with it`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice()
    let (a, b) = (tree.serverTree("a", children: 2), tree.serverTree("b", children: 0))
    try await tree.syncDown(mode)
    try await edit(tree, a.children[0]) { $0["LastName"] = "x" }
    try await edit(tree, a.children[1]) { $0["AccountId"] = .string(b.parent) }
    tree.org.forgetRequests()
    try await tree.syncUp(mode)
    let sent = try bodies(tree.org).compactMap(\.self)
    // Where nothing is compared, nothing says which link the server has.
    #expect(
      sent.contains(
        mode == .overwrite
          ? ["LastName": "x", "AccountId": .string(a.parent)] : ["LastName": "x"]))
    #expect(sent.contains { $0["AccountId"] == .string(b.parent) })
    #expect(tree.serverTrees() == ["a": ["x"], "b": ["a 1"]])
    #expect(try await tree.dirtyCount() == 0)
  }

  @Test(.covers("MS-245"))
  func `a refused link that the server has is left out, another one is not`() async throws {
    let tree = try await TreeDevice()
    let (a, b) = (tree.serverTree("a", children: 2), tree.serverTree("b", children: 0))
    try await tree.syncDown()
    // Entries that an app writes itself do not say what has changed in them.
    try await tree.device.edit(a.children[0], ["LastName": "x"], in: TreeDevice.contacts)
    try await tree.device.edit(
      a.children[1], ["LastName": "y", "AccountId": .string(b.parent)], in: TreeDevice.contacts)
    tree.org.intervene { _, request in
      guard request.line == "POST /{v}/composite",
        let steps = try? JSONValue(parsing: request.body)["compositeRequest"]?.array,
        steps.contains(where: { $0["body"]?["AccountId"] != nil })
      else { return .none }
      let error: JSONValue = [
        "errorCode": "INVALID_FIELD_FOR_INSERT_UPDATE", "message": "Unable to update fields",
        "fields": ["AccountId"],
      ]
      let results = steps.map { step -> JSONValue in
        [
          "body": [error], "httpHeaders": [:], "httpStatusCode": 400,
          "referenceId": step["referenceId"] ?? .null,
        ]
      }
      let response: JSONValue = ["compositeResponse": .array(results)]
      return .response(status: 200, body: response.text)
    }
    let state = try await tree.syncUp()
    #expect(tree.serverTrees() == ["a": ["a 1", "x"], "b": []])
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.map(\.kind).sorted { $0.rawValue < $1.rawValue } == [.rejected, .succeeded])
    #expect(try await tree.dirtyCount() == 1)
  }

  @Test(.covers("MS-246"))
  func `a child of which nothing that was edited is sent stays, and says so`() async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown()
    try await edit(tree, a.children[0]) { $0["Phone"] = "555" }
    tree.org.forgetRequests()
    let state = try await tree.syncUp()
    #expect(try bodies(tree.org).allSatisfy { $0?["Phone"] == nil })
    let outcomes = try await tree.device.manager.outcomes(forId: state.id)
    #expect(outcomes.map(\.kind) == [.partial])
    #expect(outcomes.first?.error?["fields"] == ["Phone"])
    #expect(try await tree.dirtyCount() == 1)
  }

  @Test(.covers("MS-242"), arguments: [false, true])
  func `a tree is sent again after an upload of its own`(isDeleted: Bool) async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 2)
    try await tree.syncDown(.leaveIfChanged)
    for name in ["x", "y"] {
      try await edit(tree, a.children[0]) { $0["LastName"] = .string(name) }
      try await tree.syncUp(.leaveIfChanged)
      #expect(tree.serverTrees() == ["a": ["a 1", name]])
    }
    if isDeleted {
      try await tree.device.delete(a.children[0], in: TreeDevice.contacts)
      try await tree.syncUp(.leaveIfChanged)
      #expect(tree.serverTrees() == ["a": ["a 1"]])
    }
    #expect(try await tree.dirtyCount() == 0)
    #expect(try await tree.device.store.conflicts().isEmpty)
    // Another user's change is one still.
    tree.org.update("Contact", a.children[1], ["LastName": "theirs"])
    try await edit(tree, a.children[1]) { $0["LastName"] = "mine" }
    try await tree.syncUp(.leaveIfChanged)
    #expect(try await tree.device.store.conflicts().map(\.recordId) == [a.children[1]])
  }

  @Test(.covers("MS-245"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a child follows a parent that was created here and uploaded by another sync`(
    mode: SyncMergeMode
  ) async throws {
    let tree = try await TreeDevice()
    let a = tree.serverTree("a", children: 1)
    try await tree.syncDown(mode)
    let local = try await tree.localTree("b", children: 0)
    try await edit(tree, a.children[0]) { $0["AccountId"] = .string(local) }
    let run = try await tree.device.manager.syncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]), soupName: Device.soup)
    _ = try await run.finished()
    // An edit of another field does not say that the link is the old one.
    try await edit(tree, a.children[0]) { $0["LastName"] = "x" }
    try await tree.syncUp(mode)
    #expect(tree.serverTrees() == ["a": [], "b": ["x"]])
    #expect(try await tree.dirtyCount() == 0)
  }
}
