import BasicSyncUp
import BatchSyncUp
import BriefcaseSyncDown
import LayoutSyncDown
import MetadataSyncDown
import MobileSync
import MruSyncDown
import ParentChildrenSync
import RefreshSyncDown
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoslSyncDown
import Testing
import TestSupport

/// One story for each target, over a socket, against an org that keeps the platform's rules.
@Suite struct TargetStoriesTests {
  private static let contacts = "contacts"

  /// Makes the soup of contacts.
  private func makeContacts(_ device: FieldDevice) async throws {
    try await device.store.registerSoup(
      withName: Self.contacts,
      withIndices: ["Id", "AccountId", SyncKeys.local].map { SoupIndex(path: $0, type: .string) }
        + [SoupIndex(path: SyncKeys.syncId, type: .integer)])
  }

  private func accounts(_ device: FieldDevice, _ names: String...) async throws -> [String] {
    var ids: [String] = []
    for name in names {
      ids.append(try await device.org.create("Account", ["Name": .string(name)]))
    }
    return ids
  }

  @Test(.covers("MS-181", "MS-222"), arguments: [true, false])
  func `edits are uploaded one by one, or 25 at a time`(isBatch: Bool) async throws {
    try await FieldDevice.with { device in
      let ids = try await accounts(device, "a", "b", "c")
      _ = try await device.syncDown().finished()
      try await device.edit(ids[0], ["Name": "a edited"])
      try await device.edit(ids[1], ["Name": "b edited"])
      try await device.delete(ids[2])
      try await device.create(["Name": "d", "Phone": "1"])
      let bad = try await device.create(["Name": .string(String(repeating: "x", count: 256))])
      device.later()
      try await device.org.update("Account", id: ids[1], ["Name": "b there"])
      device.org.clearRequestLog()
      let options = SyncOptions(mergeMode: .leaveIfChanged, fieldlist: FieldDevice.fields)
      let run =
        isBatch
        ? try await device.manager.syncUp(
          target: BatchSyncUpTarget(), options: options, soupName: FieldDevice.soup)
        : try await device.manager.syncUp(
          target: BasicSyncUpTarget(), options: options, soupName: FieldDevice.soup)
      let state = try await run.finished()
      let counts = try await device.manager.outcomeCounts(forId: state.id)
      #expect((counts.succeeded, counts.skipped, counts.failed) == (3, 1, 1))
      #expect(device.org.requestLog.count == (isBatch ? 2 : 3 + 4), "\(device.org.requests)")
      #expect(try await device.serverNames() == ["a edited", "b there", "d"])
      let row = try #require(try await device.row(bad))
      #expect(row[SyncKeys.lastError]?.string?.contains("STRING_TOO_LONG") == true)
      #expect(try await device.dirtyRows().count == 2)
    }
  }

  @Test(.covers("MS-204"))
  func `the server itself refuses an update of what changed in the meantime`() async throws {
    try await FieldDevice.with { device in
      let ids = try await accounts(device, "a")
      _ = try await device.syncDown().finished()
      try await device.edit(ids[0], ["Name": "here"])
      device.later()
      // The date is requested before another user writes, so only the update's condition can tell.
      device.org.add(
        MockOrgFault(
          method: "GET", path: "/sobjects/Account/",
          action: .editedBody { _ in
            Array(#"{"LastModifiedDate":"2000-01-01T00:00:00.000+0000"}"#.utf8)
          }))
      try await device.org.update("Account", id: ids[0], ["Name": "there"])
      let run = try await device.manager.syncUp(
        target: BasicSyncUpTarget(),
        options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Name"]),
        soupName: FieldDevice.soup)
      let state = try await run.finished()
      #expect(try await device.manager.outcomeCounts(forId: state.id).skipped == 1)
      #expect(try await device.serverNames() == ["there"])
      #expect(try await device.dirtyRows().count == 1)
    }
  }

  @Test(.covers("MS-129"))
  func `a refresh brings what is in the soup up to date`() async throws {
    try await FieldDevice.with { device in
      let ids = try await accounts(device, "a", "b")
      let first = try await device.syncDown().finished()
      _ = try await accounts(device, "new")
      device.later()
      try await device.org.update("Account", id: ids[1], ["Name": "b there"])
      device.org.clearRequestLog()
      let run = try await device.manager.syncDown(
        target: try RefreshSyncDownTarget(
          soupName: FieldDevice.soup, objectType: "Account", fieldlist: FieldDevice.fields),
        options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      let state = try await run.finished()
      #expect(state.totalSize == 2 && device.org.requestLog.count == 1)
      #expect(
        try await device.rows().compactMap { $0["Name"]?.string }.sorted() == ["a", "b there"])
      try await device.org.delete("Account", id: ids[0])
      // Both syncs have brought it, so it stays until neither finds it.
      #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 0)
      #expect(try await device.manager.cleanResyncGhosts(forId: first.id) == 1)
    }
  }

  @Test(.covers("MS-122", "MS-118"))
  func `recent records and found records are downloaded`() async throws {
    try await FieldDevice.with { device in
      let ids = try await accounts(device, "Acme one", "Acme two", "Other")
      // What the user opens is what is recent.
      _ = try await device.client.send(.retrieve(object: "Account", id: ids[1]))
      let recent = try await device.manager.syncDown(
        target: try MruSyncDownTarget(objectType: "Account", fieldlist: FieldDevice.fields),
        options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      #expect(try await recent.finished().totalSize == 1)
      #expect(try await device.rows().map { $0["Id"]?.string } == [ids[1]])
      let found = try await device.manager.syncDown(
        target: try SoslSyncDownTarget(
          query: try SOSLBuilder(searchTerm: "Acme").searchGroup("NAME FIELDS")
            .returning(SOSLReturningBuilder("Account").fields("Id, Name, LastModifiedDate")).build()
        ),
        options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      #expect(try await found.finished().totalSize == 2)
      #expect(try await device.rows().count == 2)
    }
  }

  @Test(.covers("MS-296"))
  func `descriptions and layouts are cached`() async throws {
    try await FieldDevice.with { device in
      let metadata = MetadataSyncManager(device.manager)
      let account = try #require(try await metadata.fetchMetadata(forObject: "Account"))
      #expect(account.keyPrefix == "001" && account.createable)
      #expect(account.fields.contains { $0["name"]?.string == "Name" })
      let layouts = LayoutSyncManager(device.manager)
      let layout = try #require(
        try await layouts.fetchLayout(forObjectAPIName: "Account").layout)
      #expect(!layout.sections.isEmpty)
      let requests = device.org.requestLog.count
      #expect(requests == 2)
      _ = try await metadata.fetchMetadata(forObject: "Account")
      _ = try await layouts.fetchLayout(forObjectAPIName: "Account")
      #expect(device.org.requestLog.count == requests)
      #expect(try await device.manager.syncs().isEmpty)
    }
  }

  @Test(.covers("BX-60", "MS-163"))
  func `a briefcase fills one soup for each object`() async throws {
    try await FieldDevice.with { device in
      try await makeContacts(device)
      let ids = try await accounts(device, "a", "b")
      try await device.org.create("Contact", ["LastName": "c", "AccountId": .string(ids[0])])
      device.org.briefcase = [
        MockOrgBriefcaseRule(object: "Account", condition: "Name = 'a'"),
        MockOrgBriefcaseRule(object: "Contact"),
      ]
      let target = BriefcaseSyncDownTarget(infos: [
        BriefcaseObjectInfo(
          sobjectType: "Account", soupName: FieldDevice.soup, fieldlist: FieldDevice.fields),
        BriefcaseObjectInfo(
          sobjectType: "Contact", soupName: Self.contacts, fieldlist: ["LastName", "AccountId"]),
      ])
      let run = try await device.manager.syncDown(
        target: target, options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      let state = try await run.finished()
      #expect(state.totalSize == 2)
      #expect(try await device.rows().compactMap { $0["Name"]?.string } == ["a"])
      let counted = try await device.store.query("SELECT count(*) FROM {contacts}")
      #expect(counted == [[1]])
      device.org.briefcase = [MockOrgBriefcaseRule(object: "Contact")]
      #expect(try await device.manager.cleanResyncGhosts(forId: state.id) == 1)
      #expect(try await device.rows().isEmpty)
    }
  }

  @Test(.covers("MS-319", "MS-332"))
  func `a tree made in the field is uploaded, is downloaded and agrees`() async throws {
    try await FieldDevice.with { device in
      try await makeContacts(device)
      let parent = ParentInfo(sobjectType: "Account", soupName: FieldDevice.soup)
      let children = ChildrenInfo(
        sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: Self.contacts,
        parentIdFieldName: "AccountId")
      let up = ParentChildrenSyncUpTarget(
        parent: parent, children: children, relationshipType: .lookup, createFieldlist: ["Name"],
        updateFieldlist: ["Name"], childrenCreateFieldlist: ["LastName"],
        childrenUpdateFieldlist: ["LastName"])
      let local = try await device.create(["Name": "Field"])
      try await device.store.upsert(
        entries: (0..<30).map { number in
          [
            "Id": .string(device.manager.createLocalId()), "LastName": .string("Worker \(number)"),
            "AccountId": .string(local), "attributes": ["type": "Contact"], "__local__": true,
            "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
          ]
        }, forSoupNamed: Self.contacts)
      device.org.clearRequestLog()
      let sent = try await device.manager.syncUp(
        target: up, options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      let state = try await sent.finished()
      #expect(
        state.totalSize == 1
          && device.org.requests == ["GET ", "POST /composite", "POST /composite"])
      #expect(try await device.manager.unsyncedRecords().isEmpty)
      #expect(try await device.org.count("Contact") == 30)
      let account = try #require(try await device.rows().first?["Id"]?.string)
      #expect(
        try await device.org.query("SELECT Id FROM Contact WHERE AccountId = '\(account)'").count
          == 30)

      // A user at the office deletes a worker and renames the account.
      device.later()
      let worker = try #require(
        try await device.org.query("SELECT Id FROM Contact ORDER BY Name LIMIT 1").first?["Id"]?
          .string)
      try await device.org.delete("Contact", id: worker)
      try await device.org.update("Account", id: account, ["Name": "Office"])
      device.later()
      let down = try await device.manager.syncDown(
        target: ParentChildrenSyncDownTarget(
          parent: parent, parentFieldlist: ["Name"], children: children,
          childrenFieldlist: ["LastName"], relationshipType: .lookup),
        options: SyncOptions(mergeMode: .overwrite), soupName: FieldDevice.soup)
      let brought = try await down.finished()
      #expect(try await device.rows().compactMap { $0["Name"]?.string } == ["Office"])
      let ghosts = try await device.manager.cleanResyncGhostCounts(forId: brought.id)
      // The deleted worker was never marked by this sync: it stays until it is.
      #expect(ghosts.removed == 0)
    }
  }
}
