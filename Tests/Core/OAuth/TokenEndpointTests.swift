import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// Does only an OAuth error of the token endpoint say something about the session?
@Suite struct TokenEndpointTests {
  /// Responses that are no token response and no OAuth error, or that say that the server cannot work now.
  static let passing: [(status: Int, body: String)] = [
    (429, ""), (500, "<html>"), (502, "Bad Gateway"), (503, "<html>maintenance</html>"),
    (504, ""), (503, #"{"error":"invalid_grant","error_description":"down"}"#),
    (429, #"{"error":"invalid_grant"}"#), (400, #"{"error":"server_error"}"#),
    (400, #"{"error":"service_unavailable"}"#), (400, #"{"error":"system_down"}"#),
    (400, #"{"error":"temporarily_unavailable"}"#), (200, "<html>Welcome to the hotel</html>"),
    (200, ""), (200, "[]"), (200, "{}"), (200, #"{"access_token":""}"#),
    (200, #"{"error":"log in to the wifi"}"#), (200, #"{"status":"captive"}"#),
    (302, "<html>Moved</html>"), (302, #"{"location":"http://portal"}"#), (307, ""),
    (400, "Bad Request"), (401, "<html>Proxy</html>"), (403, #"{"message":"Forbidden"}"#),
    (404, "Not Found"), (407, #"{"error":"proxy_authentication_required"}"#),
    (511, "<html>Network Authentication Required</html>"),
  ]

  static let final: [(word: String, code: OAuthError.Code)] = [
    ("invalid_grant", .invalidGrant), ("inactive_user", .inactiveUser),
    ("inactive_org", .inactiveOrg), ("invalid_client", .invalidClientCredentials),
    ("invalid_client_id", .invalidClientId), ("access_denied", .accessDenied),
    ("invalid_request", .invalidRequest), ("unsupported_grant_type", .unknown),
    ("invalid_app_access", .unknown), ("oauth_flow_disabled", .unknown),
    ("app_blocked", .unknown), ("invalid_token", .unknown), ("invalid_scope", .unknown),
  ]

  @Test(arguments: passing.indices, ["refresh", "client credentials", "assertion"])
  func `a response that is not the token endpoint's keeps the session and may be tried again`(
    index: Int, kind: String
  ) async throws {
    let (status, body) = Self.passing[index]
    let stub = LoginServerStub([
      "/services/oauth2/token": { _ in LoginServerStub.tokens(["refresh_token": "refresh-1"]) }
    ])
    let manager = try await stub.manager(stub.transport())
    let account: UserAccount
    switch kind {
    case "client credentials":
      stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens() }
      account = try await manager.logIn(
        .grant(.clientCredentials(clientId: "client-1", clientSecret: "secret-1")))
    case "assertion":
      stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens() }
      account = try await manager.logIn(.grant(.assertion(clientId: "client-1") { _ in "a.b.c" }))
    default:
      let presenter = ScriptedLoginPresenter {
        "\($0.app.redirectURI)?code=x&state=\($0.state)"
      }
      account = try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    }
    stub.set("/services/oauth2/token") { _ in
      RestResponse(status: status, body: Array(body.utf8))
    }
    let error = await #expect(throws: OAuthError.self) {
      try await manager.refresh(account.identity)
    }
    #expect(error?.isRetryable == true && error?.effect == .tryLater)
    #expect(error?.message.contains("Log in again") == false)
    #expect(await manager.account(for: account.identity)?.loginState == .loggedIn)
    // The server is there again.
    stub.set("/services/oauth2/token") { _ in LoginServerStub.tokens(["access_token": "access-2"]) }
    let renewed = try await manager.refresh(account.identity)
    #expect(renewed.credentials.accessToken == "access-2")
  }

  @Test(arguments: final.indices, [400, 401, 403])
  func `an OAuth error is final, and a refused grant alone ends the session`(
    index: Int, status: Int
  ) async throws {
    let (word, code) = Self.final[index]
    let transport = ScriptedTransport { _ in LoginServerStub.refusal(word, status: status) }
    let manager = try await TestOrg().manager(transport: transport)
    let error = await #expect(throws: OAuthError.self) {
      try await manager.refresh(TestOrg.identity)
    }
    #expect(error?.code == code && error?.serverError == word)
    #expect(error?.isRetryable == false && error?.isUnexpectedResponse == false)
    let isLoggedIn = await manager.account(for: TestOrg.identity)?.loginState == .loggedIn
    #expect(isLoggedIn == (word != "invalid_grant"))
  }
}
