import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SoqlSyncDown
import TestSupport
import Testing

/// What is saved when a part of an upload fails?
@Suite struct BatchFailureTests {
  /// A device with `count` accounts that were downloaded and edited.
  private func edited(_ count: Int) async throws -> (InMemoryOrg, Device, [String]) {
    let org = InMemoryOrg()
    for number in 0..<count { org.create("Account", ["Name": .string("Name \(number)")]) }
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    let ids = org.records("Account").compactMap { $0["Id"]?.string }
    for id in ids { try await device.edit(id, ["Name": "mine"]) }
    org.forgetRequests()
    return (org, device, ids)
  }

  private func up(
    _ device: Device, _ mode: SyncMergeMode = .overwrite,
    _ target: CollectionSyncUpTarget = CollectionSyncUpTarget(), fields: [String] = ["Name"]
  ) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: fields),
      soupName: Device.soup)
  }

  @Test(.covers("MS-215"))
  func `a second batch that fails leaves the first one's results saved`() async throws {
    let (org, device, ids) = try await edited(5)
    org.intervene { number, _ in number == 2 ? .response(status: 500, body: "") : .none }
    let run = try await up(device, .overwrite, CollectionSyncUpTarget(maxBatchSize: 2))
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(error?.state?.status == .failed && error?.state?.progress == 40)
    #expect(try await device.dirtyRows().map { $0["Id"]?.string } == Array(ids.dropFirst(2)))
    #expect(
      ids.map { org.record("Account", $0)?["Name"] == "mine" } == [true, true, false, false, false])
  }

  @Test(.covers("MS-202"))
  func `a response for dates without entries skips its records`() async throws {
    let (org, device, _) = try await edited(2)
    org.intervene { _, request in
      request.line.hasPrefix("POST") ? .response(status: 200, body: "[]") : .none
    }
    let run = try await up(device, .leaveIfChanged)
    _ = try? await run.finished()
    #expect(try await device.dirtyRows().count == 2)
    #expect(!org.lines.contains { $0.hasPrefix("PATCH") })
    org.intervene(nil)
    _ = try await up(device, .leaveIfChanged).finished()
    #expect(try await device.dirtyRows().isEmpty)
  }

  @Test(.covers("MS-206"))
  func `a second creation sends the create list`() async throws {
    let (org, device, ids) = try await edited(2)
    for id in ids { try await device.edit(id, ["Name": "mine", "Phone": "1"]) }
    org.delete("Account", ids[0])
    let target = CollectionSyncUpTarget(
      fields: SyncUpFields(createFieldlist: ["Name", "Phone"], updateFieldlist: ["Name"]))
    _ = try await up(device, .overwrite, target).finished()
    #expect(try await device.dirtyRows().isEmpty)
    #expect(org.record("Account", ids[1])?["Phone"]?.string == nil)
    let new = try #require(org.records("Account").first { !ids.contains($0["Id"]?.string ?? "") })
    #expect(new["Name"] == "mine" && new["Phone"] == "1")
  }

  @Test(.covers("MS-221"))
  func `a record without a response keeps an error that says so`() async throws {
    let (org, device, ids) = try await edited(2)
    org.intervene { _, _ in
      .response(status: 200, body: #"[{"id":"\#(ids[0])","success":true,"errors":[]}]"#)
    }
    _ = try await up(device).finished()
    let row = try #require(try await device.row("Id", ids[1]))
    #expect(row[SyncKeys.local] == true)
    #expect(row[SyncKeys.lastError]?.string?.isEmpty == false)
    #expect(try await device.row("Id", ids[0])?[SyncKeys.lastError]?.string == nil)
  }
}
