import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// What happens to a record that was changed on both sides, in mode MERGE_FIELDS?
@Suite struct MergeFieldsTests {
  private static let options = SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"])

  /// A device with both syncs and one downloaded record.
  private func synced(
    flagIndex: SoupIndexType = .string
  ) async throws -> (org: InMemoryOrg, device: Device, id: String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org, flagIndex: flagIndex)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: Self.options,
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(), options: Self.options, soupName: Device.soup,
      syncName: "up")
    try await run(device, "down")
    org.forgetRequests()
    return (org, device, id)
  }

  @discardableResult
  private func run(_ device: Device, _ name: String) async throws -> SyncState {
    try await device.manager.reSync(named: name).finished()
  }

  /// Which of the two syncs meets the record first.
  private static let order = ["down", "up"]

  @Test(arguments: order, [SoupIndexType.string, .json1])
  func `changes of different fields are merged, and only the changed field is sent`(
    first: String, index: SoupIndexType
  ) async throws {
    let (org, device, id) = try await synced(flagIndex: index)
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Phone": "theirs"])
    try await run(device, first)
    try await run(device, "up")
    try await run(device, "down")
    #expect(org.record("Account", id)?["Name"] == "mine")
    #expect(org.record("Account", id)?["Phone"] == "theirs")
    let row = try #require(try await device.row("Id", id))
    #expect(row["Name"] == "mine" && row["Phone"] == "theirs" && row[SyncKeys.local] == false)
    #expect(try await device.store.conflicts(in: Device.soup).isEmpty)
    let patch = try #require(org.requests.first { $0.line.hasPrefix("PATCH") })
    #expect(patch.body.contains("Name") && !patch.body.contains("Phone"))
  }

  @Test(arguments: order)
  func `fields that both sides have set to the same value are no conflict, and nothing is sent`(
    first: String
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "same"])
    org.update("Account", id, ["Name": "same"])
    try await run(device, first)
    try await run(device, "up")
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
    #expect(!org.lines.contains { $0.hasPrefix("PATCH") })
  }

  @Test(arguments: order)
  func `what both sides have changed differently is kept with all three values, and not sent`(
    first: String
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine", "Phone": "2"])
    org.update("Account", id, ["Name": "theirs"])
    for name in [first, "up", "down", "up"] {
      try await run(device, name)
      let conflict = try #require(try await device.store.conflicts(in: Device.soup).first)
      #expect(conflict.kind == .fields && conflict.recordId == id)
      #expect(
        conflict.fields
          == [SyncConflict.Field(name: "Name", base: "a", mine: "mine", theirs: "theirs")])
    }
    #expect(org.record("Account", id)?["Name"] == "theirs")
    #expect(org.record("Account", id)?["Phone"] == "1")
    #expect(try await device.row("Id", id)?["Name"] == "mine")
    #expect(try await device.dirtyRows().count == 1)
    let sync = try #require(try await device.manager.syncStatus(forName: "up"))
    #expect(try await device.manager.outcomes(forId: sync.id).map(\.kind) == [.conflict])
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged])
  func `an open conflict keeps its record from being sent by syncs of other modes too`(
    mode: SyncMergeMode
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "down")
    let run = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]), soupName: Device.soup)
    #expect(await run.allOutcomes().map(\.kind) == [.conflict])
    #expect(org.record("Account", id)?["Name"] == "theirs")
  }

  @Test(arguments: ["down", "up"])
  func `a sync of other fields leaves a conflict open`(other: String) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Phone": "mine"])
    org.update("Account", id, ["Phone": "theirs"])
    try await run(device, "up")
    let options = SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name"])
    org.update("Account", id, ["Name": "b"])
    if other == "down" {
      _ = try await device.manager.syncDown(
        target: try SoqlSyncDownTarget(query: "SELECT Id, Name, LastModifiedDate FROM Account"),
        options: options, soupName: Device.soup
      ).finished()
    } else {
      let run = try await device.manager.syncUp(options: options, soupName: Device.soup)
      #expect(await run.allOutcomes().map(\.kind) == [.conflict])
    }
    #expect(try await device.row("Id", id)?["Name"] == "b")
    let conflict = try #require(try await device.store.conflicts(in: Device.soup).first)
    #expect(
      conflict.fields == [.init(name: "Phone", base: "1", mine: "mine", theirs: "theirs")])
    try await device.store.resolve(conflict, .mine)
    try await run(device, "up")
    #expect(org.record("Account", id)?["Phone"] == "mine")
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: [["Phone": "mine"], ["Phone": "mine", "Name": "b"]] as [JSONObject])
  func `an edit of a field that the sync does not upload waits for one that does`(
    edit: JSONObject
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, edit)
    _ = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    #expect(try await device.dirtyRows().count == 1)
    try await run(device, "down")
    #expect(try await device.row("Id", id)?["Phone"] == "mine")
    try await run(device, "up")
    for (name, value) in edit { #expect(org.record("Account", id)?[name] == value) }
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: [SyncResolution.mine, .theirs, .values(["Name": "both"])], order)
  func `a resolved conflict is uploaded as it was decided`(
    resolution: SyncResolution, first: String
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine", "Phone": "2"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, first)
    let conflict = try #require(try await device.store.conflicts(in: Device.soup).first)
    try await device.store.resolve(conflict, resolution)
    #expect(try await device.store.conflicts().isEmpty)
    try await run(device, "up")
    try await run(device, "down")
    let expected: JSONValue =
      resolution == .mine ? "mine" : resolution == .theirs ? "theirs" : "both"
    #expect(org.record("Account", id)?["Name"] == expected)
    #expect(org.record("Account", id)?["Phone"] == "2")
    #expect(try await device.row("Id", id)?["Name"] == expected)
    #expect(try await device.dirtyRows().isEmpty)
    // It is over: what was listed cannot be decided twice.
    #expect(
      await syncErrorCode { try await device.store.resolve(conflict, .mine) } == .conflictChanged)
  }

  @Test func `a conflict goes away when the user writes the server's value`() async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "up")
    try await device.edit(id, ["Name": "theirs"])
    try await run(device, "up")
    #expect(try await device.store.conflicts().isEmpty)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `the server's newest value replaces the one in the conflict`() async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "down")
    let old = try #require(try await device.store.conflicts().first)
    org.update("Account", id, ["Name": "newer"])
    try await run(device, "down")
    #expect(try await device.store.conflicts().first?.fields.first?.theirs == "newer")
    #expect(await syncErrorCode { try await device.store.resolve(old, .mine) } == .conflictChanged)
  }

  @Test func `a change that comes after the decision is a conflict of its own`() async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "down")
    let old = try #require(try await device.store.conflicts().first)
    org.update("Account", id, ["Name": "newer"])
    try await device.store.resolve(old, .mine)
    try await run(device, "up")
    let field = try #require(try await device.store.conflicts().first?.fields.first)
    #expect(field.base == "theirs" && field.mine == "mine" && field.theirs == "newer")
    #expect(org.record("Account", id)?["Name"] == "newer")
  }

  // MARK: Deletions

  @Test(arguments: [false, true])
  func
    `a download that replaces edits ends their conflict`(
      isDeleted: Bool
    ) async throws
  {
    let (org, device, id) = try await synced()
    if isDeleted {
      try await device.delete(id)
    } else {
      try await device.edit(id, ["Name": "mine"])
    }
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "up")
    #expect(try await device.store.conflicts().count == 1)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
    try await device.edit(id, ["Phone": "mine"])
    try await run(device, "up")
    #expect(org.record("Account", id)?["Name"] == "theirs")
    #expect(org.record("Account", id)?["Phone"] == "mine")
  }

  @Test(arguments: order, [SyncResolution.mine, .theirs, .values(["Phone": "3"])])
  func `a record that was deleted here and changed there waits for a decision`(
    first: String, resolution: SyncResolution
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.delete(id)
    org.update("Account", id, ["Name": "theirs"])
    for name in [first, "up", "down", "up"] { try await run(device, name) }
    #expect(org.record("Account", id) != nil)
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .deletedHere)
    #expect(
      conflict.fields == [SyncConflict.Field(name: "Name", base: "a", mine: nil, theirs: "theirs")])
    try await device.store.resolve(conflict, resolution)
    for name in ["up", "down"] { try await run(device, name) }
    #expect((org.record("Account", id) == nil) == (resolution == .mine))
    let row = try await device.row("Id", id)
    if resolution == .mine { #expect(row == nil) } else { #expect(row?["Name"] == "theirs") }
    if case .values = resolution.kindForTests {
      #expect(org.record("Account", id)?["Phone"] == "3")
    }
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: [SyncResolution.mine, .theirs, .values(["Name": "given", "Phone": "3"])])
  func `a record that was deleted after its conflict was noticed goes or comes back, as is decided`(
    resolution: SyncResolution
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine", "Phone": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    try await run(device, "up")
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .fields)
    try await device.delete(id)
    try await device.store.resolve(conflict, resolution)
    for name in ["up", "down"] { try await run(device, name) }
    let expected: JSONValue =
      switch resolution {
      case .mine: .null
      case .theirs: "theirs"
      default: "given"
      }
    #expect(org.record("Account", id)?["Name"] ?? .null == expected)
    #expect(try await device.row("Id", id)?["Name"] ?? .null == expected)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: [SyncResolution.mine, .theirs, .values(["Phone": "3"])])
  func `a record that both sides have deleted comes back with values only`(
    resolution: SyncResolution
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.delete("Account", id)
    try await run(device, "up")
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .deletedThere)
    try await device.delete(id)
    try await device.store.resolve(conflict, resolution)
    for name in ["up", "down"] { try await run(device, name) }
    let isBack = resolution != .mine && resolution != .theirs
    #expect(org.records("Account").contains { $0["Name"] == "mine" } == isBack)
    #expect(try await device.rows().count == org.records("Account").count)
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test func `a deletion is uploaded when the record was not changed, also after an edit of ours`()
    async throws
  {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "b"])
    try await run(device, "up")
    try await device.delete(id)
    try await run(device, "up")
    #expect(org.record("Account", id) == nil)
    #expect(try await device.rows().isEmpty)
  }

  @Test(arguments: [SyncResolution.mine, .theirs, .values(["Phone": "3"])])
  func `a record that was changed here and deleted there waits for a decision`(
    resolution: SyncResolution
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.delete("Account", id)
    for name in ["up", "down", "up"] { try await run(device, name) }
    #expect(org.records("Account").isEmpty)
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .deletedThere)
    #expect(
      conflict.fields == [SyncConflict.Field(name: "Name", base: "a", mine: "mine", theirs: nil)])
    try await device.store.resolve(conflict, resolution)
    for name in ["up", "down"] { try await run(device, name) }
    #expect(org.records("Account").map { $0["Name"] } == (resolution == .theirs ? [] : ["mine"]))
    if case .values = resolution.kindForTests {
      #expect(org.records("Account").first?["Phone"] == "3")
    }
    #expect(try await device.rows().count == (resolution == .theirs ? 0 : 1))
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-236"), arguments: [false, true])
  func `a lookup that points nowhere is the record's error, and not its deletion`(
    wasDeleted: Bool
  ) async throws {
    let (org, device, id) = try await synced(
      "select Id, Name, ParentId from Account", fields: ["Name", "ParentId"])
    org.relate("Reports", parent: "Account", child: "Account", by: "ParentId")
    let other = org.create("Account", ["Name": "other"])
    org.delete("Account", other)
    try await device.edit(
      id, ["Name": "mine", "ParentId": .string(wasDeleted ? other : "001000000000999AAA")])
    for _ in 0..<2 {
      let up = try await run(device, "up")
      #expect(try await device.store.conflicts().isEmpty)
      #expect(try await device.manager.outcomes(forId: up.id).map(\.kind) == [.rejected])
      #expect(
        try await device.row("Id", id)?[SyncKeys.lastError]?.string?
          .contains(wasDeleted ? "ENTITY_IS_DELETED" : "INVALID_CROSS_REFERENCE_KEY") == true)
    }
    try await device.edit(id, ["ParentId": .null])
    try await run(device, "up")
    #expect(org.records("Account").map { $0["Name"] } == ["mine"])
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(arguments: [false, true])
  func `a record that is deleted while its edit is on its way waits for a decision`(
    isKnown: Bool
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.intervene { number, request in
      if request.line.hasPrefix("PATCH") { org.delete("Account", id) }
      // The second question is whether it is gone.
      return number == 3 && !isKnown ? .unreachable : .none
    }
    try await run(device, "up")
    #expect(try await device.store.conflicts().map(\.kind) == (isKnown ? [.deletedThere] : []))
    org.intervene(nil)
    try await run(device, "up")
    #expect(try await device.store.conflicts().map(\.kind) == [.deletedThere])
  }

  /// A device whose sync down replaces, so that only a sync up that is made later merges.
  private func replacing() async throws -> (InMemoryOrg, Device, [String]) {
    let org = InMemoryOrg()
    org.pageSize = 1
    let ids = (0..<2).map { _ in org.create("Account", ["Name": "a", "Phone": "1"]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup, syncName: "down")
    try await run(device, "down")
    return (org, device, ids)
  }

  private func makeMergingUp(_ device: Device) async throws {
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(), options: Self.options, soupName: Device.soup,
      syncName: "up")
  }

  /// Another user turns a name back to what it was once, and another field is edited here.
  private func isTakenBack(
    _ org: InMemoryOrg, _ device: Device, _ id: String
  ) async throws -> Bool {
    try await device.edit(id, ["Phone": "2"])
    org.update("Account", id, ["Name": "a"])
    try await run(device, "up")
    let record = org.record("Account", id)
    return record?["Name"] == "a" && record?["Phone"] == "2"
  }

  @Test func `a merging sync that is made again does not compare with what was agreed on before`()
    async throws
  {
    let (org, device, ids) = try await replacing()
    try await makeMergingUp(device)
    try await device.manager.deleteSync(forName: "up")
    org.update("Account", ids[0], ["Name": "b"])
    try await run(device, "down")
    try await makeMergingUp(device)
    #expect(try await isTakenBack(org, device, ids[0]))
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test
  func `a merging sync that is made while records are downloaded compares with those that came`()
    async throws
  {
    let (org, device, ids) = try await replacing()
    for id in ids { org.update("Account", id, ["Name": "b"]) }
    org.forgetRequests()
    org.intervene { number, _ in
      if number == 2 { try? await self.makeMergingUp(device) }
      return .none
    }
    try await run(device, "down")
    org.intervene(nil)
    #expect(try await device.manager.hasSync(forName: "up"))
    #expect(try await isTakenBack(org, device, ids[1]))
    #expect(try await device.store.conflicts().isEmpty)
  }

  /// Whether the target fetches whole records, or dates alone.
  private static let fetches = [true, false]

  private func synced(
    _ query: String, fields: [String] = ["Name"], fetches: Bool = true
  ) async throws -> (org: InMemoryOrg, device: Device, id: String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org, registering: { try $0.register(PlainUpTarget.self) })
    let options = SyncOptions(mergeMode: .mergeFields, fieldlist: fields)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: query), options: options, soupName: Device.soup,
      syncName: "down")
    if fetches {
      _ = try await device.manager.createSyncUp(
        target: CollectionSyncUpTarget(), options: options, soupName: Device.soup, syncName: "up")
    } else {
      _ = try await device.manager.createSyncUp(
        target: PlainUpTarget(), options: options, soupName: Device.soup, syncName: "up")
    }
    try await run(device, "down")
    return (org, device, id)
  }

  @Test(arguments: fetches, [SyncResolution.mine, .theirs])
  func `a deletion of a record that another user moved out of the sync's sight can be decided`(
    fetches: Bool, resolution: SyncResolution
  ) async throws {
    let (org, device, id) = try await synced(Device.query + " where Phone = '1'", fetches: fetches)
    try await device.delete(id)
    // Nothing of it shows in a field that is uploaded.
    org.update("Account", id, ["Phone": "2"])
    for name in ["up", "down", "up"] {
      try await run(device, name)
      #expect(try await device.store.conflicts().map(\.kind) == [.deletedHere])
      #expect(org.record("Account", id) != nil)
    }
    try await device.store.resolve(
      try #require(try await device.store.conflicts().first), resolution)
    try await run(device, "up")
    #expect((org.record("Account", id) == nil) == (resolution == .mine))
    #expect(try await device.rows().count == (resolution == .mine ? 0 : 1))
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test(arguments: fetches)
  func `a sync down that sees nothing changed lets the deletion go`(fetches: Bool) async throws {
    let (org, device, id) = try await synced(Device.query, fetches: fetches)
    try await device.delete(id)
    org.update("Account", id, ["Industry": "not synced"])
    for name in ["up", "down", "up"] { try await run(device, name) }
    #expect(org.record("Account", id) == nil)
    #expect(try await device.rows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test func `an edit of a record that is deleted there is a conflict with every target`()
    async throws
  {
    let (org, device, id) = try await synced(Device.query, fetches: false)
    try await device.edit(id, ["Name": "mine"])
    org.delete("Account", id)
    try await run(device, "up")
    #expect(try await device.store.conflicts().map(\.kind) == [.deletedThere])
  }

  @Test(arguments: [SyncMergeMode.mergeFields, .leaveIfChanged])
  func `a record of which the server does not say what it has is undecided, and in no conflict`(
    mode: SyncMergeMode
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.intervene { _, request in
      request.line == "POST /{v}/composite/sobjects/Account"
        ? .response(status: 400, body: "[]") : .none
    }
    let state = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]), soupName: Device.soup
    ).finished()
    #expect(try await device.manager.outcomes(forId: state.id).map(\.kind) == [.undecided])
    #expect(try await device.manager.outcomeCounts(forId: state.id).skipped == 1)
    #expect(try await device.dirtyRows().count == 1)
    #expect(try await device.store.conflicts().isEmpty)
    org.intervene(nil)
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(org.record("Account", id)?["Name"] == "mine")
  }

  @Test func `a record that was deleted on both sides is gone`() async throws {
    let (org, device, id) = try await synced()
    try await device.delete(id)
    org.delete("Account", id)
    try await run(device, "up")
    #expect(try await device.rows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
  }

  // MARK: The base

  @Test func `two changes within the second of a date are distinguished`() async throws {
    let (org, device, id) = try await synced()
    org.setTickLength(0)
    org.update("Account", id, ["Name": "theirs"])
    try await device.edit(id, ["Name": "mine"])
    try await run(device, "up")
    #expect(org.record("Account", id)?["Name"] == "theirs")
    #expect(try await device.store.conflicts().count == 1)
  }

  @Test func `a sent record can be edited and sent again without a sync down`() async throws {
    let (org, device, id) = try await synced()
    for name in ["b", "c", "d"] {
      try await device.edit(id, ["Name": .string(name)])
      try await run(device, "up")
      #expect(org.record("Account", id)?["Name"] == .string(name))
    }
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test func `a base version lost with its response is no conflict with oneself`() async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "mine"])
    org.intervene { _, request in request.line.hasPrefix("PATCH") ? .dropResponse : .none }
    _ = await syncErrorCode { try await run(device, "up") }
    org.intervene(nil)
    try await device.restartProcess()
    try await run(device, "up")
    #expect(try await device.store.conflicts().isEmpty)
    #expect(try await device.dirtyRows().isEmpty)
    #expect(org.record("Account", id)?["Name"] == "mine")
  }

  @Test func `records that were there before the first sync of this mode get their bases`()
    async throws
  {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    let up = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(), options: Self.options, soupName: Device.soup)
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Phone": "theirs"])
    _ = try await device.manager.reSync(id: up.id).finished()
    #expect(try await device.store.conflicts().isEmpty)
    #expect(org.record("Account", id)?["Name"] == "mine")
    #expect(org.record("Account", id)?["Phone"] == "theirs")
  }

  @Test func `without a base every difference is a conflict`() async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.edit(id, ["Name": "mine"])
    let up = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(), options: Self.options, soupName: Device.soup)
    _ = try await up.finished()
    let field = try #require(try await device.store.conflicts().first?.fields.first)
    #expect(
      field.name == "Name" && field.base == nil && field.mine == "mine" && field.theirs == "a")
  }

  @Test func `a target that cannot fetch records leaves the merging to the sync down`() async throws
  {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org, registering: { try $0.register(PlainUpTarget.self) })
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: Self.options,
      soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: PlainUpTarget(), options: Self.options, soupName: Device.soup, syncName: "up")
    try await run(device, "down")
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Phone": "theirs"])
    try await run(device, "up")
    #expect(org.record("Account", id)?["Name"] == "a")
    try await run(device, "down")
    try await run(device, "up")
    #expect(org.record("Account", id)?["Name"] == "mine")
    #expect(org.record("Account", id)?["Phone"] == "theirs")
  }
}

extension SyncResolution {
  fileprivate enum KindForTests { case values, other }
  fileprivate var kindForTests: KindForTests {
    self == .mine || self == .theirs ? .other : .values
  }
}

/// Sends as the collection target does, and fetches dates alone.
private struct PlainUpTarget: SyncUpTarget {
  static let kind = SyncTargetKind(
    .syncUp, typeName: "plain", implementationName: "PlainUpTarget")
  private let inner = CollectionSyncUpTarget()

  init() {}
  init(configuration: JSONObject) {}
  var configuration: JSONObject { [:] }
  var fields: SyncUpFields { inner.fields }
  func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
    try await inner.send(group, in: context)
  }
  func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await inner.remoteDates(of: records, in: context)
  }
}
