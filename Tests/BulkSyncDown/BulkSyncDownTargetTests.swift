import BulkSyncDown
import HTTPTypes
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing
import TestSupport

@Suite struct BulkSyncDownTargetTests {
  private static func target(maxRecords: Int = 2) throws -> BulkSyncDownTarget {
    try BulkSyncDownTarget(
      query: "select Name from Account", maxRecords: maxRecords, pollInterval: 1)
  }

  private static func conformance(
    maxRecords: Int
  ) throws -> SyncDownConformance<BulkSyncDownTarget> {
    var conformance = SyncDownConformance(try target(maxRecords: maxRecords))
    // What was on its way comes again, then the description and the list of files.
    conformance.resumptionCost = 9
    return conformance
  }

  @Test(arguments: try conformance(maxRecords: 2).cases)
  func `the target keeps what sync guarantees with files side by side`(
    _ proof: SyncConformanceCase
  ) async throws { try await proof.check() }

  @Test(arguments: try conformance(maxRecords: 10).cases)
  func `the target keeps what sync guarantees with one file after the other`(
    _ proof: SyncConformanceCase
  ) async throws { try await proof.check() }

  private func device(
    _ count: Int, maxRecords: Int = 2, query: String = "select Name from Account"
  ) async throws -> (Device, SyncState) {
    let device = try await Device.open(InMemoryOrg())
    device.org.pageSize = 2
    for number in 0..<count {
      device.org.create(
        "Account", ["Name": .string("a \"b\", \(number)"), "Size": .integer(7), "Active": true])
    }
    let sync = try await device.manager.createSyncDown(
      target: BulkSyncDownTarget(query: query, maxRecords: maxRecords, pollInterval: 1),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    return (device, sync)
  }

  private func run(_ device: Device, _ sync: SyncState) async throws -> SyncState? {
    try await device.manager.reSync(id: sync.id).lastState()
  }

  @Test func `values have the types of the object's description`() async throws {
    let (device, sync) = try await device(1, query: "select Name, Size, Active, Phone from Account")
    let state = try await run(device, sync)
    #expect(state?.status == .done && state?.totalSize == 1)
    let row = try #require(try await device.rows().first)
    #expect(row["Name"] == "a \"b\", 0" && row["Size"] == 7 && row["Active"] == true)
    #expect(row["Phone"] == .null && row["attributes"]?["type"] == "Account")
  }

  @Test func `a record is stored as the SOQL target would have stored it`() async throws {
    let (device, sync) = try await device(3, query: "select Name, Size, Active from Account")
    _ = try await run(device, sync)
    let soql = try await Device.open(device.org)
    _ = try await soql.manager.syncDown(
      target: soql.registry.downTarget(from: [
        "type": "soql", "query": "select Name, Size, Active from Account",
      ]), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).lastState()
    func fields(_ device: Device) async throws -> [JSONObject] {
      try await device.rows().compactMap(\.object).map { row in
        var row = row
        row["attributes"] = row["attributes"]?["type"]
        for key in row.keys where key.hasPrefix("_") { row[key] = nil }
        return JSONObject(row.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) })
      }.sorted { ($0["Id"]?.string ?? "") < ($1["Id"]?.string ?? "") }
    }
    #expect(try await fields(device) == fields(soql))
  }

  @Test func `the job is deleted at the end, also after a kill`()
    async throws
  {
    let (device, sync) = try await device(9)
    // Job, description, state, list, two files, the rest of the list.
    device.endProcess(at: 8, afterResponse: true)
    _ = try await run(device, sync)
    device.org.intervene(nil)
    try await device.restartProcess()
    device.org.forgetRequests()
    let state = try await run(device, sync)
    #expect(state?.status == .done)
    #expect(try await device.rows().count == 9)
    #expect(device.org.lines.last?.hasPrefix("DELETE /{v}/jobs/query/") == true)
  }

  @Test
  func `a run that was killed at any request behind the creation of its job resumes with that job`()
    async throws
  {
    for number in 2... {
      let (device, sync) = try await device(5)
      device.endProcess(at: number, afterResponse: true)
      let state = try await run(device, sync)
      device.org.intervene(nil)
      if state?.status == .done {
        #expect(number > 6)
        return
      }
      let isSaved = device.org.lines.last?.hasPrefix("DELETE") == true
      try await device.restartProcess()
      #expect(try await run(device, sync)?.status == .done)
      let jobs = device.org.requests.filter { $0.line.hasPrefix("POST /{v}/jobs/query") }
      // Once everything is saved, the next run requests what has changed since.
      #expect(jobs.count == (isSaved ? 2 : 1), "killed at request \(number)")
      #expect(!isSaved || jobs.last?.body.contains("LastModifiedDate >") == true)
      #expect(try await device.rows().count == 5)
    }
  }

  @Test func `a job that the server does not have any more is created again`() async throws {
    let (device, sync) = try await device(5)
    device.org.intervene { number, _ in number == 5 ? .unreachable : .none }
    #expect(try await run(device, sync)?.status == .failed)
    device.org.forgetRequests()
    device.org.intervene { number, _ in
      number == 1
        ? .response(status: 404, body: #"[{"errorCode":"NOT_FOUND","message":"gone"}]"#) : .none
    }
    let state = try await run(device, sync)
    #expect(state?.status == .done)
    #expect(try await device.rows().count == 5)
    #expect(device.org.lines.count { $0.hasPrefix("POST /{v}/jobs/query") } == 1)
  }

  @Test func `a job that fails fails the run, and the next run creates another`() async throws {
    let (device, sync) = try await device(1)
    device.org.intervene { number, request in
      guard number == 2, let id = request.line.split(separator: "/").last else { return .none }
      return .response(
        status: 200,
        body: #"{"id":"\#(id)","state":"Failed","errorMessage":"InvalidBatch : no such field"}"#)
    }
    let failed = try await run(device, sync)
    #expect(failed?.status == .failed && failed?.error.contains("ended as Failed") == true)
    #expect(failed?.error.contains("no such field") == true)
    device.org.intervene { _, request in
      device.org.requests.count == 3 && request.line.hasPrefix("GET")
        ? .response(status: 200, body: #"{"id":"750","state":"Failed"}"#) : .none
    }
    #expect(try await run(device, sync)?.status == .done)
  }

  @Test(arguments: [
    "Id,LastModifiedDate,Name\n001,2020-01-01T00:00:00.000Z\n",
    "Id,LastModifiedDate,Name\n,2020-01-01T00:00:00.000Z,x\n",
    "LastModifiedDate,Name\n2020-01-01T00:00:00.000Z,x\n",
    "Id,LastModifiedDate,Name\n\"001000000000000001,x,y\n", "", "<html>",
  ])
  func `a file that is no result of the query fails the run and saves nothing`(
    _ body: String
  ) async throws {
    let (device, sync) = try await device(1)
    device.org.intervene { _, request in
      request.line.contains("/results") ? .response(status: 200, body: body) : .none
    }
    let state = try await run(device, sync)
    #expect(state?.status == .failed && state?.maxTimeStamp == -1)
    #expect(try await device.rows().isEmpty)
  }

  @Test(arguments: [
    "Id," + String(repeating: "a.", count: 1_000_000) + "b\n001000000000000001,x\n",
    "Id," + (0..<20_000).map { "a\($0).b" }.joined(separator: ",") + "\n001000000000000001"
      + String(repeating: ",x", count: 20_000) + "\n",
  ])
  func `a header with more parents or columns than a query has fails the run`(
    body: String
  ) async throws {
    let (device, sync) = try await device(1)
    device.org.intervene { _, request in
      request.line.contains("/results") ? .response(status: 200, body: body) : .none
    }
    let state = try await run(device, sync)
    #expect(state?.status == .failed)
    #expect(try await device.rows().isEmpty)
  }

  @Test func `columns of many parents keep their order`() async throws {
    let (device, sync) = try await device(1)
    let names = (0..<2_000).map { "a\($0).b" } + (0..<2_000).map { "a\($0).c" }
    let body =
      "Id," + names.joined(separator: ",") + "\n001000000000000001"
      + String(repeating: ",x", count: names.count) + "\n"
    device.org.intervene { _, request in
      request.line.contains("/results") ? .response(status: 200, body: body) : .none
    }
    #expect(try await run(device, sync)?.status == .done)
    let row = try #require(try await device.rows().first)
    #expect(row["a0"]?["b"] == "x" && row["a1999"]?["c"] == "x")
  }

  @Test(arguments: ["/x?=", "/x?&=&==", "/x?", "?", ""])
  func `an address without a name in its query ends no process`(address: String) async throws {
    let (device, sync) = try await device(5)
    device.org.intervene { _, request in
      request.line.contains("/resultPages")
        ? .response(
          status: 200,
          body: #"{"resultPages":[{"resultUrl":"\#(address)"}],"done":false,"#
            + #""nextRecordsUrl":"\#(address)"}"#) : .none
    }
    #expect(try await run(device, sync)?.status == .failed)
  }

  /// Files or lists of files that lead to further ones for ever, under locators that are always new.
  enum Endless: CaseIterable, Sendable {
    case emptyLists, emptyFiles, fullFiles, sameFiles

    func response(_ request: InMemoryOrg.Request) -> InMemoryOrg.Intervention {
      let number = request.query["locator"].flatMap { Int($0.dropFirst()) } ?? 0
      let header = "Id,LastModifiedDate,Name\n"
      let row = "001000000000000001,2020-01-01T00:00:00.000Z,x\n"
      if request.line.contains("/resultPages") {
        let next = self == .emptyLists ? [] : [#"{"resultUrl":"/x?locator=F\#(number)"}"#]
        return .response(
          status: 200,
          body: #"{"resultPages":[\#(next.joined())],"done":false,"#
            + #""nextRecordsUrl":"/x?locator=L\#(number + 1)"}"#)
      }
      guard request.line.contains("/results") else {
        // The server says nothing about how many records there are.
        guard self == .sameFiles, request.line.hasPrefix("GET"),
          request.line.contains("/jobs/query/")
        else { return .none }
        return .response(
          status: 200,
          body: #"{"id":"750000000000000001","state":"JobComplete","object":"Account"}"#)
      }
      switch self {
      case .emptyLists, .emptyFiles: return .response(status: 200, body: header)
      case .fullFiles:
        return .response(
          status: 200,
          body: header + row.replacing("1,", with: "\(number % 10),"))
      case .sameFiles:
        var headers = HTTPFields()
        if let name = HTTPField.Name("Sforce-Locator") { headers[name] = "L\(number + 1)" }
        return .exactly(
          RestResponse(status: 200, headers: headers, body: Array((header + row).utf8)))
      }
    }
  }

  @Test(.timeLimit(.minutes(2)), arguments: Endless.allCases)
  func `files without an end fail the run`(_ endless: Endless) async throws {
    let (device, sync) = try await device(5)
    device.org.intervene { _, request in endless.response(request) }
    let state = try await run(device, sync)
    #expect(state?.status == .failed)
    #expect(state?.error.contains("Run the sync again") == true)
    #expect(device.org.requests.count <= 2_100)
  }

  @Test func `a file that lacks rows of the job fails the run`() async throws {
    let (device, sync) = try await device(3, maxRecords: 10)
    device.org.intervene { _, request in
      request.line.contains("/results")
        ? .response(
          status: 200,
          body: "Id,LastModifiedDate,Name\n001000000000000001,2020-01-01T00:00:00.000Z,x\n") : .none
    }
    let state = try await run(device, sync)
    #expect(state?.status == .failed && state?.error.contains("do not have as many") == true)
  }

  @Test func `a re-sync asks without an order for what changed`() async throws {
    let (device, sync) = try await device(3)
    let state = try await run(device, sync)
    device.org.forgetRequests()
    _ = try await run(device, sync)
    let text = device.org.requests.first?.body ?? ""
    let since = SalesforceDate(milliseconds: state?.maxTimeStamp ?? 0).text
    #expect(text.contains("LastModifiedDate > \(since)") && !text.contains("order by"))
  }

  @Test func `a sub-select is refused, a semi-join is not`() throws {
    #expect(throws: SyncError.self) {
      try BulkSyncDownTarget(query: "select Id, (select Id from Contacts) from Account")
    }
    _ = try BulkSyncDownTarget(
      query: "select Id from Account where Id in (select AccountId from Contact)")
  }

  @Test func `a query with a limit keeps its order`() throws {
    #expect(
      try BulkSyncDownTarget(query: "select Id from Account order by Name limit 5").query
        .contains("order by Name limit 5"))
    #expect(
      try !BulkSyncDownTarget(query: "select Id from Account order by Name").query
        .contains("order by"))
  }
}
