import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// What an app's edits become: in the soup, and on the server after a sync up.
@Suite struct RecordEditTests {
  private struct Account: Codable {
    var Name: String
    var Phone: String?
  }

  /// A device with one downloaded account, in a mode that keeps base versions.
  private func device(
    _ mode: SyncMergeMode = .mergeFields
  ) async throws -> (device: Device, org: InMemoryOrg, id: String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    let options = SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"])
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options,
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      options: options, soupName: Device.soup, syncName: "up")
    _ = try await device.manager.reSync(named: "down").finished()
    return (device, org, id)
  }

  private func up(_ device: Device) async throws {
    _ = try await device.manager.reSync(named: "up").finished()
  }

  @Test func `a created, an edited and a deleted record are uploaded`() async throws {
    let (device, org, id) = try await device()
    let second = org.create("Account", ["Name": "b", "Phone": "2"])
    _ = try await device.manager.reSync(named: "down").finished()
    let store = device.store

    let created = try await store.createRecord(["Name": "new"], type: "Account", in: Device.soup)
    try await store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "9" }
    try await store.deleteRecord(id: second, in: Device.soup)
    #expect(created["Id"]?.string.map(SyncKeys.isLocalId) == true)
    #expect(try await device.dirtyRows().count == 3)

    try await up(device)
    #expect(org.record("Account", id)?["Phone"] == "9")
    #expect(org.record("Account", second) == nil)
    let rows = try await device.rows()
    #expect(rows.count == 2)
    #expect(try await device.dirtyRows().isEmpty)
    let newId = try #require(try await device.row("Name", "new")?["Id"]?.string)
    #expect(org.record("Account", newId)?["Name"] == "new")
  }

  @Test func `an edit by the local id reaches a record that has been uploaded`() async throws {
    let (device, org, _) = try await device()
    let created = try await device.store.createRecord(
      encoding: Account(Name: "new"), type: "Account", in: Device.soup)
    let localId = try #require(created["Id"]?.string)
    try await up(device)
    let edited = try await device.store.editRecord(
      id: localId, in: Device.soup, as: Account.self
    ) { $0.Phone = "7" }
    let id = try #require(edited["Id"]?.string)
    #expect(!SyncKeys.isLocalId(id))
    try await up(device)
    #expect(org.record("Account", id)?["Phone"] == "7")
  }

  @Test func `an edit keeps what a download has changed since the caller read the entry`()
    async throws
  {
    let (device, org, id) = try await device()
    let read = try #require(try await device.row(id))
    org.update("Account", id, ["Name": "theirs"])
    _ = try await device.manager.reSync(named: "down").finished()
    try await device.store.editRecord(id: id, in: Device.soup) { record in
      #expect(record["Name"] != read["Name"])
      record["Phone"] = "9"
    }
    try await up(device)
    #expect(org.record("Account", id)?["Name"] == "theirs")
    #expect(org.record("Account", id)?["Phone"] == "9")
  }

  @Test func `an edit that changes nothing leaves the entry clean`() async throws {
    let (device, _, id) = try await device()
    let before = try await device.row(id)
    try await device.store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "1" }
    #expect(try await device.row(id) == before)
  }

  @Test func `a member that an edit removes is cleared on the server`() async throws {
    let (device, org, id) = try await device()
    try await device.store.editRecord(id: id, in: Device.soup) { $0.removeValue(forKey: "Phone") }
    try await up(device)
    #expect(org.record("Account", id)?["Phone"] == .null)
  }

  @Test func `an edit as a value keeps the members that the type does not have`() async throws {
    let (device, _, id) = try await device()
    try await device.store.editRecord(id: id, in: Device.soup) { $0["Note__c"] = "kept" }
    try await device.store.editRecord(id: id, in: Device.soup, as: Account.self) {
      $0.Name = "typed"
      $0.Phone = nil
    }
    let row = try #require(try await device.row(id))
    #expect(row["Note__c"] == "kept")
    #expect(row["Name"] == "typed")
    #expect(row["Phone"] == .null)
    #expect(row["LastModifiedDate"] != nil)
  }

  @Test(arguments: [SyncMergeMode.mergeFields, .leaveIfChanged])
  func `an undone edit leaves the server's last version`(mode: SyncMergeMode) async throws {
    let (device, org, id) = try await device(mode)
    let before = try #require(try await device.row(id))
    try await device.store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "9" }
    try await device.store.deleteRecord(id: id, in: Device.soup)
    try await device.store.undoEdit(id: id, in: Device.soup)
    var after = try #require(try await device.row(id))
    after["_soupLastModifiedDate"] = before["_soupLastModifiedDate"]
    #expect(after == before)
    try await up(device)
    #expect(org.record("Account", id)?["Phone"] == "1")
  }

  @Test func `an undone creation removes the entry`() async throws {
    let (device, _, _) = try await device()
    let created = try await device.store.createRecord(
      ["Name": "new"], type: "Account", in: Device.soup)
    try await device.store.undoEdit(id: try #require(created["Id"]?.string), in: Device.soup)
    #expect(try await device.rows().count == 1)
  }

  @Test func `an undone edit in conflict takes the server's values`() async throws {
    let (device, org, id) = try await device()
    try await device.store.editRecord(id: id, in: Device.soup) { $0["Name"] = "mine" }
    org.update("Account", id, ["Name": "theirs"])
    _ = try await device.manager.reSync(named: "down").finished()
    #expect(try await device.store.conflicts().count == 1)
    try await device.store.undoEdit(id: id, in: Device.soup)
    #expect(try await device.store.conflicts().isEmpty)
    #expect(try await device.row(id)?["Name"] == "theirs")
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `an edit cannot be undone without a base version`() async throws {
    let (device, _, id) = try await device(.overwrite)
    try await device.store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "9" }
    await expect(.cannotUndo) { try await device.store.undoEdit(id: id, in: Device.soup) }
    #expect(try await device.row(id)?["Phone"] == "9")
  }

  @Test func `a creation whose response was lost cannot be undone`() async throws {
    let (device, org, _) = try await device()
    let created = try await device.store.createRecord(
      ["Name": "new"], type: "Account", in: Device.soup)
    org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
    _ = try? await device.manager.reSync(named: "up").finished()
    let id = try #require(created["Id"]?.string)
    await expect(.cannotUndo) { try await device.store.undoEdit(id: id, in: Device.soup) }
    #expect(try await device.rows().count == 2)
  }

  @Test func `what could never be uploaded is refused`() async throws {
    let (device, _, id) = try await device()
    let store = device.store
    let soup = Device.soup
    await expect(.invalidEdit) { try await store.createRecord(["Name": "x"], type: "", in: soup) }
    await expect(.invalidEdit) {
      try await store.createRecord(["Id": "001000000000009AAA"], type: "Account", in: soup)
    }
    await expect(.store) { try await store.createRecord([:], type: "Account", in: "nowhere") }
    try await store.registerSoup(
      withName: "notes", withIndices: [SoupIndex(path: "Id", type: .string)])
    await expect(.invalidEdit) {
      try await store.createRecord(["Name": "x"], type: "Account", in: "notes")
    }
    await expect(.recordNotFound) { try await store.editRecord(id: "001", in: soup) { _ in } }
    await expect(.recordNotFound) { try await store.deleteRecord(id: "local_1", in: soup) }
    for key in ["Id", SyncKeys.local, SyncKeys.locallyDeleted, "_soupEntryId", "attributes"] {
      await expect(.invalidEdit) {
        try await store.editRecord(id: id, in: soup) { $0[key] = "other" }
      }
    }
    try await store.upsert(entries: [["Id": "001000000000008AAA"]], forSoupNamed: soup)
    await expect(.invalidEdit) {
      try await store.editRecord(id: "001000000000008AAA", in: soup) { $0["Name"] = "x" }
    }
    try await store.deleteRecord(id: id, in: soup)
    await expect(.invalidEdit) { try await store.editRecord(id: id, in: soup) { _ in } }
    let again = try await store.createRecord(["Name": "y"], type: "Account", in: soup)
    await expect(.invalidEdit) {
      try await store.createRecord(["Id": again["Id"] ?? .null], type: "Account", in: soup)
    }
  }

  private func expect(
    _ code: SyncError.Code, _ body: () async throws -> some Any,
    at location: Testing.SourceLocation = #_sourceLocation
  ) async {
    await #expect(sourceLocation: location) {
      _ = try await body()
    } throws: { error in
      (error as? SyncError)?.code == code
    }
  }

  @Test func `the sample of the guide`() async throws {
    let (device, org, id) = try await device()
    let store = device.store
    let other = org.create("Account", ["Name": "b"])
    _ = try await device.manager.reSync(named: "down").finished()
    // sample: edits
    try await store.createRecord(["Name": "Harbor Repair"], type: "Account", in: "accounts")
    try await store.editRecord(id: id, in: "accounts") { $0["Phone"] = "555-0100" }
    try await store.deleteRecord(id: other, in: "accounts")
    try await store.undoEdit(id: other, in: "accounts")
    // end of sample
    #expect(try await device.dirtyRows().count == 2)
  }
}
