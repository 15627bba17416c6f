import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import Testing
import TestSupport

/// Are records found whose dates lie before what a sync has seen already?
@Suite struct LateCommitTests {
  @Test(.covers("MS-91"), arguments: [Duration.zero, .seconds(5), .seconds(30)])
  func `a record that was committed late is downloaded if it lies within the window`(
    window: Duration
  ) async throws {
    let org = InMemoryOrg()
    for number in 0..<3 { org.create("Account", ["Name": .string("n\(number)")]) }
    let device = try await Device.open(org)
    let options = SyncOptions(mergeMode: .leaveIfChanged, lateCommitWindow: window)
    let state = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query), options: options,
      soupName: Device.soup
    ).finished()
    org.committingLate(by: 10_000) { org.create("Account", ["Name": "late"]) }
    let again = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().count == (window == .seconds(30) ? 4 : 3))
    #expect(again.maxTimeStamp == state.maxTimeStamp)
    #expect(again.options == options)
  }

  @Test(.covers("MS-91"))
  func `records of the window replace an edit only if they were changed on the server`()
    async throws
  {
    let org = InMemoryOrg()
    let ids = (0..<2).map { org.create("Account", ["Name": .string("n\($0)")]) }
    let device = try await Device.open(org)
    let sync = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite, lateCommitWindow: .seconds(30)),
      soupName: Device.soup
    ).finished()
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    org.update("Account", ids[1], ["Name": "theirs"])
    _ = try await device.manager.reSync(id: sync.id).finished()
    #expect(try await device.row(ids[0])?["Name"] == "mine")
    #expect(try await device.row(ids[1])?["Name"] == "theirs")
    #expect(try await device.dirtyRows().compactMap { $0["Id"]?.string } == [ids[0]])
  }

  @Test func `the window is off by default, stored when it is set, and never negative`() throws {
    #expect(SyncOptions(mergeMode: .overwrite).lateCommitWindow == .zero)
    #expect(SyncOptions(mergeMode: .overwrite).json["lateCommitWindowMilliseconds"] == nil)
    #expect(
      SyncOptions(mergeMode: .overwrite, lateCommitWindow: .seconds(-1)).lateCommitWindow == .zero)
    let options = SyncOptions(mergeMode: .overwrite, lateCommitWindow: .milliseconds(2_500))
    #expect(options.json["lateCommitWindowMilliseconds"] == 2_500)
    #expect(try SyncOptions(json: .object(options.json)) == options)
    #expect(
      try SyncOptions(json: ["lateCommitWindowMilliseconds": -3]).lateCommitWindow == .zero)
  }
}
