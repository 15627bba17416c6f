import BasicSyncUp
import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import ParentChildrenSync
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
import TestSupport

/// Does a soup hold one entry for each record, wherever the entry's server id comes from?
@Suite struct OneEntryTests {
  /// A sync up target whose records have an external id.
  enum Target: String, CaseIterable, Sendable {
    case collection, batch, basic, trees

    static let externalId = "Ext__c"
    static let parent = ParentInfo(
      sobjectType: "Account", soupName: Device.soup, externalIdFieldName: externalId)
    static let children = ChildrenInfo(
      sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
      parentIdFieldName: "AccountId", externalIdFieldName: externalId)
    static let fields = ["Name", "Phone", externalId]

    var up: any SyncUpTarget {
      let fields = SyncUpFields(externalIdFieldName: Self.externalId)
      return switch self {
      case .collection: CollectionSyncUpTarget(fields: fields)
      case .batch: BatchSyncUpTarget(fields: fields)
      case .basic: BasicSyncUpTarget(fields: fields)
      case .trees:
        ParentChildrenSyncUpTarget(
          parent: Self.parent, children: Self.children, relationshipType: .lookup,
          childrenCreateFieldlist: ["LastName", Self.externalId],
          childrenUpdateFieldlist: ["LastName", Self.externalId])
      }
    }

    func down() throws -> any SyncDownTarget {
      if self == .trees {
        return ParentChildrenSyncDownTarget(
          parent: Self.parent, parentFieldlist: Self.fields, children: Self.children,
          childrenFieldlist: ["LastName", Self.externalId, "AccountId"], relationshipType: .lookup)
      }
      return try SoqlSyncDownTarget(
        query: "select Id, Name, Phone, Ext__c, LastModifiedDate from Account")
    }
  }

  static let modes = [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields]

  /// A device with a sync in each direction.
  private func device(
    _ target: Target, _ mode: SyncMergeMode, down: SyncMergeMode? = nil
  ) async throws -> Device {
    let org = InMemoryOrg()
    org.setClock(SalesforceDateNow.milliseconds)
    org.relate("Contacts", parent: "Account", child: "Contact", by: "AccountId")
    let device = try await Device.open(org)
    try await device.registerSoup("contacts", "AccountId")
    _ = try await device.manager.createSyncUp(
      target: target.up, options: SyncOptions(mergeMode: mode, fieldlist: Target.fields),
      soupName: Device.soup, syncName: "up")
    _ = try await device.manager.createSyncDown(
      target: try target.down(), options: SyncOptions(mergeMode: down ?? mode),
      soupName: Device.soup, syncName: "down")
    return device
  }

  private func sync(_ name: String, _ device: Device) async throws {
    _ = try await device.manager.reSync(named: name).finished()
  }

  /// Every record has one entry, and every entry is as the server has its record.
  private func expectAgreement(
    _ device: Device, type: String = "Account", soup: String = Device.soup, _ fields: [String],
    count: Int
  ) async throws {
    let rows = try await device.rows(in: soup)
    let records = device.org.records(type)
    #expect(rows.count == count && records.count == count)
    #expect(try await device.dirtyRows(in: soup).isEmpty)
    func shape(_ values: [JSONValue]) -> [[String]] {
      values.map { value in (["Id"] + fields).map { value[$0]?.string ?? "" } }
        .sorted { $0[0] < $1[0] }
    }
    #expect(shape(rows) == shape(records.map { .object($0) }))
  }

  @Test(.covers("MS-195", "MS-210"), arguments: Target.allCases, modes)
  func `entries whose upsert was not acknowledged are one with what a download brings`(
    target: Target, mode: SyncMergeMode
  ) async throws {
    let device = try await device(target, mode)
    try await device.create(
      (1...5).map { ["Name": .string("n\($0)"), "Ext__c": .string("x\($0)")] })
    if target == .trees {
      for row in try await device.rows() {
        try await device.create(
          [
            [
              "LastName": "child", "AccountId": row["Id"] ?? .null,
              "Ext__c": .string("child of \(row["Name"]?.string ?? "")"),
            ]
          ], type: "Contact", in: "contacts")
      }
    }
    let made = try await device.rows().compactMap { $0["_soupEntryId"]?.int64 }
    device.org.intervene { _, request in
      request.line.hasPrefix("P") ? .dropResponse : .none
    }
    for _ in 1...5 { _ = await syncErrorCode { try await sync("up", device) } }
    device.org.intervene(nil)
    try await sync("down", device)
    try await sync("up", device)
    for _ in 1...2 {
      try await sync("down", device)
      try await sync("up", device)
    }
    try await expectAgreement(device, ["Name", "Ext__c"], count: 5)
    if target == .trees {
      try await expectAgreement(
        device, type: "Contact", soup: "contacts", ["LastName", "Ext__c", "AccountId"], count: 5)
    }
    #expect(try await device.rows().compactMap { $0["_soupEntryId"]?.int64 } == made)
    #expect(try await device.store.conflicts().isEmpty)
    // The next change of each record is downloaded as always.
    for record in device.org.records("Account") {
      device.org.update("Account", record["Id"]?.string ?? "", ["Phone": "changed"])
    }
    try await sync("down", device)
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 5)
  }

  @Test(.covers("MS-210", "MS-236"), arguments: Target.allCases)
  func `a record that was made again under the same external id has one entry`(
    target: Target
  ) async throws {
    let device = try await device(target, .overwrite)
    let old = device.org.create("Account", ["Name": "old", "Ext__c": "x"])
    try await sync("down", device)
    try await device.edit(old, ["Name": "mine"])
    device.org.delete("Account", old)
    let new = device.org.create("Account", ["Name": "new", "Ext__c": "x", "Phone": "1"])
    try await sync("down", device)
    #expect(try await device.rows().count == 2)
    try await sync("up", device)
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 1)
    #expect(try await device.rows().first?["_soupEntryId"] == 1)
    #expect(device.org.record("Account", new)?["Name"] == "mine")
    device.org.update("Account", new, ["Name": "theirs"])
    try await sync("down", device)
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 1)
  }

  @Test(arguments: Target.allCases)
  func `an edit stays if its record was replaced on the server and the upsert never arrived`(
    target: Target
  ) async throws {
    let device = try await device(target, .overwrite, down: .mergeFields)
    let old = device.org.create("Account", ["Name": "old", "Ext__c": "x", "Phone": "1"])
    try await sync("down", device)
    try await device.edit(old, ["Name": "mine"])
    device.org.delete("Account", old)
    let new = device.org.create("Account", ["Name": "theirs", "Ext__c": "x", "Phone": "2"])
    device.org.forgetRequests()
    device.org.intervene { number, _ in number == 2 ? .unreachable : .none }
    _ = await syncErrorCode { try await sync("up", device) }
    device.org.intervene(nil)
    #expect(device.org.record("Account", new)?["Name"] == "theirs")
    try await sync("down", device)
    let row = try #require(try await device.rows().first)
    #expect(row["Name"] == "mine" && row[SyncKeys.local] == true)
    // What was not edited here is as the server has it.
    #expect(row["Phone"] == "2")
    try await sync("up", device)
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 1)
    #expect(device.org.record("Account", new)?["Name"] == "mine")
  }

  @Test(arguments: Target.allCases, [SyncMergeMode.leaveIfChanged, .mergeFields])
  func `a create by external id does not replace what another user has under that id`(
    target: Target, mode: SyncMergeMode
  ) async throws {
    let device = try await device(target, mode)
    let other = device.org.create("Account", ["Name": "theirs", "Ext__c": "x", "Phone": "1"])
    let equal = device.org.create("Account", ["Name": "same", "Ext__c": "y"])
    try await device.create([
      ["Name": "mine", "Ext__c": "x"], ["Name": "same", "Ext__c": "y"],
      ["Name": "new", "Ext__c": "z"],
    ])
    try await sync("up", device)
    #expect(device.org.record("Account", other)?["Name"] == "theirs")
    let conflict = try #require(try await device.store.conflicts().first)
    #expect(conflict.kind == .fields && conflict.recordId == other)
    let field = conflict.fields.first { $0.name == "Name" }
    #expect(field?.mine == "mine" && field?.theirs == "theirs")
    #expect(try await device.dirtyRows().count == 1)
    #expect(try await device.row(equal)?["Name"] == "same")
    try await device.store.resolve(conflict, .mine)
    try await sync("up", device)
    #expect(device.org.record("Account", other)?["Name"] == "mine")
    #expect(device.org.record("Account", other)?["Phone"] == "1")
    try await sync("down", device)
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 3)
    #expect(try await device.store.conflicts().isEmpty)
  }

  @Test
  func
    `an entry that is created again has what is never sent as the record that replaced its own has it`()
    async throws
  {
    let device = try await device(.collection, .mergeFields)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(
        query: "select Id, Name, Ext__c, Stamp__c, LastModifiedDate from Account"),
      options: SyncOptions(mergeMode: .mergeFields), soupName: Device.soup, syncName: "stamps")
    let old = device.org.create("Account", ["Name": "old", "Ext__c": "x", "Stamp__c": "1"])
    try await sync("stamps", device)
    try await device.edit(old, ["Name": "mine"])
    device.org.delete("Account", old)
    device.org.create("Account", ["Name": "theirs", "Ext__c": "x", "Stamp__c": "2"])
    let decisions: [(SyncConflict.Kind, SyncResolution)] = [
      (.deletedThere, .mine), (.fields, .theirs),
    ]
    for (kind, decision) in decisions {
      try await sync("up", device)
      try await sync("stamps", device)
      let conflict = try #require(try await device.store.conflicts().first)
      #expect(conflict.kind == kind)
      #expect(conflict.fields.map(\.name) == ["Name"])
      try await device.store.resolve(conflict, decision)
    }
    for name in ["up", "stamps"] { try await sync(name, device) }
    try await expectAgreement(device, ["Name", "Ext__c", "Stamp__c"], count: 1)
    #expect(device.org.records("Account").first?["Name"] == "theirs")
  }

  @Test(arguments: Target.allCases, [SyncMergeMode.overwrite, .mergeFields])
  func `edits of a record and of the one that replaced it are both kept when one sync uploads them`(
    target: Target, down: SyncMergeMode
  ) async throws {
    let device = try await device(target, .overwrite, down: down)
    let old = device.org.create("Account", ["Name": "old", "Phone": "1", "Ext__c": "x"])
    try await sync("down", device)
    device.org.delete("Account", old)
    let new = device.org.create("Account", ["Name": "new", "Phone": "2", "Ext__c": "x"])
    try await sync("down", device)
    try await device.edit(old, ["Phone": "mine"])
    try await device.edit(new, ["Name": "mine"])
    try await sync("up", device)
    // Without base versions it is not known what was edited: then every different value is a choice.
    let conflicts = try await device.store.conflicts()
    #expect(conflicts.map(\.kind) == (down == .overwrite ? [.localEdits] : []))
    for conflict in conflicts {
      #expect(conflict.fields.contains { $0.mine == "mine" || $0.theirs == "mine" })
      try await device.store.resolve(conflict, .values(["Name": "mine", "Phone": "mine"]))
    }
    for name in ["up", "down"] { try await sync(name, device) }
    #expect(device.org.record("Account", new)?["Name"] == "mine")
    #expect(device.org.record("Account", new)?["Phone"] == "mine")
    try await expectAgreement(device, ["Name", "Ext__c", "Phone"], count: 1)
  }
}
