import BasicSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import StandardSyncTargets
import Testing
import TestSupport

/// What does the engine make of targets that a third party wrote?
@Suite struct CustomTargetTests {
  /// A sync up target that does what its configuration says.
  struct ScriptedUp: SyncUpTarget {
    static let kind = SyncTargetKind(
      .syncUp, typeName: "scripted", implementationName: "ScriptedUp", writtenTypeName: "custom")
    let answer: String
    let size: Int
    let fields = SyncUpFields()
    var maxBatchSize: Int { size }

    init(_ answer: String, size: Int = 1) {
      self.answer = answer
      self.size = size
    }

    init(configuration: JSONObject) throws {
      answer = try configuration.requiredSyncText("answer")
      size = configuration["size"]?.int64.map(Int.init(clamping:)) ?? 1
    }

    var configuration: JSONObject {
      ["answer": .string(answer), "size": .integer(Int64(size))]
    }

    func send(_ group: [SyncUpRecord], in context: SyncContext) async throws -> [SyncUpOutcome] {
      switch answer {
      case "succeed": return group.map { .succeeded(id: $0.id) }
      case "gone": return group.map { _ in .gone(["message": "it is gone"]) }
      case "refuse": return group.map { _ in .rejected(["message": "no"]) }
      default: throw SyncError(.transport, "nobody there")
      }
    }

    func remoteDates(
      of records: [SyncUpRecord], in context: SyncContext
    ) async throws -> [RemoteDate] { records.map { _ in .unknown } }
  }

  /// A sync down target with nothing but what has to be there.
  struct PlainDown: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "plain", implementationName: "PlainDown", writtenTypeName: "custom")
    /// How many records its single page says that there are.
    let total: Int
    let pages: Int

    init(total: Int, pages: Int) {
      self.total = total
      self.pages = pages
    }

    init(configuration: JSONObject) throws {
      total = configuration["total"]?.int64.map(Int.init(clamping:)) ?? -1
      pages = configuration["pages"]?.int64.map(Int.init(clamping:)) ?? 1
    }

    var configuration: JSONObject {
      ["total": .integer(Int64(total)), "pages": .integer(Int64(pages))]
    }

    private func page(_ number: Int) throws -> SyncPage<Int> {
      // The same record twice, once with a date and once without.
      let texts = [
        #"{"Id":"\#(number)","Name":"first","LastModifiedDate":"2020-01-01T00:00:00.000Z"}"#,
        #"{"Id":"\#(number)","Name":"second"}"#,
      ]
      return SyncPage(
        records: try texts.map { try JSONSlice(parsing: Array($0.utf8)) }, totalSize: total,
        next: number < pages ? number + 1 : nil)
    }

    func startFetch(
      since maxTimeStamp: Int64, in context: SyncContext
    ) async throws -> SyncPage<Int>? { try page(1) }

    func continueFetch(
      _ cursor: Int, in context: SyncContext
    ) async throws -> SyncPage<Int>? { try page(cursor) }

    func remoteIds(
      for localIds: [String], in context: SyncContext
    ) async throws -> Set<String>? { nil }
  }

  private func device() async throws -> Device {
    try await Device.open(InMemoryOrg()) { registry in
      try registry.register(ScriptedUp.self)
      try registry.register(PlainDown.self)
    }
  }

  private func edited(_ count: Int) async throws -> (Device, [String]) {
    let device = try await device()
    let ids = (0..<count).map { device.org.create("Account", ["Name": .string("\($0)")]) }
    try await device.download(ids)
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    return (device, ids)
  }

  private func up(
    _ device: Device, _ target: ScriptedUp, _ mode: SyncMergeMode = .overwrite
  ) async throws -> SyncState? {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]),
      soupName: Device.soup
    ).lastState()
  }

  @Test func `an author can call a target alone, with a record and a context of a test`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let context = SyncContext(
      store: device.store, soupName: Device.soup, mergeMode: .overwrite, sender: org)
    let made = SyncUpRecord(
      record: try JSONSlice(parsing: Array(#"{"Id":"local_1","Name":"a"}"#.utf8)), action: .create,
      objectType: "Account", fieldNames: ["Id", "Name"])
    #expect(made.id == "local_1" && made.values.map(\.name) == ["Name"])
    let target = BasicSyncUpTarget()
    let sent = try await target.send([made], in: context)
    guard case .succeeded(let id?) = sent.first else {
      Issue.record("the record was not made: \(sent)")
      return
    }
    #expect(org.record("Account", id)?["Name"] == "a")
    let lost = UnacknowledgedCreate(record: made, sentAfter: org.now - 60_000)
    #expect(try await target.candidates(for: [lost], in: context) == [[id]])
    let known = SyncUpRecord(
      record: try JSONSlice(parsing: Array(#"{"Name":"b","Key__c":"1"}"#.utf8)), action: .upsert,
      objectType: "Account", fieldNames: ["Name"], externalId: .init("Key__c", "1"))
    #expect(try await target.send([known], in: context).count == 1)
    #expect(org.records("Account").compactMap { $0["Key__c"]?.string } == ["1"])
  }

  @Test(.covers("MS-254", "MS-255", "MS-256"), arguments: [1, 3])
  func `a target whose updates always succeed leaves clean rows`(
    size: Int
  ) async throws {
    let (device, _) = try await edited(3)
    let state = try await up(device, ScriptedUp("succeed", size: size))
    #expect(state?.status == .done && state?.totalSize == 3)
    #expect(try await device.dirtyRows().isEmpty)
    #expect(device.org.requests.isEmpty)
  }

  @Test(.covers("MS-254", "MS-256"), arguments: ["gone", "refuse"], [1, 3])
  func `a target that returns gone or refused is done, and the rows stay dirty`(
    answer: String, size: Int
  ) async throws {
    let (device, _) = try await edited(3)
    let state = try await up(device, ScriptedUp(answer, size: size))
    #expect(state?.status == .done && state?.totalSize == 3)
    #expect(try await device.dirtyRows().count == 3)
  }

  @Test(.covers("MS-254", "MS-256"), arguments: [1, 3])
  func `one that throws fails the run with nothing done`(size: Int) async throws {
    let (device, _) = try await edited(3)
    let state = try await up(device, ScriptedUp("throw", size: size))
    #expect(state?.status == .failed && state?.progress == 0 && state?.totalSize == 3)
    #expect(try await device.dirtyRows().count == 3)
  }

  @Test(.covers("MS-86", "MS-178"))
  func `a target has the platform's field names and knows no order`() {
    let target = PlainDown(total: 1, pages: 1)
    #expect(target.idFieldName == "Id")
    #expect(target.modificationDateFieldName == "LastModifiedDate")
    #expect(!target.isSortedByModificationDate)
  }

  @Test(.covers("MS-51", "MS-176"), arguments: [-1, 0, 1, 2, 9])
  func `a run is done when the target has no more pages, whatever total it told`(
    total: Int
  ) async throws {
    let device = try await device()
    let state = try await device.manager.syncDown(
      target: PlainDown(total: total, pages: 3), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(state.status == .done && state.progress == 100)
    #expect(try await device.rows().count == 3)
  }

  @Test(.covers("MS-82", "MS-179"))
  func `a page with an undated record moves no watermark, of two the later wins`()
    async throws
  {
    let device = try await device()
    let state = try await device.manager.syncDown(
      target: PlainDown(total: 2, pages: 1), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(state.maxTimeStamp == -1)
    #expect(try await device.rows().compactMap { $0["Name"]?.string } == ["second"])
  }

  @Test(.covers("MS-103"))
  func `a target that cannot tell ghosts removes nothing`() async throws {
    let device = try await device()
    let state = try await device.manager.syncDown(
      target: PlainDown(total: 1, pages: 1), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 0)
    #expect(try await device.rows().count == 1)
  }

  @Test(.covers("MS-32"))
  func `each run reads its target from what is stored`() async throws {
    let device = try await device()
    let state = try await device.manager.syncDown(
      target: PlainDown(total: 1, pages: 1), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    try await device.changeStoredSync(
      state.id, ["target": .object(PlainDown(total: 2, pages: 2).json)])
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().count == 2)
    // The run before has left no cursor behind.
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().count == 2)
  }
}
