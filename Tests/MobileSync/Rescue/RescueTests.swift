import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Does what was not synced survive a logout, or a broken device?
@Suite struct RescueTests {
  private static let user = RescueUser(
    organizationId: "00D000000000001AAA", userId: "005000000000001AAA")
  private static let pair = RescueKeyPair()

  /// Two devices of one user, each with both syncs of the same records.
  private func devices(
    _ mode: SyncMergeMode = .mergeFields, records: Int = 3
  ) async throws -> (first: Device, second: Device, ids: [String]) {
    let org = InMemoryOrg()
    org.setClock(SyncEnvironment().now())
    let ids = (0..<records).map {
      org.create("Account", ["Name": .string("name \($0)"), "Phone": .string("phone \($0)")])
    }
    return (try await device(org, mode), try await device(org, mode), ids)
  }

  private func device(_ org: InMemoryOrg, _ mode: SyncMergeMode) async throws -> Device {
    let device = try await Device.open(org)
    let down = try await device.manager.createSyncDown(
      target: device.registry.downTarget(from: ["type": "soql", "query": .string(Device.query)]),
      options: SyncOptions(mergeMode: mode), soupName: Device.soup, syncName: "down")
    _ = try await device.manager.createSyncUp(
      target: device.registry.upTarget(from: ["type": "collection"]),
      options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "Phone"]), soupName: Device.soup,
      syncName: "up")
    _ = try await device.manager.reSync(id: down.id).lastState()
    return device
  }

  private func export(_ device: Device) async throws -> [UInt8] {
    try await device.store.exportRescue(
      for: .publicKey(Self.pair.publicKey), of: Self.user, registry: device.registry
    ).bundle
  }

  private func restore(
    _ bundle: [UInt8], into device: Device, isDryRun: Bool = false
  ) async throws -> RescueReport {
    try await device.store.importRescue(
      bundle, with: .privateKey(Self.pair.privateKey), of: Self.user, registry: device.registry,
      isDryRun: isDryRun)
  }

  private func up(_ device: Device) async throws {
    _ = try await device.manager.reSync(named: "up").lastState()
  }

  private func outcomes(_ report: RescueReport) -> [RescueReport.Record.Outcome] {
    report.records.map(\.outcome)
  }

  /// The entries without what the store keeps about them.
  private func contents(_ device: Device) async throws -> [JSONObject] {
    try await device.rows().compactMap(\.object).map { row in
      var row = row
      for key in row.keys where key.hasPrefix("_soup") { row[key] = nil }
      return row
    }
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `edits, creates and deletions of a lost device are uploaded by another`(
    _ mode: SyncMergeMode
  ) async throws {
    let (first, second, ids) = try await devices(mode)
    try await first.edit(ids[0], ["Name": "edited"])
    try await first.delete(ids[1])
    try await first.create([["Name": "made"]])
    let report = try await restore(try await export(first), into: second)
    #expect(outcomes(report) == [.edited, .edited, .added])
    #expect(report.json["entries"] == 3 && report.json["conflicts"] == 0)
    try await up(second)
    let names = second.org.records("Account").compactMap { $0["Name"]?.string }.sorted()
    #expect(names == ["edited", "made", "name 2"])
    #expect(try await second.dirtyRows().isEmpty)
  }

  @Test(arguments: [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields])
  func `an edit of a field that no sync sends stays unsynced on the other device, too`(
    _ mode: SyncMergeMode
  ) async throws {
    let (first, second, ids) = try await devices(mode)
    for id in ids {
      _ = try await first.store.editRecord(id: id, in: Device.soup) { $0["Fax"] = "mine" }
    }
    // One entry is there as on the server, one was edited, and one is missing.
    try await second.edit(ids[1], ["Phone": "second"])
    let missing = try #require(try await second.row(ids[2])?["_soupEntryId"]?.int64)
    try await second.store.remove(entryIds: [missing], forSoupNamed: Device.soup)
    let report = try await restore(try await export(first), into: second)
    // Without base versions both values of Phone may be edits.
    #expect(outcomes(report) == [.edited, mode == .overwrite ? .conflict : .merged, .added])
    for conflict in try await second.store.conflicts() {
      try await second.store.resolve(conflict, .values(["Phone": "second", "Fax": "mine"]))
    }
    for name in ["up", "down"] { _ = try await second.manager.reSync(named: name).lastState() }
    #expect(second.org.record("Account", ids[1])?["Phone"] == "second")
    for id in ids {
      let row = try await second.row(id)
      #expect(row?["Fax"] == "mine" && row?[SyncKeys.local] == true)
      #expect(second.org.record("Account", id)?["Fax"] == nil)
    }
  }

  @Test func `a second import of the same bundle changes nothing, before and after an upload`()
    async throws
  {
    let (first, second, ids) = try await devices()
    try await first.edit(ids[0], ["Name": "edited"])
    try await first.create([["Name": "made"]])
    let bundle = try await export(first)
    _ = try await restore(bundle, into: second)
    let before = try await contents(second)
    let again = try await restore(bundle, into: second)
    #expect(outcomes(again) == [.imported, .imported])
    #expect(try await contents(second) == before)
    try await up(second)
    let after = try await contents(second)
    let later = try await restore(bundle, into: second)
    #expect(outcomes(later) == [.imported, .imported])
    #expect(try await contents(second) == after)
    try await up(second)
    #expect(second.org.records("Account").count == 4)
  }

  @Test func `a create that the first device uploads after all is not created twice`()
    async throws
  {
    let (first, second, _) = try await devices()
    try await first.create([["Name": "made", "Phone": "1"]])
    _ = try await restore(try await export(first), into: second)
    try await up(first)
    try await up(second)
    #expect(second.org.records("Account").count { $0["Name"] == "made" } == 1)
    #expect(try await second.dirtyRows().isEmpty)
  }

  @Test func `nor is one that was downloaded before the import`() async throws {
    let (first, second, _) = try await devices()
    try await first.create([["Name": "made", "Phone": "1"]])
    let bundle = try await export(first)
    try await up(first)
    _ = try await second.manager.reSync(named: "down").lastState()
    _ = try await restore(bundle, into: second)
    try await up(second)
    #expect(second.org.records("Account").count { $0["Name"] == "made" } == 1)
    #expect(try await second.rows().count == 4)
    #expect(try await second.dirtyRows().isEmpty)
  }

  @Test(arguments: [true, false])
  func `nor is one of a device that had no sync up yet`(receiverHasSyncUp: Bool) async throws {
    let org = InMemoryOrg()
    org.setClock(SyncEnvironment().now())
    let first = try await Device.open(org)
    try await first.create([["Name": "made", "Phone": "1"]])
    let bundle = try await export(first)
    let second =
      receiverHasSyncUp ? try await device(org, .mergeFields) : try await Device.open(org)
    _ = try await restore(bundle, into: second)
    for (device, isReady) in [(first, false), (second, receiverHasSyncUp)] {
      if !isReady {
        _ = try await device.manager.createSyncUp(
          options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name", "Phone"]),
          soupName: Device.soup, syncName: "up")
      }
      try await up(device)
    }
    #expect(org.records("Account").count == 1)
    #expect(try await second.dirtyRows().isEmpty)
    #expect(try await second.store.conflicts().isEmpty)
  }

  @Test(.covers("MS-195"))
  func `a create that was lost, and whose values a flow replaced, is held by another device`()
    async throws
  {
    let (first, second, _) = try await devices()
    let org = first.org
    org.runAfterChanges { change in
      guard change.old == nil, change.new?["Phone"] == "1" else { return [] }
      return [InMemoryOrg.FlowUpdate(change.type, change.id, ["Phone": "none"])]
    }
    try await first.create([["Name": "made", "Phone": "1"]])
    org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
    try await up(first)
    org.intervene(nil)
    let count = org.records("Account").count
    _ = try await restore(try await export(first), into: second)
    try await up(second)
    #expect(org.records("Account").count == count)
    #expect(try await second.store.conflicts().map(\.kind) == [.inDoubt])
  }

  @Test func `a bundle that comes back to its own store after the upload creates nothing`()
    async throws
  {
    let (first, _, ids) = try await devices()
    try await first.create([["Name": "made"]])
    try await first.edit(ids[0], ["Name": "edited"])
    let bundle = try await export(first)
    let dry = try await restore(bundle, into: first, isDryRun: true)
    #expect(outcomes(dry) == [.unchanged, .unchanged])
    try await up(first)
    let report = try await restore(bundle, into: first)
    #expect(report.records.map(\.outcome).contains(.uploaded))
    try await up(first)
    #expect(first.org.records("Account").count == 4)
  }

  @Test func `a field that the server changed since stays, and so does the field that was edited`()
    async throws
  {
    let (first, second, ids) = try await devices()
    try await first.edit(ids[0], ["Name": "edited"])
    second.org.update("Account", ids[0], ["Phone": "new there"])
    _ = try await second.manager.reSync(named: "down").lastState()
    let report = try await restore(try await export(first), into: second)
    #expect(outcomes(report) == [.edited])
    let row = try await second.row(ids[0])
    #expect(row?["Name"] == "edited" && row?["Phone"] == "new there")
    try await up(second)
    #expect(second.org.record("Account", ids[0])?["Phone"] == "new there")
    #expect(second.org.record("Account", ids[0])?["Name"] == "edited")
  }

  @Test func `a field that the server changed too is a conflict`() async throws {
    for mode in [SyncMergeMode.mergeFields, .leaveIfChanged] {
      let (first, second, ids) = try await devices(mode)
      try await first.edit(ids[0], ["Name": "edited"])
      second.org.update("Account", ids[0], ["Name": "new there"])
      _ = try await second.manager.reSync(named: "down").lastState()
      let report = try await restore(try await export(first), into: second)
      #expect(report.count(.conflict) == (mode == .mergeFields ? 1 : 0))
      try await up(second)
      #expect(second.org.record("Account", ids[0])?["Name"] == "new there")
      #expect(try await second.store.conflicts().map(\.recordId) == [ids[0]])
      #expect(try await second.row(ids[0])?["Name"] == "edited")
    }
  }

  @Test func `edits of both devices are united, and collide in the same field`() async throws {
    let (first, second, ids) = try await devices()
    try await first.edit(ids[0], ["Name": "first"])
    try await second.edit(ids[0], ["Phone": "second"])
    try await first.edit(ids[1], ["Name": "first"])
    try await second.edit(ids[1], ["Name": "second"])
    try await first.edit(ids[2], ["Name": "same"])
    try await second.edit(ids[2], ["Name": "same"])
    let report = try await restore(try await export(first), into: second)
    #expect(outcomes(report) == [.merged, .conflict, .unchanged])
    let row = try await second.row(ids[0])
    #expect(row?["Name"] == "first" && row?["Phone"] == "second")
    #expect(try await second.rows().count == 3)
    let conflict = try #require(try await second.store.conflicts().first)
    #expect(conflict.kind == .localEdits && conflict.recordId == ids[1])
    let values = [conflict.fields.first?.mine, conflict.fields.first?.theirs]
    #expect(Set(values.compactMap { $0?.string }) == ["first", "second"])
  }

  @Test func `a dry run reports what the import does, and changes nothing`() async throws {
    let (first, second, ids) = try await devices()
    try await first.edit(ids[0], ["Name": "edited"])
    try await second.edit(ids[0], ["Name": "other"])
    try await first.create([["Name": "made"]])
    let bundle = try await export(first)
    let before = try await contents(second)
    let soups = try await second.store.allSoupNames()
    let dry = try await restore(bundle, into: second, isDryRun: true)
    #expect(dry.isDryRun && outcomes(dry) == [.conflict, .added])
    #expect(try await contents(second) == before)
    #expect(try await second.store.allSoupNames() == soups)
    #expect(try await second.store.conflicts().isEmpty)
    let report = try await restore(bundle, into: second)
    #expect(outcomes(report) == outcomes(dry) && !report.isDryRun)
  }

  @Test func `a store that has never synced gets the soups of the bundle`() async throws {
    let (first, _, ids) = try await devices()
    try await first.edit(ids[0], ["Name": "edited"])
    let folder = try TemporaryFolder()
    let store = try await TestStores.open(in: folder.url)
    let report = try await store.importRescue(
      try await export(first), with: .privateKey(Self.pair.privateKey), of: Self.user,
      registry: first.registry)
    #expect(report.count(.added) == 1)
    let rows = try await store.query(
      using: .buildAllQuerySpec(
        soupName: Device.soup, orderPath: "_soupEntryId", pageSize: 10))
    #expect(rows.map { $0["Name"] } == ["edited"])
  }

  @Test func `references between records that were created locally survive`() async throws {
    let (first, second, _) = try await devices(records: 0)
    try await first.create([["Name": "parent"]])
    let parent = try #require(try await first.row("Name", "parent")?["Id"]?.string)
    try await first.create([["Name": "child", "ParentId": .string(parent)]])
    _ = try await restore(try await export(first), into: second)
    #expect(try await second.row("Name", "child")?["ParentId"] == .string(parent))
  }
}
