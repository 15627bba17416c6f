import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

@Suite struct LoginTests {
  private let verifier = "the-verifier-of-this-test-0123456789-0123456789"
  private var authorize: String {
    "/services/oauth2/authorize?response_type=code&client_id=app&state=s%261"
      + "&redirect_uri=http%3A%2F%2Flocalhost%3A1717%2Fdone&code_challenge_method=S256"
      + "&code_challenge=\(LoginService.challenge(of: verifier))"
  }
  private let credentials = "username=Admin%40fieldforce.example&password=fieldforce1"

  private func code(_ org: OrgUnderTest) async throws -> String {
    let reply = await org.raw("POST", authorize, credentials)
    #expect(reply.status == 302)
    let location = try #require(reply.header("Location"))
    let url = try #require(URLComponents(string: location))
    #expect(url.host == "localhost" && url.path == "/done")
    let items = url.queryItems ?? []
    #expect(items.first { $0.name == "state" }?.value == "s&1")
    return try #require(items.first { $0.name == "code" }?.value)
  }

  private func token(_ org: OrgUnderTest, _ form: String) async -> OrgUnderTest.Reply {
    await org.raw("POST", "/services/oauth2/token", form)
  }

  private func exchange(_ code: String, verifier: String? = nil) -> String {
    "grant_type=authorization_code&client_id=app&code=\(code)"
      + "&redirect_uri=http%3A%2F%2Flocalhost%3A1717%2Fdone"
      + (verifier.map { "&code_verifier=\($0)" } ?? "")
  }

  @Test func `the login page asks again after a wrong password and carries what the app asked for`()
    async throws
  {
    let org = try OrgUnderTest()
    let page = await org.raw("GET", authorize)
    #expect(page.status == 200)
    #expect(page.text.contains("name=\"password\""))
    #expect(page.text.contains("name=\"state\" value=\"s&amp;1\""))
    let wrong = await org.raw("POST", authorize, "username=a%22%3E%3Cscript%3E&password=b")
    #expect(wrong.status == 200)
    #expect(wrong.text.contains("Please check your username and password."))
    #expect(!wrong.text.contains("<script>"))
  }

  private func authorized(_ redirect: String, _ org: OrgUnderTest) async -> OrgUnderTest.Reply {
    await org.raw(
      "POST",
      "/services/oauth2/authorize?response_type=code&client_id=app&redirect_uri="
        + PercentEncoding.encode(redirect), credentials)
  }

  @Test(arguments: [
    ("http://localhost:8123/x", true), ("https://127.0.0.1/x", true), ("http://[::1]:1/x", true),
    ("testsfdc:///mobilesdk/detect/oauth/done", true), ("https://app.example/done", true),
    ("https://app.example/done/", false), ("https://evil.example/done", false),
    ("http://app.example/done", false), ("https://localhost.evil.example/", false),
    ("javascript:alert(1)", false), ("data:text/html,x", false), ("//evil.example", false),
    ("not a url", false),
  ])
  func `a login returns to registered addresses and to this machine`(
    redirect: String, isAllowed: Bool
  ) async throws {
    let org = try OrgUnderTest { $0.redirectURIs = ["https://app.example/done"] }
    let reply = await authorized(redirect, org)
    #expect(reply.status == (isAllowed ? 302 : 400))
    #expect(reply.text.contains("redirect_uri_mismatch") == !isAllowed)
  }

  @Test func `an org can require registered addresses`() async throws {
    let org = try OrgUnderTest { $0.acceptsLocalRedirects = false }
    #expect(await authorized("http://localhost:8123/x", org).status == 400)
    #expect(await authorized("myapp:///done", org).status == 400)
    #expect(await authorized(org.org.options.redirectURI, org).status == 302)
  }

  @Test func `a code gives tokens once, to the client with the verifier`() async throws {
    let org = try OrgUnderTest()
    let code = try await code(org)
    let reply = await token(org, exchange(code, verifier: verifier))
    #expect(reply.status == 200)
    #expect(reply.json?["instance_url"]?.string == "http://127.0.0.1:1")
    #expect(
      reply.json?["id"]?.string
        == "http://127.0.0.1:1/id/\(org.org.organizationID)/\(org.org.userID)")
    #expect(reply.json?["token_type"]?.string == "Bearer")
    #expect(reply.json?["refresh_token"]?.string?.isEmpty == false)
    let access = try #require(reply.json?["access_token"]?.string)
    let limits = await org.send("GET", "/limits", headers: ["authorization": "Bearer \(access)"])
    #expect(limits.status == 200)
    let again = await token(org, exchange(code, verifier: verifier))
    #expect(again.json?["error"]?.string == "invalid_grant")
    let stolen = try await self.code(org)
    let refused = await token(org, exchange(stolen, verifier: "another"))
    #expect(refused.status == 400)
    #expect(refused.json?["error_description"]?.string == "invalid code verifier")
  }

  @Test func `a code expires and is bound to its redirect`() async throws {
    let org = try OrgUnderTest()
    let late = try await code(org)
    let other = try await code(org)
    let moved = exchange(other, verifier: verifier).replacing("1717", with: "1718")
    #expect(await token(org, moved).json?["error"]?.string == "redirect_uri_mismatch")
    org.clock.advance(by: .seconds(901))
    let reply = await token(org, exchange(late, verifier: verifier))
    #expect(reply.json?["error_description"]?.string == "expired authorization code")
  }

  @Test func `approval is requested if the org says so, and can be denied`() async throws {
    let org = try OrgUnderTest { $0.asksForApproval = true }
    let page = await org.raw("POST", authorize, credentials)
    #expect(page.status == 200)
    #expect(page.text.contains("value=\"allow\""))
    let allowed = await org.raw("POST", authorize, "\(credentials)&decision=allow")
    #expect(allowed.header("Location")?.contains("code=") == true)
    let denied = await org.raw("POST", authorize, "\(credentials)&decision=deny")
    #expect(denied.header("Location")?.contains("error=access_denied") == true)
  }

  @Test func `a refresh token lasts until it is revoked`() async throws {
    let org = try OrgUnderTest { $0.otherClientIds = ["app", "other"] }
    let first = await token(org, exchange(try await code(org), verifier: verifier))
    let refresh = try #require(first.json?["refresh_token"]?.string)
    let form = "grant_type=refresh_token&client_id=app&refresh_token=\(refresh)"
    let second = await token(org, form)
    #expect(second.status == 200)
    #expect(second.json?["refresh_token"] == nil)
    #expect(second.json?["access_token"]?.string != first.json?["access_token"]?.string)
    let other = await token(org, form.replacing("client_id=app", with: "client_id=other"))
    #expect(other.json?["error"]?.string == "invalid_grant")
    #expect(await org.raw("POST", "/services/oauth2/revoke", "token=\(refresh)").status == 200)
    let refused = await token(org, form)
    #expect(refused.status == 400)
    #expect(refused.json?["error"]?.string == "invalid_grant")
    #expect(refused.json?["error_description"]?.string == "expired access/refresh token")
    // With the refresh token its sessions ended.
    let access = second.json?["access_token"]?.string ?? ""
    let limits = await org.send("GET", "/limits", headers: ["authorization": "Bearer \(access)"])
    #expect(limits.status == 401)
  }

  @Test func `rotation gives a new refresh token, and using the old one ends both`() async throws {
    let org = try OrgUnderTest { $0.rotatesRefreshTokens = true }
    let first = await token(org, exchange(try await code(org), verifier: verifier))
    let old = try #require(first.json?["refresh_token"]?.string)
    func refreshed(_ token: String) async -> OrgUnderTest.Reply {
      await self.token(org, "grant_type=refresh_token&client_id=app&refresh_token=\(token)")
    }
    let second = await refreshed(old)
    let new = try #require(second.json?["refresh_token"]?.string)
    #expect(new != old)
    #expect(await refreshed(old).status == 400)
    #expect(await refreshed(new).status == 400)
  }

  @Test(arguments: [
    ("", "api"), ("&scope=api%20id", "api id"), ("&scope=refresh_token%20api%20full", "api"),
    ("&scope=full%20offline_access", nil),
  ])
  func `client credentials get the scopes that are not for users alone`(
    asked: String, granted: String?
  ) async throws {
    let org = try OrgUnderTest()
    let options = MockOrgOptions()
    let app = "client_id=\(options.clientId)&client_secret=\(options.clientSecret)"
    let reply = await token(org, "grant_type=client_credentials&\(app)\(asked)")
    #expect(reply.json?["scope"]?.string == granted)
    #expect(reply.status == (granted == nil ? 400 : 200))
    if granted == nil {
      #expect(reply.json?["error"]?.string == "invalid_grant")
      #expect(reply.json?["error_description"]?.string == "no valid scopes defined")
    }
  }

  @Test func `the password flow and client credentials give a session`() async throws {
    let org = try OrgUnderTest()
    let good = await token(
      org, "grant_type=password&client_id=app&client_secret=s&\(credentials)")
    #expect(good.status == 200)
    let wrong = await token(
      org, "grant_type=password&client_id=app&client_secret=s&username=a&password=b")
    #expect(wrong.json?["error_description"]?.string == "authentication failure")
    let service = await org.raw(
      "POST", "/services/oauth2/token", "grant_type=client_credentials",
      headers: ["authorization": "Basic \(Data("app:secret".utf8).base64EncodedString())"])
    #expect(service.status == 200)
    #expect(
      await token(org, "grant_type=magic&client_id=app").json?["error"]?.string
        == "unsupported_grant_type")
  }

  @Test func `a known client needs the right secret if it sends one`() async throws {
    let org = try OrgUnderTest { $0.otherClientIds = [] }
    let id = org.org.options.clientId
    let wrong = await token(
      org, "grant_type=password&client_id=\(id)&client_secret=no&\(credentials)")
    #expect(wrong.json?["error"]?.string == "invalid_client")
    let unknown = await token(org, "grant_type=password&client_id=app&\(credentials)")
    #expect(unknown.json?["error"]?.string == "invalid_client_id")
  }

  @Test func `a session that is none or has expired is refused in the platform's words`()
    async throws
  {
    let org = try OrgUnderTest()
    let none = await org.raw("GET", "/services/data/v66.0/limits")
    #expect(none.status == 401)
    #expect(
      none.text
        == #"[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]"#)
    #expect(await org.send("GET", "/limits").status == 200)
    org.clock.advance(by: .seconds(7200))
    #expect(await org.send("GET", "/limits").status == 401)
  }

  @Test func `a session knows its user`() async throws {
    let org = try OrgUnderTest()
    let bearer = ["authorization": "Bearer \(org.token)"]
    let info = await org.raw("GET", "/services/oauth2/userinfo", headers: bearer)
    #expect(info.json?["user_id"]?.string == org.org.userID)
    #expect(info.json?["preferred_username"]?.string == "admin@fieldforce.example")
    #expect(info.json?["profile"]?.string?.hasSuffix("/\(org.org.userID)") == true)
    #expect(info.json?["address"]?.kind == .object)
    let path = "/id/\(org.org.organizationID)/\(org.org.userID)"
    let identity = await org.raw("GET", path, headers: bearer)
    #expect(identity.json?["username"]?.string == "admin@fieldforce.example")
    #expect(
      identity.json?["urls"]?["rest"]?.string == "http://127.0.0.1:1/services/data/v{version}/")
    #expect(await org.raw("GET", path).text == "Missing_OAuth_Token")
    let bad = await org.raw("GET", path, headers: ["authorization": "Bearer x"])
    #expect(bad.status == 403)
    #expect(bad.text == "Bad_OAuth_Token")
  }

  @Test func `the SOAP login gives a session, and a fault for a wrong password`() async throws {
    let org = try OrgUnderTest()
    func envelope(_ password: String) -> String {
      """
      <?xml version="1.0"?><env:Envelope xmlns:env="http://schemas.xmlsoap.org/soap/envelope/">
      <env:Body><n1:login xmlns:n1="urn:partner.soap.sforce.com">
      <n1:username>admin@fieldforce.example</n1:username><n1:password>\(password)</n1:password>
      </n1:login></env:Body></env:Envelope>
      """
    }
    let good = await org.raw("POST", "/services/Soap/u/59.0", envelope("fieldforce1TOKEN"))
    #expect(good.status == 200)
    let session = try #require(XMLElement(parsing: Array(good.text.utf8))?.first("sessionId")?.text)
    let limits = await org.send("GET", "/limits", headers: ["authorization": "Bearer \(session)"])
    #expect(limits.status == 200)
    let bad = await org.raw("POST", "/services/Soap/u/59.0", envelope("no"))
    #expect(bad.status == 500)
    #expect(
      XMLElement(parsing: Array(bad.text.utf8))?.first("exceptionCode")?.text == "INVALID_LOGIN")
  }
}
