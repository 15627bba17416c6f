import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Testing
import TestSupport

/// What does a response that cannot be used do to a sync? It fails with the error that names the
/// trouble; what was there stays, and the next run converges.
struct BadResponseTests {
  /// A way to spoil the second of three pages.
  struct BadPage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let action: MockOrgFault.Action
    let code: SyncError.Code
    var status: Int?

    init(_ name: String, _ code: SyncError.Code, status: Int? = nil, _ action: MockOrgFault.Action)
    {
      testDescription = name
      self.action = action
      self.code = code
      self.status = status
    }
  }

  static let pages = [
    BadPage("text that is no JSON", .unexpectedResponse, status: 200, .garbage),
    BadPage(
      "JSON whose last byte is missing", .unexpectedResponse, status: 200,
      .editedBody { Array($0.dropLast()) }),
    BadPage(
      "JSON without records", .unexpectedResponse,
      .editedBody { _ in Array(#"{"totalSize":450,"done":true}"#.utf8) }),
    BadPage("an empty body", .unexpectedResponse, status: 200, .editedBody { _ in [] }),
    BadPage(
      "records without ids", .recordWithoutId,
      .editedBody {
        Array(String(decoding: $0, as: UTF8.self).replacing(#""Id":"#, with: #""Key":"#).utf8)
      }),
    BadPage(
      "one record without an id among many", .recordWithoutId,
      .editedBody { body in
        let text = String(decoding: body, as: UTF8.self)
        guard let range = text.ranges(of: #""Id":"#).last else { return body }
        return Array(text.replacingCharacters(in: range, with: #""Key":"#).utf8)
      }),
    BadPage("a body that is cut off", .transport, .truncatedBody(at: 20)),
    BadPage("a connection that is closed", .transport, .dropBeforeCommit),
    BadPage(
      "a 500", .server, status: 500,
      .status(500, body: #"[{"errorCode":"UNKNOWN_EXCEPTION","message":"An error"}]"#)),
    BadPage("a 503", .server, status: 503, .status(503, body: "busy")),
    BadPage(
      "a 404, as after a restart of the server", .server, status: 404,
      .status(404, body: #"[{"errorCode":"INVALID_QUERY_LOCATOR","message":"gone"}]"#)),
  ]

  @Test(.covers("MS-84"), arguments: pages)
  func `a bad second page keeps the first, and the next run converges`(
    bad: BadPage
  ) async throws {
    try await FieldDevice.with { device in
      // Three pages, each of a minute of its own: the watermark tells how far a run came.
      try await device.org.generate("Account", count: 200, seed: 1)
      let firstPage = Int64(device.clock.now.timeIntervalSince1970) * 1000
      device.later()
      try await device.org.generate("Account", count: 200, seed: 2)
      device.later()
      try await device.org.generate("Account", count: 50, seed: 3)
      let lastPage = Int64(device.clock.now.timeIntervalSince1970) * 1000
      device.org.add(MockOrgFault(path: "/query/", count: nil, action: bad.action))

      let run = try await device.syncDown(batchSize: 200)
      let failed = try #require(try await failure(of: run))
      #expect(failed.run.code == .failed)
      #expect(failed.reason.code == bad.code, "\(failed.reason)")
      #expect(failed.reason.status == bad.status)
      #expect(failed.reason.message.hasSuffix("."))
      // Whole pages or nothing.
      #expect(try await device.rows().count == 200)
      let state = try #require(try await device.manager.syncStatus(forId: run.state.id))
      #expect(state.status == .failed)
      #expect(state.maxTimeStamp == firstPage)
      #expect(state.progress < 100)
      #expect(!state.error.isEmpty)

      device.org.removeAllFaults()
      let again = try await device.syncDown().finished()
      #expect(again.status == .done)
      #expect(again.maxTimeStamp == lastPage)
      #expect(try await device.differences().isEmpty)
      #expect(try await device.rows().count == 450)
    }
  }

  @Test(.covers("MS-84"), arguments: pages)
  func `a bad first page changes nothing, edits included`(bad: BadPage) async throws {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      try await device.org.create("Account", ["Name": "b"])
      _ = try await device.syncDown(.overwrite).finished()
      try await device.edit(id, ["Name": "edited"])
      device.later()
      try await device.org.update("Account", id: id, ["Name": "changed"])
      let before = try await device.rows()
      device.org.add(MockOrgFault(path: "/query", count: nil, action: bad.action))
      let failed = try #require(try await failure(of: try await device.syncDown()))
      #expect(failed.reason.code == bad.code, "\(failed.reason)")
      #expect(try await device.rows() == before)

      device.org.removeAllFaults()
      _ = try await device.syncDown().finished()
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("MS-96"))
  func `a bad response while ghosts are searched removes nothing`() async throws {
    try await FieldDevice.with { device in
      for name in ["a", "b"] { try await device.org.create("Account", ["Name": .string(name)]) }
      _ = try await device.syncDown().finished()
      for action in [
        MockOrgFault.Action.garbage, .status(500), .truncatedBody(at: 20), .dropBeforeCommit,
        .editedBody { _ in Array(#"{"records":[{"Name":"x"}]}"#.utf8) },
      ] {
        device.org.add(MockOrgFault(path: "/query", count: nil, action: action))
        await #expect(throws: SyncError.self) {
          _ = try await device.manager.cleanResyncGhosts(forName: FieldDevice.downName)
        }
        device.org.removeAllFaults()
        #expect(try await device.rows().count == 2)
      }
    }
  }

  @Test(.covers("MS-215"), arguments: pages.filter { $0.code != .recordWithoutId })
  func `a bad response to a sync up leaves the edit dirty, and the next run sends it`(
    bad: BadPage
  ) async throws {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.edit(id, ["Name": "edited"])
      device.org.add(MockOrgFault(path: "/composite/sobjects", count: nil, action: bad.action))
      let run = try await device.syncUp()
      let failed = try #require(try await failure(of: run))
      #expect(failed.reason.code == bad.code, "\(failed.reason)")
      let dirty = try await device.dirtyRows()
      #expect(dirty.map { $0["Name"] } == ["edited"])
      let outcome = try await device.manager.outcomes(forId: run.state.id).map(\.kind)
      // Below 500 the server has said no; else it is unknown what it did.
      let isRefusal = bad.status.map { (400..<500).contains($0) } ?? false
      #expect(outcome == [isRefusal ? .rejected : .unanswered])

      device.org.removeAllFaults()
      _ = try await device.syncUp().finished()
      #expect(try await device.dirtyRows().isEmpty)
      #expect(try await device.serverNames() == ["edited"])
    }
  }
}
