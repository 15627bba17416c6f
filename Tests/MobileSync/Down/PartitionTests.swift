import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing
import TestSupport

/// Does a first download in ranges of ids bring what the serial one brings?
@Suite struct PartitionTests {
  private static let fields = ["Id", "Name", "Phone", "LastModifiedDate"]

  private func target(
    _ query: String = Device.query, partitions: Int = 4, from: Int = 10
  ) throws -> SoqlSyncDownTarget {
    try SoqlSyncDownTarget(query: query, partitions: partitions, partitionsFrom: from)
  }

  private func device(
    records: Int, pageSize: Int = 3, _ target: SoqlSyncDownTarget? = nil,
    mode: SyncMergeMode = .overwrite
  ) async throws -> (Device, SyncState) {
    let org = InMemoryOrg()
    org.pageSize = pageSize
    for number in 0..<records { org.create("Account", ["Name": .string("\(number)")]) }
    let device = try await Device.open(org)
    return (device, try await sync(device, target ?? self.target(), mode))
  }

  private func sync(
    _ device: Device, _ target: SoqlSyncDownTarget, _ mode: SyncMergeMode = .overwrite
  ) async throws -> SyncState {
    try await device.manager.createSyncDown(
      target: target, options: SyncOptions(mergeMode: mode), soupName: Device.soup)
  }

  @discardableResult
  private func run(_ device: Device, _ sync: SyncState) async throws -> SyncState? {
    try await device.manager.reSync(id: sync.id).lastState()
  }

  /// The fields of all entries, by id; a double is an entry more.
  private func entries(_ device: Device) async throws -> [[String]] {
    shape(try await device.rows())
  }

  private func shape(_ records: [JSONValue]) -> [[String]] {
    records.map { record in Self.fields.map { record[$0]?.string ?? "" } }
      .sorted { $0[0] < $1[0] }
  }

  /// What the serial form brings of the same records.
  private func serial(_ org: InMemoryOrg) async throws -> (SyncState?, [[String]]) {
    let device = try await Device.open(org)
    let state = try await run(device, sync(device, target(partitions: 1)))
    return (state, try await entries(device))
  }

  private func rangeQueries(_ org: InMemoryOrg) -> [String] {
    org.requests.compactMap { $0.query["q"] }.filter { $0.hasSuffix("order by Id") }
  }

  @Test func `a first download comes in four ranges side by side and equals the serial one`()
    async throws
  {
    let (device, sync) = try await device(records: 40)
    let fourth = Latch()
    device.org.intervene { [org = device.org] _, request in
      guard request.query["q"]?.hasSuffix("order by Id") == true else { return .none }
      // One after the other, the first would wait for ever for the fourth.
      if rangeQueries(org).count >= 4 { fourth.open() }
      await fourth.pass()
      return .none
    }
    let state = try await run(device, sync)
    let (other, expected) = try await serial(device.org)
    #expect(state?.status == .done && state?.progress == 100 && state?.totalSize == 40)
    #expect(state?.maxTimeStamp == other?.maxTimeStamp)
    #expect(try await entries(device) == expected && expected.count == 40)
    #expect(state?.partitions?.ranges.count == 4 && state?.partitions?.isDone == true)
    #expect(state?.partitions?.saved == 40)
    let report = try await device.manager.report(forId: sync.id)
    #expect(report.serialReason == nil && report.state.partitions == state?.partitions)
  }

  @Test func `records that change, come and go during the run are as on the server after it`()
    async throws
  {
    let (device, sync) = try await device(records: 40)
    let ids = device.org.records("Account").compactMap { $0["Id"]?.string }
    device.org.intervene { [org = device.org] number, _ in
      org.update("Account", ids[number * 7 % 40], ["Name": .string("changed \(number)")])
      if number % 4 == 0 { org.create("Account", ["Name": .string("new \(number)")]) }
      return .none
    }
    _ = try await run(device, sync)
    device.org.intervene(nil)
    _ = try await run(device, sync)
    let (_, expected) = try await serial(device.org)
    #expect(try await entries(device) == expected)
  }

  @Test(arguments: [1, 9, 10])
  func `a download of few records is one query`(records: Int) async throws {
    let (device, sync) = try await device(records: records, pageSize: 20)
    let state = try await run(device, sync)
    #expect(state?.partitions == nil && device.org.requests.count == 1)
    #expect(try await device.manager.report(forId: sync.id).serialReason == nil)
  }

  @Test(
    arguments: [
      ("select Name from Account order by Name", "order"),
      ("select Name from Account limit 30", "'limit'"),
      ("select Name from Account order by LastModifiedDate limit 30", "'limit'"),
      ("select Name from Account offset 3", "'offset'"),
      ("select count(Id), Name from Account group by Name", "aggregate"),
      ("select Name from Account group by Name", "'group by'"),
      ("select Name from Account with DATA CATEGORY Geo__c AT x__c", "'with'"),
      ("select Name from Account for view", "last clause"),
    ])
  func `a query that cannot be split is downloaded in one range, and the report says why`(
    query: String, reason: String
  ) async throws {
    let (device, sync) = try await device(records: 12, target(query))
    _ = try await run(device, sync)
    #expect(rangeQueries(device.org).isEmpty)
    let found = try await device.manager.report(forId: sync.id).serialReason
    #expect(found?.contains(reason) == true, "\(found ?? "no reason")")
  }

  @Test func `conditions, scopes and sub-selects can be split`() throws {
    for query in [
      "select Name from Account where Name = 'limit 3' or Name = 'x'",
      "select Name, (select Id from Contacts order by Name limit 3) from Account",
      "select Name from Account using scope mine", "select Maximum__c, Count__c from Account",
    ] { #expect(try target(query).partitionObstacle == nil, "\(query)") }
    #expect(
      try SoqlSyncDownTarget(query: "select Key from X", idFieldName: "Key").partitionObstacle
        != nil)
  }

  @Test func `a soup with entries keeps the serial form, and the report says why`() async throws {
    let (device, sync) = try await device(records: 20)
    try await device.create([["Name": "here"]])
    _ = try await run(device, sync)
    #expect(rangeQueries(device.org).isEmpty)
    let reason = try await device.manager.report(forId: sync.id).serialReason
    #expect(reason == "The soup had entries before the first download.")
    #expect(try await device.rows().count == 21)
  }

  @Test(arguments: [
    (400, #"[{"errorCode":"INVALID_FIELD","message":"no aggregate"}]"#), (200, "5"),
    (
      200,
      #"{"totalSize":1,"done":true,"records":[{"total":40,"lowest":"x","highest":"001","newest":"y"}]}"#
    ),
  ])
  func `a server that does not tell where the ids end gets the serial form`(
    status: Int, body: String
  ) async throws {
    let (device, sync) = try await device(records: 20)
    device.org.intervene { number, _ in
      number == 2 ? .response(status: status, body: body) : .none
    }
    #expect(try await run(device, sync)?.status == .done)
    #expect(rangeQueries(device.org).isEmpty)
    #expect(try await device.manager.report(forId: sync.id).serialReason != nil)
    #expect(try await entries(device) == serial(device.org).1)
  }

  @Test func `a re-sync asks for what changed alone`() async throws {
    let (device, sync) = try await device(records: 40)
    _ = try await run(device, sync)
    device.org.update(
      "Account", device.org.records("Account")[7]["Id"]?.string ?? "", ["Name": "x"])
    device.org.forgetRequests()
    let state = try await run(device, sync)
    #expect(device.org.requests.count == 1 && state?.totalSize == 1)
    #expect(try await entries(device) == serial(device.org).1)
  }

  @Test func `ranges with most of the records are cut again`() async throws {
    let org = InMemoryOrg()
    org.pageSize = 3
    // A few old records, then a wide gap, then many in a row.
    for number in 0..<4 { org.create("Account", ["Name": .string("old \(number)")]) }
    for _ in 0..<3_000 { org.create("Contact", [:]) }
    for number in 0..<60 { org.create("Account", ["Name": .string("\(number)")]) }
    let device = try await Device.open(org)
    let state = try await run(device, sync(device, target()))
    let ranges = state?.partitions?.ranges ?? []
    #expect(ranges.count > 4 && ranges.allSatisfy { $0.saved <= 30 })
    #expect(state?.partitions?.saved == 64)
    #expect(try await entries(device) == serial(org).1)
  }

  @Test func `an edit that is made during the run stays`() async throws {
    for mode in [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields] {
      let (device, sync) = try await device(records: 40, mode: mode)
      let ids = device.org.records("Account").compactMap { $0["Id"]?.string }
      device.org.intervene { [org = device.org] number, _ in
        if number == 10 {
          for id in ids { try? await device.edit(id, ["Phone": "mine"]) }
          for id in ids { org.update("Account", id, ["Name": "theirs"]) }
        }
        return .none
      }
      #expect(try await run(device, sync)?.status == .done)
      device.org.intervene(nil)
      let dirty = try await device.dirtyRows()
      #expect(!dirty.isEmpty && dirty.allSatisfy { $0["Phone"] == "mine" }, "\(mode)")
      #expect(try await device.rows().count == 40)
    }
  }

  @Test func `a stop ends all requests, and the next run asks for the rest of each range`()
    async throws
  {
    let (device, sync) = try await device(records: 60, pageSize: 2)
    device.org.intervene { number, _ in
      if number == 14 { await device.manager.stop() }
      return .none
    }
    let state = try await run(device, sync)
    #expect(state?.status == .stopped && state?.maxTimeStamp == -1)
    let saved = try await device.rows().count
    #expect(state?.partitions?.saved == saved && saved > 0 && saved < 60)
    let count = device.org.requests.count
    device.org.intervene(nil)
    try await device.manager.restart(restartStoppedSyncs: false)
    #expect(device.org.requests.count == count)
    device.org.forgetRequests()
    #expect(try await run(device, sync)?.status == .done)
    // The ranges resume behind their last saved ids.
    #expect(rangeQueries(device.org).contains { $0.contains("Id > '") })
    #expect(device.org.requests.count <= (60 - saved) / 2 + 4 + 4 + 1)
    #expect(try await entries(device) == serial(device.org).1)
  }
}
