import MobileSync
import MobileSyncTestSupport
import SalesforceAnalytics
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import Testing
import TestSupport

@Suite struct SyncManagerTests {
  private func target() throws -> SoqlSyncDownTarget {
    try SoqlSyncDownTarget(query: Device.query)
  }

  private func org(_ count: Int, pageSize: Int = 2_000) -> InMemoryOrg {
    let org = InMemoryOrg()
    org.pageSize = pageSize
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    return org
  }

  // MARK: Stored syncs

  @Test(.covers("MS-17"))
  func `syncs live in a soup with three json1 indexes`() async throws {
    let device = try await Device.open(org(0))
    let indexes = try await device.store.indices(forSoupNamed: "syncs_soup")
    #expect(indexes.map(\.path) == ["type", "name", "status"])
    #expect(indexes.allSatisfy { $0.type == .json1 })
  }

  @Test(
    .covers("MS-17"),
    arguments: [
      ["type:string", "name:string"], ["type:json1", "name:json1"],
      ["type:string", "name:string", "status:string"],
    ])
  func `an old soup of syncs gets the three indexes and keeps its syncs`(
    old: [String]
  ) async throws {
    let device = try await Device.open(org(0))
    let sync = try await device.manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "mine")
    let running = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    var json = running.json
    json["status"] = "RUNNING"
    try await device.store.upsert(entries: [.object(json)], forSoupNamed: "syncs_soup")
    let indexes = old.map { text in
      let parts = text.split(separator: ":").map(String.init)
      return SoupIndex(path: parts[0], type: SoupIndexType(rawValue: parts[1]))
    }
    try await device.store.alterSoup(
      named: "syncs_soup", indexSpecs: indexes, reIndexData: true)
    let manager = try await device.restartProcess()
    let now = try await device.store.indices(forSoupNamed: "syncs_soup")
    #expect(now.map(\.path) == ["type", "name", "status"])
    #expect(now.allSatisfy { $0.type == .json1 })
    #expect(try await manager.syncStatus(forName: "mine") == sync)
    #expect(try await manager.syncStatus(forId: running.id)?.status == .stopped)
    #expect(try await manager.syncs().count == 2)
  }

  @Test(.covers("MS-18"))
  func `a new manager turns running syncs into stopped ones and no others`()
    async throws
  {
    let device = try await Device.open(org(0))
    var ids: [Int64: SyncStatus] = [:]
    for status in [SyncStatus.new, .stopped, .running, .done, .failed] {
      for isUp in [false, true] {
        let sync =
          isUp
          ? try await device.manager.createSyncUp(
            options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
          : try await device.manager.createSyncDown(
            target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
          )
        var json = sync.json
        json["status"] = .string(status.rawValue)
        try await device.store.upsert(entries: [.object(json)], forSoupNamed: "syncs_soup")
        ids[sync.id] = status
      }
    }
    let manager = try await device.restartProcess()
    for (id, status) in ids {
      let expected = status == .running ? .stopped : status
      #expect(try await manager.syncStatus(forId: id)?.status == expected)
    }
  }

  @Test(.covers("MS-23"))
  func `a name is used once, across both directions`() async throws {
    let device = try await Device.open(org(0))
    _ = try await device.manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "mine")
    let error = await #expect(throws: SyncError.self) {
      try await device.manager.createSyncUp(
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "mine")
    }
    #expect(error?.code == .nameInUse)
    #expect(error?.message.contains("already a sync with name: mine") == true)
    #expect(try await device.manager.syncs().count == 1)
    // MS-24: no name and an empty one are not names.
    for name in [nil, "", ""] as [String?] {
      _ = try await device.manager.createSyncUp(
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: name)
    }
    #expect(try await device.manager.syncs().count == 4)
  }

  @Test(.covers("MS-25", "MS-26"))
  func `unknown syncs are nil, deleted ones are gone`() async throws {
    let device = try await Device.open(org(0))
    let manager = device.manager
    #expect(try await manager.syncStatus(forId: -1) == nil)
    #expect(try await manager.syncStatus(forName: "x") == nil)
    #expect(try await !manager.hasSync(forName: "x"))
    let sync = try await manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "x")
    #expect(try await manager.hasSync(forName: "x"))
    #expect(try await manager.syncStatus(forName: "x") == sync)
    try await manager.deleteSync(forName: "x")
    #expect(try await manager.syncStatus(forId: sync.id) == nil)
    try await manager.deleteSync(forId: sync.id)
    try await manager.deleteSync(forName: "x")
  }

  @Test(.covers("MS-27"))
  func `all syncs with a status are found, however many`() async throws {
    let device = try await Device.open(org(0))
    let sync = try await device.manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    var json = sync.json
    json["_soupEntryId"] = nil
    try await device.store.upsert(
      entries: Array(repeating: .object(json), count: 1_100), forSoupNamed: "syncs_soup")
    #expect(try await device.manager.syncs(with: .new).count == 1_101)
    #expect(try await device.manager.syncs(with: .done).isEmpty)
  }

  @Test(.covers("MS-37"))
  func `making a sync runs nothing`() async throws {
    let org = org(1)
    let device = try await Device.open(org)
    let sync = try await device.manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(sync.status == .new && org.requests.isEmpty)
  }

  // MARK: Running

  @Test(.covers("MS-38", "MS-56"))
  func `a refused call leaves no sync behind`() async throws {
    let device = try await Device.open(org(0))
    let stored = try await device.manager.createSyncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "old")
    await device.manager.stop()
    let calls: [() async throws -> Void] = [
      {
        _ = try await device.manager.syncDown(
          target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      },
      {
        _ = try await device.manager.syncUp(
          options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      },
      { _ = try await device.manager.reSync(id: stored.id) },
      { _ = try await device.manager.reSync(named: "old") },
      { _ = try await device.manager.cleanResyncGhosts(forName: "old") },
      { try await device.manager.checkAcceptingSyncs() },
    ]
    for call in calls { #expect(await syncErrorCode(call) == .managerStopped) }
    #expect(try await device.manager.syncs().count == 1)
    _ = try await device.manager.createSyncUp(
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    try await device.manager.deleteSync(forName: "old")
  }

  @Test(.covers("MS-42"))
  func `existence is checked before anything else`() async throws {
    let device = try await Device.open(org(0))
    await device.manager.stop()
    #expect(await syncErrorCode { _ = try await device.manager.reSync(id: 99) } == .doesNotExist)
    #expect(
      await syncErrorCode { _ = try await device.manager.reSync(named: "no") } == .doesNotExist)
  }

  @Test(.covers("MS-15", "MS-41", "MS-26"))
  func `an active sync is neither run again nor deleted`() async throws {
    let org = org(1)
    let device = try await Device.open(org)
    let latch = Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    #expect(run.state.status == .running && run.state.progress == 0 && run.state.totalSize == -1)
    let id = run.state.id
    #expect(await syncErrorCode { _ = try await device.manager.reSync(id: id) } == .alreadyRunning)
    #expect(
      await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: id) }
        == .alreadyRunning)
    #expect(
      await syncErrorCode { try await device.manager.deleteSync(forId: id) } == .alreadyRunning)
    latch.open()
    #expect(try await run.finished().status == .done)
    #expect(try await device.manager.reSync(id: id).finished().id == id)
  }

  @Test(.covers("MS-50", "MS-361"))
  func `a sync can be started again as soon as its last update is seen`() async throws {
    let device = try await Device.open(org(3))
    var run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    for _ in 0..<5 {
      for await state in run.updates where state.status == .done {
        run = try await device.manager.reSync(id: state.id)
        break
      }
    }
    _ = try await run.finished()
  }

  @Test(.covers("BX-70", "MS-43"))
  func `a waiter that is cancelled leaves the run alone`() async throws {
    let org = org(1)
    let device = try await Device.open(org)
    let latch = Latch()
    org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let waiter = Task { try await run.finished() }
    await latch.arrival()
    waiter.cancel()
    await #expect(throws: CancellationError.self) { try await waiter.value }
    latch.open()
    #expect(try await run.finished().status == .done)
  }

  @Test(.covers("MS-315"))
  func `a run posts one event with its counts and times`() async throws {
    let device = try await Device.open(org(3))
    let done = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup
    )
    .finished()
    let event = try #require(device.events.events.last)
    #expect(device.events.events.count == 1 && event.name == "syncDown")
    #expect(event.attributes["numRecords"] == 3 && event.attributes["syncTarget"] == "soql")
    #expect(event.attributes["syncId"] == .integer(done.id))
    #expect(event.startTime == done.startTime && event.endTime == done.endTime)
  }

  // MARK: Stop and restart

  @Test(.covers("MS-14", "MS-330"))
  func `syncs run one after the other; stop and restart take them in order`()
    async throws
  {
    let org = org(30, pageSize: 10)
    let device = try await Device.open(org)
    let latch = Latch()
    // Pages are requested ahead: one is known by its place, not by its number.
    org.intervene { _, request in
      if request.line.hasSuffix("-10") { await latch.pass() }
      return .none
    }
    let first = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let second = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await latch.arrival()
    // The pages of the first sync; the second has not begun.
    #expect(org.requests.count <= 3)
    // The first page is saved before the stop.
    for await state in first.updates where state.progress == 33 { break }
    await device.manager.stop()
    #expect(await device.manager.isStopping)
    latch.open()
    #expect(await second.allUpdates() == ["RUNNING 0/-1", "STOPPED 0/-1"])
    #expect(await syncErrorCode { _ = try await first.finished() } == .stopped)
    let stopped = try #require(try await device.manager.syncStatus(forId: first.state.id))
    #expect(stopped.status == .stopped && stopped.progress == 33 && stopped.totalSize == 30)
    #expect(try await device.rows().count == 10)
    #expect(await device.manager.isStopped)

    org.intervene(nil)
    let runs = try await device.manager.restart(restartStoppedSyncs: true)
    #expect(runs.map(\.state.id) == [first.state.id, second.state.id])
    let ends = [try await runs[0].finished(), try await runs[1].finished()]
    #expect(ends[0].endTime <= ends[1].endTime)
    #expect(try await device.rows().count == 30)
  }

  @Test(.covers("MS-40", "MS-59"))
  func `a stopped sync resumes with the record that has the saved date`()
    async throws
  {
    let org = org(10, pageSize: 1)
    let device = try await Device.open(org)
    let latch = Latch()
    // Pages are requested ahead: one is known by its place, not by its number.
    org.intervene { _, request in
      if request.line.hasSuffix("-5") { await latch.pass() }
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
      syncName: "a")
    for await state in run.updates where state.progress == 50 { break }
    await device.manager.stop()
    latch.open()
    #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    let stopped = try #require(try await device.manager.syncStatus(forName: "a"))
    #expect(stopped.maxTimeStamp == org.now - 5_000 && stopped.progress == 50)
    #expect(try await device.rows().count == 5)
    org.intervene(nil)
    try await device.manager.restart(restartStoppedSyncs: false)
    let again = try await device.manager.reSync(named: "a")
    #expect(
      await again.allUpdates() == [
        "RUNNING 0/-1", "RUNNING 0/6", "RUNNING 16/6", "RUNNING 33/6", "RUNNING 50/6",
        "RUNNING 66/6", "RUNNING 83/6", "DONE 100/6",
      ])
    #expect(try await device.rows().count == 10)
  }

  @Test(.covers("MS-57"))
  func `restart without re-running leaves stopped syncs, and needs a stop`()
    async throws
  {
    let device = try await Device.open(org(0))
    let manager = device.manager
    #expect(
      await syncErrorCode { _ = try await manager.restart(restartStoppedSyncs: true) }
        == .cannotRestart)
    await manager.stop()
    #expect(await manager.isStopped)
    #expect(try await manager.restart(restartStoppedSyncs: false).isEmpty)
    try await manager.checkAcceptingSyncs()
  }

  @Test(.covers("MS-13", "MS-363"))
  func `a closed manager stores and delivers nothing more`() async throws {
    let org = org(30, pageSize: 10)
    let device = try await Device.open(org)
    let latch = Latch()
    // Pages are requested ahead: one is known by its place, not by its number.
    org.intervene { _, request in
      if request.line.hasSuffix("-10") { await latch.pass() }
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await latch.arrival()
    let manager = device.manager
    let closing = Task { await manager.close() }
    await Task.yield()
    latch.open()
    await closing.value
    let sync = try #require(try await manager.syncStatus(forId: run.state.id))
    #expect(sync.status == .running)
    #expect(await run.lastState() == nil)
    #expect(await syncErrorCode { _ = try await run.finished() } == .closed)
    #expect(await syncErrorCode { _ = try await manager.reSync(id: sync.id) } == .closed)
    #expect(
      await syncErrorCode { _ = try await manager.restart(restartStoppedSyncs: false) } == .closed)
    #expect(await manager.isStopped)
  }

  // MARK: Instances

  @Test(.covers("MS-9.1", "MS-11", "MS-12", "MS-13", "MS-318.1"))
  func `there is one manager per store until it is removed`()
    async throws
  {
    let device = try await Device.open(org(0))
    let other = try await Device.open(org(0))
    for device in [device, other] { await device.manager.close() }
    let managers = SyncManagerRegistry(registry: device.registry)
    let first = try await managers.sharedInstance(store: device.store, sender: device.org)
    let again = try await managers.sharedInstance(store: device.store, sender: device.org)
    let second = try await managers.sharedInstance(store: other.store, sender: other.org)
    #expect(first === again && first !== second)
    await managers.removeSharedInstance(store: device.store)
    #expect(await syncErrorCode { try await first.checkAcceptingSyncs() } == .closed)
    #expect(await syncErrorCode { try await second.checkAcceptingSyncs() } == nil)
    let new = try await managers.sharedInstance(store: device.store, sender: device.org)
    #expect(new !== first)
    await managers.removeSharedInstances(owner: .user(organizationId: "00D", userId: "005"))
    #expect(await syncErrorCode { try await new.checkAcceptingSyncs() } == nil)
    await managers.removeSharedInstances(owner: .global)
    #expect(await syncErrorCode { try await new.checkAcceptingSyncs() } == .closed)
    #expect(await syncErrorCode { try await second.checkAcceptingSyncs() } == .closed)
  }

  @Test(.covers("MS-329"))
  func `the same name in two stores is two syncs`() async throws {
    let first = try await Device.open(org(2))
    let second = try await Device.open(org(3))
    for device in [first, second] {
      _ = try await device.manager.syncDown(
        target: try target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup,
        syncName: "same"
      ).finished()
    }
    #expect(try await first.manager.syncStatus(forName: "same")?.totalSize == 2)
    try await first.manager.deleteSync(forName: "same")
    #expect(try await second.manager.syncStatus(forName: "same")?.totalSize == 3)
  }

  @Test func `what has not reached the server is counted per soup`() async throws {
    let device = try await Device.open(org(0))
    #expect(try await device.manager.unsyncedRecords().isEmpty)
    try await device.create([["Name": "a"], ["Name": "b"]])
    try await device.store.registerSoup(
      withName: "other", withIndices: [SoupIndex(path: "Name", type: .string)])
    #expect(try await device.manager.unsyncedRecords() == [Device.soup: 2])
  }

  @Test(.covers("BX-65.1", "MS-3"))
  func `local ids are created locally and do not repeat`() async throws {
    let device = try await Device.open(org(0))
    let ids = Set((0..<10_000).map { _ in device.manager.createLocalId() })
    #expect(ids.count == 10_000)
    #expect(ids.allSatisfy { SyncKeys.isLocalId($0) })
    #expect(!SyncKeys.isLocalId("001local_"))
  }
}
