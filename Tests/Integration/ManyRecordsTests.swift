import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing

/// Do downloads and cleanings of many records work against an org with the platform's rules, over a socket?
@Suite struct ManyRecordsTests {
  private func rows(_ device: FieldDevice) async throws -> [JSONValue] {
    try await device.store.query(
      using: .buildAllQuerySpec(
        soupName: FieldDevice.soup, orderPath: "_soupEntryId", pageSize: 100_000))
  }

  private func proveEqual(_ device: FieldDevice) async throws {
    let names = try await rows(device).compactMap { $0["Name"]?.string }.sorted()
    #expect(try await names == device.serverNames().sorted())
  }

  @Test func `21,000 records come in four ranges, and cleaning their ghosts costs two requests`()
    async throws
  {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 21_000)
      device.later()
      let state = try await device.syncDown(.overwrite).finished()
      #expect(state.totalSize == 21_000 && state.partitions?.ranges.count == 4)
      // The first page, the bounds, three pages for each range, and what changed.
      #expect(device.org.requests.count == 15)
      try await proveEqual(device)

      device.later()
      let ids = try await rows(device).compactMap { $0["Id"]?.string }
      for id in ids.prefix(3) { try await device.org.delete("Account", id: id) }
      device.later()
      device.org.clearRequestLog()
      let removed = try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName)
      #expect(removed == 3)
      #expect(device.org.requests == ["GET /sobjects/Account/deleted/", "GET /query"])
      try await proveEqual(device)

      // The platform does not list deletions of the last minutes at once: here none of this minute is covered, but
      // they are counted.
      try await device.org.delete("Account", id: ids[4])
      #expect(try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName) == 1)
      try await proveEqual(device)
      #expect(
        try await device.manager.reSync(named: FieldDevice.downName).finished().totalSize == 0)
    }
  }

  @Test func `a query over several conditions is split as one that has none`() async throws {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 3_000)
      let query = "SELECT Id, Name, Phone FROM Account WHERE Name != 'x' OR Phone = 'y'"
      let state = try await device.manager.syncDown(
        target: SoqlSyncDownTarget(query: query, maxBatchSize: 200, partitionsFrom: 1_000),
        options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup
      ).finished()
      #expect(state.partitions?.isDone == true && state.partitions?.saved == 3_000)
      try await proveEqual(device)
    }
  }
}
