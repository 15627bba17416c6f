import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// A user works without a network, others change the same records, and in the end both sides agree.
@Suite struct RoundTripTests {
  @Test(.covers("MS-197"))
  func `edits made offline meet changes on the server and both sides agree again`()
    async throws
  {
    try await FieldDevice.with { device in
      let org = device.org
      var ids: [String] = []
      for number in 0..<5 {
        ids.append(
          try await org.create(
            "Account", ["Name": .string("Account \(number)"), "Phone": .string("10\(number)")]))
      }
      let down = try await device.syncDown().finished()
      #expect(down.totalSize == 5)
      #expect(try await device.differences().isEmpty)

      // Offline: nothing goes over the wire.
      org.clearRequestLog()
      let localId = try await device.create(["Name": "Made in the field", "Phone": "1"])
      try await device.edit(ids[0], ["Name": "Edited in the field"])
      try await device.edit(ids[1], ["Name": "Edited on both sides, here"])
      try await device.delete(ids[2])
      #expect(org.requestLog.isEmpty)

      // At the same time, at the office.
      device.later()
      try await org.update("Account", id: ids[1], ["Name": "Edited on both sides, there"])
      try await org.delete("Account", id: ids[3])

      device.later()
      let up = try await device.syncUp(.leaveIfChanged).finished()
      var counts = try await device.manager.outcomeCounts(forId: up.id)
      #expect((counts.succeeded, counts.skipped, counts.failed) == (3, 1, 0))
      // The conflict is still here, still to be sent, and the server's record is untouched.
      let conflict = try await device.row(ids[1])
      #expect(conflict?["Name"] == "Edited on both sides, here")
      #expect(try await device.dirtyRows() == [conflict].compactMap(\.self))
      let kinds = try await device.manager.outcomes(forId: up.id)
        .filter { $0.kind == .conflict }
      #expect(kinds.count == 1)
      #expect(
        try await device.serverNames() == [
          "Account 4", "Edited in the field", "Edited on both sides, there", "Made in the field",
        ])
      // The new record has the server's id now.
      #expect(try await device.row(localId) == nil)

      // Resolved for the field.
      device.later()
      let settled = try await device.syncUp(.overwrite).finished()
      counts = try await device.manager.outcomeCounts(forId: settled.id)
      #expect((counts.succeeded, counts.skipped, counts.failed) == (1, 0, 0))
      #expect(try await device.dirtyRows().isEmpty)

      device.later()
      let again = try await device.syncDown().finished()
      #expect(again.totalSize == 3, "only what changed since comes down")
      #expect(try await device.differences() == [ids[3]])
      #expect(try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName) == 1)
      #expect(try await device.differences().isEmpty)

      let restarted = try await device.restarted()
      #expect(try await restarted.differences().isEmpty)
      #expect(try await restarted.syncDown().finished().totalSize == 0)
      try await restarted.close()
    }
  }

  @Test(.covers("MS-79"))
  func `a sync down that leaves edits alone brings everything else`() async throws {
    try await FieldDevice.with { device in
      let edited = try await device.org.create("Account", ["Name": "a"])
      let other = try await device.org.create("Account", ["Name": "b"])
      _ = try await device.syncDown(.leaveIfChanged).finished()
      try await device.edit(edited, ["Name": "a, edited"])
      device.later()
      try await device.org.update("Account", id: edited, ["Name": "a, from the server"])
      try await device.org.update("Account", id: other, ["Name": "b, from the server"])
      _ = try await device.syncDown().finished()
      #expect(try await device.row(edited)?["Name"] == "a, edited")
      #expect(try await device.row(other)?["Name"] == "b, from the server")
      #expect(try await device.differences() == [edited])
    }
  }

  @Test(.covers("MS-71"))
  func `a record that the server refuses stays dirty and says why, the others are uploaded`()
    async throws
  {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.create(["Name": "good"])
      let bad = try await device.create([
        "Name": "bad", "Phone": .string(String(repeating: "1", count: 200)),
      ])
      try await device.edit(id, ["Phone": "2"])
      let up = try await device.syncUp().finished()
      let counts = try await device.manager.outcomeCounts(forId: up.id)
      #expect((counts.succeeded, counts.failed) == (2, 1))
      let row = try #require(try await device.row(bad))
      #expect(try await device.dirtyRows() == [row])
      #expect(row[SyncKeys.lastError]?.string?.contains("STRING_TOO_LONG") == true)
      #expect(try await device.serverNames() == ["a", "good"])

      // Corrected, it is uploaded, and the words of the server are gone.
      try await device.edit(bad, ["Phone": "3"])
      _ = try await device.syncUp().finished()
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.rows().allSatisfy { $0[SyncKeys.lastError] == nil })
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("SS-26"))
  func `the files of a device show no text of a record`() async throws {
    try await FieldDevice.with { device in
      let words = (0..<50).map { "Confidential customer \($0)" }
      for word in words { try await device.org.create("Account", ["Name": .string(word)]) }
      _ = try await device.syncDown().finished()
      try await device.create(["Name": "Confidential draft"])
      let tokens = [device.server.info.accessToken, device.server.info.refreshToken]
      try await device.close()
      let needles = (tokens + ["Confidential"]).map { Data($0.utf8) }
      let files = FileManager.default.enumerator(atPath: device.folder.path)
      var searched = 0
      while let name = files?.nextObject() as? String {
        guard let contents = try? Data(contentsOf: device.folder.appending(path: name)) else {
          continue
        }
        searched += 1
        for needle in needles { #expect(contents.range(of: needle) == nil, "\(name)") }
      }
      #expect(searched >= 3)
    }
  }
}
