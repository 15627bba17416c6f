import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Is a record downloaded that changes once more in the second in which it was read?
@Suite struct OpenSecondTests {
  private func device(_ mode: SyncMergeMode = .overwrite) async throws -> Device {
    let org = InMemoryOrg()
    org.setQueryTime(0)
    org.setTickLength(300)
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: SyncOptions(mergeMode: mode),
      soupName: Device.soup, syncName: "down")
    return device
  }

  @discardableResult
  private func run(_ device: Device) async throws -> SyncState {
    try await device.manager.reSync(named: "down").finished()
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `a change in the second of the watermark is downloaded`(mode: SyncMergeMode) async throws {
    let device = try await device(mode)
    let id = device.org.create("Account", ["Name": "a"])
    try await run(device)
    device.org.update("Account", id, ["Name": "b"])
    try await run(device)
    #expect(try await device.row(id)?["Name"] == "b")
    device.org.update("Account", id, ["Name": "c"])
    try await run(device)
    #expect(try await device.row(id)?["Name"] == "c")
  }

  @Test func `records that did not change in that second are neither counted nor written`()
    async throws
  {
    let device = try await device()
    let ids = (0..<3).map { device.org.create("Account", ["Name": .string("\($0)")]) }
    #expect(try await run(device).totalSize == 3)
    let rows = try await device.rows()
    #expect(try await run(device).totalSize == 0)
    #expect(try await device.rows() == rows)
    device.org.update("Account", ids[2], ["Name": "x"])
    #expect(try await run(device).totalSize == 1)
  }

  @Test func `once the second is over, it is not requested again`() async throws {
    let device = try await device()
    device.org.create("Account", ["Name": "a"])
    try await run(device)
    device.org.advanceClock(by: .seconds(3))
    try await run(device)
    try await run(device)
    let queries = device.org.requests.compactMap { $0.query["q"] }
    let dates = queries.map { $0.split(separator: "> ").last.map(String.init) ?? "" }
    #expect(queries.count == 3 && dates[1] != dates[2])
    #expect(dates[2].contains(".000"), "\(dates)")
  }

  @Test func `an edit of a record that comes again stays`() async throws {
    let device = try await device()
    let id = device.org.create("Account", ["Name": "a"])
    try await run(device)
    try await device.edit(id, ["Name": "mine"])
    try await run(device)
    #expect(try await device.row(id)?["Name"] == "mine")
    #expect(try await device.dirtyRows().count == 1)
  }
}
