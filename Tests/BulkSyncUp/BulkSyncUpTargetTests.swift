import BulkSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct BulkSyncUpTargetTests {
  /// A target that makes a job for every record.
  private static let target = BulkSyncUpTarget(leastRecords: 1, pollInterval: 1)

  private static var conformance: SyncUpConformance<BulkSyncUpTarget> {
    // Job, file, close, state, results.
    var conformance = SyncUpConformance(target) { _, mode in
      5 + (mode == .leaveIfChanged ? 1 : 0)
    }
    conformance.requestsPerGroup = 6
    conformance.requestsBeforeChange = 2
    return conformance
  }

  @Test(arguments: conformance.cases)
  func `the target keeps what sync guarantees with a job for each group`(
    _ proof: SyncConformanceCase
  ) async throws { try await proof.check() }

  @Test(
    arguments: SyncUpConformance(BulkSyncUpTarget()) { count, mode in
      (count + 199) / 200 + (mode == .leaveIfChanged ? 1 : 0)
    }.cases)
  func `the target keeps what sync guarantees with few records, which need no job`(
    _ proof: SyncConformanceCase
  ) async throws { try await proof.check() }

  private func device(_ target: BulkSyncUpTarget = target) async throws -> (Device, SyncState) {
    let device = try await Device.open(InMemoryOrg())
    device.org.setClock(SyncEnvironment().now())
    let sync = try await device.manager.createSyncUp(
      target: target, options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phone"]),
      soupName: Device.soup)
    return (device, sync)
  }

  private func run(_ device: Device, _ sync: SyncState) async throws -> SyncState? {
    try await device.manager.reSync(id: sync.id).lastState()
  }

  private func names(_ device: Device) -> [String] {
    device.org.records("Account").compactMap { $0["Name"]?.string }.sorted()
  }

  @Test func `more edits than twelve collections hold are uploaded with one job`() async throws {
    let (device, sync) = try await device(BulkSyncUpTarget(pollInterval: 1))
    let ids = (0..<2_500).map { device.org.create("Account", ["Name": .string("\($0)")]) }
    try await device.download(ids)
    let rows = try await device.rows().map { row in
      var row = row
      row["Phone"] = row["Name"]
      row[SyncKeys.local] = true
      row[SyncKeys.locallyUpdated] = true
      return row
    }
    try await device.store.upsert(entries: rows, forSoupNamed: Device.soup)
    let state = try await run(device, sync)
    #expect(state?.status == .done && device.org.requests.count == 5)
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.manager.outcomeCounts(forId: sync.id).succeeded == 2_500)
    #expect(device.org.records("Account").allSatisfy { $0["Phone"] == $0["Name"] })
  }

  /// The requests of a job: it is created, gets its file, is closed, is looked at, and its results are read.
  @Test(arguments: [1, 2, 3, 4, 5], [true, false])
  func `a response that is lost at any request doubles no record`(
    _ request: Int, endsProcess: Bool
  ) async throws {
    let (device, sync) = try await device()
    // Two of them are equal in every value.
    try await device.create([["Name": "a"], ["Name": "a"], ["Name": "b"]])
    if endsProcess {
      device.endProcess(at: request, afterResponse: true)
    } else {
      device.org.intervene { number, _ in number >= request ? .dropResponse : .none }
    }
    _ = try await run(device, sync)
    #expect(device.org.records("Account").count == (request < 3 ? 0 : 3))
    device.org.intervene(nil)
    if endsProcess { try await device.restartProcess() }
    _ = try await run(device, sync)
    #expect(names(device) == ["a", "a", "b"])
    #expect(try await device.dirtyRows().isEmpty)
    #expect(try await device.store.conflicts().isEmpty)
    let ids = Set(try await device.rows().compactMap { $0["Id"]?.string })
    #expect(ids == Set(device.org.records("Account").compactMap { $0["Id"]?.string }))
  }

  @Test(.covers("MS-195"))
  func `a create of a job that the server has forgotten is held if a flow replaced its values`()
    async throws
  {
    let (device, sync) = try await device()
    device.org.runAfterChanges { change in
      guard change.old == nil, change.new?["Phone"] == "1" else { return [] }
      return [InMemoryOrg.FlowUpdate(change.type, change.id, ["Phone": "none"])]
    }
    try await device.create([["Name": "a", "Phone": "1"]])
    device.org.intervene { number, request in
      // The job waits for an hour before it begins.
      if request.line.hasPrefix("PATCH") { device.org.setClock(device.org.now + 3_600_000) }
      return number >= 4 ? .unreachable : .none
    }
    #expect(try await run(device, sync)?.status == .failed)
    device.org.intervene { _, request in
      request.line.contains("/jobs/ingest/") ? .response(status: 404, body: "[]") : .none
    }
    for _ in 0..<2 { _ = try await run(device, sync) }
    #expect(names(device) == ["a"])
    #expect(try await device.store.conflicts().map(\.candidates.count) == [1])
  }

  @Test func `a job whose results are lost is looked up, and only what it refused is sent again`()
    async throws
  {
    let (device, sync) = try await device()
    try await device.create([["Name": "a"], ["Name": ""]])
    device.org.intervene { number, _ in number >= 4 ? .unreachable : .none }
    #expect(try await run(device, sync)?.status == .failed)
    #expect(names(device) == ["a"])
    device.org.intervene(nil)
    for row in try await device.rows() where row["Name"] == "" {
      try await device.edit(
        entry: try #require(row["_soupEntryId"]?.int64), ["Name": "better"])
    }
    device.org.forgetRequests()
    _ = try await run(device, sync)
    #expect(names(device) == ["a", "better"])
    #expect(!device.org.lines.contains { $0.contains("/query") })
  }

  @Test func `a refused status after the upload is completed leaves records in doubt`()
    async throws
  {
    for status in [401, 404, 429] {
      let (device, sync) = try await device()
      try await device.create([["Name": "a"]])
      device.org.intervene { number, _ in
        number >= 4 ? .response(status: status, body: "[]") : .none
      }
      let state = try await run(device, sync)
      #expect(state?.status == .failed)
      let kinds = try await device.manager.outcomes(forId: sync.id).map(\.kind)
      #expect(kinds == [.unanswered])
      device.org.intervene(nil)
      _ = try await run(device, sync)
      #expect(names(device) == ["a"])
    }
  }

  @Test func `records of a job that was aborted stay dirty with the reason`() async throws {
    let (device, sync) = try await device()
    try await device.create([["Name": "a"], ["Name": "b"]])
    let text = "\"Name\",\"Phone\"\n\"a\",\n\"b\",\n"
    device.org.intervene { number, request in
      switch number {
      case 4:
        let id = request.line.split(separator: "/").last ?? ""
        return .response(
          status: 200,
          body: #"{"id":"\#(id)","state":"Aborted","numberRecordsFailed":0}"#)
      case 5: return .response(status: 200, body: "")
      case 6:
        return .response(
          status: 200, body: text.replacing(",\"Phone\"", with: "").replacing(",", with: ""))
      default: return .none
      }
    }
    #expect(try await run(device, sync)?.status == .done)
    let errors = try await device.dirtyRows().compactMap { $0[SyncKeys.lastError]?.string }
    #expect(errors.count == 2 && errors.allSatisfy { $0.contains("UNPROCESSED") })
  }

  @Test func `null, empty texts and booleans arrive, what CSV cannot hold goes as a collection`()
    async throws
  {
    let (device, sync) = try await device()
    try await device.create([
      ["Name": "a \"quoted\", one", "Phone": .null], ["Name": "b", "Phone": "#N/A"],
      ["Name": "c", "Phone": true],
    ])
    #expect(try await run(device, sync)?.status == .done)
    let phones = device.org.records("Account").sorted {
      ($0["Name"]?.string ?? "") < ($1["Name"]?.string ?? "")
    }.map { $0["Phone"] }
    #expect(phones == [.null, "#N/A", "true"])
    #expect(device.org.lines.count { $0.contains("composite") } == 1)
    #expect(device.org.lines.count { $0.hasPrefix("POST /{v}/jobs/ingest") } == 1)
  }

  @Test func `the job of a run is deleted by the next one`() async throws {
    let (device, sync) = try await device()
    for name in ["a", "b"] {
      try await device.create([["Name": .string(name)]])
      _ = try await run(device, sync)
    }
    #expect(device.org.lines.count { $0.hasPrefix("DELETE /{v}/jobs/ingest/") } == 1)
    let stored = try await device.store.query(
      using: .buildAllQuerySpec(soupName: "syncs_bulk_jobs", orderPath: "key", pageSize: 10))
    #expect(stored.count == 1)
  }

  @Test func `keys of the configuration outside of their limits mean the defaults`() throws {
    let target = try BulkSyncUpTarget(configuration: [
      "maxBatchSize": -1, "leastRecords": 0, "pollInterval": -5,
    ])
    #expect(target == BulkSyncUpTarget())
    #expect(try BulkSyncUpTarget(configuration: target.configuration) == target)
  }
}
