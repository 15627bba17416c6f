import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// `/updated`, `/deleted` and the conditions of requests.
@Suite struct ChangesTests {
  @Test func `a window names what changed in it, and counts whole minutes`() async throws {
    let org = try OrgUnderTest { $0.accessTokenLifetime = .seconds(86_400) }
    let old = try await org.made("Account", ["Name": "old"])
    org.clock.advance(by: .seconds(7200))
    let new = try await org.made("Account", ["Name": "new"])
    try await org.org.delete("Account", id: old)
    let window = "start=2026-05-15T13:59:59Z&end=2026-05-15T14:30:00Z"
    let updated = await org.send("GET", "/sobjects/Account/updated/?\(window)")
    #expect(updated.json?["ids"]?.elements.compactMap(\.string) == [new])
    #expect(updated.json?["latestDateCovered"]?.string == "2026-05-15T14:00:00.000+0000")
    let deleted = await org.send("GET", "/sobjects/Account/deleted/?\(window)")
    #expect(deleted.json?["deletedRecords"]?[0]?["id"]?.string == old)
    #expect(
      deleted.json?["deletedRecords"]?[0]?["deletedDate"]?.string == "2026-05-15T14:00:00.000+0000")
    #expect(deleted.json?["earliestDateAvailable"]?.string == "2026-04-15T14:00:00.000+0000")
  }

  @Test(arguments: [
    ("end=2026-05-15T12:00:00Z", "MISSING_ARGUMENT"),
    ("start=yesterday&end=2026-05-15T12:00:00Z", "INVALID_REPLICATION_DATE"),
    ("start=2026-05-15T12:00:00Z&end=2026-05-15T12:00:59Z", "INVALID_REPLICATION_DATE"),
    ("start=2026-01-01T12:00:00Z&end=2026-05-15T12:00:00Z", "INVALID_REPLICATION_DATE"),
  ])
  func `a window that is none is refused`(query: String, code: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.send("GET", "/sobjects/Account/updated?\(query)")
    #expect(reply.status == 400)
    #expect(reply.errorCode == code)
  }

  @Test func `a record that comes back from the bin counts as changed`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    try await org.org.delete("Account", id: id)
    org.clock.advance(by: .seconds(60))
    try await org.org.undelete("Account", id: id)
    let rows = try await org.org.query("SELECT Name, SystemModstamp FROM Account")
    #expect(rows[0]["SystemModstamp"]?.string == "2026-05-15T12:01:00.000+0000")
    let error = await #expect(throws: MockOrgError.self) {
      try await org.org.undelete("Account", id: id)
    }
    #expect(error?.message.hasPrefix("UNDELETE_FAILED") == true)
  }

  @Test func `a record changes only for who knows its present state`() async throws {
    let org = try OrgUnderTest()
    let id = try await org.made("Account", ["Name": "x"])
    let first = await org.send("GET", "/sobjects/Account/\(id)")
    let tag = try #require(first.header("ETag"))
    #expect(first.header("Last-Modified") == "Fri, 15 May 2026 12:00:00 GMT")
    let same = await org.send("GET", "/sobjects/Account/\(id)", headers: ["if-none-match": tag])
    #expect(same.status == 304 && same.text.isEmpty)
    let unchanged = await org.send(
      "GET", "/sobjects/Account/\(id)",
      headers: ["if-modified-since": "Fri, 15 May 2026 12:00:00 GMT"])
    #expect(unchanged.status == 304)

    org.clock.advance(by: .seconds(60))
    try await org.org.update("Account", id: id, ["Name": "y"])
    let again = await org.send("GET", "/sobjects/Account/\(id)", headers: ["if-none-match": tag])
    #expect(again.status == 200)
    #expect(again.header("ETag") != tag)
    for headers in [
      ["if-match": tag], ["if-unmodified-since": "Fri, 15 May 2026 12:00:30 GMT"],
    ] {
      let patch = await org.send(
        "PATCH", "/sobjects/Account/\(id)", #"{"Name":"z"}"#, headers: headers)
      #expect(patch.status == 412)
      #expect(patch.errorCode == "PRECONDITION_FAILED")
      let delete = await org.send("DELETE", "/sobjects/Account/\(id)", headers: headers)
      #expect(delete.status == 412)
    }
    let good = await org.send(
      "PATCH", "/sobjects/Account/\(id)", #"{"Name":"z"}"#,
      headers: ["if-unmodified-since": "Fri, 15 May 2026 12:01:00 GMT"])
    #expect(good.status == 204)
  }

  @Test func `a description is sent again only when the schema has changed`() async throws {
    let org = try OrgUnderTest()
    for path in [
      "/sobjects", "/sobjects/Account/describe", "/sobjects/Account/describe/layouts",
      "/sobjects/Account/describe/compactLayouts",
    ] {
      let first = await org.send("GET", path)
      let modified = try #require(first.header("Last-Modified"))
      let headers = ["if-modified-since": modified]
      #expect(await org.send("GET", path, headers: headers).status == 304)
    }
    org.clock.advance(by: .seconds(5))
    try await org.org.generate("Widget__c", count: 1)
    let changed = await org.send(
      "GET", "/sobjects", headers: ["if-modified-since": "Fri, 15 May 2026 12:00:00 GMT"])
    #expect(changed.status == 200)
    let bad = await org.send("GET", "/sobjects", headers: ["if-modified-since": "soon"])
    #expect(bad.errorCode == "INVALID_HEADER")
  }

  @Test func `the next window begins where nothing is passed over`() async throws {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "first"])
    org.clock.advance(by: .seconds(10))
    let window = "start=2026-05-15T11:00:00Z&end=2026-05-16T12:00:00Z"
    let first = await org.send("GET", "/sobjects/Account/updated?\(window)")
    org.clock.advance(by: .seconds(10))
    let late = try await org.made("Account", ["Name": "late, in the same minute"])
    org.clock.advance(by: .seconds(600))
    let covered = try #require(first.json?["latestDateCovered"]?.string)
    let next = await org.send(
      "GET",
      "/sobjects/Account/updated?start=\(PercentEncoding.encode(covered))&end=2026-05-16T12:00:00Z")
    #expect(next.json?["ids"]?.elements.contains { $0.string == late } == true, "\(next.text)")
  }
}
