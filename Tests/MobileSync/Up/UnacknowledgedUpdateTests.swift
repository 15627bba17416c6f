import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// An update that was done without a response makes the record newer on the server than here. Does the next
/// run know its own edit from a remote one?
@Suite struct UnacknowledgedUpdateTests {
  static let targets: [any SyncUpTarget & Equatable] = [
    CollectionSyncUpTarget(), BatchSyncUpTarget(), BasicSyncUpTarget(),
  ]

  /// A device that has sent an edit of its only record, whose response got lost. Every change takes a
  /// second on the org's clock.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device
    let target: any SyncUpTarget
    let id: String

    init(_ target: any SyncUpTarget, arrives: Bool = true) async throws {
      self.target = target
      id = org.create("Account", ["Name": "a", "Phone": "1"])
      device = try await Device.open(org)
      try await down()
      try await device.edit(id, ["Name": "mine"])
      org.intervene { _, request in
        guard Self.isSending(request) else { return .none }
        return arrives ? .dropResponse : .unreachable
      }
      #expect(await syncErrorCode { try await up() } == .failed)
      org.intervene(nil)
      org.forgetRequests()
    }

    static func isSending(_ request: InMemoryOrg.Request) -> Bool {
      request.line.hasPrefix("PATCH") || request.line == "POST /{v}/composite"
    }

    var sendings: Int { org.requests.filter(Self.isSending).count }

    @discardableResult
    func up(_ mode: SyncMergeMode = .leaveIfChanged) async throws -> SyncState {
      try await up(target, mode)
    }

    private func up(_ target: some SyncUpTarget, _ mode: SyncMergeMode) async throws -> SyncState {
      try await device.manager.syncUp(
        target: target, options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]),
        soupName: Device.soup
      ).finished()
    }

    func down(_ mode: SyncMergeMode = .leaveIfChanged) async throws {
      _ = try await device.manager.syncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: mode), soupName: Device.soup
      ).finished()
    }

    func kinds(_ sync: SyncState) async throws -> [SyncRecordOutcome.Kind] {
      try await device.manager.outcomes(forId: sync.id).map(\.kind)
    }

    func row() async throws -> JSONValue? { try await device.row("Id", id) }
  }

  @Test(.covers("MS-197"), arguments: targets.indices)
  func `an edit that arrived without a response is no conflict, whatever second it is`(
    target: Int
  ) async throws {
    let story = try await Story(Self.targets[target])
    try await story.up()
    #expect(story.sendings == 0)
    let row = try #require(try await story.row())
    #expect(row[SyncKeys.local] == false && row["Name"] == "mine")
    #expect(row[SyncKeys.lastError] == nil)
    #expect(row["LastModifiedDate"] == story.org.record("Account", story.id)?["LastModifiedDate"])
    // With that date the next edit is uploaded without a sync down.
    try await story.device.edit(story.id, ["Name": "mine again"])
    let sync = try await story.up()
    #expect(try await story.kinds(sync) == [.succeeded])
    #expect(story.org.record("Account", story.id)?["Name"] == "mine again")
  }

  @Test(.covers("MS-197"), arguments: [0, 200, 999, 1_000, 1_001])
  func `nor is it one on a clock that stands still or moves by less than a second`(
    tick: Int64
  ) async throws {
    let org = InMemoryOrg()
    org.setTickLength(tick)
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    try await device.download([id])
    try await device.edit(id, ["Name": "mine"])
    org.intervene { number, _ in number == 2 ? .dropResponse : .none }
    for code in [SyncError.Code.failed, nil] {
      let got = await syncErrorCode {
        _ = try await device.manager.syncUp(
          target: CollectionSyncUpTarget(),
          options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]),
          soupName: Device.soup
        ).finished()
      }
      #expect(got == code)
    }
    #expect(org.record("Account", id)?["Name"] == "mine")
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-197"), arguments: targets.indices)
  func `a remote change after it is a conflict, and stays`(
    target: Int
  ) async throws {
    let story = try await Story(Self.targets[target])
    story.org.update("Account", story.id, ["Phone": "theirs"])
    let sync = try await story.up()
    #expect(try await story.kinds(sync) == [.conflict])
    #expect(story.sendings == 0)
    #expect(story.org.record("Account", story.id)?["Phone"] == "theirs")
    #expect(try await story.row()?[SyncKeys.local] == true)
  }

  @Test(.covers("MS-197"))
  func `an edit that never arrived is sent again`() async throws {
    let story = try await Story(CollectionSyncUpTarget(), arrives: false)
    let sync = try await story.up()
    #expect(try await story.kinds(sync) == [.succeeded])
    #expect(story.sendings == 1)
    #expect(story.org.record("Account", story.id)?["Name"] == "mine")
    #expect(try await story.row()?[SyncKeys.local] == false)
  }

  @Test(.covers("MS-197"), arguments: targets.indices)
  func `an edit since then is uploaded on top of it`(target: Int) async throws {
    let story = try await Story(Self.targets[target])
    try await story.device.edit(story.id, ["Phone": "2"])
    let sync = try await story.up()
    #expect(try await story.kinds(sync) == [.succeeded])
    let record = story.org.record("Account", story.id)
    #expect(record?["Name"] == "mine" && record?["Phone"] == "2")
    #expect(try await story.row()?[SyncKeys.local] == false)
  }

  @Test(.covers("MS-197"), arguments: targets.indices)
  func `a deletion since then reaches the server`(target: Int) async throws {
    let story = try await Story(Self.targets[target])
    try await story.device.delete(story.id)
    try await story.up()
    #expect(story.org.records("Account").isEmpty)
    #expect(try await story.device.rows().isEmpty)
  }

  @Test(.covers("MS-60", "MS-197"))
  func `a process that dies while it waits knows its edit afterwards`()
    async throws
  {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    try await device.download([id])
    try await device.edit(id, ["Name": "mine"])
    let latch = Latch()
    org.intervene { number, _ in
      guard number == 2 else { return .none }
      await latch.pass()
      return .dropResponse
    }
    let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"])
    let run = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(), options: options, soupName: Device.soup, syncName: "up")
    await latch.arrival()
    let closing = Task { _ = try await device.restartProcess() }
    await Task.yield()
    latch.open()
    try await closing.value
    _ = try? await run.finished()
    #expect(org.record("Account", id)?["Name"] == "mine")
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-202"), arguments: [400, 500])
  func `a question that the server refuses leaves it for the next run to find out`(
    status: Int
  ) async throws {
    let story = try await Story(CollectionSyncUpTarget())
    story.org.intervene { number, _ in
      number == 1 ? .response(status: status, body: "[]") : .none
    }
    try await story.up()
    #expect(story.sendings == 0)
    #expect(try await story.row()?[SyncKeys.local] == true)
    story.org.intervene(nil)
    try await story.up()
    #expect(story.sendings == 0)
    #expect(try await story.row()?[SyncKeys.local] == false)
  }

  @Test(.covers("MS-197"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `an edit whose value the server put into another form is our own`(
    mode: SyncMergeMode
  ) async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1"])
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]), soupName: Device.soup,
      syncName: "up")
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup
    ).finished()
    try await device.edit(id, ["Phone": "5551234"])
    org.intervene { _, request in request.line.hasPrefix("PATCH") ? .dropResponse : .none }
    _ = await syncErrorCode { _ = try await device.manager.reSync(named: "up").finished() }
    org.intervene(nil)
    org.update("Account", id, ["Phone": "(555) 1234"])
    org.forgetRequests()
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(try await device.store.conflicts().isEmpty)
    #expect(org.requests.allSatisfy { !Story.isSending($0) })
    let row = try #require(try await device.row("Id", id))
    #expect(row["Phone"] == "(555) 1234" && row[SyncKeys.local] == false)
  }

  @Test(.covers("MS-197"), arguments: [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `an edit of the form alone that never arrived is sent again`(
    mode: SyncMergeMode
  ) async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "ann", "Phone": "1"])
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]), soupName: Device.soup,
      syncName: "up")
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup
    ).finished()
    try await device.edit(id, ["Name": "Ann"])
    org.intervene { _, request in request.line.hasPrefix("PATCH") ? .unreachable : .none }
    _ = await syncErrorCode { _ = try await device.manager.reSync(named: "up").finished() }
    org.intervene(nil)
    _ = try await device.manager.reSync(named: "up").finished()
    #expect(org.record("Account", id)?["Name"] == "Ann")
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-79"))
  func `a sync down that leaves edits alone changes nothing about it`() async throws {
    let story = try await Story(CollectionSyncUpTarget())
    try await story.down()
    try await story.up()
    #expect(try await story.row()?[SyncKeys.local] == false)
    #expect(story.sendings == 0)
  }

  @Test(.covers("MS-79"))
  func `once the row is clean no query is sent any more`() async throws {
    let story = try await Story(CollectionSyncUpTarget())
    try await story.down(.overwrite)
    try await story.device.create([["Name": "new"]])
    story.org.forgetRequests()
    try await story.up()
    // Just the create.
    #expect(story.org.requests.count == 1)
    try await story.device.edit(story.id, ["Name": "later"])
    let sync = try await story.up()
    #expect(try await story.kinds(sync) == [.succeeded])
  }

  @Test(.covers("MS-197"))
  func `a lost edit of mode overwrite is known to a sync that leaves changes alone`()
    async throws
  {
    let story = try await Story(CollectionSyncUpTarget(), arrives: false)
    story.org.intervene { _, request in Story.isSending(request) ? .dropResponse : .none }
    #expect(await syncErrorCode { try await story.up(.overwrite) } == .failed)
    story.org.intervene(nil)
    story.org.forgetRequests()
    try await story.up()
    #expect(story.sendings == 0)
    #expect(try await story.row()?[SyncKeys.local] == false)
  }
}
