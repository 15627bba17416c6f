import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import TestSupport
import Testing

/// Do references follow records that the server has deleted and that are created again?
@Suite struct LostReferenceTests {
  private static let modes: [SyncMergeMode] = [.overwrite, .leaveIfChanged, .mergeFields]

  /// A device with two accounts, `a` and `b`, and the contact `c` of `a`, which has downloaded all of them.
  private struct Setup {
    let org: InMemoryOrg
    let device: Device
    let a: String
    let b: String
    let c: String

    init(_ mode: SyncMergeMode) async throws {
      org = InMemoryOrg()
      org.relate("Children", parent: "Account", child: "Account", by: "ParentId")
      org.relate("Contacts", parent: "Account", child: "Contact", by: "AccountId")
      a = org.create("Account", ["Name": "a"])
      b = org.create("Account", ["Name": "b"])
      c = org.create("Contact", ["Name": "c", "AccountId": .string(a)])
      device = try await Device.open(org)
      try await device.registerSoup("contacts")
      for (soup, type, link) in [
        (Device.soup, "Account", "ParentId"), ("contacts", "Contact", "AccountId"),
      ] {
        _ = try await device.manager.syncDown(
          target: SoqlSyncDownTarget(
            query: "select Id, Name, \(link), LastModifiedDate from \(type)"),
          options: SyncOptions(mergeMode: mode), soupName: soup, syncName: "down \(soup)"
        ).finished()
        _ = try await device.manager.createSyncUp(
          target: CollectionSyncUpTarget(),
          options: SyncOptions(mergeMode: mode, fieldlist: ["Name", link]), soupName: soup,
          syncName: soup)
      }
    }

    /// Uploads until nothing is left to do; records that are gone on the server are created again.
    func upload(_ soups: [String] = [Device.soup]) async throws {
      for _ in 0..<6 {
        for soup in soups {
          do {
            _ = try await device.manager.reSync(named: soup).finished()
          } catch is SyncError {
            // A response was lost.
          }
          for conflict in try await device.store.conflicts() {
            #expect(conflict.kind == .deletedThere)
            try await device.store.resolve(conflict, .mine)
          }
        }
      }
      #expect(try await device.manager.unsyncedRecords().isEmpty)
    }

    /// The names to which the server's records refer, by name.
    func shape() -> [String: String?] {
      let records = ["Account", "Contact"].flatMap { org.records($0) }
      let names = Dictionary(
        records.map { ($0["Id"]?.string ?? "", $0["Name"]?.string ?? "") },
        uniquingKeysWith: { first, _ in first })
      return Dictionary(
        records.map { record in
          let link = record["ParentId"]?.string ?? record["AccountId"]?.string
          return (record["Name"]?.string ?? "", link.map { names[$0] ?? "nowhere" })
        }, uniquingKeysWith: { first, _ in first })
    }
  }

  @Test(arguments: modes, 0...5)
  func `a lost record that refers to itself is created again and refers to itself`(
    mode: SyncMergeMode, lostResponse: Int
  ) async throws {
    let setup = try await Setup(mode)
    setup.org.delete("Account", setup.a)
    setup.org.delete("Contact", setup.c)
    try await setup.device.edit(setup.a, ["ParentId": .string(setup.a)])
    let first = setup.org.requests.count
    setup.org.intervene { number, _ in number == first + lostResponse ? .dropResponse : .none }
    try await setup.upload()
    #expect(setup.shape() == ["a": "a", "b": nil])
    #expect(setup.org.records("Account").count == 2)
    let row = try #require(try await setup.device.row("Name", "a"))
    #expect(row["ParentId"] == row["Id"] && row["Id"]?.string != setup.a)
  }

  @Test(arguments: modes, 0...6)
  func `lost records that refer to each other are created again and refer to each other`(
    mode: SyncMergeMode, lostResponse: Int
  ) async throws {
    let setup = try await Setup(mode)
    for id in [setup.a, setup.b] { setup.org.delete("Account", id) }
    setup.org.delete("Contact", setup.c)
    try await setup.device.edit(setup.a, ["ParentId": .string(setup.b)])
    try await setup.device.edit(setup.b, ["ParentId": .string(setup.a)])
    let first = setup.org.requests.count
    setup.org.intervene { number, _ in number == first + lostResponse ? .dropResponse : .none }
    try await setup.upload()
    #expect(setup.shape() == ["a": "b", "b": "a"])
    #expect(setup.org.records("Account").count == 2)
  }

  @Test(arguments: modes)
  func `records that refer to a lost one follow it to its new id, in other soups too`(
    mode: SyncMergeMode
  ) async throws {
    let setup = try await Setup(mode)
    setup.org.delete("Account", setup.a)
    setup.org.delete("Contact", setup.c)
    try await setup.device.edit(setup.a, ["Name": "a2"])
    try await setup.device.edit(setup.b, ["ParentId": .string(setup.a)])
    try await setup.device.create([["Name": "n", "ParentId": .string(setup.a)]])
    try await setup.device.create(
      [["Name": "m", "AccountId": .string(setup.a)]], type: "Contact", in: "contacts")
    // The contacts go first, and are refused while their account is missing.
    try await setup.upload(["contacts", Device.soup])
    #expect(setup.shape() == ["a2": nil, "b": "a2", "n": "a2", "m": "a2"])
    #expect(setup.org.records("Account").count == 3)
  }

  @Test(.covers("MS-236"))
  func
    `a record that exists is not created twice because a lookup leads nowhere that creates lack`()
    async throws
  {
    let setup = try await Setup(.overwrite)
    setup.org.delete("Account", setup.b)
    try await setup.device.edit(setup.a, ["Name": "a2", "ParentId": .string(setup.b)])
    let run = try await setup.device.manager.syncUp(
      target: CollectionSyncUpTarget(
        fields: SyncUpFields(createFieldlist: ["Name"], updateFieldlist: ["Name", "ParentId"])),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    _ = try await run.finished()
    #expect(setup.org.records("Account").map { $0["Name"] } == ["a"])
    #expect(try await setup.device.manager.outcomes(forId: run.state.id).map(\.kind) == [.rejected])
    let row = try #require(try await setup.device.dirtyRows().first)
    #expect(row["Id"]?.string == setup.a && row["__last_error__"]?.string?.isEmpty == false)
  }

  @Test func `a reference that only the server has changed is left to the server`() async throws {
    let setup = try await Setup(.mergeFields)
    setup.org.delete("Account", setup.a)
    setup.org.update("Contact", setup.c, ["AccountId": .null])
    try await setup.device.edit(setup.a, ["Name": "a2"])
    try await setup.device.edit(setup.c, ["Name": "c2"], in: "contacts")
    try await setup.upload([Device.soup, "contacts"])
    #expect(setup.shape() == ["a2": nil, "b": nil, "c2": nil])
    let row = try await setup.device.row("Name", "c2", in: "contacts")
    #expect(row?["AccountId"] == .null)
  }
}
