import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import TemplateTarget
import Testing

/// Does the target keep what sync guarantees? The endpoint is played in memory.
@Suite struct ConformanceTests {
  @Test(
    arguments: SyncDownConformance(
      TemplateTargetDown(), requests: { ($0 + 1_999) / 2_000 },
      prepare: { device, _ in device.org.playEndpoint() }
    ).cases)
  func `the target keeps the guarantees of a sync down`(
    _ guarantee: SyncConformanceCase
  ) async throws {
    try await guarantee.check()
  }

  @Test func `a response of another form removes no record`() async throws {
    let org = InMemoryOrg()
    org.playEndpoint()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org) { try $0.register(TemplateTargetDown.self) }
    let sync = try await device.manager.syncDown(
      target: TemplateTargetDown(), options: SyncOptions(mergeMode: .leaveIfChanged),
      soupName: Device.soup
    ).finished()
    org.intervene { _, request in
      request.line.hasSuffix("/ids") ? .response(status: 200, body: "{}") : .none
    }
    await #expect(throws: SyncError.self) {
      _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
    }
    #expect(try await device.rows().compactMap { $0["Id"]?.string } == [id])
  }
}

extension InMemoryOrg {
  /// The endpoint, over accounts.
  func playEndpoint() {
    let pageSize = pageSize
    respond(to: "GET /services/apexrest/TemplateTarget/ids") { records, _ in
      (200, .array(records.all("Account").compactMap { $0["Id"] }))
    }
    respond(to: "GET /services/apexrest/TemplateTarget") { records, request in
      func position(_ record: JSONObject) -> (String, String) {
        (record["LastModifiedDate"]?.string ?? "", record["Id"]?.string ?? "")
      }
      var found = records.all("Account").sorted { position($0) < position($1) }
      if let since = request.query["since"] { found.removeAll { position($0).0 <= since } }
      if let date = request.query["afterDate"], let id = request.query["afterId"] {
        found.removeAll { position($0) <= (date, id) }
      }
      let page = found.prefix(pageSize)
      var next: JSONValue = .null
      if found.count > pageSize, let last = page.last.map(position) {
        next = ["date": .string(last.0), "id": .string(last.1)]
      }
      return (
        200,
        [
          "records": .array(page.map { .object($0) }), "total": .integer(Int64(found.count)),
          "next": next,
        ]
      )
    }
  }
}
