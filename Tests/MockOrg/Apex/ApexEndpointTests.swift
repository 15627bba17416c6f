import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// Can a program give the org endpoints of its own?
@Suite struct ApexEndpointTests {
  private func org() throws -> OrgUnderTest {
    let under = try OrgUnderTest()
    under.org.setApexEndpoint("Accounts") { request, org in
      switch request.method {
      case "GET":
        let found = try await org.query(
          "SELECT Id, Name FROM Account WHERE Name = '\(request[query: "name"] ?? "")'")
        return MockOrgApexResponse(json: .array(found.map(\.value)))
      case "POST":
        let id = try await org.create("Account", try request.json().value)
        return MockOrgApexResponse(
          status: 201,
          json: ["id": .string(id), "path": .string(request.path.joined(separator: "/"))])
      case "DELETE": return MockOrgApexResponse(status: 204)
      default: throw CancellationError()
      }
    }
    return under
  }

  private func send(
    _ under: OrgUnderTest, _ method: String, _ path: String, _ body: String? = nil,
    token: String? = nil
  ) async -> OrgUnderTest.Reply {
    await under.raw(
      method, "/services/apexrest/\(path)", body,
      headers: ["authorization": "Bearer \(token ?? under.token)"])
  }

  @Test func `an endpoint works with the org's records`() async throws {
    let under = try org()
    let made = await send(under, "POST", "accounts/a%20b", #"{"Name": "Acme"}"#)
    #expect(made.status == 201 && made.json?["path"]?.string == "a b")
    let found = await send(under, "GET", "Accounts/?name=Acme")
    #expect(found.json?[0]?["Id"]?.string == made.id)
    let gone = await send(under, "DELETE", "Accounts")
    #expect(gone.status == 204 && gone.text.isEmpty)
  }

  @Test func `rules that the endpoint breaks are reported with the platform's code`() async throws {
    let under = try org()
    let refused = await send(under, "POST", "Accounts", "{}")
    #expect(refused.status == 400 && refused.errorCode == "REQUIRED_FIELD_MISSING")
    let noJSON = await send(under, "POST", "Accounts", "{")
    #expect(noJSON.status == 400 && noJSON.errorCode == "JSON_PARSER_ERROR")
    let broken = await send(under, "PUT", "Accounts", "{}")
    #expect(broken.status == 500 && broken.errorCode == "APEX_ERROR")
  }

  @Test func `what is not there is not found, and a request without a session is refused`()
    async throws
  {
    let under = try org()
    #expect(await send(under, "GET", "Other").status == 404)
    #expect(await send(under, "GET", "").status == 404)
    #expect(await send(under, "GET", "Accounts", token: "wrong").status == 401)
  }
}
