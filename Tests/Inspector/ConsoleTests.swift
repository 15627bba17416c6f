import FieldforceInspector
import Foundation
import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

/// Does the console run one SELECT, explain it, and let go of one that runs too long?
struct ConsoleTests {
  /// A statement without an end.
  private static let endless =
    "SELECT count(*) FROM (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n)"

  @Test(.covers("SS-223"), .covers("HT-68"))
  func `a statement gives columns, rows, total, time and the plan of a scan`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: (0..<5).map { #"{"title":"t\#($0)","other":\#($0)}"# })
    try await fixture.inspect { client in
      let path = "\(try await client.store())/query"
      let scan = try await client.post(
        path,
        [
          "smartSQL":
            "SELECT {notes:title}, {notes:other}, {notes:_soup} FROM {notes} WHERE {notes:other} >= ?",
          "args": [1], "pageSize": 3, "plan": true,
        ])
      let result = try scan.json
      #expect(scan.status == 200, "\(scan.text)")
      #expect(result["columns"]?[0]?.string == "title")
      #expect(result["columns"]?[2]?.kind == .null)
      #expect(result["rows"]?.count == 3)
      #expect(result["rows"]?[0]?[0]?.string == "t1")
      #expect(result["rows"]?[0]?[1]?.int64 == 1)
      #expect(result["total"]?.kind == .null)
      #expect((result["elapsedMilliseconds"]?.double ?? 0) > 0)
      #expect(result["plan"]?["rows"]?.description.contains("SCAN TABLE_1") == true)
      let last = try await client.post(
        path, ["smartSQL": "SELECT {notes:title} FROM {notes}", "pageSize": 3, "page": 1]
      ).json
      #expect(last["rows"]?.count == 2)
      #expect(last["total"]?.int64 == 5)
      let counted = try await client.post(
        path, ["smartSQL": "SELECT {notes:title} FROM {notes}", "pageSize": 3, "count": true]
      ).json
      #expect(counted["total"]?.int64 == 5)
    }
  }

  @Test(.covers("SS-223"), .covers("HT-68"))
  func `what is no query is refused with the store's words, and nothing is changed`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    try await fixture.inspect(access: .readWrite) { client in
      let path = "\(try await client.store())/query"
      for (text, args, expected) in [
        ("DELETE FROM {notes}", [], "refusedStatement"), ("  ", [], "invalidRequest"),
        ("SELECT 1 FROM {none}", [], "unknownSoup"), ("SELECT 1 FRO {notes}", [], "sql"),
        ("SELECT {notes:title} FROM {notes} WHERE {notes:title} = ?", [], "bindArgumentCount"),
        ("SELECT 1; DROP TABLE TABLE_1", [], "refusedStatement"),
      ] as [(String, [JSONValue], String)] {
        let response = try await client.post(
          path, ["smartSQL": .string(text), "args": .array(args)])
        #expect(response.error == expected, "\(text): \(response.text)")
      }
      for body: JSONValue in [
        ["smartSQL": 1], ["smartSQL": "SELECT 1", "args": 1],
        ["smartSQL": "SELECT 1", "pageSize": 0], ["smartSQL": "SELECT 1", "page": -1],
        ["smartSQL": "SELECT 1", "plan": "yes"],
      ] {
        #expect(try await client.post(path, body).error == "invalidRequest", "\(body)")
      }
      #expect(try await client.get(try await client.entries())["total"]?.int64 == 1)
    }
  }

  @Test(.covers("HT-68"))
  func `a statement without an end is interrupted when its time is over, and others run on`()
    async throws
  {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    var limits = InspectorLimits()
    limits.queryTime = .milliseconds(100)
    try await fixture.inspect(limits: limits) { client in
      let path = "\(try await client.store())/query"
      let endless = try await client.post(path, ["smartSQL": .string(Self.endless)])
      #expect(endless.status == 504)
      #expect(endless.error == "interrupted")
      #expect(try await client.post(path, ["smartSQL": "SELECT 1"]).status == 200)
    }
  }

  @Test(.covers("HT-68"))
  func `stopping the inspector ends a statement that is running`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(entries: [#"{"title":"a"}"#])
    let start = ContinuousClock.now
    try await fixture.inspect { client in
      let path = "\(try await client.store())/query"
      let running = Task { try? await client.post(path, ["smartSQL": .string(Self.endless)]) }
      // The statement is under way once another request has had its response.
      _ = try await client.get("status")
      await client.inspector.stop()
      _ = await running.value
    }
    #expect(ContinuousClock.now - start < .seconds(25))
  }

  @Test(.covers("HT-68"))
  func `long texts and large results are cut`() async throws {
    let fixture = try StoresFixture()
    try await fixture.fill(
      entries: (0..<10).map { #"{"title":"\#($0)\#(String(repeating: "é", count: 1_000))"}"# })
    var limits = InspectorLimits()
    limits.textCharacters = 10
    limits.resultBytes = 40
    try await fixture.inspect(limits: limits) { client in
      let result = try await client.post(
        "\(try await client.store())/query", ["smartSQL": "SELECT {notes:title} FROM {notes}"]
      ).json
      #expect(result["rows"]?[0]?[0]?.string == "0ééééééééé")
      #expect(result["cut"]?[0]?["pointer"]?.string == "/rows/0/0")
      #expect(result["cut"]?[0]?["characters"]?.int64 == 1_001)
      #expect((result["rows"]?.count ?? 0) < 5)
      #expect(result["total"]?.kind == .null)
    }
  }
}
