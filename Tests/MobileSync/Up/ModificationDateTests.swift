import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Can a record be edited and sent again without a sync down between?
@Suite struct ModificationDateTests {
  private func synced() async throws -> (InMemoryOrg, Device, String) {
    let org = InMemoryOrg()
    let id = org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    _ = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.forgetRequests()
    return (org, device, id)
  }

  private func up(_ device: Device, fetchingDates: Bool) async throws -> SyncOutcomeCounts {
    let run = try await device.manager.syncUp(
      target: CollectionSyncUpTarget(),
      options: SyncOptions(
        mergeMode: .leaveIfChanged, fieldlist: ["Name"], fetchesModificationDates: fetchingDates),
      soupName: Device.soup)
    return try await device.manager.outcomeCounts(forId: try await run.finished().id)
  }

  @Test(.covers("MS-205"), arguments: [false, true])
  func `sent records can be sent again, with their new dates if the option brings them`(
    fetchingDates: Bool
  ) async throws {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": "b"])
    #expect(try await up(device, fetchingDates: fetchingDates).succeeded == 1)
    let row = try #require(try await device.row("Id", id))
    #expect(row[SyncKeys.local] == false)
    let date = row["LastModifiedDate"]?.string.flatMap(SalesforceDate.parse)?.milliseconds
    #expect((date == org.now) == fetchingDates)
    // One more request, for the dates.
    #expect(org.requests.count == (fetchingDates ? 3 : 2))

    try await device.edit(id, ["Name": "c"])
    let second = try await up(device, fetchingDates: fetchingDates)
    #expect(second.succeeded == 1 && second.skipped == 0)
    #expect(org.record("Account", id)?["Name"] == "c")
  }

  @Test(.covers("MS-205"))
  func `a record that was created locally gets its date too, and edits since then stay`()
    async throws
  {
    let (org, device, _) = try await synced()
    try await device.create([["Id": "local_1", "Name": "new"]])
    org.intervene { number, _ in
      // While the dates are requested, the user edits.
      guard number == 2, let row = try? await device.row("Name", "new"),
        let id = row["Id"]?.string
      else { return .none }
      try? await device.edit(id, ["Name": "newer"])
      return .none
    }
    #expect(try await up(device, fetchingDates: true).succeeded == 1)
    let row = try #require(try await device.row("Name", "newer"))
    #expect(row[SyncKeys.locallyUpdated] == true)
    #expect(
      row["LastModifiedDate"]?.string.flatMap(SalesforceDate.parse)?.milliseconds == org.now)
    #expect(try await up(device, fetchingDates: true).succeeded == 1)
    #expect(org.records("Account").compactMap { $0["Name"]?.string } == ["a", "newer"])
  }

  @Test(.covers("MS-205"), arguments: ["Name", "Phone"], [0, 1_000] as [Int64])
  func `a change by another user before the dates are fetched is not counted as seen`(
    field: String, tick: Int64
  ) async throws {
    let (org, device, id) = try await synced()
    org.setTickLength(tick)
    try await device.edit(id, ["Name": "b"])
    org.forgetRequests()
    org.intervene { number, _ in
      if number == 3 { org.update("Account", id, [field: "theirs"]) }
      return .none
    }
    #expect(try await up(device, fetchingDates: true).succeeded == 1)
    org.intervene(nil)
    try await device.edit(id, ["Name": "c"])
    // Of a field that is not sent nothing is lost.
    #expect(try await up(device, fetchingDates: true).skipped == (field == "Name" ? 1 : 0))
    #expect(org.record("Account", id)?[field] == "theirs")
  }

  @Test(.covers("MS-205"), arguments: ["ann", " Ann "])
  func `a value that the server puts into another form is taken with its date`(sent: String)
    async throws
  {
    let (org, device, id) = try await synced()
    try await device.edit(id, ["Name": .string(sent)])
    org.forgetRequests()
    // A trigger at work within the update.
    org.intervene { number, _ in
      if number == 3 {
        org.setTickLength(0)
        org.update("Account", id, ["Name": "Ann"])
        org.setTickLength(1_000)
      }
      return .none
    }
    #expect(try await up(device, fetchingDates: true).succeeded == 1)
    org.intervene(nil)
    #expect(try await device.row("Id", id)?["Name"] == "Ann")
    try await device.edit(id, ["Name": "c"])
    #expect(try await up(device, fetchingDates: true).succeeded == 1)
    #expect(org.record("Account", id)?["Name"] == "c")
  }

  @Test(.covers("MS-205"))
  func `the option is stored only when set`() throws {
    #expect(
      JSONValue.object(SyncOptions(mergeMode: .overwrite, fetchesModificationDates: true).json).text
        == #"{"mergeMode":"OVERWRITE","fetchModificationDates":true}"#)
    let options = SyncOptions(mergeMode: .overwrite, fetchesModificationDates: true)
    #expect(try SyncOptions(json: .object(options.json)) == options)
    #expect(
      try SyncOptions(json: .object(SyncOptions(mergeMode: .overwrite).json))
        == SyncOptions(mergeMode: .overwrite))
  }
}
