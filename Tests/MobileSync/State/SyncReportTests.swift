@testable import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing

/// What can a caller learn of a sync while it runs and afterwards?
@Suite struct SyncReportTests {
  private func sync(
    _ status: SyncStatus, progress: Int, total: Int, start: Int64, end: Int64 = 0
  ) -> SyncState {
    var state = SyncState(
      type: .syncDown, name: nil, soupName: "s", target: [:],
      options: SyncOptions(mergeMode: .overwrite))
    state.status = status
    state.progress = progress
    state.totalSize = total
    state.startTime = start
    state.endTime = end
    return state
  }

  private func reported(_ state: SyncState, now: Int64) -> SyncReport {
    SyncReport(
      state: state, now: now, dirty: 0, conflicts: [], outcomes: [], counts: SyncOutcomeCounts())
  }

  @Test func `a running sync tells its rate and when it will end`() {
    let report = reported(sync(.running, progress: 25, total: 1_000, start: 1_000), now: 6_000)
    #expect(report.moved == 250)
    #expect(report.elapsed == .seconds(5))
    #expect(report.recordsPerSecond == 50)
    #expect(report.remaining == .seconds(15))
  }

  @Test func `an ended sync tells how long it took, and one that never ran tells nothing`() {
    let ended = reported(
      sync(.done, progress: 100, total: 10, start: 1_000, end: 3_000), now: 9_000)
    #expect(ended.elapsed == .seconds(2) && ended.recordsPerSecond == 5 && ended.remaining == nil)
    let new = reported(sync(.new, progress: 0, total: -1, start: 0), now: 9_000)
    #expect(new.moved == nil && new.elapsed == nil && new.recordsPerSecond == nil)
    let early = reported(sync(.running, progress: 0, total: 10, start: 1), now: 5)
    #expect(early.recordsPerSecond == nil && early.remaining == nil)
  }

  @Test(arguments: [1, 100]) func `a size that the server makes up is reported like others`(
    progress: Int
  ) {
    let report = reported(sync(.running, progress: progress, total: .max, start: 1_000), now: 2_000)
    #expect(report.moved == .max / 100 * progress + (progress == 100 ? 7 : 0))
    #expect(report.remaining != nil)
  }

  @Test func `what is dirty, in conflict or refused is reported, with the reason`() async throws {
    let org = InMemoryOrg()
    let ids = (0..<3).map { org.create("Account", ["Name": .string("n\($0)"), "Phone": "1"]) }
    let device = try await Device.open(org)
    let options = SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"])
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options,
      soupName: Device.soup
    ).finished()
    try await device.edit(ids[0], ["Name": ""])
    try await device.edit(ids[1], ["Name": "mine"])
    try await device.edit(ids[2], ["Name": "fine"])
    org.update("Account", ids[1], ["Name": "theirs"])
    let up = try await device.manager.syncUp(
      options: options, soupName: Device.soup
    ).finished()
    let report = try await device.manager.report(forId: up.id)
    #expect(report.dirty == 2)
    #expect(report.conflicts.map(\.recordId) == [ids[1]])
    #expect(Set(report.unsent.map(\.kind)) == [.conflict, .rejected])
    #expect(report.unsent.contains { $0.error?["statusCode"] == "REQUIRED_FIELD_MISSING" })
    #expect(report.counts.succeeded == 1)
    #expect(
      await syncErrorCode { _ = try await device.manager.report(forId: 999) } == .doesNotExist)
  }
}
