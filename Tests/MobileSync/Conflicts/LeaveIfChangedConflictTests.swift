import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Is a conflict that a sync up in mode LEAVE_IF_CHANGED finds listed with its values, counted, and
/// resolvable?
@Suite struct LeaveIfChangedConflictTests {
  static let targets: [any SyncUpTarget & Equatable] = [
    CollectionSyncUpTarget(), BatchSyncUpTarget(), BasicSyncUpTarget(),
  ]

  /// A device with a downloaded record, and a sync up of one target.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device
    let id: String

    init(_ target: any SyncUpTarget = CollectionSyncUpTarget(), tick: Int64 = 1_000) async throws {
      org.setTickLength(tick)
      id = org.create("Account", ["Name": "a", "Phone": "1", "Fax": "0"])
      device = try await Device.open(org)
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup, syncName: "down")
      _ = try await device.manager.createSyncUp(
        targetJSON: target.json,
        options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name", "Phone"]),
        soupName: Device.soup, syncName: "up")
      try await run("down")
      org.forgetRequests()
    }

    @discardableResult
    func run(_ name: String) async throws -> SyncState {
      try await device.manager.reSync(named: name).finished()
    }

    func runUp(_ mode: SyncMergeMode) async throws -> [SyncRecordOutcome] {
      let run = try await device.manager.syncUp(
        options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]),
        soupName: Device.soup)
      _ = try await run.finished()
      return await run.allOutcomes()
    }

    func conflicts() async throws -> [SyncConflict] {
      try await device.store.conflicts(in: Device.soup)
    }

    func outcomes() async throws -> [SyncRecordOutcome] {
      let sync = try #require(try await device.manager.syncStatus(forName: "up"))
      return try await device.manager.outcomes(forId: sync.id)
    }

    func there(_ field: String) -> JSONValue? { org.record("Account", id)?[field] }

    func row() async throws -> JSONValue? { try await device.row("Id", id) }

    /// The record is changed on both sides, in different fields, and a run up has found out.
    func collide() async throws {
      try await device.edit(id, ["Name": "mine"])
      org.update("Account", id, ["Phone": "theirs"])
      try await run("up")
    }
  }

  @Test(arguments: targets.indices)
  func `a conflict is listed with its values, counted, and its outcome names record and action`(
    target: Int
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.collide()
    #expect(story.there("Name") == "a" && story.there("Phone") == "theirs")
    let conflict = try #require(try await story.conflicts().first)
    #expect(conflict.kind == .fields && conflict.recordId == story.id)
    #expect(
      conflict.fields.sorted { $0.name < $1.name } == [
        SyncConflict.Field(name: "Name", base: "a", mine: "mine", theirs: "a"),
        SyncConflict.Field(name: "Phone", base: "1", mine: "1", theirs: "theirs"),
      ])
    let outcome = try #require(try await story.outcomes().first)
    #expect(outcome.kind == .conflict && outcome.recordId == story.id && outcome.action == .update)
    let sync = try #require(try await story.device.manager.syncStatus(forName: "up"))
    let report = try await story.device.manager.report(forId: sync.id)
    #expect(report.conflicts == [conflict] && report.counts.skipped == 1)
  }

  @Test func `a row keeps its bytes while it is in conflict`() async throws {
    let story = try await Story()
    try await story.device.edit(story.id, ["Name": "mine"])
    let row = try await story.row()
    story.org.update("Account", story.id, ["Phone": "theirs"])
    for name in ["up", "down", "up"] { try await story.run(name) }
    #expect(try await story.row()?.text == row?.text)
    #expect(try await story.conflicts().count == 1)
  }

  @Test(
    arguments: targets.indices,
    [SyncResolution.mine, .theirs, .values(["Name": "both", "Phone": "2"])])
  func `a resolved conflict is uploaded as it was decided, and nothing else is overwritten`(
    target: Int, resolution: SyncResolution
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.collide()
    let conflict = try #require(try await story.conflicts().first)
    try await story.device.store.resolve(conflict, resolution)
    #expect(try await story.conflicts().isEmpty)
    try await story.run("up")
    #expect(try await story.conflicts().isEmpty)
    let isMine = resolution == .mine
    let name: JSONValue = isMine ? "mine" : resolution == .theirs ? "a" : "both"
    let phone: JSONValue = isMine || resolution == .theirs ? "theirs" : "2"
    #expect(story.there("Name") == name && story.there("Phone") == phone)
    let row = try #require(try await story.row())
    #expect(row["Name"] == name && row["Phone"] == phone && row[SyncKeys.local] == false)
    #expect(
      await syncErrorCode { try await story.device.store.resolve(conflict, .mine) }
        == .conflictChanged)
  }

  @Test(arguments: targets.indices)
  func `a change that comes after the decision is a conflict of its own`(target: Int) async throws {
    let story = try await Story(Self.targets[target])
    try await story.collide()
    try await story.device.store.resolve(try #require(try await story.conflicts().first), .mine)
    story.org.update("Account", story.id, ["Phone": "theirs again"])
    try await story.run("up")
    #expect(story.there("Name") == "a")
    #expect(
      try await story.conflicts().first?.fields.first { $0.name == "Phone" }?.theirs
        == "theirs again")
  }

  @Test func `a conflict ends when the server comes to have what stands here`() async throws {
    let story = try await Story()
    try await story.device.edit(story.id, ["Name": "same"])
    story.org.update("Account", story.id, ["Name": "theirs"])
    try await story.run("up")
    #expect(try await story.conflicts().count == 1)
    story.org.update("Account", story.id, ["Name": "same"])
    try await story.run("up")
    #expect(try await story.conflicts().isEmpty)
    #expect(try await story.device.dirtyRows().isEmpty)
    #expect(!story.org.lines.contains { $0.hasPrefix("PATCH") })
  }

  @Test func `a conflict ends when the edit is undone, and the server's values come`() async throws
  {
    let story = try await Story()
    try await story.collide()
    try await story.device.edit(story.id, ["Name": "a"])
    try await story.run("up")
    #expect(try await story.conflicts().isEmpty)
    #expect(story.there("Phone") == "theirs")
    let row = try #require(try await story.row())
    #expect(row[SyncKeys.local] == false && row["Phone"] == "theirs")
  }

  @Test func `an upload in mode OVERWRITE sends the record and ends the conflict`() async throws {
    let story = try await Story()
    try await story.collide()
    #expect(try await story.runUp(.overwrite).map(\.kind) == [.succeeded])
    #expect(story.there("Name") == "mine" && story.there("Phone") == "1")
    #expect(try await story.conflicts().isEmpty)
    // A later edit does not bring it back.
    try await story.device.edit(story.id, ["Name": "later"])
    #expect(try await story.conflicts().isEmpty)
  }

  @Test func `an upload in mode MERGE_FIELDS merges the record and ends the conflict`() async throws
  {
    let story = try await Story()
    try await story.collide()
    #expect(try await story.runUp(.mergeFields).map(\.kind) == [.succeeded])
    #expect(story.there("Name") == "mine" && story.there("Phone") == "theirs")
    #expect(try await story.conflicts().isEmpty)
  }

  @Test func `a download in mode OVERWRITE that replaces the edit ends the conflict`() async throws
  {
    let story = try await Story()
    try await story.collide()
    _ = try await story.device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(try await story.row()?["Phone"] == "theirs")
    #expect(try await story.conflicts().isEmpty)
    try await story.device.edit(story.id, ["Name": "later"])
    #expect(try await story.conflicts().isEmpty)
  }

  @Test(arguments: targets.indices, [SyncResolution.mine, .theirs])
  func `an edited record that was deleted on the server comes back or goes`(
    target: Int, resolution: SyncResolution
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.device.edit(story.id, ["Name": "mine"])
    story.org.delete("Account", story.id)
    try await story.run("up")
    let conflict = try #require(try await story.conflicts().first)
    #expect(conflict.kind == .deletedThere && conflict.fields.map(\.name) == ["Name"])
    #expect(try await story.outcomes().map(\.kind) == [.conflict])
    try await story.device.store.resolve(conflict, resolution)
    try await story.run("up")
    let names = story.org.records("Account").compactMap { $0["Name"]?.string }
    #expect(names == (resolution == .mine ? ["mine"] : []))
    #expect(try await story.device.rows().count == names.count)
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test(arguments: targets.indices, [SyncResolution.mine, .theirs])
  func `a deleted record that was changed on the server goes or comes back`(
    target: Int, resolution: SyncResolution
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.device.delete(story.id)
    story.org.update("Account", story.id, ["Phone": "theirs"])
    try await story.run("up")
    let conflict = try #require(try await story.conflicts().first)
    #expect(conflict.kind == .deletedHere)
    #expect(try await story.outcomes().map(\.action) == [.delete])
    try await story.device.store.resolve(conflict, resolution)
    try await story.run("up")
    #expect(story.org.records("Account").count == (resolution == .mine ? 0 : 1))
    #expect(try await story.row()?["Phone"] == (resolution == .mine ? nil : "theirs"))
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test func `a record of which the server's values are not known is listed all the same`()
    async throws
  {
    let story = try await Story()
    try await story.device.edit(story.id, ["Name": "mine"])
    story.org.update("Account", story.id, ["Phone": "theirs"])
    // The values are refused, the dates are not.
    story.org.intervene { _, request in
      request.body.contains("Phone") && request.line.hasSuffix("sobjects/Account")
        ? .response(status: 400, body: "[]") : .none
    }
    try await story.run("up")
    story.org.intervene(nil)
    let conflict = try #require(try await story.conflicts().first)
    #expect(conflict.kind == .changedThere)
    #expect(
      conflict.fields == [SyncConflict.Field(name: "Name", base: "a", mine: "mine", theirs: nil)])
    try await story.device.store.resolve(conflict, .mine)
    try await story.run("up")
    #expect(story.there("Name") == "mine")
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test func `a field list that the server does not know leaves the check to the dates`()
    async throws
  {
    let story = try await Story()
    try await story.device.edit(story.id, ["Name": "mine"])
    story.org.intervene { _, request in
      request.body.contains("Phone") && request.line.hasSuffix("sobjects/Account")
        ? .response(status: 400, body: "[]") : .none
    }
    try await story.run("up")
    #expect(story.there("Name") == "mine")
  }

  // MARK: Stamps have whole seconds

  @Test(arguments: targets.indices, [0, 200, 999] as [Int64])
  func `a change in the second of the download is a conflict`(
    target: Int, tick: Int64
  ) async throws {
    let story = try await Story(Self.targets[target], tick: tick)
    try await story.device.edit(story.id, ["Name": "mine"])
    story.org.update("Account", story.id, ["Name": "theirs"])
    try await story.run("up")
    #expect(story.there("Name") == "theirs")
    #expect(try await story.conflicts().first?.fields.first?.theirs == "theirs")
  }

  @Test(arguments: targets.indices)
  func `a deletion does not take a change of the same second with it`(target: Int) async throws {
    let story = try await Story(Self.targets[target], tick: 0)
    try await story.device.delete(story.id)
    story.org.update("Account", story.id, ["Phone": "theirs"])
    try await story.run("up")
    #expect(story.there("Phone") == "theirs")
    #expect(try await story.conflicts().first?.kind == .deletedHere)
  }

  // MARK: Base versions

  @Test func `a store of a version that kept no base versions takes clean rows as such`()
    async throws
  {
    let story = try await Story(tick: 0)
    try await story.device.store.clearSoup("syncs_bases")
    try await story.device.restartProcess()
    // A run with nothing to send finds the rows clean.
    try await story.run("up")
    try await story.device.edit(story.id, ["Name": "mine"])
    story.org.update("Account", story.id, ["Name": "theirs"])
    try await story.run("up")
    #expect(story.there("Name") == "theirs")
    #expect(try await story.conflicts().first?.fields.first?.base == "a")
  }

  @Test
  func `a record that the app has downloaded by itself is not compared with an older base version`()
    async throws
  {
    let story = try await Story()
    story.org.update("Account", story.id, ["Phone": "2"])
    var row = try #require(try await story.row()?.object)
    for (key, value) in try #require(story.org.record("Account", story.id)) { row[key] = value }
    try await story.device.store.upsert(entries: [.object(row)], forSoupNamed: Device.soup)
    try await story.device.edit(story.id, ["Name": "mine"])
    try await story.run("up")
    #expect(story.there("Name") == "mine" && story.there("Phone") == "2")
    #expect(try await story.conflicts().isEmpty)
  }

  @Test func `a download that finds nothing changed makes an uploaded record sendable again`()
    async throws
  {
    let story = try await Story()
    try await story.device.edit(story.id, ["Name": "first"])
    try await story.run("up")
    try await story.device.edit(story.id, ["Name": "second"])
    try await story.run("down")
    try await story.run("up")
    #expect(story.there("Name") == "second")
    #expect(try await story.conflicts().isEmpty)
  }
}
