import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// CO-131, CO-134 and what the platform added later: each factory against its exact request.
@Suite struct OtherFactoryTests {
  private func expect(
    _ request: RestRequest, _ method: HTTPRequest.Method, _ target: String, body: String? = nil,
    type: String = "application/json",
    sourceLocation: Testing.SourceLocation = #_sourceLocation
  ) {
    #expect(request.method == method, sourceLocation: sourceLocation)
    #expect(request.target() == target, sourceLocation: sourceLocation)
    #expect(request.body.map { text($0) } == body, sourceLocation: sourceLocation)
    #expect(
      request.headers == (body == nil ? [:] : [.contentType: type]), sourceLocation: sourceLocation)
  }

  private func code(_ call: () throws -> RestRequest) -> RestError.Code? {
    #expect(throws: RestError.self) { try call() }?.code
  }

  @Test(.covers("CO-131.1", "BX-42"))
  func `a layout with each of its parameters, or none`() {
    let place = "/services/data/v66.0/ui-api/layout"
    expect(.objectLayout(object: "Account"), .get, "\(place)/Account")
    expect(
      .objectLayout(
        object: "A/B", formFactor: .large, layoutType: .compact, mode: .edit,
        recordTypeId: "012A"), .get,
      "\(place)/A%2FB?formFactor=Large&layoutType=Compact&mode=Edit&recordTypeId=012A")
    expect(
      .objectLayout(object: "A", layoutType: .full, recordTypeId: ""), .get,
      "\(place)/A?layoutType=Full")
    #expect([LayoutFormFactor.medium, .small].map(\.rawValue) == ["Medium", "Small"])
    #expect([LayoutMode.create, .view].map(\.rawValue) == ["Create", "View"])
  }

  @Test(.covers("CO-131.1", "BX-55"))
  func `older layouts, search settings and results`() {
    let place = "/services/data/v66.0"
    expect(
      .describeLayout(object: "A"), .get, "\(place)/sobjects/A/describe/layouts/")
    expect(
      .describeLayout(object: "A", recordTypeId: "012A", apiVersion: "v60.0"), .get,
      "/services/data/v60.0/sobjects/A/describe/layouts/012A")
    expect(.searchScopeAndOrder(), .get, "\(place)/search/scopeOrder")
    expect(
      .searchResultLayout(objects: ["Account", "Contact"]), .get,
      "\(place)/search/layout?q=Account%2CContact")
  }

  @Test(.covers("CO-131.1", "CO-42.1", "BX-25"))
  func `sessions: single access and the end of a token`() {
    let form = "application/x-www-form-urlencoded"
    expect(
      .singleAccess(page: "/lightning?a=b"), .post, "/services/oauth2/singleaccess",
      body: "redirect_uri=%2Flightning%3Fa%3Db", type: form)
    #expect(RestRequest.revokeAccessToken(nil) == nil)
    #expect(RestRequest.revokeAccessToken("") == nil)
    if let revoke = RestRequest.revokeAccessToken("00D!a+b") {
      expect(
        revoke, .post, "/services/oauth2/revoke", body: "token=00D%21a%2Bb", type: form)
    }
  }

  @Test(.covers("BX-54"))
  func `a password is queried, set and reset`() {
    let place = "/services/data/v66.0/sobjects"
    expect(.passwordStatus(id: "005A"), .get, "\(place)/User/005A/password")
    expect(
      .setPassword(of: .selfServiceUser, id: "035A", to: "a\"b"), .post,
      "\(place)/SelfServiceUser/035A/password", body: #"{"NewPassword":"a\"b"}"#)
    expect(
      .resetPassword(id: "a/b", apiVersion: "v60.0"), .delete,
      "/services/data/v60.0/sobjects/User/a%2Fb/password")
  }

  @Test(.covers("CO-134", "BX-44.1"))
  func `notifications are listed, counted and described`() throws {
    let place = "/services/data/v66.0/connect/notifications"
    let date = SalesforceDate(milliseconds: 1_600_000_000_123)
    expect(try .notifications(), .get, place)
    expect(
      try .notifications(size: 20, before: date, after: date), .get,
      "\(place)?size=20&before=2020-09-13T12%3A26%3A40.123%2B0000"
        + "&after=2020-09-13T12%3A26%3A40.123%2B0000")
    expect(.notification(id: "a/b"), .get, "\(place)/a%2Fb")
    expect(.notificationsStatus(), .get, "\(place)/status")
    expect(.notificationTypes(), .get, "\(place)/types")
    expect(
      .invokeNotificationAction(id: "n1", actionKey: "k/1"), .post, "\(place)/n1/actions/k%2F1")
    for size in [0, 21, -1] { #expect(code { try .notifications(size: size) } == .invalidRequest) }
  }

  @Test(.covers("CO-134", "BX-44.1"))
  func `notifications are marked with booleans`() throws {
    let place = "/services/data/v66.0/connect/notifications"
    expect(
      try .updateNotification(id: "n1", read: true), .patch, "\(place)/n1", body: #"{"read":true}"#)
    expect(
      try .updateNotifications(.ids(["a", "b"]), read: false, seen: true), .patch, place,
      body: #"{"notificationIds":["a","b"],"read":false,"seen":true}"#)
    expect(
      try .updateNotifications(.before(SalesforceDate(milliseconds: 0)), seen: true), .patch, place,
      body: #"{"before":"1970-01-01T00:00:00.000+0000","seen":true}"#)
    let many = Array(repeating: "n", count: 51)
    _ = try RestRequest.updateNotifications(.ids(many.dropLast()), read: true)
    #expect(code { try .updateNotifications(.ids(many), read: true) } == .tooManyRecords)
    #expect(code { try .updateNotifications(.ids([]), read: true) } == .invalidRequest)
    #expect(code { try .updateNotification(id: "n") } == .invalidRequest)
  }

  @Test(.covers("CO-134", "BX-43"))
  func `what needs a later version is refused before the network`() async throws {
    let transport = ScriptedTransport { _ in RestResponse(json: "{}") }
    let org = TestOrg()
    let accounts = try await org.manager(transport: transport)
    func client(_ version: String) -> RestClient {
      RestClient(
        account: org.account(), accounts: accounts, transport: transport, apiVersion: version)
    }
    for request in [
      RestRequest.notificationTypes(), .invokeNotificationAction(id: "a", actionKey: "b"),
    ] {
      let error = await #expect(throws: RestError.self) { try await client("v9.0").send(request) }
      #expect(error?.code == .invalidRequest)
      _ = try await client("v64.0").send(request)
    }
    await #expect(throws: RestError.self) {
      try await client("v66.0").send(.notificationTypes(apiVersion: "v63.0"))
    }
    #expect(transport.requests.count == 2)
  }

  @Test(.covers("BX-43"))
  func `versions compare by number`() {
    #expect(APIVersion("v9.0") ?? .init(major: 99) < APIVersion(major: 64))
    #expect(APIVersion("v64.0") == APIVersion("64.0"))
    #expect(APIVersion(major: 64, minor: 1) > APIVersion(major: 64))
    #expect(APIVersion(major: 66).description == "v66.0")
    for wrong in ["", "v", "v1", "66", "v1.2.3", "va.b", "v-1.0", "v1."] {
      #expect(APIVersion(wrong) == nil, "\(wrong)")
    }
  }

  @Test(.covers("CO-134", "BX-38"))
  func `priming records, with both of their parameters`() {
    let place = "/services/data/v66.0/connect/briefcase/priming-records"
    expect(.primingRecords(), .get, place)
    expect(
      .primingRecords(relayToken: "t+1", changedAfter: SalesforceDate(milliseconds: 0)), .get,
      "\(place)?relayToken=t%2B1&changedAfterTimestamp=1970-01-01T00%3A00%3A00.000%2B0000")
  }

  @Test(.covers("CO-134", "BX-38"))
  func `a response of priming records is read`() throws {
    let body = """
      {"primingRecords":{"Account":{"012A":[{"id":"001A","systemModstamp":"2020-09-13T12:26:40.123Z"}],
      "":[]}},"relayToken":null,"ruleErrors":[{"ruleId":"r1"}],
      "stats":{"ruleCountTotal":2,"recordCountTotal":3,"ruleCountServed":1,"recordCountServed":1}}
      """
    let records = try PrimingRecords(RestResponse(status: 200, body: Array(body.utf8)))
    #expect(
      records.records["Account"]?["012A"] == [
        .init(id: "001A", systemModstamp: SalesforceDate(milliseconds: 1_600_000_000_123))
      ])
    #expect(records.relayToken == nil)
    #expect(records.failedRules == ["r1"])
    #expect(
      records.stats
        == .init(
          ruleCountTotal: 2, recordCountTotal: 3, ruleCountServed: 1, recordCountServed: 1))
    for wrong in [
      "", "[]", "{}", #"{"primingRecords":{},"stats":{}}"#,
      #"{"primingRecords":{"A":{"B":[{}]}},"stats":{}}"#,
    ] {
      #expect(throws: RestError.self) {
        try PrimingRecords(RestResponse(status: 200, body: Array(wrong.utf8)))
      }
    }
  }

  @Test(.covers("BX-47", "CO-192"))
  func `a request of Foundation is sent with its address, fields and body`() async throws {
    let url = try #require(URL(string: "https://acme.my.salesforce.com/services/x?a=b%20c"))
    var foreign = URLRequest(url: url, timeoutInterval: 12)
    foreign.httpMethod = "PUT"
    foreign.setValue("v", forHTTPHeaderField: "X-A")
    foreign.httpBody = Data("body".utf8)
    let request = try RestRequest(foreign)
    #expect(request.method == .put)
    #expect(text(request.body) == "body")
    #expect(request.timeout == .seconds(12))
    let wired = try RestClient(transport: ScriptedTransport([]))
      .wire(request, as: TestOrg().account())
    #expect(wired.url == url)
    #expect(wired.headers[try #require(HTTPField.Name("X-A"))] == "v")
    #expect(wired.headers[.authorization] == "Bearer access-1")
    let sent = TestOrg()
    let transport = sent.transport()
    let account = sent.account()
    _ = try await RestClient(
      account: account, accounts: try await sent.manager(transport: transport),
      transport: transport
    ).send(request)
    #expect(transport.requests.map(\.url) == [url])
    #expect(transport.requests.first?.headers[.authorization] == "Bearer access-1")
    #expect(text(transport.requests.first?.body) == "body")
    for none in [TimeInterval.infinity, .greatestFiniteMagnitude] {
      foreign.timeoutInterval = none
      #expect(try RestRequest(foreign).timeout > .seconds(86_400))
    }
    foreign.httpBodyStream = InputStream(data: Data())
    let streamed = foreign
    #expect(throws: RestError.self) { try RestRequest(streamed) }
  }
}
