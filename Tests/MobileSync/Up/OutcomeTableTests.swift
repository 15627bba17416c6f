import CollectionSyncUp
import Foundation
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import Testing
@testable import MobileSync

/// Has each record of a sync up the outcome, the reason and the count that the guide's table names?
@Suite struct OutcomeTableTests {
  typealias Kind = SyncRecordOutcome.Kind

  /// What happens to a sync up of one edited or created record.
  enum Course: String, CaseIterable, Sendable {
    case accepted, takenBack, fieldLeftOut, changedThere, mayExist, versionHidden, parentRefused,
      afterTheFailure, refused, busy, limitReached, responseLost

    /// The outcome of the record, and the code of its error.
    var expected: (kind: Kind, code: String?) {
      switch self {
      case .accepted: (.succeeded, nil)
      case .takenBack: (.nothingToDo, nil)
      case .fieldLeftOut: (.partial, "FIELDS_NOT_SENT")
      case .changedThere: (.conflict, nil)
      case .mayExist: (.conflict, "IN_DOUBT")
      case .versionHidden: (.undecided, "VERSION_UNKNOWN")
      case .parentRefused: (.waiting, nil)
      case .afterTheFailure: (.notSent, "NOT_SENT")
      case .refused: (.rejected, "REQUIRED_FIELD_MISSING")
      case .busy: (.rejected, "HTTP_503")
      case .limitReached: (.rejected, "HTTP_429")
      case .responseLost: (.unanswered, nil)
      }
    }
  }

  /// The kinds of the guide's table, and the count to which each belongs.
  private static func guide() throws -> [String: String] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    let text = try String(
      contentsOf: folder.appending(path: "Docs/Guides/Sync.md"), encoding: .utf8)
    let lines = text.split(separator: "\n").drop { !$0.hasPrefix("| outcome |") }
      .prefix { $0.hasPrefix("|") }.dropFirst(2)
    var counts: [String: String] = [:]
    for line in lines {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      let count = (cells.last ?? "").replacing("`", with: "")
      for kind in cells[0].replacing("`", with: "").split(separator: ", ") {
        counts[String(kind)] = count
      }
    }
    return counts
  }

  @Test func `the table has every kind, and its counts are those of the library`() throws {
    let guide = try Self.guide()
    let kinds: [Kind] = [
      .succeeded, .nothingToDo, .partial, .conflict, .undecided, .waiting, .notSent, .rejected,
      .inFlight, .unanswered,
    ]
    #expect(Set(guide.keys) == Set(kinds.map(\.rawValue)))
    for kind in kinds { #expect(guide[kind.rawValue] == Self.count(of: kind), "\(kind)") }
    #expect(Set(Course.allCases.map(\.expected.kind)).union([.inFlight]) == Set(kinds))
  }

  private static func count(of kind: Kind) -> String? {
    var counts = SyncOutcomeCounts()
    counts.add(kind)
    switch (counts.succeeded, counts.nothingToDo, counts.skipped, counts.failed) {
    case (1, 0, 0, 0): return "succeeded"
    case (0, 1, 0, 0): return "nothingToDo"
    case (0, 0, 1, 0): return "skipped"
    case (0, 0, 0, 1): return "failed"
    default: return nil
    }
  }

  @Test(arguments: Course.allCases)
  func `each course has its outcome and its reason, and is counted once`(
    course: Course
  ) async throws {
    let story = try await Story(course)
    let sync = try await story.run()
    let outcomes = try await story.device.manager.outcomes(forId: sync)
    let expected = course.expected
    let found = try #require(outcomes.first { $0.entryId == story.entryId })
    #expect(found.kind == expected.kind)
    if let code = expected.code { #expect(found.error?["statusCode"]?.string == code) }
    #expect(
      (found.error?["retryable"] == true) == [.busy, .limitReached].contains(course))
    let counts = try await story.device.manager.outcomeCounts(forId: sync)
    #expect(
      counts.succeeded + counts.nothingToDo + counts.skipped + counts.failed == outcomes.count)
    // Partial success, exit status 3, is what leaves a record unsynced.
    let isLeft = try await !story.device.dirtyRows().isEmpty
    #expect(isLeft == (counts.skipped + counts.failed > 0))
  }

  /// A device on which a course has begun.
  private struct Story {
    let org = InMemoryOrg()
    let device: Device
    let entryId: Int64
    private let syncId: Int64

    init(_ course: Course) async throws {
      org.setClock(SalesforceDateNow.milliseconds)
      device = try await Device.open(org)
      let id = org.create("Account", ["Name": "a", "Phone": "1"])
      _ = try await device.manager.createSyncDown(
        target: try SoqlSyncDownTarget(query: Device.query),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: Device.soup, syncName: "down")
      _ = try await device.manager.reSync(named: "down").finished()
      let mode: SyncMergeMode =
        [.changedThere, .versionHidden].contains(course) ? .leaveIfChanged : .overwrite
      syncId = try await device.manager.createSyncUp(
        target: CollectionSyncUpTarget(maxBatchSize: course == .afterTheFailure ? 1 : 200),
        options: SyncOptions(mergeMode: mode, fieldlist: ["Name", "ParentId"]),
        soupName: Device.soup, syncName: "up"
      ).id
      switch course {
      case .takenBack:
        try await device.create([["Id": "local_1", "Name": "b"]])
        try await device.delete("local_1")
      case .fieldLeftOut:
        _ = try await device.store.editRecord(id: id, in: Device.soup) { $0["Phone"] = "2" }
      case .changedThere:
        try await device.edit(id, ["Name": "mine"])
        org.update("Account", id, ["Name": "theirs"])
      case .versionHidden: try await device.edit(id, ["Name": "mine"])
      case .parentRefused:
        try await device.create([
          ["Id": "local_1", "Name": ""], ["Name": "b", "ParentId": "local_1"],
        ])
      case .refused: try await device.create([["Name": ""]])
      case .mayExist:
        try await device.create([["Name": "b", "ParentId": "001000000000008AAA"]])
      case .afterTheFailure: try await device.create([["Name": "b"], ["Name": "c"]])
      default: try await device.create([["Name": "b"]])
      }
      if course == .mayExist {
        org.intervene { _, request in request.line.hasPrefix("POST") ? .dropResponse : .none }
        _ = try? await device.manager.reSync(named: "up").finished()
        let made = try #require(org.records("Account").last?["Id"]?.string)
        org.update("Account", made, ["ParentId": "001000000000009AAA"])
      }
      org.intervene { _, request in
        let isSent = request.line.hasPrefix("POST /{v}/composite/sobjects")
        let isRead = request.line == "POST /{v}/composite/sobjects/Account"
        switch course {
        case .versionHidden where isRead: return .response(status: 400, body: "[]")
        case .busy where isSent:
          return .response(status: 503, body: #"[{"errorCode":"SERVER_UNAVAILABLE"}]"#)
        case .limitReached where isSent:
          return .response(status: 429, body: #"[{"errorCode":"REQUEST_LIMIT_EXCEEDED"}]"#)
        case .responseLost where isSent, .afterTheFailure where isSent: return .dropResponse
        default: return .none
        }
      }
      let rows = try await device.rows()
      entryId = try #require(rows.last?["_soupEntryId"]?.int64)
    }

    /// Runs the sync up, which may fail.
    func run() async throws -> Int64 {
      _ = try? await device.manager.reSync(named: "up").finished()
      return syncId
    }
  }
}
