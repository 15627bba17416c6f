import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import TestSupport
import Testing

@testable import SmartStoreTests

/// What is saved when a part of a download fails?
@Suite struct PageFailureTests {
  private func device(_ count: Int, pageSize: Int = 2_000) async throws -> (InMemoryOrg, Device) {
    let org = InMemoryOrg()
    org.pageSize = pageSize
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    return (org, try await Device.open(org))
  }

  private func down(_ device: Device, _ mode: SyncMergeMode = .overwrite) async throws -> SyncRun {
    try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup)
  }

  @Test(.covers("MS-67", "MS-312"))
  func `a page whose last record cannot be saved leaves none of it`() async throws {
    let (org, device) = try await device(6, pageSize: 3)
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    try await device.store.unsafelyExecute(
      """
      CREATE TRIGGER refuse BEFORE INSERT ON TABLE_1 WHEN NEW.soup LIKE '%\(ids[5])%' \
      BEGIN SELECT RAISE(ABORT, 'injected'); END
      """)
    let run = try await down(device)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .failed)
    #expect(try await device.rows().map { $0["Id"]?.string } == Array(ids[0..<3]))
  }

  @Test(.covers("MS-312"))
  func `a soup that is removed between two pages fails the run`() async throws {
    let (org, device) = try await device(6, pageSize: 3)
    org.intervene { number, _ in
      if number == 2 { try? await device.store.removeSoup(Device.soup) }
      return .none
    }
    let run = try await down(device)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .failed)
    #expect(error?.message.contains(Device.soup) == true)
    let state = try #require(try await device.manager.syncStatus(forId: run.state.id))
    #expect(state.status == .failed)
    // The second page is requested while the first is written, which may fail, too.
    #expect(state.progress <= 50)
  }

  @Test(.covers("MS-77"))
  func `a skipped record that is the newest counts, and moves the watermark`() async throws {
    let (org, device) = try await device(3)
    let first = try await down(device, .leaveIfChanged).finished()
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    try await device.edit(ids[1], ["Name": "mine"])
    org.update("Account", ids[1], ["Name": "theirs"])
    let again = try await device.manager.reSync(id: first.id)
    let state = try await again.finished()
    #expect(state.totalSize == 1 && state.progress == 100)
    #expect(state.maxTimeStamp == org.now && state.maxTimeStamp > first.maxTimeStamp)
    #expect(try await device.row("Id", ids[1])?["Name"] == "mine")
  }

  @Test(
    .covers("MS-110", "MS-313"),
    arguments: ["<html>out of order</html>", #"{"message":"out of order"}"#, #"["out of order"]"#])
  func `a body that is no page stands in the run's error`(body: String) async throws {
    let (org, device) = try await device(1)
    org.intervene { _, _ in .response(status: 200, body: body) }
    let run = try await down(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    let state = try #require(try await device.manager.syncStatus(forId: run.state.id))
    #expect(state.error.contains("out of order"))
  }

  @Test(.covers("MS-73"))
  func `a ghost whose id holds a quote is removed, under an id field of its own`() async throws {
    let org = InMemoryOrg(idField: "Key__c")
    let device = try await Device.open(org, idField: "Key__c")
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(
        query: "select Key__c, Name, LastModifiedDate from Account", idFieldName: "Key__c"),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    for id in ["it's", "x' OR '1'='1", #"a"b\c"#, "plain"] {
      try await device.store.upsert(
        entries: [
          [
            "Key__c": .string(id), SyncKeys.local: false, SyncKeys.syncId: .integer(sync.id),
            SyncKeys.locallyCreated: false, SyncKeys.locallyUpdated: false,
            SyncKeys.locallyDeleted: false,
          ]
        ], forSoupNamed: Device.soup)
    }
    try await device.edit("plain", ["Name": "mine"])
    #expect(try await device.manager.cleanResyncGhosts(forId: sync.id) == 3)
    #expect(try await device.rows().map { $0["Key__c"]?.string } == ["plain"])
  }

  @Test(.covers("MS-55"))
  func `a queued sync that is stopped keeps its watermark`() async throws {
    let (org, device) = try await device(2)
    let first = try await down(device).finished()
    let other = try await down(device).finished()
    let latch = MobileSyncTestSupport.Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let running = try await device.manager.reSync(id: first.id)
    await latch.arrival()
    let queued = try await device.manager.reSync(id: other.id)
    await device.manager.stop()
    latch.open()
    for run in [running, queued] {
      #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    }
    let state = try #require(try await device.manager.syncStatus(forId: other.id))
    #expect(state.status == .stopped && state.maxTimeStamp == other.maxTimeStamp)
  }
}
