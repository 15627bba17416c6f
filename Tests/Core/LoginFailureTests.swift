import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// How does a login end when the network or the server fails it?
@Suite struct LoginFailureTests {
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  @Test(
    .covers("CO-5.3"),
    arguments: ["code", "tokens", "password", "device code", "assertion", "client secret"])
  func `without a network a login of any kind fails at once and leaves no account`(
    kind: String
  ) async throws {
    let transport = ScriptedTransport { _ in throw TransportError(.unreachable, "no network") }
    let manager = try await TestOrg().manager([], transport: transport)
    let server = try LoginServer("https://acme.my.salesforce.com")
    let error = await #expect(throws: TransportError.self) {
      switch kind {
      case "code": try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
      case "tokens": try await manager.logIn(.tokens(accessToken: "access-1", instance: server))
      case "password":
        try await manager.logIn(
          .password(
            username: "jane@example.com", password: "geheim12", to: server, app: TestOrg.app))
      case "device code": try await manager.logIn(.device(app: TestOrg.app) { _ in })
      case "assertion": try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
      default:
        try await manager.logIn(
          .grant(.clientCredentials(clientId: "c", clientSecret: "s"), to: server))
      }
    }
    #expect(error?.code == .unreachable)
    #expect(await manager.accounts.isEmpty)
    #expect(await manager.current == nil)
    #expect(transport.requests.count == 1)
  }

  @Test(.covers("CO-30.4"))
  func `an exchange that times out is error 667, another failure passes through`()
    async throws
  {
    for code in [TransportError.Code.timedOut, .unreachable, .tooLarge] {
      let transport = ScriptedTransport { _ in throw TransportError(code, "no") }
      let manager = try await TestOrg().manager([], transport: transport)
      do {
        try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
        Issue.record("a login without a response")
      } catch let error as OAuthError {
        #expect(code == .timedOut && error.number == 667)
      } catch let error as TransportError {
        #expect(code != .timedOut && error.code == code)
      }
    }
  }

  @Test(.covers("CO-33.2"))
  func `a server that refuses hybrid grants is quoted, and no other grant is tried`()
    async throws
  {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.refusal("unsupported_grant_type") }
    ])
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    #expect(error?.serverError == "unsupported_grant_type")
    #expect(error?.number == 666)
    #expect(transport.requests.map { form($0)["grant_type"] } == ["hybrid_auth_code"])
  }

  @Test(.covers("CO-34.4", "BX-6.3"), arguments: ["<html>", "[]", "", #""text""#, "{"])
  func `a response to an assertion that is no JSON object is error 682`(
    body: String
  ) async throws {
    for status in [200, 400] {
      let stub = LoginServerStub([
        "/services/oauth2/token": { _ in
          RestResponse(status: status, body: Array(body.utf8))
        }
      ])
      let manager = try await stub.manager(stub.transport())
      let error = await #expect(throws: OAuthError.self) {
        try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
      }
      #expect(error?.code == .jwtLaunchFailed && error?.number == 682)
      // The platform has that code for assertions alone.
      let secret = await #expect(throws: OAuthError.self) {
        try await manager.logIn(.grant(.clientCredentials(clientId: "c", clientSecret: "s")))
      }
      #expect(secret?.code == .malformedResponse)
    }
  }

  @Test(.covers("CO-34.4"))
  func `an assertion that a closed server rejects may be sent again`() async throws {
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in RestResponse(status: 503, json: "<html>") }
    ])
    let manager = try await stub.manager(stub.transport())
    let error = await #expect(throws: OAuthError.self) {
      try await manager.logIn(.grant(.assertion(clientId: "c") { _ in "a.b.c" }))
    }
    #expect(error?.code == .serverUnavailable && error?.code.isRetryable == true)
  }

  @Test(
    .covers("CO-42.2"),
    arguments: [
      (200, "{}", .malformedResponse, nil),
      (200, #"{"frontdoor_uri":"http://acme.example/frontdoor"}"#, .malformedResponse, nil),
      (200, "<html>", .malformedResponse, nil),
      (
        400, #"{"error":"invalid_request","error_description":"no"}"#, .invalidRequest,
        "invalid_request"
      ),
      (400, #"[{"errorCode":"INVALID_PAGE","message":"no"}]"#, .unknown, "INVALID_PAGE"),
    ] as [(Int, String, OAuthError.Code, String?)])
  func `a one-time login URL that is missing, insecure or refused is an error`(
    status: Int, body: String, code: OAuthError.Code, word: String?
  ) async throws {
    let stub = LoginServerStub([
      "/services/oauth2/singleaccess": { _ in RestResponse(status: status, json: body) }
    ])
    let manager = try await stub.manager(stub.transport(), [TestOrg().account()])
    let error = await #expect(throws: OAuthError.self) {
      try await manager.oneTimeLoginURL(to: "/x", for: TestOrg.identity)
    }
    #expect(error?.code == code)
    #expect(error?.serverError == word)
  }

  @Test(.covers("CO-43.3"), arguments: [false, true])
  func `a login does without a configuration that fails or takes more than five seconds`(
    hangs: Bool
  ) async throws {
    let never = Latch()
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "r"]) }
    ])
    let server = stub.transport()
    let transport = ScriptedTransport { request in
      if request.url.path().hasSuffix("auth-configuration") {
        guard hangs else { throw TransportError(.unreachable, "no") }
        try await never.wait()
      }
      return try await server.send(request)
    }
    let clock = HandClock()
    let manager = try await stub.manager(transport, clock: clock)
    let page = Mutex("")
    let login = Task {
      try await manager.logIn(
        .browser(
          to: LoginServer("acme.my.salesforce.com"), app: TestOrg.app,
          presenter: ScriptedLoginPresenter { attempt in
            let address = try await attempt.loginPage().absoluteString
            page.withLock { $0 = address }
            return "\(attempt.app.redirectURI)?code=x&state=\(attempt.state)"
          }))
    }
    if hangs {
      await until { clock.hasSleeper(for: .seconds(5)) }
      clock.advance(by: .seconds(5))
    }
    #expect(try await login.value.identity == TestOrg.identity)
    #expect(page.withLock { $0 }.contains("prompt=login"))
  }
}
