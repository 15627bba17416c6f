import BatchSyncUp
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import MruSyncDown
import RefreshSyncDown
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// Can an id or a value end a text of a target's query early?
@Suite struct QuotedIdTests {
  private static let id = #"0'1\"#
  private static let literal = #"'0\'1\\'"#

  private func queries(_ org: InMemoryOrg) -> [String] {
    org.requests.compactMap { $0.query["q"] }
  }

  /// A device with an unedited row whose id has a quote.
  private func device(_ soups: String...) async throws -> Device {
    let device = try await Device.open(InMemoryOrg())
    for soup in soups { try await device.registerSoup(soup, "AccountId") }
    try await device.store.upsert(
      entries: [["Id": .string(Self.id), "Name": "a", SyncKeys.local: false]],
      forSoupNamed: Device.soup)
    return device
  }

  @Test(.covers("MS-295"))
  func `recent records are requested by quoted ids, and so are their ghosts`() async throws {
    let device = try await device()
    device.org.setRecent([Self.id])
    let target = try MruSyncDownTarget(objectType: "Account", fieldlist: ["Name"])
    let sync = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.store.upsert(
      entries: [
        [
          "Id": .string(Self.id), "Name": "a", SyncKeys.local: false,
          SyncKeys.syncId: .integer(sync.id),
        ]
      ], forSoupNamed: Device.soup, withExternalIdPath: "Id")
    _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
    #expect(
      queries(device.org) == [
        "select Name, Id, LastModifiedDate from Account where Id IN (\(Self.literal))",
        "select Id from Account where Id IN (\(Self.literal))",
      ])
  }

  @Test(.covers("MS-295"))
  func `records of a soup are refreshed by quoted ids, and so are their ghosts`() async throws {
    let device = try await device()
    let target = try RefreshSyncDownTarget(
      soupName: Device.soup, objectType: "Account", fieldlist: ["Name"])
    let sync = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    ).finished()
    try await device.store.upsert(
      entries: [
        [
          "Id": .string(Self.id), "Name": "a", SyncKeys.local: false,
          SyncKeys.syncId: .integer(sync.id),
        ]
      ], forSoupNamed: Device.soup, withExternalIdPath: "Id")
    _ = try await device.manager.cleanResyncGhosts(forId: sync.id)
    #expect(
      queries(device.org) == [
        "select Name, Id, LastModifiedDate from Account where Id IN (\(Self.literal))",
        "select Id from Account where Id IN (\(Self.literal))",
      ])
  }

  @Test(.covers("MS-295"), arguments: [true, false])
  func `a record that may have been sent is searched by its quoted external id`(
    inCollections: Bool
  ) async throws {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let fields = SyncUpFields(externalIdFieldName: "Ext__c")
    let target: any SyncUpTarget =
      inCollections ? CollectionSyncUpTarget(fields: fields) : BatchSyncUpTarget(fields: fields)
    try await device.create([["Name": "a", "Ext__c": .string(Self.id)]])
    org.intervene { _, _ in .dropResponse }
    let run = try await up(device, target)
    _ = try? await run.finished()
    org.intervene(nil)
    org.forgetRequests()
    _ = try await device.manager.reSync(id: run.state.id).finished()
    let searches = queries(org).filter { $0.contains("where Ext__c IN") }
    #expect(!searches.isEmpty)
    #expect(searches.allSatisfy { $0.hasSuffix("where Ext__c IN (\(Self.literal))") })
    #expect(org.records("Account").count == 1)
    #expect(try await device.dirtyRows().isEmpty)
  }

  private func up(_ device: Device, _ target: some SyncUpTarget) async throws -> SyncRun {
    try await device.manager.syncUp(
      target: target,
      options: SyncOptions(mergeMode: .mergeFields, fieldlist: ["Name", "Ext__c"]),
      soupName: Device.soup)
  }
}
