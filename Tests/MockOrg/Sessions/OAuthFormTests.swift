import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// In which forms do clients get tokens and identities, and what if their header is malformed?
@Suite struct OAuthFormTests {
  private let org: OrgUnderTest
  private let form: String

  init() throws {
    org = try OrgUnderTest()
    let options = org.org.options
    form = PercentEncoding.form([
      (name: "grant_type", value: "password"), ("client_id", options.clientId),
      ("client_secret", options.clientSecret), ("username", options.user.username),
      ("password", options.user.password),
    ])
  }

  private func token(
    _ form: String, accept: String? = nil
  ) async -> OrgUnderTest.Reply {
    var headers = ["content-type": "application/x-www-form-urlencoded"]
    headers["accept"] = accept
    return await org.raw("POST", "/services/oauth2/token", form, headers: headers)
  }

  private func identity(
    _ query: String = "", accept: String? = nil
  ) async -> OrgUnderTest.Reply {
    var headers = ["authorization": "Bearer \(org.token)"]
    headers["accept"] = accept
    return await org.raw(
      "GET", "/id/\(org.org.organizationID)/\(org.org.userID)\(query)", headers: headers)
  }

  @Test(arguments: [("&format=xml", nil), ("", "application/xml")] as [(String, String?)])
  func `tokens and errors come in XML`(parameter: String, accept: String?) async throws {
    let tokens = await token(form + parameter, accept: accept)
    #expect(tokens.status == 200 && tokens.contentType == "application/xml;charset=UTF-8")
    let root = try #require(XMLElement(parsing: Array(tokens.text.utf8)))
    #expect(root.name == "OAuth")
    #expect(root.first("token_type")?.text == "Bearer")
    let access = try #require(root.first("access_token")?.text)
    #expect(
      await org.raw(
        "GET", "/services/data/v66.0/limits", headers: ["authorization": "Bearer \(access)"]
      ).status == 200)
    let refused = await token(
      form.replacing("grant_type=password", with: "grant_type=none") + parameter, accept: accept)
    #expect(refused.status == 400)
    #expect(
      XMLElement(parsing: Array(refused.text.utf8))?.first("error")?.text
        == "unsupported_grant_type")
  }

  @Test(
    arguments: [("&format=urlencoded", nil), ("", "application/x-www-form-urlencoded")]
      as [(String, String?)])
  func `tokens come as a form`(parameter: String, accept: String?) async throws {
    let tokens = await token(form + parameter, accept: accept)
    #expect(tokens.contentType == "application/x-www-form-urlencoded;charset=UTF-8")
    let pairs = Dictionary(
      PercentEncoding.pairs(ofForm: tokens.text).map { ($0.name, $0.value) }
    ) { first, _ in first }
    #expect(pairs["token_type"] == "Bearer" && pairs["instance_url"] == "http://127.0.0.1:1")
    #expect(pairs["access_token"]?.contains("!") == true)
  }

  @Test func `without a form they come in JSON, whatever else a client accepts`() async throws {
    for (parameter, accept) in [
      ("", nil), ("", "*/*"), ("&format=json", "application/xml"), ("&format=other", nil),
      ("", "application/json, application/xml"),
    ] as [(String, String?)] {
      let tokens = await token(form + parameter, accept: accept)
      #expect(tokens.json?["token_type"]?.string == "Bearer", "\(parameter) \(accept ?? "")")
    }
  }

  @Test func `the identity comes in XML, with a version, and as a call of a page's function`()
    async throws
  {
    let plain = try #require(await identity().json)
    #expect(plain["urls"]?["rest"]?.string?.hasSuffix("/services/data/v{version}/") == true)
    for name in [
      "enterprise", "metadata", "partner", "rest", "sobjects", "search", "query", "recent",
      "tooling_soap", "tooling_rest", "profile", "feeds", "groups", "users", "feed_items",
      "feed_elements", "custom_domain",
    ] { #expect(plain["urls"]?[name]?.string != nil, "\(name)") }
    let filled = await identity("?version=58.0").json
    #expect(filled?["urls"]?["query"]?.string?.hasSuffix("/services/data/v58.0/query/") == true)
    let latest = await identity("?version=latest").json
    #expect(latest?["urls"]?["query"]?.string?.hasSuffix("/services/data/v66.0/query/") == true)
    let xml = await identity("?format=xml")
    #expect(xml.contentType == "application/xml;charset=UTF-8")
    let root = try #require(XMLElement(parsing: Array(xml.text.utf8)))
    #expect(root.name == "user" && root.first("user_id")?.text == org.org.userID)
    #expect(root.first("urls")?.first("rest") != nil)
    let call = await identity("?callback=app.done")
    #expect(call.contentType == "application/javascript;charset=UTF-8")
    #expect(call.text.hasPrefix("app.done({") && call.text.hasSuffix("});"))
    // What is no name never becomes a script.
    #expect(await identity("?callback=alert(1)%3B//").json?["user_id"] != nil)
  }

  @Test func `an Authorization header without a token, or of another scheme, has its own error`()
    async throws
  {
    for (header, code) in [
      ("Bearer", "INVALID_AUTH_HEADER"), ("OAuth ", "INVALID_AUTH_HEADER"),
      ("", "INVALID_AUTH_HEADER"), ("Basic YTpi", "INVALID_AUTH_HEADER"),
      (org.token, "INVALID_AUTH_HEADER"), ("Bearer other", "INVALID_SESSION_ID"),
    ] {
      for path in ["/services/data/v66.0/limits", "/services/apexrest/x"] {
        let reply = await org.raw("GET", path, headers: ["authorization": header])
        #expect(reply.status == 401 && reply.errorCode == code, "\(header) \(reply.text)")
        #expect(reply.header("WWW-Authenticate") == "Token")
      }
    }
    #expect(await org.raw("GET", "/services/data/v66.0/limits").errorCode == "INVALID_SESSION_ID")
    let malformed = await org.raw(
      "GET", "/services/data/v66.0/limits", headers: ["authorization": "Bearer"])
    #expect(malformed.message == "INVALID_HEADER_TYPE")
  }

  @Test func `a refresh token that every app may use belongs to the connected app`() async throws {
    let refresh = org.org.sessions.makeRefreshToken(userID: org.org.userID, clientID: nil)
    let options = org.org.options
    let reply = await org.raw(
      "POST", "/services/oauth2/introspect",
      PercentEncoding.form([
        (name: "token", value: refresh), ("client_id", options.clientId),
        ("client_secret", options.clientSecret),
      ]), headers: ["content-type": "application/x-www-form-urlencoded"])
    #expect(reply.json?["active"]?.bool == true)
    #expect(reply.json?["client_id"]?.string == options.clientId)
  }
}
