import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing

@testable import MobileSync
import TestSupport

/// How much of a soup does a sync up read at a time?
@Suite struct UploadReadingTests {
  /// A soup of `count` records that were created and deleted locally, or edited, and what reads it.
  private func scope(
    _ count: Int, edited: Bool
  ) async throws -> (Device, SyncUpScope, ids: [Int64]) {
    let device = try await Device.open(InMemoryOrg())
    let entries = try await device.store.upsert(
      entries: (0..<count).map { number in
        [
          "Id": .string(edited ? "001\(number)" : "local_\(number)"), "Name": "a",
          "attributes": ["type": "Account"], SyncKeys.local: true,
          SyncKeys.locallyCreated: .bool(!edited), SyncKeys.locallyUpdated: .bool(edited),
          SyncKeys.locallyDeleted: .bool(!edited),
        ]
      }, forSoupNamed: Device.soup)
    let scope = SyncUpScope(
      SyncContext(
        store: device.store, soupName: Device.soup, mergeMode: .overwrite, sender: device.org),
      SyncUpFieldChoice(
        create: ["Name"], update: ["Name"], names: SyncFieldNames(), externalIdField: nil),
      uses: SoupSyncIndex([], device.registry), createdIds: CreatedIds(), now: { 0 },
      reportOutcome: { _ in })
    return (device, scope, entries.compactMap { $0["_soupEntryId"]?.int64 })
  }

  @Test(.covers("MS-212"), arguments: [501, 700, 10_000])
  func `a batch of any size is read in groups of 500 records`(size: Int) async throws {
    let (device, scope, ids) = try await scope(2_600, edited: false)
    let batch = try await UploadBatch(
      from: ids[...], scope, held: HeldEntries(), references: nil, maxSize: size)
    // None of them is sent, so the batch reads on, a group at a time, until it has read 2,000 or as many as it
    // may hold. Larger groups would have read beyond that.
    #expect(batch.toSend.isEmpty && batch.skipped[.neverSent]?.count == batch.count)
    #expect(batch.count == min(max(size, 2_000), 2_600))
    withExtendedLifetime(device) {}
  }

  @Test(.covers("MS-212"))
  func `records to compare with the server's are read in groups of 500`() async throws {
    let (device, scope, ids) = try await scope(1_203, edited: true)
    var pages: [Int] = []
    var groups: [Int] = []
    try await scope.forEachGroup(of: ids) { asked, page in
      #expect(asked == page.map(\.id))
      pages.append(page.count)
    } _: {
      groups.append($0.count)
    }
    #expect(pages == [500, 500, 203] && groups == [1_203])
    withExtendedLifetime(device) {}
  }
}
