import Foundation
@testable import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// First runs that are large enough to leave the indexes for the end.
@Suite struct BulkInsertSoupTests {
  /// Pages that overlap: each begins with the last quarter of the one before.
  private struct OverlappingPages: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "overlapping", implementationName: "OverlappingPages",
      writtenTypeName: "custom")
    static let pages = 8
    static let records = 1500 * (pages - 1) + 2000

    var configuration: JSONObject { [:] }

    init() {}
    init(configuration: JSONObject) throws {}

    func startFetch(since maxTimeStamp: Int64, in context: SyncContext) async throws -> SyncPage<
      Int
    >? {
      try page(0)
    }

    func continueFetch(_ cursor: Int, in context: SyncContext) async throws -> SyncPage<Int>? {
      try page(cursor)
    }

    func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>? {
      nil
    }

    private func page(_ number: Int) throws -> SyncPage<Int> {
      let first = number * 1500
      let text = (first..<first + 2000).map { #"{"Id":"a\#($0)","Name":"page \#(number)"}"# }
      let page = try JSONSlice(parsing: "[\(text.joined(separator: ","))]")
      return SyncPage(
        records: Array(page.elements), totalSize: Self.records,
        next: number + 1 < Self.pages ? number + 1 : nil)
    }
  }

  /// Records whose ids come in no order, as those of a large org do. Each page but the first does
  /// something before it comes.
  private struct UnorderedPages: SyncDownTarget {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "unordered", implementationName: "UnorderedPages",
      writtenTypeName: "custom")
    static let records = 10_000

    /// What to do while pages come, by the name that a target's configuration gives.
    private static let hooks = Mutex<[String: @Sendable () async throws -> Void]>([:])
    private let hook: String

    var configuration: JSONObject { ["hook": .string(hook)] }

    init(whileLoading: @escaping @Sendable () async throws -> Void) {
      hook = UUID().uuidString
      Self.hooks.withLock { $0[hook] = whileLoading }
    }

    init(configuration: JSONObject) throws { hook = configuration["hook"]?.string ?? "" }

    /// The id of the record that comes as number `position`.
    static func id(_ position: Int) -> String { "a\(position * 7919 % records)" }

    func startFetch(since maxTimeStamp: Int64, in context: SyncContext) async throws -> SyncPage<
      Int
    >? {
      try page(0)
    }

    func continueFetch(_ cursor: Int, in context: SyncContext) async throws -> SyncPage<Int>? {
      try await Self.hooks.withLock { $0[hook] }?()
      return try page(cursor)
    }

    func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>? {
      nil
    }

    private func page(_ number: Int) throws -> SyncPage<Int> {
      let positions = number * 2000..<number * 2000 + 2000
      let text = positions.map { #"{"Id":"\#(Self.id($0))","Name":"n"}"# }
      let page = try JSONSlice(parsing: "[\(text.joined(separator: ","))]")
      return SyncPage(
        records: Array(page.elements), totalSize: Self.records,
        next: positions.upperBound < Self.records ? number + 1 : nil)
    }
  }

  private func large() -> InMemoryOrg {
    let org = InMemoryOrg()
    for number in 0..<10_000 { org.create("Account", ["Name": .string("Name \(number)")]) }
    return org
  }

  private func download(_ device: Device) async throws -> SyncRun {
    try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "down")
  }

  private func count(
    _ device: Device, _ path: String, _ value: JSONValue
  ) async throws -> Int64 {
    try await device.store.count(
      using: .buildExactQuerySpec(
        soupName: Device.soup, path: path, matchKey: value, pageSize: 1))
  }

  @Test(.covers("MS-66"))
  func `a first run into an empty soup leaves every record where its indexes find it`()
    async throws
  {
    let org = large()
    let device = try await Device.open(org)
    let state = try await download(device).finished()
    #expect(state.totalSize == 10_000 && org.requests.count == 5)
    #expect(try await count(device, SyncKeys.syncId, .integer(state.id)) == 10_000)
    let last = try #require(org.records("Account").last?["Id"])
    #expect(try await count(device, "Id", last) == 1)
    #expect(try await device.dirtyRows().isEmpty)
    // Nothing is new, and nothing is doubled.
    _ = try await device.manager.reSync(named: "down").finished()
    #expect(try await device.rows().count == 10_000)
  }

  @Test(.covers("MS-66"))
  func `ids and flags are found by their indexes while a first run goes on`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(UnorderedPages.self) }
    let checked = Mutex(0)
    let target = UnorderedPages { [store = device.store] in
      // An instance of its own, whose last query is none of the run's.
      let reader = try await SmartStore.open(
        at: store.directory, encryption: .plaintext, options: SmartStoreOptions(isReadOnly: true))
      let known = UnorderedPages.id(0)
      let soup = Device.soup
      for condition in [
        "{\(soup):Id} = '\(known)'", "{\(soup):__local__} = '1'",
      ] {
        let query = try QuerySpec.buildSmartQuerySpec(
          smartSql: "select {\(soup):_soupEntryId} from {\(soup)} where \(condition)", pageSize: 1)
        reader.capturesExplainQueryPlan = true
        _ = try await reader.query(using: query)
        let plan = try #require(reader.lastExplainQueryPlan).details
        #expect(plan.allSatisfy { $0.contains("INDEX") }, "\(condition): \(plan)")
      }
      #expect(try await SyncSoup.dirtyCounts(in: reader) == [:])
      try await reader.close()
      checked.withLock { $0 += 1 }
    }
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(checked.withLock { $0 } == 4)
    #expect(try await device.rows().count == UnorderedPages.records)
  }

  @Test(.covers("MS-66"))
  func `another instance opens the store to read while a first run goes on`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(UnorderedPages.self) }
    let counts = Mutex<[Int64]>([])
    let target = UnorderedPages { [store = device.store] in
      let reader = try await SmartStore.open(
        at: store.directory, encryption: .plaintext, options: SmartStoreOptions(isReadOnly: true))
      let states = try await reader.syncs()
      #expect(states.map(\.status) == [.running])
      let all = try QuerySpec.buildAllQuerySpec(soupName: Device.soup, pageSize: 1)
      let count = try await reader.count(using: all)
      counts.withLock { $0.append(count) }
      try await reader.close()
    }
    let run = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    let seen = counts.withLock { $0 }
    #expect(seen.count == 4 && seen == seen.sorted())
  }

  @Test(.covers("MS-66"), arguments: 2...5)
  func `rows that others make while a first run goes on stay, and what comes is matched to them`(
    request: Int
  ) async throws {
    let org = large()
    let device = try await Device.open(org)
    let last = try #require(org.records("Account").last?["Id"]?.string)
    org.intervene { number, _ in
      if number == request {
        try? await device.create([["Name": "mine"]])
        try? await device.download([last])
      }
      return .none
    }
    _ = try await download(device).finished()
    #expect(try await device.rows().count == 10_001)
    #expect(try await device.dirtyRows().compactMap { $0["Name"]?.string } == ["mine"])
    #expect(try await count(device, "Id", .string(last)) == 1)
  }

  @Test(.covers("MS-66"))
  func `a record that comes twice in a first run is one row, as it came last`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(OverlappingPages.self) }
    let run = try await device.manager.syncDown(
      target: OverlappingPages(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    )
    _ = try await run.finished()
    let rows = try await device.rows()
    #expect(rows.count == OverlappingPages.records)
    #expect(Set(rows.compactMap { $0["Id"]?.string }).count == rows.count)
    #expect(rows.first { $0["Id"] == "a1600" }?["Name"] == "page 1")
    #expect(try await count(device, "Id", "a1600") == 1)
  }

  @Test(.covers("MS-66"))
  func `a first run that is stopped has its indexes, and the next goes on`()
    async throws
  {
    let org = large()
    let device = try await Device.open(org)
    org.intervene { number, _ in
      if number == 3 { await device.manager.stop() }
      return .none
    }
    let run = try await download(device)
    #expect(await syncErrorCode { _ = try await run.finished() } != nil)
    org.intervene(nil)
    let come = try await device.rows()
    #expect(come.count < 10_000)
    for id in come.prefix(3).compactMap({ $0["Id"] }) {
      #expect(try await count(device, "Id", id) == 1)
    }
    _ = try await device.manager.restart(restartStoppedSyncs: false)
    _ = try await device.manager.reSync(named: "down").finished()
    #expect(try await device.rows().count == 10_000)
  }
}
