import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import Testing

/// A test against the org in memory must not pass for a path that a client sends elsewhere.
@Suite struct InMemoryOrgPathTests {
  @Test(arguments: [
    (RestRequest(path: "/helpdesk/v1/changes"), "/services/data/helpdesk/v1/changes"),
    (RestRequest(path: "helpdesk/v1/changes"), "/services/data/helpdesk/v1/changes"),
    (RestRequest(path: "/helpdesk/v1/changes", endpoint: ""), "/helpdesk/v1/changes"),
    (RestRequest(path: "/changes", endpoint: "/helpdesk/v1"), "/helpdesk/v1/changes"),
    (RestRequest(path: "/helpdesk/v1/changes", endpoint: "/helpdesk/v1"), "/helpdesk/v1/changes"),
    (
      RestRequest(
        path: "/helpdesk/v1/changes", query: [RestQueryItem("since", "1")], endpoint: ""),
      "/helpdesk/v1/changes"
    ),
    (RestRequest(path: "/services/apexrest/changes"), "/services/apexrest/changes"),
    (RestRequest(path: "/changes", endpoint: "/services/apexrest"), "/services/apexrest/changes"),
  ])
  func `an endpoint of a test receives the path that a client sends`(
    request: RestRequest, path: String
  ) async throws {
    #expect(request.target().prefix { $0 != "?" } == path)
    let org = InMemoryOrg()
    org.respond(to: "GET \(path)") { _, seen in (200, .string(seen.line)) }
    let response = try await org.response(to: request)
    #expect(response.status == 200)
    #expect(String(decoding: response.body, as: UTF8.self) == "\"GET \(path)\"")
  }

  @Test func `a request of the API is named by its version's placeholder`() async throws {
    let org = InMemoryOrg()
    org.respond(to: "GET /{v}/limits") { _, _ in (200, true) }
    for path in ["/{v}/limits", "/v59.0/limits"] {
      #expect(try await org.response(to: RestRequest(path: path)).status == 200)
    }
  }
}
