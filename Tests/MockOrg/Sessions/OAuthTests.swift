import Crypto
import CryptoExtras
import Foundation
import SalesforceSDKCommon
import Testing

@testable import SalesforceMockOrg

/// The flows other than the web server's.
@Suite struct OAuthTests {
  private func token(_ org: OrgUnderTest, _ form: String) async -> OrgUnderTest.Reply {
    await org.raw("POST", "/services/oauth2/token", form)
  }

  private func assertion(
    _ org: OrgUnderTest, subject: String = "admin@fieldforce.example", expires: Int = 120,
    audience: String = "https://login.salesforce.com", key: _RSA.Signing.PrivateKey? = nil
  ) throws -> String {
    let expires = Int(OrgUnderTest.start.timeIntervalSince1970) + expires
    let claims =
      #"{"iss":"app","sub":"\#(subject)","aud":"\#(audience)","exp":"\#(expires)"}"#
    let text =
      Base64URL.encode(Array(#"{"alg":"RS256"}"#.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
    let signature = try key?.signature(
      for: SHA256.hash(data: Data(text.utf8)), padding: .insecurePKCS1v1_5
    ).rawRepresentation
    return text + "." + Base64URL.encode(signature ?? Data("x".utf8))
  }

  private func bearer(_ assertion: String) -> String {
    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)"
  }

  @Test func `an assertion gives a session, a wrong one none`() async throws {
    let org = try OrgUnderTest()
    let good = await token(org, bearer(try assertion(org)))
    let access = try #require(good.json?["access_token"]?.string)
    #expect(
      await org.send("GET", "/limits", headers: ["authorization": "Bearer \(access)"]).status == 200
    )
    for (text, description) in [
      (try assertion(org, expires: -1), "expired assertion"),
      (try assertion(org, subject: "nobody@x"), "user hasn't approved this consumer"),
      (try assertion(org, audience: "https://example.com"), "audience is invalid"),
      ("a.b", "invalid assertion"),
    ] {
      let bad = await token(org, bearer(text))
      #expect(bad.status == 400)
      #expect(bad.json?["error"]?.string == "invalid_grant")
      #expect(bad.json?["error_description"]?.string == description)
    }
  }

  @Test func `the signature of an assertion is checked where the key is known`() async throws {
    let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
    let org = try OrgUnderTest { $0.clientKeys = ["app": key.publicKey.pemRepresentation] }
    #expect(await token(org, bearer(try assertion(org, key: key))).status == 200)
    #expect(await token(org, bearer(try assertion(org))).status == 400)
  }

  @Test func `the user agent flow puts its tokens behind the hash`() async throws {
    let org = try OrgUnderTest()
    let path =
      "/services/oauth2/authorize?response_type=token&client_id=app&state=s&scope=api%20refresh_token"
      + "&redirect_uri=myapp%3A%2F%2Fdone"
    let reply = await org.raw(
      "POST", path, "username=admin%40fieldforce.example&password=fieldforce1")
    let location = try #require(reply.header("Location"))
    #expect(location.hasPrefix("myapp://done#access_token="))
    #expect(location.contains("&refresh_token=") && location.contains("&state=s"))
    let page = await org.raw(
      "POST", path.replacing("myapp%3A%2F%2Fdone", with: "http%3A%2F%2Flocalhost%2Fdone"),
      "username=admin%40fieldforce.example&password=fieldforce1")
    #expect(page.header("Location")?.contains("refresh_token=5Aep") == false)
  }

  @Test func `a device waits until its user lets it in`() async throws {
    let org = try OrgUnderTest()
    let code = await token(org, "response_type=device_code&client_id=app&scope=api%20refresh_token")
    let device = try #require(code.json?["device_code"]?.string)
    let userCode = try #require(code.json?["user_code"]?.string)
    let poll = "grant_type=device&client_id=app&code=\(device)"
    #expect(await token(org, poll).json?["error"]?.string == "authorization_pending")
    let wrong = await org.raw(
      "POST", "/setup/connect",
      "user_code=NOPE&username=admin%40fieldforce.example&password=fieldforce1")
    #expect(wrong.text.contains("The code is wrong"))
    _ = await org.raw(
      "POST", "/setup/connect",
      "user_code=\(userCode)&username=admin%40fieldforce.example&password=fieldforce1")
    let tokens = await token(org, poll)
    #expect(tokens.json?["refresh_token"]?.string?.hasPrefix("5Aep") == true)
    #expect(await token(org, poll).json?["error"]?.string == "invalid_grant")
  }

  @Test func `a rotated refresh token that comes back ends what came from it`() async throws {
    let org = try OrgUnderTest { $0.rotatesRefreshTokens = true }
    let first = org.org.sessions.makeRefreshToken(userID: org.org.userID, clientID: "app")
    func refresh(_ token: String) -> String {
      "grant_type=refresh_token&client_id=app&refresh_token=\(token)"
    }
    let second = await token(org, refresh(first))
    let next = try #require(second.json?["refresh_token"]?.string)
    let access = try #require(second.json?["access_token"]?.string)
    #expect(next != first)
    let reused = await token(org, refresh(first))
    #expect(reused.json?["error"]?.string == "invalid_grant")
    #expect(await token(org, refresh(next)).status == 400)
    #expect(
      await org.send("GET", "/limits", headers: ["authorization": "Bearer \(access)"]).status == 401
    )
  }

  @Test func `a lost refresh is forgiven until its successor or its session was used`() async throws
  {
    let org = try OrgUnderTest {
      $0.rotatesRefreshTokens = true
      $0.forgivesLostRefreshes = true
    }
    let first = org.org.sessions.makeRefreshToken(userID: org.org.userID, clientID: "app")
    func refresh(_ token: String) async throws -> (String, String) {
      let answer = await self.token(
        org, "grant_type=refresh_token&client_id=app&refresh_token=\(token)")
      return (
        try #require(answer.json?["refresh_token"]?.string),
        try #require(answer.json?["access_token"]?.string)
      )
    }
    func isGood(_ access: String) async -> Bool {
      await org.send("GET", "/limits", headers: ["authorization": "Bearer \(access)"]).status == 200
    }
    let lost = try await refresh(first)
    let second = try await refresh(first)
    // What was lost is ended, what came instead is good.
    #expect(await isGood(lost.1) == false)
    #expect(await isGood(second.1))
    // Its session was used: now the first one is a thief's, and ends everything.
    #expect(
      await token(org, "grant_type=refresh_token&client_id=app&refresh_token=\(first)").status
        == 400)
    #expect(await isGood(second.1) == false)
    #expect(
      await token(org, "grant_type=refresh_token&client_id=app&refresh_token=\(second.0)").status
        == 400)
  }

  @Test func `introspection and revocation know both kinds of token`() async throws {
    let org = try OrgUnderTest()
    let refresh = org.org.sessions.makeRefreshToken(userID: org.org.userID, clientID: "app")
    let access = await org.raw(
      "POST", "/services/oauth2/introspect", "client_id=app&token=\(org.token)")
    #expect(access.json?["active"]?.bool == true)
    #expect(access.json?["token_type"]?.string == "access_token")
    #expect(access.json?["username"]?.string == "admin@fieldforce.example")
    let other = await org.raw(
      "POST", "/services/oauth2/introspect", "client_id=app&token=\(refresh)")
    #expect(other.json?["token_type"]?.string == "refresh_token")
    #expect(await org.raw("GET", "/services/oauth2/revoke?token=\(refresh)").status == 200)
    let gone = await org.raw(
      "POST", "/services/oauth2/introspect", "client_id=app&token=\(refresh)")
    #expect(gone.json?["active"]?.bool == false)
    #expect(gone.json?.count == 1)
    let nobody = await org.raw("POST", "/services/oauth2/introspect", "token=\(org.token)")
    #expect(nobody.json?["error"]?.string == "invalid_client_id")
  }

  @Test func `an OpenID client can check who the user is`() async throws {
    let org = try OrgUnderTest()
    let configuration = await org.raw("GET", "/.well-known/openid-configuration")
    #expect(configuration.json?["jwks_uri"]?.string == "http://127.0.0.1:1/id/keys")
    let keys = await org.raw("GET", "/id/keys")
    let modulus = try #require(keys.json?["keys"]?[0]?["n"]?.string.flatMap(Base64URL.decode))
    let exponent = try #require(keys.json?["keys"]?[0]?["e"]?.string.flatMap(Base64URL.decode))
    let login = await org.raw(
      "POST",
      "/services/oauth2/authorize?response_type=code&client_id=app&scope=openid&nonce=n"
        + "&redirect_uri=http%3A%2F%2Flocalhost%2Fdone",
      "username=admin%40fieldforce.example&password=fieldforce1")
    let code = try #require(
      login.header("Location").flatMap { URLComponents(string: $0)?.queryItems?[0].value })
    let tokens = await token(
      org,
      "grant_type=authorization_code&client_id=app&code=\(code)"
        + "&redirect_uri=http%3A%2F%2Flocalhost%2Fdone")
    #expect(tokens.json?["refresh_token"] == nil)
    let parts = try #require(tokens.json?["id_token"]?.string).split(separator: ".")
    let key = try _RSA.Signing.PublicKey(n: modulus, e: exponent)
    let signature = try #require(Base64URL.decode(String(parts[2])))
    #expect(
      key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature),
        for: SHA256.hash(data: Data("\(parts[0]).\(parts[1])".utf8)), padding: .insecurePKCS1v1_5))
    let claims = try JSONSlice(parsing: try #require(Base64URL.decode(String(parts[1]))))
    #expect(claims["nonce"]?.string == "n")
    #expect(claims["aud"]?.string == "app")
  }

  @Test func `SOAP tells who and when it is, and logs out`() async throws {
    let org = try OrgUnderTest()
    func call(_ name: String, session: String) -> String {
      """
      <?xml version="1.0"?><e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/">
      <e:Header><SessionHeader><sessionId>\(session)</sessionId></SessionHeader></e:Header>
      <e:Body><\(name) xmlns="urn:partner.soap.sforce.com"/></e:Body></e:Envelope>
      """
    }
    let info = await org.raw(
      "POST", "/services/Soap/u/59.0", call("getUserInfo", session: org.token))
    #expect(info.text.contains("<userName>admin@fieldforce.example</userName>"))
    let time = await org.raw(
      "POST", "/services/Soap/u/59.0", call("getServerTimestamp", session: org.token))
    #expect(time.text.contains("2026-05-15T12:00:00"))
    let out = await org.raw("POST", "/services/Soap/u/59.0", call("logout", session: org.token))
    #expect(out.status == 200)
    let again = await org.raw(
      "POST", "/services/Soap/u/59.0", call("getUserInfo", session: org.token))
    #expect(again.status == 500 && again.text.contains("INVALID_SESSION_ID"))
  }

  @Test func `tokens are requested by POST`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.raw(
      "GET", "/services/oauth2/token?grant_type=client_credentials&client_id=a&client_secret=b")
    #expect(reply.status == 400)
    #expect(reply.json?["error"]?.string == "invalid_request")
    #expect(reply.json?["error_description"]?.string == "must use HTTP POST")
  }

  @Test func `an org tells mobile apps how to log in`() async throws {
    let org = try OrgUnderTest()
    let reply = await org.raw("GET", "/.well-known/auth-configuration")
    #expect(reply.status == 200)
    #expect(reply.json?["OrganizationId"]?.string == org.org.organizationID)
    #expect(
      reply.json?["MobileSDK"]?["UseiOSNativeBrowserForAuthentication"]?.bool == false)
    #expect(reply.json?["SamlProviders"]?.count == 0)
  }
}
