import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// What becomes of records that the server saved, but whose response was lost?
struct LostResponseTests {
  /// A way to lose a response after the work was done.
  struct Loss: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let action: MockOrgFault.Action
  }

  static let losses = [
    Loss(testDescription: "the connection is closed", action: .dropAfterCommit),
    Loss(testDescription: "the answer is cut off", action: .truncatedBody(at: 20)),
    Loss(testDescription: "the answer is garbled", action: .garbage),
  ]

  @Test(.covers("MS-195"), arguments: losses)
  func `a create without a response is known, and is not done twice`(
    loss: Loss
  ) async throws {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a", "Phone": "1"])
      try await device.create(["Name": "b"])
      device.org.add(
        MockOrgFault(method: "POST", path: "/composite/sobjects", action: loss.action))
      let run = try await device.syncUp()
      #expect(try await failure(of: run) != nil)
      // The first request is for the server's time. Nothing below repeats a request by itself: it would have made
      // both records twice.
      #expect(device.org.requests == ["GET ", "POST /composite/sobjects"])
      #expect(try await device.org.count("Account") == 2)
      #expect(
        try await device.manager.outcomes(forId: run.state.id).map(\.kind)
          == [.unanswered, .unanswered])
      #expect(try await device.dirtyRows().count == 2)

      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["a", "b"])
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("MS-195"))
  func `the app ends before the next run, and still nothing is done twice`()
    async throws
  {
    try await FieldDevice.with { device in
      let local = try await device.create(["Name": "a"])
      try await device.create(["Name": "b"])
      device.org.add(
        MockOrgFault(
          method: "POST", path: "/composite/sobjects", action: .dropAfterCommit))
      #expect(try await failure(of: try await device.syncUp()) != nil)
      device.later()

      let restarted = try await device.restarted()
      // Edited before anybody knows its fate.
      try await restarted.edit(local, ["Name": "a, edited"])
      _ = try await restarted.syncUp().finished()
      #expect(try await restarted.serverNames() == ["a, edited", "b"])
      #expect(try await restarted.dirtyRows().isEmpty)
      device.later()
      _ = try await restarted.syncDown().finished()
      #expect(try await restarted.differences().isEmpty)
      try await restarted.close()
    }
  }

  @Test(.covers("MS-195"))
  func `a create that never arrived is sent again`() async throws {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a"])
      device.org.add(
        MockOrgFault(
          method: "POST", path: "/composite/sobjects", count: nil, action: .dropBeforeCommit))
      #expect(try await failure(of: try await device.syncUp()) != nil)
      #expect(try await device.org.count("Account") == 0)
      device.org.removeAllFaults()
      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["a"])
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("MS-195"), arguments: losses)
  func `updates and deletions without a response are repeated, which changes nothing`(
    loss: Loss
  ) async throws {
    try await FieldDevice.with { device in
      let edited = try await device.org.create("Account", ["Name": "a"])
      let deleted = try await device.org.create("Account", ["Name": "b"])
      _ = try await device.syncDown().finished()
      try await device.edit(edited, ["Name": "a, edited"])
      try await device.delete(deleted)
      for method in ["PATCH", "DELETE"] {
        device.org.add(
          MockOrgFault(method: method, path: "/composite/sobjects", action: loss.action))
      }
      #expect(try await failure(of: try await device.syncUp()) != nil)
      #expect(try await device.dirtyRows().count == 2)
      // On a closed connection libcurl repeats a request without a body, such as a deletion, by itself.
      for _ in 0..<2 where try await !device.dirtyRows().isEmpty {
        _ = try await failure(of: try await device.syncUp())
      }
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.serverNames() == ["a, edited"])
      #expect(try await device.rows().count == 1)
      #expect(try await device.differences().isEmpty)
    }
  }
}
