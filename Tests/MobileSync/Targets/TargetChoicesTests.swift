import BasicSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Which steps of a run can a target replace?
@Suite struct TargetChoicesTests {
  /// Downloads one page: two records, whose names are the run's watermark.
  struct ChoosingDown: SyncDownTarget, SyncDownRecordSaving, GhostFinding {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "choosing", implementationName: "ChoosingDown", writtenTypeName: "custom"
    )
    var configuration: JSONObject

    init(configuration: JSONObject) throws { self.configuration = configuration }

    private func names(_ key: String) -> Set<String> {
      Set(configuration[key]?.array?.compactMap(\.string) ?? [])
    }

    func startFetch(
      since maxTimeStamp: Int64, in context: SyncContext
    ) async throws -> SyncPage<Int>? {
      SyncPage(
        records: try ["1", "2"].map {
          try JSONSlice(
            parsing: Array(#"{"Id":"\#($0)","Name":"since \#(maxTimeStamp)","changed":7}"#.utf8))
        }, latestModificationDate: 5_000, next: nil)
    }

    func continueFetch(
      _ cursor: Int, in context: SyncContext
    ) async throws -> SyncPage<Int>? { nil }

    func remoteIds(
      for localIds: [String], in context: SyncContext
    ) async throws -> Set<String>? { Set(localIds) }

    func ghostIds(in context: SyncContext) async throws -> Set<String>? { names("ghosts") }

    func idsToSkip(
      among ids: [String], inSoup soupName: String, in transaction: borrowing StoreTransaction
    ) throws -> Set<String> { names("skipped") }

    func entry(
      for record: JSONSlice, replacing entry: JSONSlice?, inSoup soupName: String
    ) throws -> JSONSlice {
      let visits = (entry?["visits"]?.int64 ?? 0) + 1
      let changed: [(key: String, value: JSONValue)] =
        configuration["renames"]?.bool == true ? [("Name", "mine")] : []
      return try record.setting([("visits", .integer(visits))] + changed)
    }
  }

  /// Uploads the entries whose name is not "later".
  struct SelectingUp: SyncUpTarget, SyncUpSelecting {
    static let kind = SyncTargetKind(
      .syncUp, typeName: "selecting", implementationName: "SelectingUp", writtenTypeName: "custom")
    let fields = SyncUpFields()
    init() {}
    init(configuration: JSONObject) throws {}
    var configuration: JSONObject { [:] }

    func uploads(_ entry: JSONSlice) -> Bool { entry["Name"]?.string != "later" }

    func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
      try await BasicSyncUpTarget().send(group, in: context)
    }

    func remoteDates(
      of records: [SyncUpRecord], in context: SyncContext
    ) async throws -> [RemoteDate] { records.map { _ in .unknown } }
  }

  private func device() async throws -> Device {
    try await Device.open(InMemoryOrg()) { registry in
      try registry.register(ChoosingDown.self)
      try registry.register(SelectingUp.self)
    }
  }

  private func down(
    _ device: Device, _ configuration: JSONObject = [:], mode: SyncMergeMode = .overwrite
  ) async throws -> SyncState {
    try await device.manager.syncDown(
      target: try ChoosingDown(configuration: configuration),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
  }

  private func change(
    _ state: SyncState, _ configuration: JSONObject, on device: Device
  ) async throws {
    try await device.changeStoredSync(
      state.id, ["target": .object(try ChoosingDown(configuration: configuration).json)])
  }

  @Test(.covers("MS-176"))
  func `the latest date of a page is the one that its target names`() async throws {
    let device = try await device()
    #expect(try await down(device).maxTimeStamp == 5_000)
  }

  @Test(.covers("MS-176"), arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `what a target skips stays as it is, and the next runs request it until it is saved`(
    mode: SyncMergeMode
  ) async throws {
    let device = try await device()
    let state = try await down(device, ["skipped": ["2"]], mode: mode)
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == ["1"])
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().compactMap { $0["Name"]?.string } == ["since -1"])
    try await change(state, [:], on: device)
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().compactMap { $0["Id"]?.string }.sorted() == ["1", "2"])
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(
      try await device.rows().compactMap { $0["Name"]?.string } == ["since 5000", "since 5000"])
  }

  @Test(.covers("MS-176"))
  func `a target keeps members of the app's own over downloads`() async throws {
    let device = try await device()
    let state = try await down(device)
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().compactMap { $0["visits"]?.int64 } == [2, 2])
  }

  @Test(.covers("MS-176"))
  func `a target that changes a value of the server's fails its run, and nothing is saved`()
    async throws
  {
    let device = try await device()
    let state = try await device.manager.syncDown(
      target: try ChoosingDown(configuration: ["renames": true]),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).lastState()
    #expect(state?.status == .failed && state?.error.contains("changed 'Name'") == true)
    #expect(try await device.rows().isEmpty)
  }

  @Test(.covers("MS-103", "MS-176"))
  func `a target that finds ghosts itself has its clean entries removed, and no others`()
    async throws
  {
    let device = try await device()
    let state = try await down(device)
    try await device.edit("2", ["Name": "mine"])
    try await change(state, ["ghosts": ["1", "2", "3"]], on: device)
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 1)
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == ["2"])
  }

  @Test(.covers("MS-254"))
  func
    `a target uploads creates, edits and deletions that it selects, and the others stay unsynced`()
    async throws
  {
    let device = try await device()
    let org = device.org
    let ids = ["a", "b", "c"].map { org.create("Account", ["Name": .string($0)]) }
    try await device.download(ids)
    try await device.edit(ids[0], ["Name": "now"])
    try await device.edit(ids[1], ["Name": "later"])
    try await device.delete(ids[2])
    try await device.create([["Name": "new"]])
    let state = try await device.manager.syncUp(
      target: SelectingUp(), options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup
    ).finished()
    #expect(state.status == .done && state.totalSize == 3)
    #expect(try await device.dirtyRows().compactMap { $0["Id"]?.string } == [ids[1]])
    let names = org.records("Account").compactMap { $0["Name"]?.string }.sorted()
    #expect(names == ["b", "new", "now"])
    let made = try await device.rows().first { $0["Name"]?.string == "new" }?["Id"]?.string
    #expect(made.flatMap { org.record("Account", $0) } != nil)
  }
}
