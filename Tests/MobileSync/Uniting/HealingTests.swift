import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Does a soup that holds several entries of one record come to hold one, without losing what they say?
@Suite struct HealingTests {
  private static let modes = [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields]
  private static let directions = ["down", "up"]

  /// A device with a record that it has downloaded, and a sync in each direction.
  private func device(_ mode: SyncMergeMode) async throws -> (Device, String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "name", "Phone": "1"])
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]), soupName: Device.soup,
      syncName: "up")
    try await sync("down", device)
    return (device, id)
  }

  private func sync(_ name: String, _ device: Device) async throws {
    _ = try await device.manager.reSync(named: name).finished()
  }

  /// Writes a further entry of a record as an app may do it.
  private func double(
    _ device: Device, _ id: String, _ fields: JSONObject = [:], flag: String? = nil
  ) async throws {
    var record = try #require(try await device.row(id)?.object)
    for key in ["_soupEntryId", "_soupLastModifiedDate", "_soupCreatedDate"] { record[key] = nil }
    for key in [
      SyncKeys.local, SyncKeys.locallyCreated, SyncKeys.locallyUpdated, SyncKeys.locallyDeleted,
    ] {
      record[key] = .bool(flag != nil && (key == SyncKeys.local || key == flag))
    }
    for (key, value) in fields { record[key] = value }
    try await device.store.upsert(entries: [.object(record)], forSoupNamed: Device.soup)
  }

  private func doubles(_ device: Device) async throws -> [[Int64]] {
    try await device.store.doubledRecords(registry: device.registry).map(\.entryIds)
  }

  @Test(arguments: modes, directions)
  func `clean entries of one record become one in the next run, and its changes are downloaded`(
    mode: SyncMergeMode, direction: String
  ) async throws {
    let (device, id) = try await device(mode)
    for _ in 1...2 { try await double(device, id) }
    #expect(try await doubles(device) == [[1, 2, 3]])
    try await sync(direction, device)
    #expect(try await doubles(device).isEmpty)
    let rows = try await device.rows()
    #expect(rows.map { $0["_soupEntryId"] } == [1] && rows[0][SyncKeys.local] == false)
    device.org.update("Account", id, ["Name": "changed"])
    try await sync("down", device)
    #expect(try await device.rows().map { $0["Name"] } == ["changed"])
  }

  @Test(arguments: modes, directions)
  func `an edit of one of the entries stays unsynced and is uploaded`(
    mode: SyncMergeMode, direction: String
  ) async throws {
    let (device, id) = try await device(mode)
    try await double(device, id, ["Name": "edited"], flag: SyncKeys.locallyUpdated)
    try await sync(direction, device)
    if direction == "down" {
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["edited"])
      try await sync("up", device)
    }
    #expect(try await device.rows().count == 1)
    #expect(try await device.dirtyRows().isEmpty)
    #expect(device.org.record("Account", id)?["Name"] == "edited")
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test(arguments: modes)
  func `edits of several entries stay unsynced together, field by field where the base is known`(
    mode: SyncMergeMode
  ) async throws {
    let (device, id) = try await device(mode)
    try await device.edit(id, ["Name": "first"])
    try await double(device, id, ["Name": "name", "Phone": "2"], flag: SyncKeys.locallyUpdated)
    try await double(device, id, ["Name": "name"])
    try await sync("up", device)
    let row = try #require(try await device.rows().first)
    #expect(try await device.rows().count == 1)
    // An untouched entry tells which fields were edited, and so does a base version.
    #expect(row["Name"] == "first" && row["Phone"] == "2")
    #expect(try await device.store.conflicts().isEmpty)
    #expect(device.org.record("Account", id)?["Name"] == "first")
    #expect(device.org.record("Account", id)?["Phone"] == "2")
  }

  @Test(arguments: modes, [SyncResolution.mine, .theirs, .values(["Name": "third"])])
  func `different edits of one field are a conflict, and what is resolved is uploaded`(
    mode: SyncMergeMode, resolution: SyncResolution
  ) async throws {
    let (device, id) = try await device(mode)
    try await device.edit(id, ["Name": "first"])
    try await double(device, id, ["Name": "second"], flag: SyncKeys.locallyUpdated)
    for name in ["up", "down", "up"] {
      if mode == .overwrite, name == "down" { continue }
      try await sync(name, device)
      #expect(try await device.rows().count == 1)
      #expect(device.org.record("Account", id)?["Name"] == "name")
    }
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .localEdits && conflict.entryId == 1 && conflict.recordId == id)
    #expect(conflict.fields.map(\.name) == ["Name"])
    #expect(conflict.fields.first?.mine == "second" && conflict.fields.first?.theirs == "first")
    try await device.store.resolve(conflict, resolution)
    try await sync("up", device)
    let expected: JSONValue =
      resolution == .mine ? "second" : resolution == .theirs ? "first" : "third"
    #expect(device.org.record("Account", id)?["Name"] == expected)
    #expect(try await device.rows().map { $0["Name"] } == [expected])
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test(arguments: modes, [SyncResolution.mine, .theirs])
  func `a deletion of one entry and an edit of the other are a conflict`(
    mode: SyncMergeMode, resolution: SyncResolution
  ) async throws {
    let (device, id) = try await device(mode)
    try await device.edit(id, ["Name": "edited"])
    try await double(device, id, flag: SyncKeys.locallyDeleted)
    try await sync("up", device)
    #expect(device.org.record("Account", id)?["Name"] == "name")
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.fields.map(\.name) == [SyncKeys.locallyDeleted])
    try await device.store.resolve(conflict, resolution)
    try await sync("up", device)
    #expect(device.org.record("Account", id)?["Name"] == (resolution == .mine ? "edited" : nil))
    #expect(try await device.rows().count == (resolution == .mine ? 1 : 0))
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: modes)
  func `a deletion of one of two equal entries deletes the record`(mode: SyncMergeMode) async throws
  {
    let (device, id) = try await device(mode)
    try await double(device, id, flag: SyncKeys.locallyDeleted)
    try await sync("up", device)
    #expect(device.org.records("Account").isEmpty)
    #expect(try await device.rows().isEmpty)
  }

  @Test(arguments: modes)
  func `entries that the app adds while a page is on its way do not make the download fail`(
    mode: SyncMergeMode
  ) async throws {
    let (device, id) = try await device(mode)
    device.org.update("Account", id, ["Name": "changed"])
    device.org.intervene { _, _ in
      try? await double(device, id)
      try? await double(device, id)
      return .none
    }
    try await sync("down", device)
    device.org.intervene(nil)
    #expect(try await device.rows().map { $0["Name"] } == ["changed"])
  }

  @Test(arguments: directions)
  func `an id of 15 characters and its form of 18 are the same record's`(
    direction: String
  ) async throws {
    let (device, _) = try await device(.overwrite)
    for (entry, id) in [("short", "001A000000abcDE"), ("long", "001A000000abcDEIAY")] {
      let long = try #require(SalesforceId("001A000000abcDE")?.text)
      try await device.store.upsert(
        entries: [
          ["Id": .string(entry == "short" ? id : long), "Name": .string(entry), "__local__": false]
        ], forSoupNamed: Device.soup)
    }
    #expect(try await doubles(device) == [[2, 3]])
    try await sync(direction, device)
    let rows = try await device.rows()
    #expect(rows.count == 2)
    #expect(rows.last?["Id"]?.string?.count == 18 && rows.last?["Name"] == "long")
  }

  @Test func `the syncs that brought either entry both keep the one that is left`() async throws {
    let (device, id) = try await device(.overwrite)
    let other = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: "\(Device.query) where Phone = '1'"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "other")
    try await double(device, id, [SyncKeys.syncId: .integer(other.id)])
    try await sync("up", device)
    #expect(try await device.rows().count == 1)
    device.org.update("Account", id, ["Phone": "2"])
    #expect(try await device.manager.cleanResyncGhosts(forName: "other") == 0)
    #expect(try await device.rows().count == 1)
    device.org.delete("Account", id)
    #expect(try await device.manager.cleanResyncGhosts(forName: "down") == 1)
  }

  @Test(arguments: ["001A000000abcDE", "001A000000abcDEiay"], [false, true])
  func `a record that comes under another form of its id is one entry when the run ends`(
    form: String, isEdited: Bool
  ) async throws {
    for mode in Self.modes { try await expectOneEntry(form, mode, isEdited: isEdited) }
  }

  private func expectOneEntry(
    _ form: String, _ mode: SyncMergeMode, isEdited: Bool
  ) async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup, syncName: "down")
    try await device.store.upsert(
      entries: [
        [
          "Id": .string(form), "Name": "mine", "attributes": ["type": "Account"],
          SyncKeys.local: .bool(isEdited), SyncKeys.locallyUpdated: .bool(isEdited),
        ]
      ], forSoupNamed: Device.soup)
    org.intervene { _, _ in
      .response(
        status: 200,
        body:
          #"{"totalSize":1,"done":true,"records":[{"Id":"001A000000abcDEIAY","Name":"theirs","LastModifiedDate":"2015-02-05T21:12:03.000+0000","attributes":{"type":"Account"}}]}"#
      )
    }
    try await sync("down", device)
    #expect(try await doubles(device).isEmpty)
    #expect(try await device.rows().map { $0["Id"] } == ["001A000000abcDEIAY"])
    #expect(try await device.rows().first?["Name"] == (isEdited ? "mine" : "theirs"))
  }
}
