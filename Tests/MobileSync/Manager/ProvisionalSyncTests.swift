import BasicSyncUp
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

@testable import MobileSync

/// Does a sync whose first run moved nothing give its name to the corrected call, and no other sync?
@Suite(.timeLimit(.minutes(1))) struct ProvisionalSyncTests {
  private static let refusal = InMemoryOrg.Intervention.response(
    status: 400, body: #"[{"errorCode": "INVALID_FIELD", "message": "no such column"}]"#)

  private func down(
    _ device: Device, _ query: String = Device.query, soup: String = Device.soup
  ) async throws -> SyncRun {
    try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: query), options: SyncOptions(mergeMode: .overwrite),
      soupName: soup, syncName: "same")
  }

  private func up(_ device: Device, _ fields: [String]? = ["Name"]) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: BasicSyncUpTarget(),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: fields), soupName: Device.soup,
      syncName: "same")
  }

  @Test func `the corrected call replaces a sync down that failed before a record came`()
    async throws
  {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    org.intervene { _, _ in Self.refusal }
    let failed = try await down(device, "select Nmae from Account")
    let error = await #expect(throws: SyncError.self) { try await failed.finished() }
    #expect(error?.state?.isProvisional == true)
    // It stays, with its error, until it is replaced; and it can be run again.
    #expect(try await device.manager.syncStatus(forName: "same")?.status == .failed)
    await #expect(throws: SyncError.self) {
      try await device.manager.reSync(named: "same").finished()
    }
    org.intervene(nil)
    let run = try await down(device)
    #expect(run.state.id == failed.state.id)
    let state = try await run.finished()
    #expect(state.status == .done && !state.isProvisional && state.error.isEmpty)
    #expect(try await device.manager.syncs().count == 1)
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
  }

  @Test func `a missing soup, a stop and a kill before the first record give the name back, too`()
    async throws
  {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    _ = try await down(device, soup: "acounts").lastState()
    org.intervene { number, _ in
      if number == 1 { await device.manager.stop() }
      return .none
    }
    #expect(try await down(device).lastState()?.status == .stopped)
    try await device.manager.restart(restartStoppedSyncs: false)
    org.forgetRequests()
    let request = Latch()
    org.intervene { number, _ in
      if number == 1 { await request.pass() }
      return .none
    }
    _ = try await down(device)
    await request.arrival()
    let killing = Task { try await device.restartProcess() }
    while await syncErrorCode({ try await device.manager.checkAcceptingSyncs() }) != .closed {
      await Task.yield()
    }
    request.open()
    _ = try await killing.value
    org.intervene(nil)
    #expect(try await down(device).finished().status == .done)
    #expect(try await device.manager.syncs().count == 1)
  }

  @Test func `a sync down that has brought a record keeps its name, whatever happens later`()
    async throws
  {
    let org = InMemoryOrg()
    org.pageSize = 1
    for name in ["a", "b", "c"] { org.create("Account", ["Name": .string(name)]) }
    let device = try await Device.open(org)
    org.intervene { number, _ in number == 2 ? .unreachable : .none }
    let failed = try await down(device)
    await #expect(throws: SyncError.self) { try await failed.finished() }
    let stored = try await device.manager.syncStatus(forName: "same")
    #expect(stored?.status == .failed && stored?.isProvisional == false)
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
    org.intervene { _, _ in .unreachable }
    await #expect(throws: SyncError.self) {
      try await device.manager.reSync(named: "same").finished()
    }
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
    #expect(try await device.manager.syncStatus(forName: "same") != nil)
  }

  @Test func `a run without records, and a sync that was only created, keep their names`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    #expect(try await down(device).finished().totalSize == 0)
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
    try await device.manager.deleteSync(forName: "same")
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "same")
    device.org.intervene { _, _ in Self.refusal }
    await #expect(throws: SyncError.self) {
      try await device.manager.reSync(named: "same").finished()
    }
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
  }

  @Test func `a provisional sync that runs keeps its name until it ends`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let request = Latch()
    org.intervene { number, _ in
      if number == 1 { await request.pass() }
      return number == 1 ? Self.refusal : .none
    }
    let failing = try await down(device)
    await request.arrival()
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
    request.open()
    await #expect(throws: SyncError.self) { try await failing.finished() }
    #expect(try await down(device).finished().status == .done)
  }

  @Test func `a sync up keeps its name from the first record that the server may have`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org, now: { org.now })
    try await device.create([["Name": "a"]])
    // Refused as a whole, then refused record by record.
    await #expect(throws: SyncError.self) { try await up(device, nil).finished() }
    org.intervene { _, _ in Self.refusal }
    let refused = try await up(device).finished()
    #expect(refused.status == .done && refused.isProvisional)
    // A down of the same name may replace it, too.
    org.intervene { _, _ in .dropResponse }
    _ = try await up(device).lastState()
    #expect(try await device.manager.outcomes(forId: refused.id).map(\.kind) == [.unanswered])
    org.intervene(nil)
    #expect(await syncErrorCode { _ = try await up(device) } == .nameInUse)
    #expect(await syncErrorCode { _ = try await down(device) } == .nameInUse)
    _ = try await device.manager.reSync(named: "same").finished()
    #expect(org.records("Account").count == 1)
  }

  @Test func `two corrected calls at once make one sync`() async throws {
    let device = try await Device.open(InMemoryOrg())
    device.org.intervene { _, _ in Self.refusal }
    await #expect(throws: SyncError.self) { try await down(device).finished() }
    device.org.intervene(nil)
    async let first = syncErrorCode { _ = try await down(device).finished() }
    async let second = syncErrorCode { _ = try await down(device).finished() }
    let codes = await [first, second]
    #expect(codes.count { $0 == .nameInUse } == 1 && codes.contains(nil))
    #expect(try await device.manager.syncs().count == 1)
  }
}
