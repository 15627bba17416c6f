import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-50, BX-7 to BX-10: logins without any page.
@Suite struct HeadlessLoginTests {
  private static let site = "https://acme.my.site.com/shop"
  private static let longName = String(repeating: "x", count: 75) + "@ab.de"
  private static let longPassword = String(repeating: "a1", count: 8_001)

  private func stub() -> LoginServerStub {
    LoginServerStub([
      "/shop/services/oauth2/authorize": { _ in
        RestResponse(
          json:
            #"{"code":"aPrx==","sfdc_community_url":"\#(Self.site)","sfdc_community_id":"0DB000000000001GAA"}"#
        )
      },
      "/shop/services/oauth2/token": { _ in
        LoginServerStub.tokens([
          "sfdc_community_url": Self.site, "sfdc_community_id": "0DB000000000001GAA",
          "refresh_token": "r",
        ])
      },
      "/shop/id/00D000000000001EAA/005000000000001AAA": { _ in
        RestResponse(json: #"{"username":"jane@example.com"}"#)
      },
    ])
  }

  private func header(_ request: TransportRequest, _ name: String) -> String? {
    HTTPField.Name(name).flatMap { request.headers[$0] }
  }

  @Test(.covers("CO-50", "BX-7.1"))
  func `a name and a password become an account`() async throws {
    let stub = stub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let account = try await manager.logIn(
      .password(
        username: " jane@example.com ", password: "geheim12", to: try LoginServer(Self.site),
        app: TestOrg.app))
    let ask = transport.requests[0]
    #expect(header(ask, "Auth-Request-Type") == "Named-User")
    #expect(header(ask, "Auth-Verification-Type") == nil)
    #expect(
      ask.headers[.authorization]
        == "Basic " + Base64URL.encode("jane@example.com:geheim12".utf8))
    var fields = form(ask)
    #expect(fields.removeValue(forKey: "code_challenge")?.isEmpty == false)
    #expect(
      fields == [
        "response_type": "code_credentials", "client_id": "client-1",
        "redirect_uri": TestOrg.app.redirectURI,
      ])
    let exchange = transport.requests[1]
    #expect(exchange.url.absoluteString == "\(Self.site)/services/oauth2/token")
    #expect(form(exchange)["code"] == "aPrx==")
    #expect(form(exchange)["grant_type"] == "hybrid_auth_code")
    #expect(account.communityId == "0DB000000000001GAA")
    #expect(account.apiURL?.absoluteString == Self.site)
    for request in transport.requests { #expect(!"\(request)".contains("geheim12")) }
  }

  @Test(.covers("CO-81.3", "CO-25.2"))
  func `a headless login has a kind, and does not choose the site as server`()
    async throws
  {
    let hosts = try LoginHostStorage()
    let stub = stub()
    let manager = try await stub.manager(stub.transport(), loginHosts: hosts)
    let events = await manager.loginEvents()
    let account = try await manager.logIn(
      .password(
        username: "jane@example.com", password: "geheim12", to: try LoginServer(Self.site),
        app: TestOrg.app))
    #expect(await manager.current == account)
    #expect(hosts.selected == .production && hosts.list.custom.isEmpty)
    stub.set("/shop/services/oauth2/authorize") { _ in
      LoginServerStub.refusal("invalid_grant", status: 401)
    }
    await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .password(
          username: "jane@example.com", password: "geheim12", to: try LoginServer(Self.site),
          app: TestOrg.app))
    }
    await manager.close()
    var lines: [String] = []
    for await event in events {
      lines.append("\("\(event.kind)".prefix { $0 != "(" }) \(event.type)")
    }
    #expect(
      lines == ["willLogIn Native", "didLogIn Native", "willLogIn Native", "didFail Native"])
  }

  @Test(
    .covers("CO-50", "BX-7.1"),
    arguments: [
      ("jane", "geheim12", OAuthError.Code.invalidUsername),
      ("jane@localhost", "geheim12", .invalidUsername), ("a b@c.de", "geheim12", .invalidUsername),
      (HeadlessLoginTests.longName, "geheim12", .invalidUsername),
      ("jane@example.com", "short1", .invalidPassword),
      ("jane@example.com", "nodigits", .invalidPassword),
      ("jane@example.com", "12345678", .invalidPassword),
      ("jane@example.com", HeadlessLoginTests.longPassword, .invalidPassword),
    ])
  func `what breaks a rule is not sent`(
    username: String, password: String, code: OAuthError.Code
  ) async throws {
    let stub = stub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .password(
          username: username, password: password, to: try LoginServer(Self.site), app: TestOrg.app))
    }
    #expect(error?.code == code)
    #expect("\(String(reflecting: error))".contains(password) == false)
    #expect(transport.requests.isEmpty)
  }

  @Test(.covers("BX-7.1"))
  func `a refused password is reported in the server's words`() async throws {
    let stub = stub()
    stub.set("/shop/services/oauth2/authorize") { _ in
      LoginServerStub.refusal("invalid_grant", status: 401)
    }
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .password(
          username: "jane@example.com", password: "geheim12", to: try LoginServer(Self.site),
          app: TestOrg.app))
    }
    #expect(error?.serverError == "invalid_grant")
    // No session was there, so none is ended: the effect is a login again.
    #expect(await manager.accounts.isEmpty)
    stub.set("/shop/services/oauth2/authorize") { _ in RestResponse(status: 403) }
    let bare = await #expect(throws: OAuthError.self) {
      try await manager.logIn(
        .password(
          username: "jane@example.com", password: "geheim12", to: try LoginServer(Self.site),
          app: TestOrg.app))
    }
    #expect(bare?.code == .accessDenied)
  }

  @Test(.covers("CO-50", "BX-8"))
  func `a one-time code takes the place of the password`() async throws {
    let stub = stub()
    stub.set("/shop/services/auth/headless/init/passwordless/login") { _ in
      RestResponse(json: #"{"status":"success","identifier":"ident-1"}"#)
    }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let server = try LoginServer(Self.site)
    let pending = try await manager.requestOneTimeCode(
      for: "jane@example.com", by: .sms, at: server,
      captcha: .enterprise(token: "t", siteKey: "k", projectId: "p"))
    #expect(
      try JSONValue(parsing: text(transport.requests[0].body)) == [
        "username": "jane@example.com", "verificationmethod": "sms",
        "recaptchaevent": [
          "token": "t", "siteKey": "k", "expectedAction": "login", "projectId": "p",
        ],
      ])
    try await manager.logIn(.oneTimeCode(" 123456 ", for: pending, to: server, app: TestOrg.app))
    let ask = transport.requests[1]
    #expect(header(ask, "Auth-Request-Type") == "passwordless-login")
    #expect(header(ask, "Auth-Verification-Type") == "sms")
    #expect(ask.headers[.authorization] == "Basic " + Base64URL.encode("ident-1:123456".utf8))
    #expect(await manager.accounts.count == 1)
  }

  @Test(.covers("CO-50", "BX-9"))
  func `a person registers, with further data, and is logged in by the code`()
    async throws
  {
    let stub = stub()
    stub.set("/shop/services/auth/headless/init/registration") { _ in
      RestResponse(json: #"{"email":"jane@example.com","identifier":"ident-2"}"#)
    }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let server = try LoginServer(Self.site)
    var person = UserRegistration(
      email: "jane@example.com", username: "jane@example.com", firstName: "Jane", lastName: "Doe",
      password: "geheim12", additionalData: ["phone": "1"])
    let pending = try await manager.register(
      person, by: .email, at: server, captcha: .token("proof"))
    #expect(
      try JSONValue(parsing: text(transport.requests[0].body)) == [
        "userdata": [
          "email": "jane@example.com", "username": "jane@example.com", "firstName": "Jane",
          "lastName": "Doe", "phone": "1",
        ], "password": "geheim12", "verificationmethod": "email", "recaptcha": "proof",
      ])
    try await manager.logIn(.oneTimeCode("1", for: pending, to: server, app: TestOrg.app))
    #expect(header(transport.requests[1], "Auth-Request-Type") == "user-registration")
    person.email = "jane@example.com, other@example.com"
    let error = await #expect(throws: OAuthError.self) {
      try await manager.register(person, by: .email, at: server)
    }
    #expect(error?.code == .invalidEmail)
    var shown = "\(person)"
    dump(person, to: &shown)
    #expect(!shown.contains("geheim12"))
  }

  @Test(.covers("CO-50", "BX-10"))
  func `a forgotten password is replaced with a one-time code`() async throws {
    let stub = stub()
    stub.set("/shop/services/auth/headless/forgot_password") { _ in RestResponse(status: 200) }
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let server = try LoginServer(Self.site)
    try await manager.requestPasswordReset(for: "jane@example.com", at: server)
    try await manager.resetPassword(
      of: "jane@example.com", oneTimeCode: "123", newPassword: "neues123", at: server)
    #expect(
      try transport.requests.map { try JSONValue(parsing: text($0.body)) } == [
        ["username": "jane@example.com"],
        ["username": "jane@example.com", "otp": "123", "newpassword": "neues123"],
      ])
    stub.set("/shop/services/auth/headless/forgot_password") { _ in
      RestResponse(status: 400, json: #"[{"errorCode":"INVALID_OTP","message":"expired"}]"#)
    }
    let error = await #expect(throws: OAuthError.self) {
      try await manager.resetPassword(
        of: "jane@example.com", oneTimeCode: "123", newPassword: "neues123", at: server)
    }
    #expect(error?.serverError == "INVALID_OTP" && error?.serverDescription == "expired")
  }
}
