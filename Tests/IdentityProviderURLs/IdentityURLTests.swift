import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import IdentityProviderURLs

/// Do apps with and without the SDK read each other's URLs?
@Suite struct IdentityURLTests {
  private static let user = IdentityUser(
    organizationId: "00D000000000001EAA", userId: "005000000000001AAA")

  private func code(_ text: String) -> IdentityURLError.Code? {
    do throws(IdentityURLError) {
      _ = try IdentityURL(parsing: text)
      return nil
    } catch {
      return error.code
    }
  }

  @Test(.covers("CO-161.1", "CO-169", "BX-26")) func `each command has the form of the guide`()
    throws
  {
    let user = try #require(Self.user)
    let urls: [(IdentityCommand, String)] = [
      (
        .authRequest(
          .init(
            clientId: "3MVG9", redirectURI: "acme:///done?a=b&c", codeChallenge: "x-_9",
            scopes: ["web", "api"],
            user: user, loginHost: "login.salesforce.com", state: "s 1", appName: "Ör&der")),
        "idp://oauth2/v1.0/authrequest?oauth_client_id=3MVG9&oauth_redirect_uri=acme%3A%2F%2F%2Fdone%3Fa%3Db%26c&code_challenge=x-_9&scopes=api%2Crefresh_token%2Cweb&user_hint=00D000000000001EAA%3A005000000000001AAA&login_host=login.salesforce.com&state=s%201&app_name=%C3%96r%26der"
      ),
      (
        .authResponse(.init(code: "aPrx==", loginHost: "login.salesforce.com", state: "s")),
        "idp://oauth2/v1.0/authresponse?code=aPrx%3D%3D&state=s&login_host=login.salesforce.com"
      ),
      (
        .failure(.init(code: "1", description: "No user", reason: "cancelled", state: "s")),
        "idp://oauth2/v1.0/error?error_code=1&error_desc=No%20user&error_reason=cancelled&state=s&errorCode=1&errorDescription=No%20user&errorReason=cancelled"
      ),
      (
        .login(.init(user: user, loginHost: "h", startURL: "acme://p")),
        "idp://oauth2/v1.0/idpinit?user_hint=00D000000000001EAA%3A005000000000001AAA&login_host=h&start_url=acme%3A%2F%2Fp"
      ),
      (.login(.init()), "idp://oauth2/v1.0/idpinit"),
      (
        .loginWithCode(.init(user: user, code: "c", keychainReference: "r", keychainGroup: "g")),
        "idp://oauth2/v1.0/idpauthcodeinit?user_hint=00D000000000001EAA%3A005000000000001AAA&code=c&keychain_reference=r&keychain_group=g"
      ),
    ]
    for (command, text) in urls {
      let url = IdentityURL(scheme: "idp", command: command)
      #expect(url.text == text)
      #expect(try IdentityURL(parsing: text) == url)
    }
  }

  @Test(.covers("CO-161.2", "BX-26")) func `the forms of both platforms are read`() throws {
    let user = try #require(Self.user)
    #expect(
      try IdentityURL(
        parsing: "a://OAuth2/V1.0/IdpInit?user_hint=005000000000001AAA:00D000000000001EAA&x=1#f")?
        .command
        == .login(.init(user: user)))
    #expect(
      try IdentityURL(
        parsing: "a://oauth2/v1.0/error?errorCode=7&errorDescription=d+e&errorReason=r")?.command
        == .failure(.init(code: "7", description: "d e", reason: "r")))
    #expect(
      try IdentityURL(
        parsing:
          "a://oauth2/v1.0/authrequest?oauth_client_id=c&oauth_redirect_uri=r&code_challenge=x")?
        .command == .authRequest(.init(clientId: "c", redirectURI: "r", codeChallenge: "x")))
  }

  @Test(
    .covers("CO-161.2"),
    arguments: [
      "", "x", "://oauth2/v1.0/idpinit", "a://oauth2/v1.0", "a://oauth2/v1.0/",
      "a://oauth2/v1.0/unknown",
      "a://oauth2/v1.0/idpinit/more", "a://oauth2/v2.0/idpinit", "a://other/v1.0/idpinit",
      "1a://oauth2/v1.0/idpinit",
      "a b://oauth2/v1.0/idpinit", "https://login.salesforce.com/services/oauth2/authorize?code=1",
    ])
  func `a URL of another grammar is left to others`(text: String) throws {
    #expect(try IdentityURL(parsing: text) == nil)
  }

  @Test(.covers("CO-161.2")) func `what has the grammar and cannot be used is a typed error`() {
    let whole =
      "a://oauth2/v1.0/authrequest?oauth_client_id=c&oauth_redirect_uri=r&code_challenge=x"
    for name in ["oauth_client_id=c", "oauth_redirect_uri=r", "code_challenge=x"] {
      let key = String(name.dropLast(2))
      #expect(code(whole.replacingOccurrences(of: name, with: "y=1")) == .missing, "\(key)")
      #expect(code(whole.replacingOccurrences(of: name, with: "\(key)=")) == .missing, "\(key)")
      #expect(code(whole + "&\(name)") == .malformed, "\(key)")
    }
    for wrong in [
      "state=%", "state=%4", "state=%zz", "state=%00", "state=a%0Ab", "state=%ff", "%ff=1",
      "user_hint=00D:005", "user_hint=x",
    ] {
      #expect(code("\(whole)&\(wrong)") == .malformed, "\(wrong)")
    }
    #expect(
      code("\(whole)&state=\(String(repeating: "x", count: IdentityURL.maxLength))") == .tooLong)
    for text in [
      "authresponse?code=c", "authresponse?login_host=h", "error",
      "idpauthcodeinit?code=c&keychain_reference=r&keychain_group=g",
    ] {
      #expect(code("a://oauth2/v1.0/\(text)") == .missing, "\(text)")
    }
  }

  @Test(.covers("CO-161.1", "CO-169")) func `any values come back as they were sent`() throws {
    var generator = SeededGenerator(seed: 161)
    func word() -> String {
      let letters = Array("aZ0 &=+%#?/:;,.~'\"ключ🔑\\<>")
      return String(
        (0..<Int.random(in: 1...12, using: &generator)).compactMap { _ in
          letters.randomElement(using: &generator)
        })
    }
    func maybe() -> String? { Bool.random(using: &generator) ? word() : nil }
    for _ in 0..<500 {
      let user = Bool.random(using: &generator) ? Self.user : nil
      let commands: [IdentityCommand] = [
        .authRequest(
          .init(
            clientId: word(), redirectURI: word(), codeChallenge: word(), scopes: ["api", "id"],
            user: user,
            loginHost: maybe(), state: maybe(), appName: maybe())),
        .authResponse(.init(code: word(), loginHost: word(), state: maybe())),
        .failure(.init(code: word(), description: word(), reason: word(), state: maybe())),
        .login(.init(user: user, loginHost: maybe(), startURL: maybe())),
        .loginWithCode(
          .init(
            user: try #require(Self.user), code: word(), keychainReference: word(),
            keychainGroup: word())),
      ]
      for command in commands {
        let url = IdentityURL(scheme: "x-acme.idp+1", command: command)
        #expect(try IdentityURL(parsing: url.text) == url)
        // And any change of it is read, refused or left to others.
        var bytes = Array(url.text.utf8)
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
        _ = try? IdentityURL(parsing: String(decoding: bytes, as: UTF8.self))
      }
    }
  }
}
