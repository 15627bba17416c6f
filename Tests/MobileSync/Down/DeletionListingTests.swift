import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing
import TestSupport

/// Are ghosts found by what was deleted, and all of them?
@Suite struct DeletionListingTests {
  private static let day: Int64 = 86_400_000

  private func device(
    _ records: Int = 20, query: String = Device.query, mode: SyncMergeMode = .overwrite
  ) async throws -> (Device, SyncState, [String]) {
    let org = InMemoryOrg()
    org.pageSize = 3
    let ids = (0..<records).map {
      org.create("Account", ["Name": .string("\($0)"), "Phone": "here"])
    }
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: SoqlSyncDownTarget(query: query, partitions: 1, deletionsFrom: 5),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
    later(org)
    org.forgetRequests()
    return (device, sync, ids)
  }

  private func later(_ org: InMemoryOrg, by milliseconds: Int64 = 120_000) {
    org.setClock(org.now + milliseconds)
  }

  private func clean(_ device: Device, _ sync: SyncState) async throws -> Int {
    try await device.manager.cleanResyncGhosts(forId: sync.id)
  }

  /// The ids of the rows that the server does not have, and of the records that no row has.
  private func differences(_ device: Device) async throws -> Set<String> {
    let here = Set(try await device.rows().compactMap { $0["Id"]?.string })
    return here.symmetricDifference(
      device.org.records("Account").compactMap { $0["Id"]?.string })
  }

  @Test func `cleaning costs two requests, one for the deletions and one to count`() async throws {
    let (device, sync, ids) = try await device()
    for id in ids[3...5] { device.org.delete("Account", id) }
    device.org.delete("Contact", "003000000000000001")
    #expect(try await clean(device, sync) == 3)
    #expect(
      device.org.lines == ["GET /{v}/sobjects/Account/deleted/", "GET /{v}/query"])
    #expect(try await differences(device).isEmpty)
    // The next one asks for what was deleted since.
    later(device.org, by: 10 * 60_000)
    device.org.delete("Account", ids[0])
    device.org.forgetRequests()
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count == 2)
    let starts = device.org.requests.compactMap { $0.query["start"] }
    #expect(starts.allSatisfy { $0 > SalesforceDate(milliseconds: device.org.now - 660_000).text })
    #expect(try await differences(device).isEmpty)
  }

  @Test
  func `records that have changed since the last run are no ghosts, and are not counted twice`()
    async throws
  {
    let (device, sync, ids) = try await device()
    device.org.update("Account", ids[1], ["Name": "changed"])
    device.org.create("Account", ["Name": "new"])
    device.org.delete("Account", ids[7])
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count == 4)
    #expect(try await device.row(ids[1]) != nil)
    #expect(try await device.row(ids[7]) == nil)
  }

  @Test func `a record that has left the query by an edit is found by comparing ids`() async throws
  {
    let (device, sync, ids) = try await device(
      query: Device.query + " where Phone = 'here'")
    device.org.update("Account", ids[2], ["Phone": "there"])
    device.org.delete("Account", ids[3])
    // A record that comes to the query does not stand in for the one that has left.
    device.org.create("Account", ["Name": "new", "Phone": "here"])
    #expect(try await clean(device, sync) == 2)
    #expect(try await device.row(ids[2]) == nil)
    #expect(try await device.row(ids[3]) == nil)
    #expect(device.org.requests.count > 4)
  }

  @Test func `a change between the requests hides no ghost`() async throws {
    for step in 1...4 {
      let (device, sync, ids) = try await device(query: Device.query + " where Phone = 'here'")
      device.org.update("Account", ids[2], ["Phone": "there"])
      device.org.intervene { [org = device.org] number, _ in
        if number == step { org.update("Account", ids[5], ["Name": "changed"]) }
        return .none
      }
      #expect(try await clean(device, sync) == 1, "at request \(step)")
      #expect(try await device.row(ids[2]) == nil)
    }
  }

  @Test func `edited records and those of the app stay`() async throws {
    let (device, sync, ids) = try await device()
    try await device.edit(ids[0], ["Name": "mine"])
    try await device.create([["Name": "new here"]])
    device.org.delete("Account", ids[0])
    device.org.delete("Account", ids[1])
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count == 2)
    #expect(try await device.row(ids[0])?["Name"] == "mine")
    #expect(try await device.rows().count == 20)
  }

  @Test(arguments: [
    (400, #"[{"errorCode":"INVALID_REPLICATION_DATE","message":"too long ago"}]"#),
    (400, #"[{"errorCode":"EXCEEDED_ID_LIMIT","message":"too many"}]"#),
    (404, #"[{"errorCode":"NOT_FOUND","message":"not replicateable"}]"#),
    (
      200,
      #"{"deletedRecords":[],"earliestDateAvailable":"2999-01-01T00:00:00.000+0000","latestDateCovered":"2999-01-01T00:00:00.000+0000"}"#
    ),
    // Deletions that are not listed yet are missed by the count.
    (
      200,
      #"{"deletedRecords":[],"earliestDateAvailable":"2000-01-01T00:00:00.000+0000","latestDateCovered":"2023-11-14T00:00:00.000+0000"}"#
    ),
  ])
  func `ids are compared if the server does not know all deletions`(
    status: Int, body: String
  ) async throws {
    let (device, sync, ids) = try await device()
    device.org.delete("Account", ids[3])
    device.org.intervene { _, request in
      request.line.hasSuffix("/deleted/") ? .response(status: status, body: body) : .none
    }
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count > 2)
    #expect(try await differences(device).isEmpty)
  }

  @Test func `ids are compared if the last cleaning was more than 30 days ago`() async throws {
    let (device, sync, ids) = try await device()
    device.org.delete("Account", ids[3])
    later(device.org, by: 31 * Self.day)
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count > 4)
    // From now on they are known again.
    later(device.org)
    device.org.delete("Account", ids[4])
    device.org.forgetRequests()
    #expect(try await clean(device, sync) == 1)
    #expect(device.org.requests.count == 2)
  }

  @Test(arguments: [
    InMemoryOrg.Intervention.unreachable, .response(status: 500, body: "[]"),
    .response(status: 200, body: "<html>"), .response(status: 200, body: "{}"),
    .response(status: 200, body: #"{"deletedRecords":[{"id":null}]}"#),
  ])
  func `a failure removes nothing, and the next cleaning makes up for it`(
    way: InMemoryOrg.Intervention
  ) async throws {
    for step in 1...2 {
      let (device, sync, ids) = try await device()
      device.org.delete("Account", ids[3])
      device.org.intervene { number, _ in number == step ? way : .none }
      let code = await syncErrorCode { _ = try await clean(device, sync) }
      #expect(code != nil, "at request \(step)")
      #expect(try await device.rows().count == 20)
      device.org.intervene(nil)
      #expect(try await clean(device, sync) == 1)
    }
  }

  @Test func `few records, a run that was not done, or a wish for it compare ids`() async throws {
    let (few, sync, ids) = try await device(4)
    few.org.delete("Account", ids[0])
    #expect(try await clean(few, sync) == 1)
    #expect(few.org.lines.allSatisfy { $0.hasSuffix("query") || $0.contains("/query/") })
    let (device, other, others) = try await self.device()
    device.org.delete("Account", others[0])
    #expect(
      try await device.manager.cleanResyncGhosts(forId: other.id, comparingIds: true) == 1)
    #expect(!device.org.lines.contains { $0.hasSuffix("/deleted/") })
    device.org.intervene { _, _ in .unreachable }
    _ = try await device.manager.reSync(id: other.id).lastState()
    device.org.intervene(nil)
    device.org.forgetRequests()
    device.org.delete("Account", others[1])
    #expect(try await clean(device, other) == 1)
    #expect(!device.org.lines.contains { $0.hasSuffix("/deleted/") })
  }

  @Test func `a soup of several syncs compares ids`() async throws {
    let (device, sync, ids) = try await device()
    _ = try await device.manager.syncDown(
      target: SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup
    ).finished()
    device.org.delete("Account", ids[0])
    device.org.forgetRequests()
    _ = try await clean(device, sync)
    #expect(!device.org.lines.contains { $0.hasSuffix("/deleted/") })
  }

  @Test func `any history of changes leaves no ghost`() async throws {
    let first = Effort.seed(1)
    for number in 0..<Effort.times(40) {
      let seed = first &+ UInt64(number)
      var random = SeededGenerator(seed: seed)
      let (device, sync, _) = try await device(query: Device.query + " where Phone = 'here'")
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        for _ in 0..<Int.random(in: 0...6, using: &random) { change(device.org, &random) }
        if Bool.random(using: &random) {
          later(device.org, by: .random(in: 0...Self.day, using: &random))
        }
        if Bool.random(using: &random) {
          _ = try await device.manager.reSync(id: sync.id).finished()
        }
        _ = try await clean(device, sync)
        let there = Set(
          device.org.records("Account").filter { $0["Phone"] == "here" }
            .compactMap { $0["Id"]?.string })
        let ghosts = Set(try await device.rows().compactMap { $0["Id"]?.string }).subtracting(there)
        if !ghosts.isEmpty {
          Issue.record("Seed \(seed): \(ghosts)")
          return
        }
      }
    }
  }

  private func change(_ org: InMemoryOrg, _ random: inout SeededGenerator) {
    guard
      let id = org.records("Account").randomElement(using: &random)?["Id"]?.string
    else { return }
    switch Int.random(in: 0..<6, using: &random) {
    case 0: org.create("Account", ["Name": "new", "Phone": "here"])
    case 1, 2: org.delete("Account", id)
    case 3: org.undelete(org.deletedRecords("Account").first?["Id"]?.string ?? "")
    case 4: org.update("Account", id, ["Phone": Bool.random(using: &random) ? "here" : "there"])
    default: org.update("Account", id, ["Name": "x"])
    }
  }
}
