import BasicSyncUp
import BatchSyncUp
import BriefcaseSyncDown
import CollectionSyncUp
import MobileSync
import MobileSyncTestSupport
import MruSyncDown
import ParentChildrenSync
import RefreshSyncDown
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import SoslSyncDown
import TestSupport
import Testing
@testable import MobileSyncTests

/// Do runs cost the requests that the cost model says, whatever their size, with and without conflicts?
@Suite struct RequestCostTests {
  private static let sizes = [1, 25, 200, 201, 1_000]
  private static let parent = ParentInfo(sobjectType: "Account", soupName: Device.soup)
  private static let children = ChildrenInfo(
    sobjectType: "Contact", sobjectTypePlural: "Contacts", soupName: "contacts",
    parentIdFieldName: "AccountId")

  /// How many groups `count` records make.
  private static func groups(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

  /// A target, what its runs cost, and up to which size it is tried in the short form.
  struct Up: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let target: any SyncUpTarget
    let limit: Int
    /// Sending `count` edits.
    let sending: @Sendable (_ count: Int) -> Int
    /// Comparing `count` unchanged records in mode LEAVE_IF_CHANGED.
    let dates: @Sendable (_ count: Int) -> Int
    /// Asking for the values of `count` records.
    let values: @Sendable (_ count: Int) -> Int
  }

  static let ups = [
    Up(
      testDescription: "collection", target: CollectionSyncUpTarget(), limit: 1_000,
      sending: { groups($0, of: 200) }, dates: { groups($0, of: 2_000) },
      values: { groups($0, of: 2_000) }),
    Up(
      testDescription: "batch", target: BatchSyncUpTarget(), limit: 201,
      sending: { groups($0, of: 25) }, dates: { groups($0, of: 2_000) },
      values: { groups($0, of: 2_000) }),
    Up(
      testDescription: "basic", target: BasicSyncUpTarget(), limit: 25, sending: { $0 },
      dates: { $0 }, values: { $0 }),
    Up(
      testDescription: "parent-children",
      target: ParentChildrenSyncUpTarget(
        parent: parent, children: children, relationshipType: .lookup), limit: 25,
      sending: { $0 }, dates: { $0 + groups($0, of: 2_000) }, values: { groups($0, of: 2_000) }),
  ]

  struct Down: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let target: any SyncDownTarget
    let limit: Int
    /// Bringing `count` records for the first time.
    let cost: @Sendable (_ count: Int) -> Int
  }

  static let downs = [
    Down(
      testDescription: "SOQL", target: soql, limit: 1_000, cost: { groups($0, of: 2_000) }),
    Down(
      testDescription: "SOSL",
      target: known { try SoslSyncDownTarget(query: "FIND {a} RETURNING Account(Id, Name)") },
      limit: 201, cost: { _ in 1 }),
    Down(
      testDescription: "MRU",
      target: known { try MruSyncDownTarget(objectType: "Account", fieldlist: ["Name"]) },
      limit: 1_000, cost: { 1 + groups($0, of: 500) }),
    Down(
      testDescription: "refresh",
      target: known {
        try RefreshSyncDownTarget(
          soupName: Device.soup, objectType: "Account", fieldlist: ["Name"])
      }, limit: 1_000, cost: { groups($0, of: 500) }),
    Down(
      testDescription: "briefcase",
      target: BriefcaseSyncDownTarget(infos: [
        BriefcaseObjectInfo(sobjectType: "Account", soupName: Device.soup, fieldlist: ["Name"])
      ]), limit: 1_000, cost: { 2 * groups($0, of: 2_000) }),
    Down(
      testDescription: "parent-children",
      target: ParentChildrenSyncDownTarget(
        parent: parent, parentFieldlist: ["Name"], children: children,
        childrenFieldlist: ["LastName"], relationshipType: .lookup), limit: 1_000,
      cost: { groups($0, of: 2_000) }),
  ]

  private static let soql = known { try SoqlSyncDownTarget(query: Device.query) }

  private static func known<Target>(_ make: () throws -> Target) -> Target {
    do { return try make() } catch { preconditionFailure("\(error)") }
  }

  /// The sizes to try: the largest only where it is quick, unless there is time.
  private static func sizes(upTo limit: Int) -> [Int] {
    (sizes + [10_000]).filter { $0 <= limit || Effort.factor >= 20 }
  }

  private func device(_ count: Int) async throws -> (Device, [String]) {
    let org = InMemoryOrg()
    org.relate("Contacts", parent: "Account", child: "Contact", by: "AccountId", cascades: false)
    let ids = (0..<count).map { org.create("Account", ["Name": .string("n\($0)")]) }
    org.setRecent(ids)
    org.setFound(ids)
    org.setBriefcase(["Account": ids])
    let device = try await Device.open(org)
    try await device.registerSoup("contacts", "AccountId")
    return (device, ids)
  }

  /// Edits every row, as one transaction.
  private func editAll(_ device: Device, _ name: String) async throws {
    let rows = try await device.rows().map { row in
      var row = row
      row["Name"] = .string(name)
      row[SyncKeys.local] = true
      row[SyncKeys.locallyUpdated] = true
      return row
    }
    try await device.store.upsert(entries: rows, forSoupNamed: Device.soup)
  }

  @Test(.covers("MS-200", "MS-211", "MS-213", "MS-234"), arguments: ups)
  func `a sync up costs what it is said to cost`(up: Up) async throws {
    for count in Self.sizes(upTo: up.limit) {
      let (device, ids) = try await device(count)
      let down = try await device.manager.createSyncDown(
        target: Self.soql, options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      // Never run: while there is such a sync, the soup's records have bases.
      _ = try await device.manager.createSyncDown(
        target: Self.soql, options: SyncOptions(mergeMode: .mergeFields), soupName: Device.soup)
      func refresh() async throws {
        _ = try await device.manager.reSync(id: down.id).finished()
      }
      func cost(_ mode: SyncMergeMode) async throws -> Int {
        device.org.forgetRequests()
        try await send(up.target, mode, device)
        return device.org.requests.count
      }
      let (sending, dates, values) = (up.sending(count), up.dates(count), up.values(count))
      try await refresh()
      #expect(try await cost(.leaveIfChanged) == 0)
      for (mode, expected) in [
        (SyncMergeMode.overwrite, sending), (.leaveIfChanged, dates + sending),
        (.mergeFields, values + sending),
      ] {
        try await editAll(device, "\(mode)")
        #expect(try await cost(mode) == expected, "\(count) edits in mode \(mode)")
        #expect(try await device.dirtyRows().isEmpty)
        try await refresh()
      }
      // Everything was changed there, too: the questions alone.
      for mode in [SyncMergeMode.leaveIfChanged, .mergeFields] {
        try await editAll(device, "mine in \(mode)")
        for id in ids { device.org.update("Account", id, ["Name": .string("theirs \(mode)")]) }
        #expect(try await cost(mode) == values, "\(count) conflicts in mode \(mode)")
        #expect(try await device.dirtyRows().count == count)
        if mode == .leaveIfChanged { try await refresh() }
      }
    }
  }

  @Test(.covers("MS-229", "MS-234"), arguments: ups)
  func `deletions cost what edits cost`(up: Up) async throws {
    for count in Self.sizes(upTo: up.limit) where count <= 201 {
      let (device, ids) = try await device(count)
      try await device.download(ids)
      let rows = try await device.rows().map { row in
        var row = row
        row[SyncKeys.local] = true
        row[SyncKeys.locallyDeleted] = true
        return row
      }
      try await device.store.upsert(entries: rows, forSoupNamed: Device.soup)
      try await send(up.target, .overwrite, device)
      #expect(device.org.requests.count == up.sending(count), "\(count) deletions")
      #expect(try await device.rows().isEmpty)
      #expect(device.org.records("Account").isEmpty)
    }
  }

  private func send(
    _ target: some SyncUpTarget, _ mode: SyncMergeMode, _ device: Device
  ) async throws {
    _ = try await device.manager.syncUp(
      target: target, options: SyncOptions(mergeMode: mode, fieldlist: ["Name"]),
      soupName: Device.soup
    ).finished()
  }

  @Test(.covers("MS-109", "MS-132", "MS-167"), arguments: downs)
  func `a sync down costs what it is said to cost`(down: Down) async throws {
    for count in Self.sizes(upTo: down.limit) {
      for mode in [SyncMergeMode.overwrite, .leaveIfChanged, .mergeFields] {
        let (device, ids) = try await device(count)
        if down.target is RefreshSyncDownTarget { try await device.download(ids) }
        let cost = try await bring(down.target, mode, device)
        #expect(cost == down.cost(count), "\(count) records in mode \(mode)")
        #expect(try await device.rows().count == count)
        if mode == .overwrite { continue }
        // Rows that were edited on both sides cost nothing more.
        try await editAll(device, "mine")
        for id in ids { device.org.update("Account", id, ["Name": "theirs"]) }
        #expect(try await bring(down.target, mode, device) == cost, "\(count) conflicts")
        #expect(try await device.dirtyRows().count == count)
      }
    }
  }

  /// Runs a new sync down.
  ///
  /// - Returns: What it cost.
  private func bring(
    _ target: some SyncDownTarget, _ mode: SyncMergeMode, _ device: Device
  ) async throws -> Int {
    device.org.forgetRequests()
    _ = try await device.manager.syncDown(
      target: target, options: SyncOptions(mergeMode: mode), soupName: Device.soup
    ).finished()
    return device.org.requests.count
  }
}
