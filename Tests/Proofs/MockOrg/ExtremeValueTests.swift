import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceMockOrg
@testable import MockOrgTests

/// Numbers, sizes, depths and types that no client means, in whatever the control endpoint, the login and
/// the resources read: none ends the process, and none is responded to with 500.
@Suite(.ownThreads) struct ExtremeValueTests {
  /// JSON values.
  private static let values =
    [
      "0", "-0", "-1", "1", "0.5", "1e-320", "1e300", "-1e300", "1e999", "-1e999",
      "9223372036854775807", "-9223372036854775808", "9223372036854775808", "18446744073709551616",
      "64092211199", "64092211200", "-8520336001", "3155760000000", "1e15", "1e18", "9.3e18",
      "null", "true", "\"\"", "\"1\"", "\"-1\"", "\"9223372036854775808\"", "[]", "{}", "[1]",
      "{\"a\":1}", "\"4000-12-31T23:59:59Z\"", "\"1700-01-01T00:00:00Z\"",
      "\"9999-12-31T00:00:00Z\"",
      "\"0000-00-00\"", "\"-292277022657-01-27T08:29:52Z\"", "\"\\u0000\"", "\"\\ud83d\\ude00\"",
      String(repeating: "[", count: 400) + String(repeating: "]", count: 400),
      "\"" + String(repeating: "x", count: 70_000) + "\"",
    ] + (500...512).map { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }

  /// Values in addresses and forms.
  private static let words = [
    "0", "-1", "1", "-0", "+1", "0.5", "1e300", "-1e300", "nan", "inf", "-inf", "0x7f",
    "9223372036854775807", "-9223372036854775808", "9223372036854775808", "99999999999999999999",
    "2147483648", "4294967296", "", "%20", "%00", "null", "true", "4000-12-31T23%3A59%3A59Z",
    "1700-01-01T00%3A00%3A00Z", "9999-12-31", "-1-01-01", "%F0%9F%98%80", "'", "\\",
    String(repeating: "9", count: 2000), String(repeating: "(", count: 500),
  ]

  private struct Draw {
    var random: SeededGenerator
    mutating func pick<T>(_ values: [T]) -> T {
      values[Int.random(in: 0..<values.count, using: &random)]
    }
    mutating func object(_ keys: [String]) -> String {
      let members = (0...Int.random(in: 0...2, using: &random)).map { _ in
        "\"\(pick(keys))\":\(pick(ExtremeValueTests.values))"
      }
      return "{\(members.joined(separator: ","))}"
    }
  }

  private static let faultKeys = [
    "probability", "seed", "skip", "count", "status", "headers", "body", "delayMilliseconds",
    "drop",
    "truncateAt", "trickleBytes", "everyMilliseconds", "replaceBody", "garbage", "session",
    "refuse",
    "lateCommitMilliseconds", "clockSkewMilliseconds",
  ]

  private static func controlRequest(_ draw: inout Draw) -> (String, String, String) {
    switch Int.random(in: 0..<9, using: &draw.random) {
    case 0: ("POST", "clock", draw.object(["advanceSeconds", "freezeAt", "run"]))
    case 1, 2: ("POST", "faults", draw.object(faultKeys))
    case 3: ("POST", "faults", "[\(draw.object(faultKeys)),\(draw.object(faultKeys))]")
    case 4:
      (
        "PUT", "briefcase",
        "[\(draw.object(["limit", "condition"]).dropLast()),\"object\":\"Account\"}]"
      )
    case 5:
      (
        "POST", "notifications",
        draw.object(["title", "body", "type", "target", "actions", "userId"]).dropLast()
          + ",\"title\":\"t\",\"body\":\"b\"}"
      )
    case 6: ("GET", "objects/Account?offset=\(draw.pick(words))", "")
    case 7: ("GET", "log?after=\(draw.pick(words))", "")
    default:
      (
        draw.pick(["PUT", "POST", "DELETE"]),
        "\(draw.pick(["snapshots", "faults", "sessions", "clock"]))/\(draw.pick(words))",
        draw.pick(values)
      )
    }
  }

  /// Requests on which clocks and faults act.
  private static func uses(_ info: ConnectionInfo) -> [(String, String, String)] {
    let data = "/services/data/v66.0"
    let query = PercentEncoding.encode(
      "SELECT Name FROM Account WHERE CreatedDate < NEXT_N_YEARS:1 AND CreatedDate > LAST_N_DAYS:3")
    return [
      ("POST", "\(data)/sobjects/Account", #"{"Name":"x"}"#),
      ("GET", "\(data)/query?q=\(query)", ""),
      ("GET", "\(data)/limits", ""), ("GET", "\(data)/connect/notifications", ""),
      ("GET", "\(data)/connect/briefcase/priming-records", ""), ("GET", "/services/data", ""),
      ("GET", "/id/\(info.organizationId)/\(info.userId)", ""),
      (
        "POST",
        "/services/oauth2/token?grant_type=password&client_id=\(info.clientId)&scope=openid"
          + "&username=\(info.username)&password=\(info.password)", ""
      ),
    ]
  }

  private static let rounds = 4

  @Test(arguments: 0..<rounds)
  func `whatever a test sends to the control endpoint, the org goes on responding`(
    round: Int
  ) async throws {
    let seed = Effort.seed(16_0616) &+ UInt64(round)
    var draw = Draw(random: SeededGenerator(seed: seed))
    try await withMockOrg { org, server in
      let port = try #require(server.url.port)
      let headers = [
        "Authorization": "Bearer \(server.info.accessToken)", "Content-Type": "application/json",
      ]
      for turn in 0..<Effort.times(50) {
        let (method, path, body) = Self.controlRequest(&draw)
        let place: Comment = "seed \(seed), turn \(turn): \(method) \(path) \(body.prefix(300))"
        let response = try RawResponse(
          method, "/mock-org/\(path)", port: port, headers: headers, body: Array(body.utf8))
        #expect((200..<500).contains(response.status), place)
        // What a client sends then may be delayed or dropped, so its response is not awaited.
        for (method, path, body) in Self.uses(server.info) {
          let token = org.sessions.open(
            userID: org.userID, clientID: server.info.clientId, now: org.options.clock.now)
          let connection = try RawConnection(port: port)
          connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n"
              + "Authorization: Bearer \(token)\r\nContent-Type: application/json\r\n"
              + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
          if org.script.rules.isEmpty { #expect(connection.bytesToEnd() != nil, place) }
        }
        let status = try RawResponse("GET", "/mock-org/status", port: port, headers: headers)
        #expect(status.status == 200, place)
        _ = try RawResponse("DELETE", "/mock-org/faults", port: port, headers: headers)
      }
      org.removeAllFaults()
      #expect(try RawResponse("GET", "/services/data", port: port).status == 200)
    }
  }

  private static let targets = [
    "/query?q=SELECT+Id+FROM+Account+LIMIT+*", "/query?q=SELECT+Id+FROM+Account+OFFSET+*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+AnnualRevenue=*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+NumberOfEmployees>*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+CreatedDate=LAST_N_DAYS:*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+CreatedDate>NEXT_N_FISCAL_YEARS:*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+CreatedDate<N_WEEKS_AGO:*",
    "/query?q=SELECT+Id+FROM+Account+WHERE+CreatedDate>*",
    "/query?q=SELECT+FORMAT(AnnualRevenue)+FROM+Account+WHERE+AnnualRevenue>=*",
    "/query/*", "/query/01g000000000001AAA-*", "/query?explain=*", "/recent?limit=*",
    "/sobjects/Account/updated?start=*&end=*", "/sobjects/Account/deleted?start=*&end=*",
    "/sobjects/Account/*", "/sobjects/Account/AccountNumber/*", "/sobjects/*/describe",
    "/search?q=FIND+%7Bab%7D+LIMIT+*", "/search?q=FIND+%7Bab%7D+RETURNING+Account(Name+LIMIT+*)",
    "/parameterizedSearch?q=ab&overallLimit=*&offset=*",
    "/search/suggestions?q=ab&sobject=Account&limit=*",
    "/parameterizedSearch?q=ab&sobject=Account&Account.limit=*&Account.offset=*",
    "/connect/files/users/me?page=*&pageSize=*", "/connect/notifications?size=*&before=*&after=*",
    "/connect/briefcase/priming-records?relayToken=*&changedAfterTimestamp=*",
    "/jobs/query?queryLocator=*", "/jobs/ingest?queryLocator=*",
    "/jobs/query/*/results?maxRecords=*",
    "/ui-api/records/*", "/ui-api/records/*?pageSize=*",
    "/ui-api/object-info/Account/picklist-values/*/Industry",
    "/ui-api/layout/Account?recordTypeId=*", "/limits/recordCount?sObjects=*",
    "/composite/sobjects/Account?ids=*&fields=*", "/compactLayouts?q=*",
  ]

  @Test func `whatever number stands in an address, it gets a response and never 500`() async throws
  {
    let org = try OrgUnderTest()
    try await org.made("Account", ["Name": "ab", "AnnualRevenue": 5, "NumberOfEmployees": 3])
    for target in Self.targets {
      for word in Self.words {
        let reply = await org.send("GET", target.replacing("*", with: word))
        #expect((200..<500).contains(reply.status), "\(target) \(word.prefix(40)): \(reply.text)")
      }
    }
  }

  private static let bodies: [(String, String, String)] = [
    ("POST", "/sobjects/Account", #"{"Name":"n","NumberOfEmployees":*}"#),
    ("POST", "/sobjects/Account", #"{"Name":"n","AnnualRevenue":*,"BillingLatitude":*}"#),
    ("POST", "/sobjects/Contact", #"{"LastName":"n","Birthdate":*,"Email":*}"#),
    (
      "POST", "/sobjects/Event",
      #"{"DurationInMinutes":*,"ActivityDateTime":"2026-01-01T00:00:00Z"}"#
    ),
    ("POST", "/sobjects/Event", #"{"DurationInMinutes":5,"ActivityDateTime":*}"#),
    (
      "POST", "/sobjects/Opportunity",
      #"{"Name":"n","StageName":"s","CloseDate":*,"Probability":*}"#
    ),
    ("POST", "/sobjects/ContentVersion", #"{"PathOnClient":"a","Title":*,"VersionData":*}"#),
    ("POST", "/composite", #"{"allOrNone":*,"collateSubrequests":*,"compositeRequest":*}"#),
    (
      "POST", "/composite",
      #"{"compositeRequest":[{"method":*,"url":*,"referenceId":*,"body":*,"httpHeaders":*}]}"#
    ),
    (
      "POST", "/composite/batch",
      #"{"haltOnError":*,"batchRequests":[{"method":*,"url":*,"richInput":*}]}"#
    ),
    ("POST", "/composite/graph", #"{"graphs":[{"graphId":*,"compositeRequest":*}]}"#),
    ("POST", "/composite/sobjects", #"{"allOrNone":*,"records":*}"#),
    ("PATCH", "/composite/sobjects", #"{"records":[{"attributes":*,"id":*,"Name":*}]}"#),
    ("POST", "/composite/sobjects/Account", #"{"ids":*,"fields":*}"#),
    ("POST", "/composite/tree/Account", #"{"records":[{"attributes":*,"Name":*,"Contacts":*}]}"#),
    ("POST", "/parameterizedSearch", #"{"q":*,"overallLimit":*,"defaultLimit":*,"sobjects":*}"#),
    (
      "POST", "/parameterizedSearch",
      #"{"q":"ab","sobjects":[{"name":"Account","limit":*,"fields":*}]}"#
    ),
    ("POST", "/jobs/ingest", #"{"object":*,"operation":*,"contentType":*,"lineEnding":*}"#),
    ("POST", "/jobs/query", #"{"operation":*,"query":*}"#),
    ("POST", "/ui-api/records", #"{"apiName":*,"fields":*}"#),
    ("PATCH", "/connect/notifications", #"{"read":*,"seen":*,"before":*,"notificationIds":*}"#),
  ]

  @Test func `whatever value stands in a body, it gets a response and never 500`() async throws {
    let org = try OrgUnderTest()
    for (method, path, body) in Self.bodies {
      for value in Self.values {
        let reply = await org.send(method, path, body.replacing("*", with: value))
        #expect(
          (200..<500).contains(reply.status), "\(method) \(path) \(value.prefix(40)): \(reply.text)"
        )
      }
    }
    for value in Self.values {
      let claims = Base64URL.encode(
        Array(#"{"iss":"app","exp":\#(value),"aud":\#(value),"sub":\#(value)}"#.utf8))
      for form in [
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.\(claims).b",
        "grant_type=\(PercentEncoding.encode(value))&client_id=app",
        "grant_type=password&client_id=app&username=\(PercentEncoding.encode(value))",
        "response_type=device_code&client_id=app&scope=\(PercentEncoding.encode(value))",
      ] {
        let reply = await org.raw("POST", "/services/oauth2/token", form)
        #expect((200..<500).contains(reply.status), "\(form.prefix(200)): \(reply.text)")
      }
    }
  }
}
