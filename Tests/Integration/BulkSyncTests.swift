import BulkSyncDown
import BulkSyncUp
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Testing

/// Do bulk syncs work against an org with the platform's rules, over a socket?
@Suite struct BulkSyncTests {
  private func down(_ device: FieldDevice) async throws -> SyncState {
    try await device.manager.createSyncDown(
      target: BulkSyncDownTarget(query: FieldDevice.query, pollInterval: 10),
      options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup, syncName: "bulk")
  }

  /// All rows; those of the device end with the first 10,000.
  private func rows(_ device: FieldDevice) async throws -> [JSONValue] {
    try await device.store.query(
      using: .buildAllQuerySpec(
        soupName: FieldDevice.soup, orderPath: "_soupEntryId", pageSize: 100_000))
  }

  @Test func `25,000 records come in files of 10,000, side by side, and the job is deleted`()
    async throws
  {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 25_000)
      let sync = try await down(device)
      let state = try await device.manager.reSync(id: sync.id).finished()
      #expect(state.status == .done && state.totalSize == 25_000)
      #expect(device.org.requests.count { $0.hasSuffix("/results") } == 3)
      #expect(device.org.requests.count { $0.hasPrefix("DELETE /jobs/query") } == 1)
      let names = try await rows(device).compactMap { $0["Name"]?.string }.sorted()
      #expect(try await names == device.serverNames().sorted() && names.count == 25_000)
    }
  }

  @Test func `a re-sync brings what changed, ghosts are removed`() async throws {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 50)
      device.later()
      let sync = try await down(device)
      _ = try await device.manager.reSync(id: sync.id).finished()
      device.later()
      let ids = try await device.rows().compactMap { $0["Id"]?.string }
      try await device.org.update("Account", id: ids[3], ["Name": "Changed, \"there\""])
      try await device.org.delete("Account", id: ids[4])
      // The org's clock is ahead of the machine's by two minutes now.
      #expect(try await device.manager.reSync(id: sync.id).finished().totalSize == 1)
      #expect(try await device.manager.cleanResyncGhosts(forId: sync.id) == 1)
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test func `12,000 edits and creates are uploaded with jobs, each refusal stays with its record`()
    async throws
  {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 6_000)
      let sync = try await down(device)
      _ = try await device.manager.reSync(id: sync.id).finished()
      let edited = try await device.rows().enumerated().map { index, row in
        var row = row
        row["Phone"] = .string("+47, \(index)")
        if index == 7 { row["Name"] = .string(String(repeating: "x", count: 300)) }
        row[SyncKeys.locallyUpdated] = true
        row[SyncKeys.local] = true
        return row
      }
      try await device.store.upsert(entries: edited, forSoupNamed: FieldDevice.soup)
      let made: [JSONValue] = (0..<6_000).map { number in
        [
          "Id": .string(device.manager.createLocalId()), "Name": .string("made \(number % 5_000)"),
          "attributes": ["type": "Account"], "__local__": true, "__locally_created__": true,
          "__locally_updated__": false, "__locally_deleted__": false,
        ]
      }
      try await device.store.upsert(entries: made, forSoupNamed: FieldDevice.soup)
      device.org.clearRequestLog()
      let up = try await device.manager.syncUp(
        target: BulkSyncUpTarget(pollInterval: 10),
        options: SyncOptions(mergeMode: .overwrite, fieldlist: FieldDevice.fields),
        soupName: FieldDevice.soup
      ).finished()
      let counts = try await device.manager.outcomeCounts(forId: up.id)
      #expect((counts.succeeded, counts.failed) == (11_999, 1))
      #expect(!device.org.requests.contains { $0.contains("composite") })
      let dirty = try await device.dirtyRows()
      #expect(dirty.count == 1)
      #expect(dirty.first?[SyncKeys.lastError]?.string?.contains("STRING_TOO_LONG") == true)
      #expect(device.org.requests.count { $0 == "POST /jobs/ingest" } <= 4)
      let ids = try await rows(device).compactMap { $0["Id"]?.string }
      #expect(Set(ids).count == 12_000 && !ids.contains { $0.hasPrefix("local_") })
    }
  }
}
