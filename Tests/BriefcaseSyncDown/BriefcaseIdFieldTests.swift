import BriefcaseSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// By which field does a briefcase find the entry of a record, if its objects have id fields of their own?
@Suite struct BriefcaseIdFieldTests {
  private static let keyed = "keyed"

  /// A device with accounts by `Id`, contacts by `Key__c`, and one record of each, whose contact has come back with
  /// another `Id` and the same key.
  private func device(
    _ mode: SyncMergeMode
  ) async throws -> (Device, InMemoryOrg, sync: Int64, contact: String) {
    let org = InMemoryOrg()
    let account = org.create("Account", ["Name": "a", "Key__c": "k"])
    let contact = org.create("Contact", ["LastName": "c", "Key__c": "k"])
    org.setBriefcase(["Account": [account], "Contact": [contact]])
    let device = try await Device.open(org)
    try await device.registerSoup(Self.keyed, "Key__c")
    let target = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"]),
      BriefcaseObjectInfo(
        sobjectType: "Contact", soupName: Self.keyed, fieldlist: ["LastName"],
        names: SyncFieldNames(id: "Key__c")),
    ])
    let state = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
    org.delete("Contact", contact)
    let restored = org.create("Contact", ["LastName": "changed", "Key__c": "k"])
    org.setBriefcase(["Account": [account], "Contact": [restored]])
    return (device, org, state.id, restored)
  }

  @Test(.covers("MS-171"))
  func `each record is matched by the id field of its own object`() async throws {
    let (device, org, sync, contact) = try await device(.overwrite)
    _ = try await device.manager.reSync(id: sync).finished()
    let rows = try await device.rows(in: Self.keyed)
    #expect(rows.map { $0["LastName"] } == ["changed"])
    #expect(rows.first?["Id"]?.string == contact && rows.first?["Key__c"] == "k")
    #expect(try await device.rows().map { $0["Name"] } == ["a"])
    #expect(org.requests.last?.body.contains(#""fields":["LastName","Key__c""#) == true)
  }

  @Test(.covers("MS-172"))
  func `an edited record is skipped by the id field of its own object`() async throws {
    let (device, org, sync, _) = try await device(.leaveIfChanged)
    for row in try await device.rows(in: Self.keyed) {
      try await device.edit(
        entry: try #require(row["_soupEntryId"]?.int64), ["LastName": "mine"], in: Self.keyed)
    }
    // An account with the key of the edited contact is another record.
    for account in org.records("Account") {
      org.update("Account", account["Id"]?.string ?? "", ["Name": "theirs"])
    }
    _ = try await device.manager.reSync(id: sync).finished()
    #expect(try await device.rows(in: Self.keyed).map { $0["LastName"] } == ["mine"])
    #expect(try await device.rows().map { $0["Name"] } == ["theirs"])
  }
}
