import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// How many requests does a sync cost?
@Suite struct RequestCountTests {
  @Test(
    .covers("MS-200", "BX-64", "BX-59.1"),
    arguments: [(SyncMergeMode.overwrite, 5), (.leaveIfChanged, 6)])
  func `a thousand edited records are uploaded in five requests, six with conflict detection`(
    mode: SyncMergeMode, requests: Int
  ) async throws {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 1000)
      _ = try await device.syncDown().finished()
      #expect(device.org.requests == ["GET /query"])
      let edited = try await device.rows().map { row in
        var row = row
        row["Phone"] = .string("+47 \(row["_soupEntryId"]?.int64 ?? 0)")
        row[SyncKeys.locallyUpdated] = true
        row[SyncKeys.local] = true
        return row
      }
      try await device.store.upsert(entries: edited, forSoupNamed: FieldDevice.soup)
      #expect(try await device.manager.unsyncedRecords() == [FieldDevice.soup: 1000])

      device.org.clearRequestLog()
      let up = try await device.syncUp(mode).finished()
      #expect(device.org.requestLog.count == requests, "\(device.org.requests)")
      #expect(device.org.requests.count { $0 == "PATCH /composite/sobjects" } == 5)
      let counts = try await device.manager.outcomeCounts(forId: up.id)
      #expect((counts.succeeded, counts.skipped, counts.failed) == (1000, 0, 0))
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("MS-193"))
  func `a sync up with nothing to send costs no request`() async throws {
    try await FieldDevice.with { device in
      try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      device.org.clearRequestLog()
      _ = try await device.syncUp(.leaveIfChanged).finished()
      #expect(device.org.requestLog.isEmpty)
    }
  }

  @Test(.covers("MS-7"))
  func `every request of a sync says so in its user agent`() async throws {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a"])
      _ = try await device.syncUp().finished()
      _ = try await device.syncDown().finished()
      _ = try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName)
      // One of them is for the server's time, before the first create.
      #expect(device.org.requestLog.count == 4)
      for request in device.org.requestLog {
        #expect(request.userAgent?.contains("MobileSync") == true)
      }
    }
  }
}
