import Foundation
import SalesforceSDKCommon

@testable import SalesforceMockOrg

/// An org whose time stands still, and a client that talks to it without HTTP between.
struct OrgUnderTest {
  /// Noon UTC of a day in May.
  static let start = Date(timeIntervalSince1970: 1_778_846_400)

  let org: MockOrg
  let clock: MockOrgClock
  let token: String

  init(_ adjust: (inout MockOrgOptions) -> Void = { _ in }) throws {
    var options = MockOrgOptions()
    clock = MockOrgClock(frozenAt: Self.start)
    options.clock = clock
    options.otherClientIds = ["app", "a"]
    adjust(&options)
    org = try MockOrg(options)
    token = org.sessions.open(
      userID: org.userID, clientID: options.clientId, now: Self.start)
  }

  struct Reply {
    let status: Int
    let headers: [(name: String, value: String)]
    let text: String
    let contentType: String
    let json: JSONSlice?

    init(_ answer: OrgResponse) {
      contentType = answer.contentType
      status = answer.status
      headers = answer.headers
      text = String(decoding: answer.body, as: UTF8.self)
      json = try? JSONSlice(parsing: answer.body)
    }

    /// `errorCode` of the first error in the list that a failed request gets.
    var errorCode: String? { json?[0]?["errorCode"]?.string }
    var message: String? { json?[0]?["message"]?.string }
    var id: String { json?["id"]?.string ?? "" }
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  }

  /// Sends a request below `/services/data/v66.0` with a good session.
  func send(
    _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
  ) async -> Reply {
    var headers = headers
    headers["authorization"] = headers["authorization"] ?? "Bearer \(token)"
    if body != nil { headers["content-type"] = headers["content-type"] ?? "application/json" }
    return await raw(method, "/services/data/v66.0\(path)", body, headers: headers)
  }

  /// Sends a request as it is.
  func raw(
    _ method: String, _ target: String, _ body: String? = nil, headers: [String: String] = [:]
  ) async -> Reply {
    Reply(
      await org.respond(
        to: OrgRequest(
          method: method, target: target, headers: headers, body: Array((body ?? "").utf8)),
        baseURL: "http://127.0.0.1:1"))
  }

  /// Runs a SOQL query over REST.
  func query(_ soql: String, all: Bool = false, headers: [String: String] = [:]) async -> Reply {
    await send(
      "GET", "/query\(all ? "All" : "")?q=\(PercentEncoding.encode(soql))", headers: headers)
  }

  /// Creates a record that the test takes for granted.
  @discardableResult
  func made(_ object: String, _ fields: JSONValue) async throws -> String {
    try await org.create(object, fields)
  }
}
