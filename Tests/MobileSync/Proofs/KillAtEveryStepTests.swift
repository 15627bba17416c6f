import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Testing

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
  @Test func `twenty syncs of different stores run side by side`() async throws {
    let org = InMemoryOrg()
    org.pageSize = 5
    for number in 0..<20 { org.create("Account", ["Name": .string("n\(number)")]) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<20 {
        group.addTask {
          let device = try await Device.open(org)
          let down = try await device.manager.syncDown(
            targetJSON: ["type": "soql", "query": .string(Device.query)], soupName: Device.soup)
          _ = try await down.finished()
          try await device.create([["Name": .string("made by \(number)")]])
          _ = try await device.manager.syncUp(
            options: SyncOptions(fieldlist: ["Name"]), soupName: Device.soup
          ).finished()
          return try await device.dirtyRows().count
        }
      }
      for try await dirty in group { #expect(dirty == 0) }
    }
    #expect(org.records("Account").count == 40)
  }

  @Test func `a thousand stops and restarts leave a manager that works`() async throws {
    let steps = try await SyncSteps.synced(.leaveIfChanged)
    let manager = steps.device.manager
    var stopped = 0
    for number in 0..<1_000 {
      if number % 50 == 0 { steps.changeOnServer() }
      let run = try await manager.reSync(named: "down")
      await manager.stop()
      let restarted = try await manager.restart(restartStoppedSyncs: true)
      if await run.lastState()?.status == .stopped { stopped += 1 }
      for again in restarted { _ = await again.lastState() }
    }
    try await steps.run("down")
    let (here, there) = try await steps.sides()
    #expect(here == there)
    #expect(await !manager.isStopped)
    #expect(try await manager.syncs(with: .running).isEmpty)
    #expect(stopped <= 1_000)
  }
}
