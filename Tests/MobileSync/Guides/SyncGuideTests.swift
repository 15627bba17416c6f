import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing

/// The samples of Docs/Guides/Sync.md.
@Suite struct SyncGuideTests {
  @Test func `the samples of the guide do what it says`() async throws {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a", "Phone": "1", "Rating": "Hot"])
    let device = try await Device.open(org)
    let manager = device.manager
    let store = device.store
    let target = try SoqlSyncDownTarget(query: Device.query)
    let shown = Mutex<[String]>([])
    func show(_ name: String, _ values: JSONValue?...) {
      shown.withLock { $0.append("\(name) \(values.map { $0?.string ?? "-" })") }
    }

    // sample: sync-merge
    let options = SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Phone"])
    _ = try await manager.createSyncDown(
      target: target, options: options, soupName: "accounts", syncName: "down")
    _ = try await manager.createSyncUp(options: options, soupName: "accounts", syncName: "up")
    // end of sample

    _ = try await manager.reSync(named: "down").finished()
    try await device.edit(id, ["Name": "mine"])
    org.update("Account", id, ["Name": "theirs"])
    _ = try await manager.reSync(named: "down").finished()

    // sample: sync-conflicts
    for conflict in try await store.conflicts(in: "accounts") {
      for field in conflict.fields { show(field.name, field.base, field.mine, field.theirs) }
      try await store.resolve(conflict, .mine)  // or .theirs, or .values(["Phone": "555"])
    }
    // end of sample
    let seen = shown.withLock { $0 }
    #expect(seen == [#"Name ["a", "mine", "theirs"]"#])

    try await manager.reSyncRelated(named: ["up"])
    #expect(org.record("Account", id)?["Name"] == "mine")

    // sample: sync-window
    let careful = SyncOptions(mergeMode: .mergeFields, lateCommitWindow: .seconds(30))
    // end of sample
    #expect(try SyncOptions(json: .object(careful.json)) == careful)

    let sync = try #require(try await manager.syncStatus(forName: "down"))
    // sample: sync-fields
    try await manager.changeSyncDown(
      forId: sync.id,
      to: try SoqlSyncDownTarget(query: "SELECT Name, Phone, Rating FROM Account"))
    // end of sample
    _ = try await manager.reSync(named: "down").finished()

    // sample: sync-report
    let report = try await manager.report(forId: sync.id)
    print(report.state.progress, report.recordsPerSecond ?? 0, report.remaining ?? .zero)
    print(report.dirty, report.conflicts.count, report.unsent.map(\.kind))
    // end of sample
    #expect(report.state.status == .done && report.dirty == 0 && report.conflicts.isEmpty)
    #expect(try await device.row("Id", id)?["Rating"] == "Hot")
  }
}
