import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// Which pages are requested before they are needed, and what becomes of them?
@Suite struct PagesAheadTests {
  /// A target whose server divides the records otherwise than it predicts.
  struct Misjudging: PagePredicting {
    static let kind = SyncTargetKind(
      .syncDown, typeName: "misjudging", implementationName: "Misjudging",
      writtenTypeName: "custom")
    let configuration = JSONObject()

    init() {}
    init(configuration: JSONObject) throws {}

    func startFetch(
      since maxTimeStamp: Int64, in context: SyncContext
    ) async throws -> SyncPage<Int>? { try await page(0, context) }

    func continueFetch(_ cursor: Int, in context: SyncContext) async throws -> SyncPage<Int>? {
      try await page(cursor, context)
    }

    /// Three records on a page that begins at an even number, else one.
    private func page(_ start: Int, _ context: SyncContext) async throws -> SyncPage<Int> {
      let json = try await context.json(
        for: RestRequest(
          path: "/services/apexrest/list", query: [RestQueryItem("start", String(start))]))
      let count = Int(json["count"]?.int64 ?? 0)
      return SyncPage(
        records: json["records"].map { Array($0.elements) } ?? [], totalSize: 20,
        next: start + count < 20 ? start + count : nil)
    }

    func remoteIds(
      for localIds: [String], in context: SyncContext
    ) async throws -> Set<String>? { nil }

    func cursor(after cursor: Int, pageSize: Int, totalSize: Int) -> Int? {
      cursor + pageSize < totalSize ? cursor + pageSize : nil
    }
  }

  private func device(records: Int, pageSize: Int = 2) async throws -> (Device, SyncState) {
    let device = try await Device.open(InMemoryOrg()) { try $0.register(Misjudging.self) }
    device.org.pageSize = pageSize
    for number in 0..<records { device.org.create("Account", ["Name": .string("\(number)")]) }
    let sync = try await device.manager.createSyncDown(
      target: SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup)
    return (device, sync)
  }

  @Test func `pages whose cursors are known are requested before the page in front of them came`()
    async throws
  {
    let (device, sync) = try await device(records: 14)
    let fifth = Latch()
    device.org.intervene { number, _ in
      // Without pages ahead the second request would wait for ever for the fifth.
      if number == 2 { await fifth.pass() }
      if number == 5 { fifth.open() }
      return .none
    }
    let state = try await device.manager.reSync(id: sync.id).lastState()
    #expect(state?.status == .done)
    #expect(try await device.rows().compactMap { $0["Name"]?.string } == (0..<14).map { "\($0)" })
    #expect(device.org.requests.count == 7)
  }

  @Test func `no more than six pages are under way`() async throws {
    let (device, sync) = try await device(records: 60)
    let flight = Mutex((now: 0, most: 0))
    let gate = Latch()
    device.org.intervene { number, _ in
      flight.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      // The second request is the page that is needed first.
      if number == 2 { await gate.pass() }
      if number == 7 { gate.open() }
      flight.withLock { $0.now -= 1 }
      return .none
    }
    #expect(try await device.manager.reSync(id: sync.id).lastState()?.status == .done)
    let most = flight.withLock { $0.most }
    #expect(most <= 6)
    #expect(device.org.requests.count == 30)
    #expect(try await device.rows().count == 60)
  }

  @Test func `a stop ends the requests for pages ahead, and the next run brings the rest`()
    async throws
  {
    let (device, sync) = try await device(records: 60)
    device.org.intervene { number, _ in
      if number == 4 { await device.manager.stop() }
      return .none
    }
    #expect(try await device.manager.reSync(id: sync.id).lastState()?.status == .stopped)
    let count = device.org.requests.count
    #expect(count < 12)
    device.org.intervene(nil)
    try await device.manager.restart(restartStoppedSyncs: false)
    #expect(device.org.requests.count == count)
    #expect(try await device.manager.reSync(id: sync.id).lastState()?.status == .done)
    #expect(try await device.rows().count == 60)
  }

  @Test func `a page that fails ends the run after the pages in front of it were saved`()
    async throws
  {
    let (device, sync) = try await device(records: 14)
    device.org.intervene { _, request in
      request.line.hasSuffix("-6") ? .unreachable : .none
    }
    #expect(try await device.manager.reSync(id: sync.id).lastState()?.status == .failed)
    #expect(try await device.rows().count == 6)
  }

  @Test func `a wrong prediction costs requests and no record`() async throws {
    let (device, _) = try await device(records: 0)
    let ids = (0..<20).map { device.org.create("Account", ["Name": .string("\($0)")]) }
    device.org.respond(to: "GET /services/apexrest/list") { records, request in
      let start = request.query["start"].flatMap { Int($0) } ?? 0
      let count = min(start % 2 == 0 ? 3 : 1, 20 - start)
      let page = ids[start..<(start + count)].compactMap { records.record("Account", $0) }
      return (
        200, ["records": .array(page.map { .object($0) }), "count": .integer(Int64(count))]
      )
    }
    let sync = try await device.manager.createSyncDown(
      target: Misjudging(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(try await device.manager.reSync(id: sync.id).lastState()?.status == .done)
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == ids)
  }

  @Test func `the platform's locators are predicted as long as there are records`() throws {
    let target = try SoqlSyncDownTarget(query: "select Id from Account")
    func next(_ cursor: String, _ size: Int, _ total: Int) -> String? {
      target.cursor(after: cursor, pageSize: size, totalSize: total)
    }
    let path = "/services/data/v66.0/query/01gRM-"
    #expect(next("\(path)2000", 2_000, 6_001) == "\(path)4000")
    #expect(next("\(path)4000", 2_000, 6_000) == nil)
    #expect(next("\(path)6000", 2_000, 6_001) == nil)
    #expect(next("\(path)x", 2_000, 6_001) == nil && next("", 2_000, 6_001) == nil)
    #expect(next("\(path)2000", 0, 6_001) == nil)
    #expect(next("\(path)\(Int.max)", 2_000, Int.max) == nil)
  }
}
