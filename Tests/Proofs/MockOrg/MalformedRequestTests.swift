import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg
@testable import MockOrgTests

/// Requests that no client means: none of them may return 500, or change half of something.
@Suite struct MalformedRequestTests {
  @Test(arguments: [
    "", "{", "[]", "null", "1", "\"x\"", "{\"Name\":}", "{\"Name\":{}}",
    "{\"Name\":[1]}", "{\"attributes\":1}", "{\"\":1}", "{\"Name\":\"a\",\"Name\":\"b\"}x",
    String(repeating: "[", count: 3000), "\u{0}",
  ])
  func `a body that is none is a client's error`(body: String) async throws {
    let org = try OrgUnderTest()
    for (method, path) in [
      ("POST", "/sobjects/Account"), ("PATCH", "/sobjects/Account/001000000000000AAA"),
      ("POST", "/composite"), ("POST", "/composite/batch"), ("POST", "/composite/sobjects"),
      ("PATCH", "/composite/sobjects"), ("PATCH", "/composite/sobjects/Account/Id"),
      ("POST", "/composite/sobjects/Account"), ("POST", "/composite/tree/Account"),
    ] {
      let reply = await org.send(method, path, body)
      #expect((400..<500).contains(reply.status), "\(method) \(path): \(reply.text)")
      #expect(reply.json != nil)
    }
    #expect(try await org.org.count("Account") == 0)
  }

  @Test func `a body of another type is refused`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.send(
      "POST", "/sobjects/Account", "<x/>", headers: ["content-type": "application/pdf"])
    #expect(reply.status == 415)
  }

  @Test(arguments: [
    "/nope", "/services", "/services/data/v1.0", "/services/data/v66", "/services/data/v66.0/nope",
    "/services/data/v66.0/sobjects/Account/a/b/c", "/services/data/v66.0/composite/nope",
    "/services/data/v66.0/sobjects/%00", "/services/data/vNaN.0", "/%",
    "/services/data/v66.0/%zz",
  ])
  func `a path that is none is not found`(path: String) async throws {
    let org = try OrgUnderTest()
    let reply = await org.raw("GET", path, headers: ["authorization": "Bearer \(org.token)"])
    #expect(reply.status == 404, "\(reply.text)")
    #expect(reply.errorCode == "NOT_FOUND")
  }

  private static let rounds = 8
  private static let mutationsPerRound = Effort.times(300)

  /// Every request has a second of its own, so the stamps tell which records it changed.
  @Test(arguments: 0..<rounds)
  func
    `whatever a request looks like, it is answered, and never with 500, and leaves nothing half done`(
      round: Int
    ) async throws
  {
    var profile = MockOrgProfile(name: "Technician")
    profile.viewsAllData = false
    profile.modifiesAllData = false
    let org = try OrgUnderTest {
      $0.accessTokenLifetime = .seconds(10_000_000)
      $0.otherUsers = [
        MockOrgUser(username: "ted@x.example", firstName: "Ted", lastName: "Tech", profile: profile)
      ]
    }
    let seed = Effort.seed(20_260_515) &+ UInt64(round)
    // Every other round belongs to a user who sees some records only, among rules that he breaks.
    let user = org.org.users[round % 2]
    let token = org.org.sessions.open(userID: user.id, clientID: "app", now: OrgUnderTest.start)
    try await org.org.setSharing(.private, of: "Account")
    try await org.org.setSharing(.read, of: "Contact")
    try org.org.add(MockOrgDuplicateRule(object: "Contact", fields: ["Email"]))
    let account = try await org.made("Account", ["Name": "ab", "OwnerId": .string(user.id)])
    let contact = try await org.made(
      "Contact",
      ["LastName": "ab", "AccountId": .string(account), "OwnerId": .string(user.id)])
    try await org.made("Contact", ["LastName": "ac", "Email": "a@b.co"])
    var mutator = RequestMutator(seed: seed, account: account, contact: contact)
    var changes = 0
    for turn in 0..<Self.mutationsPerRound {
      org.clock.advance(by: .seconds(1))
      let request = mutator.next()
      var headers = request.headers
      headers["authorization"] = "Bearer \(token)"
      let reply = OrgUnderTest.Reply(
        await org.org.respond(
          to: OrgRequest(
            method: request.method, target: request.path, headers: headers, body: request.body),
          baseURL: "http://127.0.0.1:1"))
      let place = "seed \(seed), turn \(turn): \(request)\n\(reply.text.prefix(2000))"
      #expect((200..<500).contains(reply.status), "\(place)")
      if request.path.hasPrefix("/services/data"), request.method.uppercased() != "HEAD" {
        // Who asks for XML gets it.
        let isXML = request.headers["accept"] == "application/xml"
        #expect(reply.text.isEmpty || reply.json != nil || isXML, "\(place)")
      }
      let changed = try await org.changedNow()
      if changed > 0 { changes += 1 }
      if reply.status >= 400 || reply.saysUndone { #expect(changed == 0, "\(place)") }
      let successes = reply.successes
      if request.method.uppercased() == "POST" || request.method.uppercased() == "PATCH",
        request.path.contains("/composite/sobjects")
      {
        #expect(changed == successes || reply.json?.kind != .array, "\(changed) \(place)")
      }
    }
    #expect(changes > Self.mutationsPerRound / 100, "seed \(seed)")
    let check = try await org.org.database.read {
      try String.fetchOne($0, sql: "PRAGMA integrity_check")
    }
    #expect(check == "ok")
  }
}

extension OrgUnderTest {
  /// How many records bear the stamp of this second.
  fileprivate func changedNow() async throws -> Int {
    let stamp = DateText.dateTime(clock.now)
    let tables = org.schema.objects.map(\.table.name)
    return try await org.database.read { database in
      var count = 0
      for table in tables {
        count +=
          try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM \(table) WHERE \"SystemModstamp\" = ?",
            arguments: [stamp]) ?? 0
      }
      return count
    }
  }
}

extension OrgUnderTest.Reply {
  /// Whether the response says that all of it was undone.
  fileprivate var saysUndone: Bool {
    text.contains("\"ALL_OR_NONE_OPERATION_ROLLED_BACK\"")
      || text.contains("The transaction was rolled back")
      || text.contains("\"hasErrors\":true,\"results\":[{\"referenceId\"")
  }

  /// The records of a list of results that were changed.
  fileprivate var successes: Int {
    guard let json, json.kind == .array else { return 0 }
    return json.elements.count { $0["success"]?.bool == true }
  }
}
