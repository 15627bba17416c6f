import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Is a create whose response was lost held, too, if a flow replaced its values after the creation, so that only its
/// name, its time and its user tell?
@Suite struct ReplacedValuesTests {
  static let targets: [any SyncUpTarget & Equatable] = [
    CollectionSyncUpTarget(), BatchSyncUpTarget(), BasicSyncUpTarget(),
  ]
  private static let user: JSONValue = "005000000000001AAA"
  private static let minute: Int64 = 60_000

  /// An org whose flow replaces, a second later, what a client writes into a new record, and a device with one.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device

    init(
      _ target: any SyncUpTarget & Equatable = CollectionSyncUpTarget(),
      _ mode: SyncMergeMode = .overwrite, phones: [String] = ["1"]
    ) async throws {
      org.runAfterChanges { change in
        guard change.old == nil, change.new?["Phone"]?.string?.hasPrefix("1") ?? false else {
          return []
        }
        return [InMemoryOrg.FlowUpdate(change.type, change.id, ["Phone": "none"])]
      }
      device = try await Device.open(org)
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .mergeFields), soupName: Device.soup, syncName: "down")
      _ = try await device.manager.createSyncUp(
        targetJSON: target.json,
        options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]),
        soupName: Device.soup, syncName: "up")
      try await device.create(phones.map { ["Name": "a", "Phone": .string($0)] })
    }

    func run(_ name: String) async throws {
      _ = try await device.manager.reSync(named: name).finished()
    }

    /// Sends the create and loses the response.
    func lose(_ intervention: InMemoryOrg.Intervention) async {
      org.intervene { _, request in request.line.hasPrefix("POST") ? intervention : .none }
      _ = await syncErrorCode { try await run("up") }
      org.intervene(nil)
    }

    /// Another program creates a record as the same user, and changes it later.
    @discardableResult
    func createElsewhere(_ phone: String, changesIt: Bool = true) -> String {
      let id = org.create(
        "Account", ["Name": "a", "Phone": "new", "CreatedById": ReplacedValuesTests.user])
      if changesIt { org.update("Account", id, ["Phone": .string(phone)]) }
      return id
    }

    func pass(minutes: Int64) { org.setClock(org.now + minutes * ReplacedValuesTests.minute) }

    var phones: [String] { org.records("Account").compactMap { $0["Phone"]?.string } }

    func conflict() async throws -> SyncConflict? { try await device.store.conflicts().first }
  }

  @Test(
    .covers("MS-195"), arguments: targets.indices,
    [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a record whose values a flow replaced is held, not created again`(
    target: Int, mode: SyncMergeMode
  ) async throws {
    let story = try await Story(Self.targets[target], mode)
    await story.lose(.dropResponse)
    let made = try #require(story.org.records("Account").first?["Id"]?.string)
    for _ in 0..<2 { try await story.run("up") }
    #expect(story.phones == ["none"])
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt && conflict.candidates.map(\.id) == [made])
    try await story.device.store.resolve(conflict, .record(made))
    for name in ["up", "down"] { try await story.run(name) }
    let rows = try await story.device.rows()
    #expect(rows.count == 1 && rows[0]["Id"]?.string == made && rows[0]["Phone"] == "none")
    #expect(story.phones == ["none"])
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `it stays held after a download has brought the record`() async throws {
    let story = try await Story()
    await story.lose(.dropResponse)
    try await story.run("down")
    try await story.run("up")
    let conflict = try #require(try await story.conflict())
    try await story.device.store.resolve(conflict, .record(conflict.candidates[0].id))
    try await story.run("up")
    #expect(try await story.device.rows().count == 1)
    #expect(story.phones == ["none"])
  }

  // last response   elsewhere   send   lost   15 minutes   elsewhere
  //                     x                                      x
  @Test(.covers("MS-195"))
  func `records of the user from before the request, and from long after it, hold nothing`()
    async throws
  {
    let story = try await Story(phones: ["mine"])
    story.createElsewhere("earlier")
    story.pass(minutes: 5)
    await story.lose(.unreachable)
    story.pass(minutes: 20)
    story.createElsewhere("later")
    try await story.run("up")
    #expect(story.phones == ["earlier", "later", "mine"])
    #expect(try await story.conflict() == nil)
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `a record that another program of the user has created and changed is a candidate`()
    async throws
  {
    let story = try await Story(phones: ["mine"])
    await story.lose(.unreachable)
    story.pass(minutes: 10)
    let other = story.createElsewhere("other")
    story.createElsewhere("as created", changesIt: false)
    try await story.run("up")
    #expect(story.phones == ["other", "new"])
    let conflict = try #require(try await story.conflict())
    #expect(conflict.kind == .inDoubt && conflict.candidates.map(\.id) == [other])
    try await story.device.store.resolve(conflict, .create)
    try await story.run("up")
    #expect(story.phones == ["other", "new", "mine"])
    #expect(try await story.device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `a record that a response has given to another entry is no candidate`() async throws {
    let story = try await Story(BasicSyncUpTarget(), phones: ["1", "b"])
    story.org.intervene { number, request in
      request.body.contains(#""b""#) ? .unreachable : .none
    }
    _ = await syncErrorCode { try await story.run("up") }
    story.org.intervene(nil)
    #expect(story.phones == ["none"])
    try await story.run("up")
    #expect(story.phones == ["none", "b"])
    #expect(try await story.conflict() == nil)
  }

  @Test(.covers("MS-195"))
  func `each of several such records has all of them as candidates until one is taken`()
    async throws
  {
    let story = try await Story(phones: ["11", "12"])
    await story.lose(.dropResponse)
    let made = story.org.records("Account").compactMap { $0["Id"]?.string }
    try await story.run("up")
    let conflicts = try await story.device.store.conflicts()
    #expect(conflicts.map { $0.candidates.map(\.id).sorted() } == [made, made])
    try await story.device.store.resolve(conflicts[0], .record(made[0]))
    try await story.run("up")
    let left = try await story.device.store.conflicts()
    #expect(left.map { $0.candidates.map(\.id) } == [[made[1]]])
    #expect(story.phones.count == 2)
  }

  // kill before the response   start   run: held          elsewhere, 20 minutes later   run: the same candidate
  @Test(.covers("MS-195", "MS-60"))
  func `after a kill the search ends with the time of the next run`() async throws {
    let story = try await Story()
    let latch = Latch()
    story.org.intervene { _, request in
      guard request.line.hasPrefix("POST") else { return .none }
      await latch.pass()
      return .dropResponse
    }
    let run = try await story.device.manager.reSync(named: "up")
    await latch.arrival()
    let killing = Task { _ = try await story.device.restartProcess() }
    await Task.yield()
    latch.open()
    try await killing.value
    _ = try? await run.finished()
    story.org.intervene(nil)
    let made = story.org.records("Account").compactMap { $0["Id"]?.string }
    // The process was off for hours.
    story.pass(minutes: 300)
    let other = story.createElsewhere("other")
    try await story.run("up")
    #expect(try await story.conflict()?.candidates.map(\.id).sorted() == (made + [other]).sorted())
    story.pass(minutes: 20)
    story.createElsewhere("later")
    try await story.run("up")
    let candidates = try await story.conflict()?.candidates.map(\.id).sorted()
    #expect(candidates == (made + [other]).sorted())
    #expect(story.phones.count == 3)
  }
}
