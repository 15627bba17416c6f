import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import Testing
import TestSupport
@testable import MobileSyncTests

/// Does an edit survive that is made while a sync runs, at whatever step?
@Suite struct EditsAtEveryStepTests {
  @Test(.covers("MS-70"), arguments: SyncSteps.modes)
  func `an edit at any step of a sync down stays, stays dirty and is uploaded next time`(
    mode: SyncMergeMode
  ) async throws {
    for number in 1... {
      let steps = try await SyncSteps.synced(mode)
      steps.changeOnServer()
      let edited = [steps.ids[0], steps.ids[4], steps.ids[8]]
      let device = steps.device
      let wasThere = try await steps.run("down", at: number) {
        for id in edited { try await device.edit(id, ["Phone": "mine"]) }
      }
      guard wasThere else {
        #expect(number == 4)
        break
      }
      for id in edited { #expect(try await device.row("Id", id)?["Phone"] == "mine") }
      #expect(try await device.dirtyRows().count == 3)
      if mode == .leaveIfChanged {
        // What others have written in the meantime comes first.
        _ = try await device.manager.syncUp(
          options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Phone"]), soupName: Device.soup
        ).finished()
      } else {
        try await steps.run("up")
      }
      for id in edited { #expect(steps.org.record("Account", id)?["Phone"] == "mine") }
      #expect(try await device.dirtyRows().isEmpty)
    }
  }

  @Test(.covers("MS-78"), arguments: SyncSteps.modes)
  func `an edit at any step of a sync up stays, stays dirty and is uploaded next time`(
    mode: SyncMergeMode
  ) async throws {
    for number in 1... {
      let steps = try await SyncSteps.synced(mode)
      let edited = Array(steps.ids.prefix(5))
      let device = steps.device
      for id in edited { try await device.edit(id, ["Phone": "first"]) }
      try await device.create([["Name": "new"]])
      let wasThere = try await steps.run("up", at: number) {
        for id in edited { try await device.edit(id, ["Phone": "later"]) }
        if let row = try await device.row("Name", "new"), let id = row["Id"]?.string {
          try await device.edit(id, ["Phone": "later"])
        }
      }
      guard wasThere else {
        #expect(number > 3)
        break
      }
      #expect(try await device.rows().filter { $0["Phone"] == "later" }.count == 6)
      try await steps.run("up")
      try await steps.run("down")
      let (here, there) = try await steps.sides()
      #expect(here == there)
      #expect(there.values.filter { $0[1] == "later" }.count == 6)
      #expect(try await device.dirtyRows().isEmpty)
    }
  }
}
