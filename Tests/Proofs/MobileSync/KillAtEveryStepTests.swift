import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Testing
import TestSupport
@testable import MobileSyncTests

/// Does the next run make up for a process that was killed in the middle of one?
@Suite struct KillAtEveryStepTests {
  @Test(arguments: SyncSteps.modes, [false, true])
  func `a sync down that was killed at any request is made up for with one page more at most`(
    mode: SyncMergeMode, isDone: Bool
  ) async throws {
    let pages = 3
    for number in 1...(pages + 1) {
      let steps = try await SyncSteps.synced(mode)
      steps.changeOnServer()
      guard try await steps.kill("down", at: number, isDone: isDone) else {
        #expect(number == pages + 1)
        break
      }
      try await steps.run("down")
      let (here, there) = try await steps.sides()
      #expect(here == there)
      #expect(try await steps.device.dirtyRows().isEmpty)
      // The page that was on its way, the one that was being saved, and the last record of the one
      // before, which comes again and may need a page of these three.
      #expect(steps.org.requests.count <= pages + 3)
    }
  }

  @Test(arguments: SyncSteps.modes, [false, true])
  func `a sync up that was killed at any request is made up for with one batch more at most`(
    mode: SyncMergeMode, isDone: Bool
  ) async throws {
    for number in 1... {
      let steps = try await SyncSteps.synced(mode)
      try await change(steps)
      guard try await steps.kill("up", at: number, isDone: isDone) else {
        #expect(number > 4)
        break
      }
      try await steps.run("up")
      try await steps.run("down")
      let (here, there) = try await steps.sides()
      #expect(here == there)
      #expect(there.count == 10)
      #expect(there.values.count { $0[0] == "mine" } == 4)
      #expect(try await steps.device.dirtyRows().isEmpty)
      #expect(try await steps.device.store.conflicts().isEmpty)
    }
  }

  /// Four edits, two new records, one deletion.
  private func change(_ steps: SyncSteps) async throws {
    for id in steps.ids.prefix(4) { try await steps.device.edit(id, ["Name": "mine"]) }
    try await steps.device.create([["Name": "new 1"], ["Name": "new 2"]])
    try await steps.device.delete(steps.ids[8])
  }

  @Test func `a sync up in mode MERGE_FIELDS costs one batch more after a kill`() async throws {
    let ideal = try await SyncSteps.synced(.mergeFields)
    try await change(ideal)
    try await ideal.run("up")
    let count = ideal.org.requests.count
    for number in 1...count {
      let steps = try await SyncSteps.synced(.mergeFields)
      try await change(steps)
      #expect(try await steps.kill("up", at: number, isDone: true))
      try await steps.run("up")
      // The batch again, and once more each: what is there, and which creations were lost.
      #expect(steps.org.requests.count <= count + 3)
    }
  }
}

/// Do many syncs at once, and many stops, come to a good end?
@Suite struct ManySyncsTests {
  @Test(.covers("MS-14"), .timeLimit(.minutes(5)))
  func `twenty syncs of different stores run side by side`()
    async throws
  {
    let count = 20
    let org = InMemoryOrg()
    org.pageSize = 5
    for number in 0..<count { org.create("Account", ["Name": .string("n\(number)")]) }
    var devices: [Device] = []
    for _ in 0..<count { devices.append(try await Device.open(org)) }
    // No request gets a response before all were sent.
    let latch = Latch()
    org.intervene { number, _ in
      if number == count { latch.open() }
      await latch.pass()
      return .none
    }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for (number, device) in devices.enumerated() {
        group.addTask {
          let down = try await device.manager.syncDown(
            targetJSON: ["type": "soql", "query": .string(Device.query)],
            options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
          _ = try await down.finished()
          try await device.create([["Name": .string("made by \(number)")]])
          _ = try await device.manager.syncUp(
            options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
          ).finished()
          return try await device.dirtyRows().count
        }
      }
      for try await dirty in group { #expect(dirty == 0) }
    }
    #expect(org.records("Account").count == 2 * count)
  }

  private enum Operation: CaseIterable { case down, up, ghosts }

  private func perform(
    _ operation: Operation, _ manager: SyncManager
  ) async -> SyncError.Code? {
    await syncErrorCode {
      switch operation {
      case .down: _ = try await manager.reSync(named: "down").finished()
      case .up: _ = try await manager.reSync(named: "up").finished()
      case .ghosts: _ = try await manager.cleanResyncGhosts(forName: "down")
      }
    }
  }

  @Test func `a thousand stops and restarts leave a manager that works`() async throws {
    let steps = try await SyncSteps.synced(.overwrite)
    let manager = steps.device.manager
    var stopped: [Operation: Int] = [:]
    for number in 0..<1_000 {
      let operation = Operation.allCases[number % 3]
      if number % 50 == 0 { steps.changeOnServer() }
      try await steps.device.edit(steps.ids[number % 9], ["Name": .string("mine \(number)")])
      // In every fourth one the stop comes for certain while a request is on its way.
      let latch = Latch()
      let isHeld = number % 4 == 0
      if isHeld {
        steps.org.intervene { _, _ in
          await latch.pass()
          return .none
        }
      }
      async let code = perform(operation, manager)
      if isHeld { await latch.arrival() }
      await manager.stop()
      latch.open()
      steps.org.intervene(nil)
      if isHeld {
        if await code == .stopped { stopped[operation, default: 0] += 1 }
      }
      for again in try await manager.restart(restartStoppedSyncs: true) {
        _ = await again.lastState()
      }
      _ = await code
    }
    // What is down to one request when it is stopped may be done: a sync up that has sent its only batch,
    // and ghosts if there are none.
    #expect(stopped[.down] == 84)
    for name in ["up", "down"] { try await steps.run(name) }
    let (here, there) = try await steps.sides()
    #expect(here == there && there.count == 9)
    #expect(try await steps.device.dirtyRows().isEmpty)
    #expect(await !manager.isStopped)
    #expect(try await manager.syncs(with: .running).isEmpty)
    // Nothing is left that costs more than in the beginning.
    steps.org.forgetRequests()
    try await steps.run("down")
    #expect(steps.org.requests.count == 1)
  }
}
