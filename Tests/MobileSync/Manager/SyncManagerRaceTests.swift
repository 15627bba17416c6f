import CollectionSyncUp
import MobileSyncTestSupport
import SalesforceAnalytics
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import Synchronization
import Testing

@testable import MobileSync
import TestSupport

/// What happens when calls of one manager meet?
@Suite struct SyncManagerRaceTests {
  private func stored(_ device: Device) async throws -> SyncState {
    try await device.manager.createSyncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup, syncName: "a")
  }

  /// Keeps the store's writer busy while `body` runs, until it calls what it is given.
  private func whileWriting(
    _ device: Device, _ body: (_ letGo: @Sendable () -> Void) async throws -> Void
  ) async throws {
    let latch = Latch()
    let writing = Task {
      try await device.store.inTransaction { _ in latch.passBlocking() }
    }
    await latch.arrival()
    do {
      try await body { latch.open() }
    } catch {
      latch.open()
      throw error
    }
    latch.open()
    try await writing.value
  }

  /// Something that happened or not.
  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
  }

  @Test func `a sync up that is stopped and goes on after all keeps what it has reported`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "a"], ["Name": "b"]])
    await device.manager.close()
    let manager = try await SyncManager(
      store: device.store, sender: InterruptingSender(org: device.org), registry: device.registry)
    let state = try await manager.syncUp(
      target: CollectionSyncUpTarget(maxBatchSize: 1),
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]),
      soupName: Device.soup
    ).finished()
    #expect(try await manager.outcomes(forId: state.id).map(\.kind) == [.succeeded, .succeeded])
    // The server's time, two records, and the question whether the second is there already.
    #expect(device.org.requests.count == 4)
  }

  // close             start
  //                   submit, state being stored
  // close: waits
  //                   stored; closed by now
  // returns
  @Test(.covers("MS-13"))
  func `a close waits for the state of a start that is being stored`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let sync = try await stored(device)
    let submission = Latch()
    let isReady = Flag()
    await device.manager.close()
    let manager = try await SyncManager(
      store: device.store, sender: device.org, registry: device.registry,
      environment: SyncEnvironment(now: {
        if isReady.isSet { submission.arrive() }
        return 1
      }))
    isReady.set()
    let isClosed = Flag()
    var starting: Task<SyncRun, any Error>?
    var closing: Task<Void, Never>?
    try await whileWriting(device) { letGo in
      starting = Task { try await manager.reSync(id: sync.id) }
      await submission.arrival()
      closing = Task {
        await manager.close()
        isClosed.set()
      }
      while await syncErrorCode({ try await manager.checkAcceptingSyncs() }) != .closed {
        await Task.yield()
      }
      for _ in 0..<1_000 { await Task.yield() }
      #expect(!isClosed.isSet)
      letGo()
    }
    await closing?.value
    let atClose = try await manager.syncStatus(forId: sync.id)
    #expect(await syncErrorCode { _ = try await starting?.value } == .closed)
    #expect(try await manager.syncStatus(forId: sync.id) == atClose)
    #expect(device.org.requests.isEmpty)
    #expect(
      await syncErrorCode {
        _ = try await manager.createSyncUp(
          options: SyncOptions(mergeMode: .overwrite), soupName: "x")
      } == .closed)
  }

  @Test(.covers("MS-26"))
  func `a sync that is being deleted is not run, and never comes back`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let sync = try await stored(device)
    let manager = device.manager
    var deleting: Task<Void, any Error>?
    try await whileWriting(device) { letGo in
      deleting = Task { try await manager.deleteSync(forId: sync.id) }
      while await syncErrorCode({ try await manager.checkNotActive(sync.id) }) == nil {
        await Task.yield()
      }
      #expect(
        await syncErrorCode { _ = try await manager.reSync(id: sync.id) } == .alreadyRunning)
      letGo()
    }
    try await deleting?.value
    #expect(await syncErrorCode { _ = try await manager.reSync(id: sync.id) } == .doesNotExist)
    // As a call that had found it before it was deleted.
    #expect(await syncErrorCode { _ = try await manager.start(id: sync.id) } == .doesNotExist)
    let states = SyncStateStore(store: device.store)
    #expect(await syncErrorCode { try await states.save(sync) } == .doesNotExist)
    #expect(try await manager.syncs().isEmpty)
    #expect(await syncErrorCode { try await manager.checkNotActive(sync.id) } == nil)
  }

  @Test(.covers("MS-50", "MS-58"))
  func `a restart runs again what has ended as stopped and is not over yet`()
    async throws
  {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let sync = try await stored(device)
    let request = Latch()
    org.intervene { _, _ in
      await request.pass()
      return .none
    }
    let events = HeldEvents()
    await device.manager.close()
    let manager = try await SyncManager(
      store: device.store, sender: org, registry: device.registry,
      environment: SyncEnvironment(events: events))
    let run = try await manager.reSync(id: sync.id)
    await request.arrival()
    await manager.stop()
    request.open()
    // Its end is stored, and it is still active.
    await events.latch.arrival()
    #expect(try await manager.syncStatus(forId: sync.id)?.status == .stopped)
    let restarting = Task { try await manager.restart(restartStoppedSyncs: true) }
    while await syncErrorCode({ try await manager.checkAcceptingSyncs() }) != nil {
      await Task.yield()
    }
    events.latch.open()
    let runs = try await restarting.value
    #expect(runs.map(\.state.id) == [sync.id])
    #expect(await syncErrorCode { _ = try await run.finished() } == .stopped)
    #expect(try await runs.first?.finished().status == .done)
    #expect(try await device.rows().count == 1)
  }

  @Test(.covers("MS-58"))
  func `an operation that notices the stop after the restart goes on`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let manager = device.manager
    await manager.stop()
    #expect(await manager.endsAsStopped(1))
    try await manager.restart(restartStoppedSyncs: false)
    #expect(await !manager.endsAsStopped(1))
    // What it does then: once more, from what it has saved.
    var sync = try await stored(device)
    sync.maxTimeStamp = 1_000
    sync.progress = 50
    sync.resume()
    #expect(sync.maxTimeStamp == 999 && sync.progress == 50 && sync.totalSize == -1)
  }

  @Test(.covers("MS-48"), arguments: [false, true])
  func `a run that is restarted while it stops never reports less progress`(
    isDownload: Bool
  ) async throws {
    let device = try await Device.open(InMemoryOrg())
    for name in ["a", "b", "c", "d"] {
      if isDownload { device.org.create("Account", ["Name": .string(name)]) }
      if !isDownload { try await device.create([["Name": .string(name)]]) }
    }
    device.org.pageSize = 1
    await device.manager.close()
    let manager = try await SyncManager(
      store: device.store, sender: InterruptingSender(org: device.org, at: isDownload ? 4 : 5),
      registry: device.registry)
    let run =
      isDownload
      ? try await manager.syncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      : try await manager.syncUp(
        target: CollectionSyncUpTarget(maxBatchSize: 1),
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    var reported: [Int] = []
    for await state in run.updates { reported.append(state.progress) }
    #expect(reported == reported.sorted() && reported.last == 100)
    #expect(reported.contains { (1..<100).contains($0) })
    #expect(try await device.rows().count == 4 && device.org.records("Account").count == 4)
    await manager.close()
  }
}

/// Takes events, each when the latch is open.
private final class HeldEvents: EventStore {
  let latch = Latch()

  func store(_ event: AnalyticsEvent) async { await latch.pass() }
}

/// Sends to an org, and once, in the place of a request, reports a stop that is over by then.
private final class InterruptingSender: SyncRequestSender {
  private let org: InMemoryOrg
  private let place: Int
  private let count = Mutex(0)

  init(org: InMemoryOrg, at place: Int = 2) {
    self.org = org
    self.place = place
  }

  func response(to request: RestRequest) async throws -> RestResponse {
    let number = count.withLock { count in
      count += 1
      return count
    }
    if number == place { throw StopSignal.Interruption.stopped }
    return try await org.response(to: request)
  }
}
