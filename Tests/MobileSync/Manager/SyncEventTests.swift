import MobileSync
import MobileSyncTestSupport
import SalesforceAnalytics
import SalesforceSDKCommon
import SoqlSyncDown
import TestSupport
import Testing

/// Which analytics events do runs and cleanings leave?
@Suite struct SyncEventTests {
  private func device(_ count: Int) async throws -> Device {
    let org = InMemoryOrg()
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    return try await Device.open(org)
  }

  private func down(_ device: Device) async throws -> SyncRun {
    try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
  }

  /// The one event that was stored since `earlier` of them.
  private func event(_ device: Device, after earlier: Int = 0) throws -> AnalyticsEvent {
    #expect(device.events.events.count == earlier + 1)
    return try #require(device.events.events.last)
  }

  @Test(.covers("MS-315"))
  func `a run without records posts no count`() async throws {
    let device = try await device(0)
    let done = try await down(device).finished()
    let event = try event(device)
    #expect(event.name == "syncDown")
    #expect(event.attributes["numRecords"] == nil && event.attributes["syncTarget"] == "soql")
    #expect(event.attributes["syncId"] == .integer(done.id))
  }

  @Test(.covers("MS-315"))
  func `a run that fails posts its event`() async throws {
    let device = try await device(1)
    device.org.intervene { _, _ in .response(status: 500, body: "") }
    let run = try await down(device)
    await #expect(throws: SyncError.self) { try await run.finished() }
    let event = try event(device)
    #expect(event.name == "syncDown" && event.attributes["syncId"] == .integer(run.state.id))
    #expect(event.attributes["numRecords"] == nil && event.endTime >= event.startTime)
  }

  @Test(.covers("MS-315"))
  func `a run that is stopped posts its event`() async throws {
    let device = try await device(3)
    let latch = Latch()
    device.org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await down(device)
    await latch.arrival()
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    #expect(try event(device).attributes["syncId"] == .integer(run.state.id))
  }

  @Test(.covers("MS-315"))
  func `a sync up posts syncUp with its target's type`() async throws {
    let device = try await device(2)
    _ = try await down(device).finished()
    for record in device.org.records("Account") {
      try await device.edit(record["Id"]?.string ?? "", ["Name": "mine"])
    }
    let run = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    _ = try await run.finished()
    let event = try event(device, after: 1)
    #expect(event.name == "syncUp" && event.attributes["numRecords"] == 2)
    #expect(event.attributes["syncTarget"] == "rest")
  }

  @Test(.covers("MS-101", "MS-316"))
  func `a cleaning that fails posts its event without a count`() async throws {
    let device = try await device(2)
    let sync = try await down(device).finished().id
    device.org.intervene { _, _ in .response(status: 500, body: "") }
    await #expect(throws: SyncError.self) {
      _ = try await device.manager.cleanResyncGhosts(forId: sync)
    }
    let failed = try event(device, after: 1)
    #expect(failed.name == "cleanResyncGhosts")
    #expect(failed.attributes == ["syncId": .integer(sync), "syncTarget": "soql"])
    device.org.intervene(nil)
    _ = try await device.manager.cleanResyncGhosts(forId: sync)
    #expect(try event(device, after: 2).attributes["syncId"] == .integer(sync))
  }
}
