import BriefcaseSyncDown
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

@Suite struct BriefcaseSyncDownTargetTests {
  private static let contacts = "contacts"

  private func target(_ count: Int = 2_000) -> BriefcaseSyncDownTarget {
    BriefcaseSyncDownTarget(
      infos: [
        BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"]),
        BriefcaseObjectInfo(
          sobjectType: "Contact", soupName: Self.contacts, fieldlist: ["LastName"]),
      ], countIdsPerRetrieve: count)
  }

  /// A device with two soups and an org with accounts and contacts in the briefcase.
  private func device(
    accounts: Int, contacts: Int, pageSize: Int = 2_000
  ) async throws -> (Device, InMemoryOrg, accounts: [String], contacts: [String]) {
    let org = InMemoryOrg()
    let accounts = (0..<accounts).map { org.create("Account", ["Name": .string("\($0)")]) }
    let contacts = (0..<contacts).map { org.create("Contact", ["LastName": .string("\($0)")]) }
    org.create("Account", ["Name": "not in the briefcase"])
    org.setBriefcase(
      ["Account": accounts, "Contact": contacts, "Case": ["500"]], pageSize: pageSize)
    let device = try await Device.open(org)
    try await device.registerSoup(Self.contacts)
    return (device, org, accounts, contacts)
  }

  @Test(.covers("MS-166"))
  func `what a rule leaves out that could not be applied is not gone`()
    async throws
  {
    let (device, org, _, _) = try await device(accounts: 2, contacts: 1)
    let sync = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    let incomplete =
      #"{"primingRecords": {}, "relayToken": null, "ruleErrors": [{"ruleId": "r1"}]}"#
    org.intervene { _, request in
      request.line.contains("priming-records") ? .response(status: 200, body: incomplete) : .none
    }
    #expect(try await device.manager.cleanResyncGhostCounts(forId: sync.id).removed == 0)
    #expect(try await device.rows().count == 2)
    let again = try await device.manager.reSync(id: sync.id).finished()
    #expect(again.status == .done && again.maxTimeStamp == sync.maxTimeStamp)
  }

  @Test(.covers("MS-168"), arguments: ["", "1"])
  func `a page of ids that leads to itself or nowhere ends the run`(token: String)
    async throws
  {
    let (device, org, _, _) = try await device(accounts: 2, contacts: 0)
    org.intervene { number, _ in
      number > 5
        ? .none
        : .response(
          status: 200,
          body: #"{"primingRecords": {}, "relayToken": "\#(token)", "ruleErrors": []}"#)
    }
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let error = await #expect(throws: SyncError.self) { try await run.finished() }
    #expect((error?.cause as? SyncError)?.code == .unexpectedResponse)
    #expect(org.requests.count == (token.isEmpty ? 1 : 2))
  }

  @Test(.covers("MS-175"), arguments: [(12, 0, 500, 1), (12, 0, 2, 6), (12, 12, 3, 8)])
  func `slices of the page are the engine's pages`(
    accounts: Int, contacts: Int, count: Int, pages: Int
  ) async throws {
    let (device, org, _, _) = try await device(accounts: accounts, contacts: contacts)
    let run = try await device.manager.syncDown(
      target: target(count), options: SyncOptions(mergeMode: .overwrite), soupName: "ignored")
    let updates = await run.allUpdates()
    // One update per page but the last, besides first, second and last.
    #expect(updates.count == pages - 1 + 3)
    #expect(updates.last == "DONE 100/\(accounts + contacts)")
    #expect(org.lines.first == "GET /{v}/connect/briefcase/priming-records")
    #expect(try await device.rows().count == accounts)
    #expect(try await device.rows(in: Self.contacts).count == contacts)
  }

  @Test(.covers("MS-166", "MS-171", "MS-165", "MS-167", "BX-60"))
  func `ids are requested, then their records, type by type`()
    async throws
  {
    let (device, org, accounts, contacts) = try await device(accounts: 2, contacts: 1)
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(
      org.lines == [
        "GET /{v}/connect/briefcase/priming-records", "POST /{v}/composite/sobjects/Account",
        "POST /{v}/composite/sobjects/Contact",
      ])
    #expect(org.requests[0].query.isEmpty)
    #expect(
      org.requests[1].body
        == #"{"ids":["\#(accounts[0])","\#(accounts[1])"],"fields":["Name","Id","LastModifiedDate"]}"#
    )
    #expect(org.requests.allSatisfy { $0.qualifier == "MobileSync" })
    let row = try #require(try await device.rows(in: Self.contacts).first)
    #expect(row["Id"]?.string == contacts[0] && row[SyncKeys.syncId] == .integer(state.id))
    #expect(state.maxTimeStamp > 0)
  }

  @Test(.covers("MS-169", "MS-165", "MS-168"))
  func `following pages carry token and timestamp, empty ones are not the end`()
    async throws
  {
    let (device, org, accounts, _) = try await device(accounts: 5, contacts: 0, pageSize: 2)
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.totalSize == 5)
    #expect(try await device.rows().count == 5)
    for id in accounts { org.update("Account", id, ["Name": "changed"]) }
    org.forgetRequests()
    org.intervene { number, _ in
      number == 1
        ? .response(status: 200, body: #"{"primingRecords":{},"relayToken":"0"}"#) : .none
    }
    let again = try await device.manager.reSync(id: state.id).finished()
    let asked = org.requests.filter { $0.line.hasPrefix("GET") }
    #expect(asked.map { $0.query["relayToken"] } == [nil, "0", "2", "4"])
    let date = SalesforceDate(milliseconds: state.maxTimeStamp).soqlText
    #expect(asked.allSatisfy { $0.query["changedAfterTimestamp"] == date } && date.hasSuffix("Z"))
    #expect(again.totalSize == 5)
    #expect(try await device.rows().allSatisfy { $0["Name"] == "changed" })
  }

  @Test func `a record that changes while others are listed and fetched comes next time`()
    async throws
  {
    let (device, org, ids, _) = try await device(accounts: 3, contacts: 0)
    let sync = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    org.update("Account", ids[0], ["Name": "listed"])
    org.forgetRequests()
    org.intervene { number, _ in
      if number == 2 {
        org.update("Account", ids[1], ["Name": "not listed"])
        org.update("Account", ids[0], ["Name": "listed, and changed again"])
      }
      return .none
    }
    _ = try await device.manager.reSync(id: sync.id).finished()
    org.intervene(nil)
    _ = try await device.manager.reSync(id: sync.id).finished()
    let names = try await device.rows().compactMap { $0["Name"]?.string }
    #expect(names == ["listed, and changed again", "not listed", "2"])
  }

  @Test(.covers("BX-60"))
  func `a record that changes between two pages of ids comes next time`() async throws {
    let (device, org, ids, _) = try await device(accounts: 3, contacts: 0, pageSize: 1)
    let sync = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    for id in ids.dropFirst() { org.update("Account", id, ["Name": "changed"]) }
    org.forgetRequests()
    org.intervene { number, _ in
      if number == 3 {
        // The first stands before the place where the second page begins now.
        org.update("Account", ids[0], ["Name": "missed"])
        org.update("Account", ids[2], ["Name": "changed again"])
      }
      return .none
    }
    _ = try await device.manager.reSync(id: sync.id).finished()
    org.intervene(nil)
    for _ in 0..<2 { _ = try await device.manager.reSync(id: sync.id).finished() }
    let names = try await device.rows().compactMap { $0["Name"]?.string }
    #expect(names == ["missed", "changed", "changed again"])
    // Nothing has changed since: the watermark has come to the end.
    org.forgetRequests()
    _ = try await device.manager.reSync(id: sync.id).finished()
    #expect(org.requests.count == 1)
  }

  @Test(.covers("MS-173"))
  func `the watermark is the date in each object's own field`() async throws {
    let org = InMemoryOrg()
    let id = org.create(
      "Account", ["Name": "a", "Stamp__c": "2020-01-01T00:00:00.000+0000"])
    org.setBriefcase(["Account": [id]])
    let device = try await Device.open(org)
    let target = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(
        sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"],
        names: SyncFieldNames(modificationDate: "Stamp__c"))
    ])
    let state = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    #expect(state.maxTimeStamp == 1_577_836_800_000)
  }

  @Test func `a field that is added to one object is fetched for its records`() async throws {
    let (device, org, accounts, contacts) = try await device(accounts: 3, contacts: 2)
    for id in accounts { org.update("Account", id, ["Rating": "Hot"]) }
    let sync = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.edit(accounts[0], ["Name": "mine"])
    let wider = BriefcaseSyncDownTarget(infos: [
      BriefcaseObjectInfo(
        sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name", "Rating"]),
      BriefcaseObjectInfo(sobjectType: "Contact", soupName: Self.contacts, fieldlist: ["LastName"]),
    ])
    let changed = try await device.manager.changeSyncDown(forId: sync.id, to: wider)
    #expect(changed.fieldsToBackfill == ["Account/Rating"])
    #expect(changed.maxTimeStamp == sync.maxTimeStamp)
    _ = try await device.manager.reSync(id: sync.id).finished()
    #expect(try await device.rows().allSatisfy { $0["Rating"] == "Hot" })
    #expect(try await device.rows(in: Self.contacts).count == contacts.count)
  }

  @Test(.covers("MS-170"))
  func `a record that was deleted since is skipped`() async throws {
    let (device, org, accounts, _) = try await device(accounts: 3, contacts: 0)
    org.intervene { _, request in
      if request.line.hasPrefix("POST") { org.delete("Account", accounts[1]) }
      return .none
    }
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(try await device.rows().count == 2)
  }

  @Test(.covers("MS-172"))
  func `edits in every soup are left alone`() async throws {
    let (device, org, accounts, contacts) = try await device(accounts: 2, contacts: 2)
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup)
    let state = try await run.finished()
    try await device.edit(accounts[0], ["Name": "here"])
    try await device.edit(contacts[1], ["LastName": "here"], in: Self.contacts)
    for id in accounts { org.update("Account", id, ["Name": "there"]) }
    for id in contacts { org.update("Contact", id, ["LastName": "there"]) }
    _ = try await device.manager.reSync(id: state.id).finished()
    #expect(try await device.rows().map { $0["Name"]?.string } == ["here", "there"])
    #expect(
      try await device.rows(in: Self.contacts).map { $0["LastName"]?.string } == ["there", "here"])
  }

  @Test(.covers("MS-174"))
  func `ghosts are cleaned in every soup, also when a type has gone altogether`()
    async throws
  {
    let (device, org, accounts, contacts) = try await device(
      accounts: 3, contacts: 2, pageSize: 2)
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    org.setBriefcase(["Account": [accounts[0], accounts[2]]], pageSize: 1)
    org.forgetRequests()
    let counts = try await device.manager.cleanResyncGhostCounts(forId: state.id)
    #expect(counts.removed == 3)
    #expect(counts.bySoup == [Device.soup: 1, Self.contacts: 2])
    #expect(
      org.requests.map(\.query) == [[:], ["relayToken": "1"]])
    #expect(try await device.rows().count == 2)
    #expect(try await device.rows(in: Self.contacts).isEmpty)
    #expect(contacts.count == 2)
  }

  @Test(.covers("MS-163", "MS-164", "MS-266"))
  func `the stored form reads back equal, of two infos the later counts`()
    throws
  {
    let target = target(100)
    #expect(
      JSONValue.object(target.json) == [
        "infos": [
          [
            "sobjectType": "Account", "soupName": "accounts", "fieldlist": ["Name"],
            "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
          ],
          [
            "sobjectType": "Contact", "soupName": "contacts", "fieldlist": ["LastName"],
            "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
          ],
        ], "countIdsPerRetrieve": 100, "type": "briefcase", "iOSImpl": "SFBriefcaseSyncDownTarget",
        "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
      ])
    #expect(try BriefcaseSyncDownTarget(configuration: target.json) == target)
    let infos = ["a", "b"].map {
      BriefcaseObjectInfo(sobjectType: "Account", soupName: $0, fieldlist: [])
    }
    #expect(
      BriefcaseSyncDownTarget(infos: infos, countIdsPerRetrieve: 0)
        == BriefcaseSyncDownTarget(infos: [infos[1]]))
  }

  @Test(
    .covers("MS-267"),
    arguments: [
      ([:], "'infos'"), (["infos": [5]], "Entry 0"),
      (["infos": [["sobjectType": "A", "fieldlist": []]]], "'soupName'"),
      (["infos": [["soupName": "a", "fieldlist": []]]], "'sobjectType'"),
    ] as [(JSONObject, String)])
  func `a target without its keys cannot be made`(configuration: JSONObject, key: String) {
    #expect {
      try BriefcaseSyncDownTarget(configuration: configuration)
    } throws: {
      ($0 as? SyncError)?.message.contains(key) == true
    }
  }

  @Test(.covers("MS-62"))
  func `a soup that is missing fails the run before any request`() async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let run = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await #expect(throws: SyncError.self) { try await run.finished() }
    #expect(org.requests.isEmpty)
  }
}
