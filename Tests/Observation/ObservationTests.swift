import FieldforceObservation
import MobileSync
import MobileSyncTestSupport
import Observation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Do views learn of new results and of the progress of syncs?
@MainActor @Suite struct ObservationTests {
  /// Waits until `condition` holds, and looks again only when the Observation framework reports a change.
  private func until(_ condition: () -> Bool) async {
    while true {
      let (changes, change) = AsyncStream.makeStream(of: Void.self)
      let isMet = withObservationTracking {
        condition()
      } onChange: {
        change.yield()
      }
      if isMet { return }
      for await _ in changes { break }
    }
  }

  private func all() throws -> QuerySpec {
    try .buildAllQuerySpec(soupName: Device.soup, orderPath: "_soupEntryId", pageSize: 100)
  }

  private func put(_ device: Device, _ name: String) async throws {
    _ = try await device.store.upsert(
      entries: [["Id": .string(name), "Name": .string(name)]], forSoupNamed: Device.soup)
  }

  @Test func `a live query has each new result, and keeps the last one after its end`() async throws
  {
    struct Account: Decodable, Sendable, Equatable { let Name: String }
    let device = try await Device.open(InMemoryOrg())
    let rows = LiveQuery(device.store, try all())
    let accounts = LiveQuery(device.store, try all(), as: Account.self)
    let count = LiveQuery(device.store) { reader in
      try reader.count(using: .buildAllQuerySpec(soupName: Device.soup, pageSize: 1))
    }
    #expect(rows.value == nil && !rows.isRunning)
    let tasks = [
      Task { await rows.run() }, Task { await accounts.run() }, Task { await count.run() },
    ]
    await until { rows.value == [] && accounts.value == [] && count.value == 0 }
    try await put(device, "Elm")
    try await put(device, "Oak")
    await until { rows.value?.count == 2 && accounts.value?.count == 2 && count.value == 2 }
    #expect(accounts.value == [Account(Name: "Elm"), Account(Name: "Oak")])
    #expect(rows.isRunning && rows.error == nil)
    // It follows already.
    await rows.run()
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    #expect(!rows.isRunning && rows.error == nil && rows.value?.count == 2)

    // And again.
    try await put(device, "Yew")
    let again = Task { await rows.run() }
    await until { rows.value?.count == 3 }
    again.cancel()
    await again.value
  }

  @Test func `a query that fails says why, and keeps its last result`() async throws {
    let device = try await Device.open(InMemoryOrg())
    try await device.registerSoup("gone")
    let rows = LiveQuery(device.store, try .buildAllQuerySpec(soupName: "gone", pageSize: 10))
    let task = Task { await rows.run() }
    await until { rows.value == [] }
    try await device.store.removeSoup("gone")
    await task.value
    #expect((rows.error as? SmartStoreError)?.code == .unknownSoup)
    #expect(rows.value == [] && !rows.isRunning)
  }

  @Test func `a sync shows its progress, its outcomes and its end`() async throws {
    let org = InMemoryOrg()
    for name in ["Elm", "Oak"] { org.create("Account", ["Name": .string(name)]) }
    let device = try await Device.open(org)
    _ = try await device.manager.createSyncDown(
      targetJSON: ["type": "soql", "query": .string(Device.query)],
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "down")
    let model = SyncModel(manager: device.manager, name: "down")
    #expect(model.state == nil && model.progress == 0)
    await model.load()
    #expect(model.state?.status == .new)
    let run = Task { await model.run() }
    await until { model.state?.status == .done }
    await run.value
    #expect(!model.isRunning)
    #expect(model.state?.status == .done && model.progress == 1 && model.error == nil)
    #expect(model.state?.totalSize == 2)
    #expect(model.counts == SyncOutcomeCounts() && model.problems.isEmpty)
  }

  @Test func `a sync up has the counts and what was not accepted, and a missing sync is an error`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    _ = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup,
      syncName: "up")
    _ = try await device.store.upsert(
      entries: [
        [
          "Id": .string(device.manager.createLocalId()), "Name": "Elm",
          "attributes": ["type": "Account"], "__local__": true, "__locally_created__": true,
          "__locally_updated__": false, "__locally_deleted__": false,
        ]
      ], forSoupNamed: Device.soup)
    let model = SyncModel(manager: device.manager, name: "up")
    await model.run()
    #expect(model.state?.status == .done && model.counts.succeeded == 1 && model.problems.isEmpty)
    let later = SyncModel(manager: device.manager, name: "up")
    await later.load()
    #expect(later.state == model.state && later.counts == model.counts)

    let missing = SyncModel(manager: device.manager, name: "nothing")
    await missing.load()
    #expect(missing.state == nil && missing.error == nil)
    await missing.run()
    #expect((missing.error as? SyncError)?.code == .doesNotExist && !missing.isRunning)
  }

  @Test func `the samples of the guide work`() async throws {
    struct Account: Decodable, Sendable { let Name: String }
    let device = try await Device.open(InMemoryOrg())
    let (store, manager) = (device.store, device.manager)
    _ = try await manager.createSyncDown(
      targetJSON: ["type": "soql", "query": .string(Device.query)],
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "accounts")
    // sample: observation
    let accounts = LiveQuery(
      store, try .buildAllQuerySpec(soupName: "accounts", orderPath: "Id", pageSize: 50),
      as: Account.self)
    let sync = SyncModel(manager: manager, name: "accounts")
    // end of sample
    // sample: observation-run
    let following = Task { await accounts.run() }
    await sync.run()
    // end of sample
    #expect(sync.error == nil)
    await until { accounts.value != nil }
    following.cancel()
    await following.value
  }
}
