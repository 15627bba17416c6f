import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing
import TestSupport

/// Do the records of a soup come back that was emptied after their download?
@Suite struct EmptiedSoupTests {
  enum Emptying: CaseIterable, Sendable {
    case clear, clearAndCreate, removeAndRegister, removeAllSoupsAndRegister, removeEntries,
      removeByQuery

    func apply(to device: Device) async throws {
      let (store, soup) = (device.store, Device.soup)
      switch self {
      case .clear: try await store.clearSoup(soup)
      case .clearAndCreate:
        try await store.clearSoup(soup)
        try await store.createRecord(["Name": "local"], type: "Account", in: soup)
      case .removeAndRegister:
        try await store.removeSoup(soup)
        try await device.registerSoup(soup)
      case .removeAllSoupsAndRegister:
        // The soups of the syncs are the manager's.
        for name in try await store.allSoupNames() where !name.hasPrefix("syncs_") {
          try await store.removeSoup(name)
        }
        try await device.registerSoup(soup)
      case .removeEntries:
        let ids = try await device.rows().compactMap { $0["_soupEntryId"]?.int64 }
        for id in ids { try await store.remove(entryIds: [id], forSoupNamed: soup) }
      case .removeByQuery:
        try await store.removeEntries(
          usingQuerySpec: .buildAllQuerySpec(soupName: soup, pageSize: 1_000),
          forSoupNamed: soup)
      }
    }
  }

  private func device(_ count: Int, pageSize: Int = 2_000) async throws -> Device {
    let org = InMemoryOrg()
    org.pageSize = pageSize
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite),
      soupName: Device.soup, syncName: "down")
    return device
  }

  private func run(_ device: Device) async throws -> SyncState {
    try await device.manager.reSync(named: "down").finished()
  }

  private func downloaded(_ device: Device) async throws -> Int {
    try await device.rows().filter { $0[SyncKeys.locallyCreated]?.bool != true }.count
  }

  @Test(.covers("SS-61"), arguments: Emptying.allCases)
  func `everything comes back, and the stored sync says so at once`(emptying: Emptying) async throws
  {
    let device = try await device(5)
    #expect(try await run(device).totalSize == 5)
    device.org.create("Account", ["Name": "new"])
    try await emptying.apply(to: device)
    let stored = try #require(try await device.manager.syncStatus(forName: "down"))
    #expect(stored.maxTimeStamp == -1)
    #expect(try await device.store.sync(named: "down")?.maxTimeStamp == -1)
    #expect(try await run(device).totalSize == 6)
    #expect(try await downloaded(device) == 6)
    #expect(try await run(device).totalSize == 0)
  }

  @Test(.covers("SS-61"))
  func `a soup that still has an entry of the download keeps the watermark`() async throws {
    let device = try await device(5)
    let done = try await run(device)
    let ids = try await device.rows().compactMap { $0["_soupEntryId"]?.int64 }
    try await device.store.remove(entryIds: Array(ids.dropFirst()), forSoupNamed: Device.soup)
    try await device.store.alterSoup(
      named: Device.soup,
      indexSpecs: try await device.store.indices(forSoupNamed: Device.soup)
        + [SoupIndex(path: "Name", type: .string)], reIndexData: true)
    #expect(
      try await device.manager.syncStatus(forName: "down")?.maxTimeStamp == done.maxTimeStamp)
    #expect(try await run(device).totalSize == 0)
  }

  @Test(.covers("SS-61"))
  func `a soup that is emptied during a run gets everything with the next one`() async throws {
    let device = try await device(6, pageSize: 2)
    let hasCleared = Mutex(false)
    device.org.intervene { number, _ in
      // The last page comes once the soup has the first ones.
      guard number == 3 else { return .none }
      try? await poll { try await !device.rows().isEmpty }
      try? await device.store.clearSoup(Device.soup)
      hasCleared.withLock { $0 = true }
      return .none
    }
    _ = try await run(device)
    device.org.intervene(nil)
    try #require(hasCleared.withLock { $0 })
    try #require(try await device.rows().count < 6)
    _ = try await run(device)
    #expect(try await device.rows().count == 6)
  }

  @Test(.covers("SS-61"))
  func `a sync that an earlier version has run downloads into an empty soup again`()
    async throws
  {
    let device = try await device(5)
    let done = try await run(device)
    try await device.store.clearSoup(Device.soup)
    try await device.changeStoredSync(done.id, ["downloaded": .null])
    #expect(try await run(device).totalSize == 5)
  }

  @Test(.covers("SS-61"))
  func `a download that was killed, and whose soup was emptied since, begins from the start`()
    async throws
  {
    let device = try await device(6, pageSize: 2)
    device.org.intervene { number, _ in number == 2 ? .unreachable : .none }
    let failed = try? await run(device)
    #expect(failed?.status != .done)
    device.org.intervene(nil)
    try #require(try await !device.rows().isEmpty)
    try await device.store.clearSoup(Device.soup)
    _ = try await run(device)
    #expect(try await device.rows().count == 6)
  }
}
