import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// What becomes of edits of fields that a sync up does not send?
@Suite struct EditsLeftOutTests {
  static let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]

  /// A device that has downloaded records with `Name` and `Phone`, and whose sync up sends `Name` alone.
  private func device(
    _ mode: SyncMergeMode, sending fields: [String] = ["Name"]
  ) async throws -> (Device, [String]) {
    let org = InMemoryOrg()
    let ids = (0..<3).map { org.create("Account", ["Name": .string("N\($0)"), "Phone": "1"]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: fields), soupName: Device.soup,
      syncName: "up")
    _ = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone", "Fax"]),
      soupName: Device.soup, syncName: "all")
    _ = try await run("down", device)
    return (device, ids)
  }

  @discardableResult
  private func run(_ name: String, _ device: Device) async throws -> SyncState {
    try await device.manager.reSync(named: name).finished()
  }

  private func edit(_ id: String, _ device: Device, _ fields: JSONObject) async throws {
    _ = try await device.store.editRecord(id: id, in: Device.soup) { record in
      for (key, value) in fields { record[key] = value }
    }
  }

  @Test(.covers("MS-206"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `a value of a decision that the sync does not send stays unsynced, and the outcome names it`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Name": "mine"])
    device.org.update("Account", ids[0], ["Name": "theirs"])
    try await run("up", device)
    let conflict = try #require(try await device.store.conflicts().first)
    // No sync has downloaded this field.
    try await device.store.resolve(conflict, .values(["Name": "both", "Fax": "9"]))
    for _ in 0..<2 {
      let up = try await run("up", device)
      let outcome = try await outcome(ids[0], up, device)
      #expect(outcome?.kind == .partial && outcome?.error?["fields"] == ["Fax"])
      #expect(try await device.manager.outcomeCounts(forId: up.id).skipped == 1)
    }
    #expect(device.org.record("Account", ids[0])?["Name"] == "both")
    try await run("all", device)
    #expect(device.org.record("Account", ids[0])?["Fax"] == "9")
    #expect(try await device.dirtyRows().isEmpty)
  }

  private func outcome(_ id: String, _ sync: SyncState, _ device: Device) async throws
    -> SyncRecordOutcome?
  {
    try await device.manager.outcomes(forId: sync.id).first { $0.recordId == id }
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `they stay unsynced, the outcome names them, and a download keeps them`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Phone": "mine"])
    try await edit(ids[1], device, ["Phone": "mine", "Name": "both"])
    try await edit(ids[2], device, ["Name": "name"])
    let up = try await run("up", device)
    #expect(device.org.record("Account", ids[1])?["Name"] == "both")
    #expect(device.org.record("Account", ids[0])?["Phone"] == "1")
    for id in ids.prefix(2) {
      let outcome = try await outcome(id, up, device)
      #expect(outcome?.kind == .partial && outcome?.action == .update)
      #expect(outcome?.error?["fields"] == ["Phone"])
      #expect(outcome?.error?["message"]?.string?.contains("Phone") == true)
      #expect(try await device.row(id)?[SyncKeys.local] == true)
    }
    #expect(try await outcome(ids[2], up, device)?.kind == .succeeded)
    let counts = try await device.manager.outcomeCounts(forId: up.id)
    #expect(counts.succeeded == 1 && counts.skipped == 2 && counts.nothingToDo == 0)
    #expect(try await device.dirtyRows().count == 2)
    // Neither a download nor a change on the server replaces them.
    try await run("down", device)
    for id in ids.prefix(2) { device.org.update("Account", id, ["Name": "theirs"]) }
    try await run("down", device)
    for id in ids.prefix(2) { #expect(try await device.row(id)?["Phone"] == "mine") }
    try await run("up", device)
    for id in ids.prefix(2) { #expect(try await device.row(id)?["Phone"] == "mine") }
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `a sync that sends them uploads them, and then nothing is left`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Phone": "mine"])
    try await edit(ids[1], device, ["Phone": "mine", "Name": "both"])
    try await run("up", device)
    let all = try await run("all", device)
    for id in ids.prefix(2) {
      #expect(device.org.record("Account", id)?["Phone"] == "mine")
      #expect(try await outcome(id, all, device)?.kind == .succeeded)
    }
    #expect(try await device.dirtyRows().isEmpty)
    // A later edit is not mistaken for one of those before.
    try await edit(ids[0], device, ["Name": "again"])
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind == .succeeded)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `a field that was neither downloaded nor listed counts, also of a new record`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Fax": "7"])
    _ = try await device.store.createRecord(
      ["Name": "new", "Fax": "8"], type: "Account", in: Device.soup)
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind == .partial)
    let made = try #require(
      device.org.records("Account").first { $0["Name"] == "new" }?["Id"]?.string)
    #expect(try await outcome(made, up, device)?.kind == .partial)
    #expect(try await device.dirtyRows().count == 2)
    let all = try await run("all", device)
    #expect(try await outcome(made, all, device)?.kind == .succeeded)
    #expect(device.org.record("Account", made)?["Fax"] == "8")
    #expect(device.org.record("Account", ids[0])?["Fax"] == "7")
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `an edit that is taken back, by hand or undone, is none`(mode: SyncMergeMode) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Phone": "mine"])
    try await edit(ids[0], device, ["Phone": "1"])
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind != .partial)
    #expect(try await device.dirtyRows().isEmpty)
    try await edit(ids[1], device, ["Phone": "mine"])
    try await run("up", device)
    try await device.store.undoEdit(id: ids[1], in: Device.soup)
    #expect(try await device.dirtyRows().isEmpty)
    try await run("up", device)
    #expect(try await device.row(ids[1])?["Phone"] == "1")
  }

  @Test(.covers("MS-206"))
  func `an entry that the app writes itself in mode overwrite is done with its upload`()
    async throws
  {
    let (device, ids) = try await device(.overwrite)
    try await device.edit(ids[0], ["Phone": "mine"])
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind == .succeeded)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-206"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `an entry that the app writes itself is compared with its base version`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await device.edit(ids[0], ["Phone": "mine"])
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind == .partial)
    #expect(try await device.dirtyRows().count == 1)
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `an edit during the upload is not lost either`(mode: SyncMergeMode) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Name": "first"])
    device.org.intervene { _, request in
      if request.line.hasPrefix("PATCH") || request.line.hasPrefix("POST") {
        _ = try? await device.store.editRecord(id: ids[0], in: Device.soup) { $0["Phone"] = "late" }
      }
      return .none
    }
    try await run("up", device)
    device.org.intervene(nil)
    #expect(device.org.record("Account", ids[0])?["Name"] == "first")
    let up = try await run("up", device)
    #expect(try await outcome(ids[0], up, device)?.kind == .partial)
    #expect(try await device.row(ids[0])?["Phone"] == "late")
    #expect(try await device.dirtyRows().count == 1)
  }

  @Test(.covers("MS-195"), arguments: modes)
  func `a create whose response was lost has succeeded, with its id`(mode: SyncMergeMode)
    async throws
  {
    let (device, _) = try await device(mode)
    let new = try await device.store.createRecord(
      ["Name": "new"], type: "Account", in: Device.soup)
    device.org.intervene { _, request in
      request.line.hasPrefix("POST") ? .dropResponse : .none
    }
    _ = try? await run("up", device)
    device.org.intervene(nil)
    let up = try await run("up", device)
    let made = try #require(
      device.org.records("Account").first { $0["Name"] == "new" }?["Id"]?.string)
    let outcome = try await device.manager.outcomes(forId: up.id).first
    #expect(outcome?.kind == .succeeded && outcome?.recordId == made)
    #expect(outcome?.entryId == new["_soupEntryId"]?.int64)
    #expect(try await device.manager.outcomeCounts(forId: up.id).succeeded == 1)
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `what was sent with them is not sent again over another user's change`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Phone": "mine", "Name": "sent"])
    try await run("up", device)
    #expect(device.org.record("Account", ids[0])?["Name"] == "sent")
    device.org.update("Account", ids[0], ["Name": "theirs"])
    for _ in 0..<2 {
      try await run("down", device)
      _ = try? await run("up", device)
    }
    #expect(device.org.record("Account", ids[0])?["Name"] == "theirs")
    // What the app itself writes since then goes.
    if mode != .overwrite { return }
    try await device.edit(ids[0], ["Name": "again"])
    let up = try await run("up", device)
    #expect(device.org.record("Account", ids[0])?["Name"] == "again")
    #expect(try await outcome(ids[0], up, device)?.kind == .partial)
  }

  @Test(.covers("MS-206"), arguments: modes)
  func `a reference that was edited stays an edit when its record gets the server's id`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    let new = try await device.store.createRecord(
      ["Name": "parent"], type: "Account", in: Device.soup)
    let parent = try #require(new["Id"]?.string)
    try await edit(ids[0], device, ["ParentId": .string(parent), "Name": "child"])
    for _ in 0..<2 {
      let up = try await run("up", device)
      let outcome = try await outcome(ids[0], up, device)
      #expect(outcome?.kind == .partial)
      #expect(outcome?.error?["fields"] == ["ParentId"])
    }
    let made = device.org.records("Account").first { $0["Name"] == "parent" }?["Id"]
    #expect(try await device.row(ids[0])?["ParentId"] == made)
    #expect(device.org.record("Account", ids[0])?["Name"] == "child")
  }

  // MARK: Resolutions

  @Test(.covers("MS-206"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `the server's version ends them as part of a record, and not where fields are decided`(
    mode: SyncMergeMode
  ) async throws {
    let (device, ids) = try await device(mode)
    try await edit(ids[0], device, ["Name": "mine", "Fax": "7"])
    device.org.update("Account", ids[0], ["Name": "theirs"])
    _ = try? await run("up", device)
    let conflict = try #require(try await device.store.conflicts().first)
    try await device.store.resolve(conflict, .theirs)
    #expect(try await device.row(ids[0])?["Name"] == "theirs")
    for name in ["up", "down", "up"] { try await run(name, device) }
    let row = try await device.row(ids[0])
    #expect(row?["Name"] == "theirs")
    if mode == .leaveIfChanged {
      #expect(row?["Fax"] ?? .null == .null && row?[SyncKeys.local] == false)
    } else {
      #expect(row?["Fax"] == "7" && row?[SyncKeys.local] == true)
      let all = try await run("all", device)
      #expect(try await outcome(ids[0], all, device)?.kind == .succeeded)
      #expect(device.org.record("Account", ids[0])?["Fax"] == "7")
    }
  }

  @Test(.covers("MS-206"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields], [true, false])
  func `a field that only creates send is named by each run after a resolution kept its edit`(
    mode: SyncMergeMode, isByEditCall: Bool
  ) async throws {
    let (device, ids) = try await device(mode)
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(
        fields: SyncUpFields(createFieldlist: ["Name", "Phone"], updateFieldlist: ["Name"])),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup, syncName: "split")
    if isByEditCall {
      try await edit(ids[0], device, ["Phone": "mine"])
    } else {
      try await device.edit(ids[0], ["Phone": "mine"])
    }
    device.org.update("Account", ids[0], ["Phone": "theirs"])
    if mode == .mergeFields { try await run("down", device) }
    _ = try? await run("all", device)
    let conflict = try #require(try await device.store.conflicts().first)
    try await device.store.resolve(conflict, .mine)
    for _ in 0..<2 {
      let split = try await run("split", device)
      let outcome = try await outcome(ids[0], split, device)
      #expect(outcome?.kind == .partial && outcome?.error?["fields"] == ["Phone"])
      #expect(try await device.row(ids[0])?["Phone"] == "mine")
      #expect(try await device.dirtyRows().count == 1)
    }
    let all = try await run("all", device)
    #expect(try await outcome(ids[0], all, device)?.kind == .succeeded)
    #expect(device.org.record("Account", ids[0])?["Phone"] == "mine")
  }
}
