import Foundation
import HTTPTypes
import SalesforceSDKCommon
import Testing

@testable import SalesforceSDKCore
import TestSupport

/// CO-26, CO-29, CO-33: the flow whose redirect brings the tokens themselves.
@Suite struct UserAgentFlowTests {
  private func attempt(hybrid: Bool = true) -> AuthorizationSession {
    var app = TestOrg.app
    app.usesHybridGrants = hybrid
    return AuthorizationSession(app: app, server: .production, flow: .userAgent)
  }

  private func verdict(_ attempt: AuthorizationSession, _ address: String) -> String {
    switch attempt.verdict(on: address) {
    case .tokens(let tokens): "tokens \(tokens.response.values["access_token"] ?? "")"
    case .code(let code): "code \(code)"
    case .refused(let error): "refused \(error.code)"
    case .foreign(let error): "foreign \(error.code)"
    }
  }

  @Test(.covers("CO-26", "CO-33.1", "BX-13.1"))
  func `tokens are requested from the page, without PKCE`() {
    for (hybrid, type) in [(true, "hybrid_token"), (false, "token")] {
      let query = attempt(hybrid: hybrid).authorizationURL().query() ?? ""
      #expect(query.contains("response_type=\(type)&"))
      #expect(!query.contains("code_challenge"))
      #expect(query.contains("&state="))
    }
  }

  @Test(.covers("CO-29"))
  func `tokens come behind the redirect's hash or, without one, behind its query`() {
    let attempt = attempt()
    let uri = TestOrg.app.redirectURI, state = "state=\(attempt.state)"
    #expect(verdict(attempt, "\(uri)#access_token=a%21b+c&\(state)") == "tokens a!b c")
    #expect(verdict(attempt, "\(uri)?access_token=x&\(state)") == "tokens x")
    // The fragment comes first, and a pair without a value is tolerated.
    #expect(verdict(attempt, "\(uri)?a=b#flag&access_token=y&\(state)") == "tokens y")
    #expect(verdict(attempt, "\(uri)#error=access_denied&\(state)") == "refused accessDenied")
    #expect(verdict(attempt, "\(uri)#\(state)") == "refused malformedResponse")
    #expect(
      verdict(attempt, "\(uri)#access_token=x&instance_url=http%3A%2F%2Fevil.org&\(state)")
        == "refused malformedResponse")
    #expect(verdict(attempt, uri) == "foreign malformedResponse")
    #expect(verdict(attempt, "\(uri)#") == "foreign malformedResponse")
    #expect(verdict(attempt, "\(uri)#access_token=x") == "foreign stateMismatch")
    #expect(verdict(attempt, "\(uri)#access_token=x&state=other") == "foreign stateMismatch")
    #expect(
      verdict(attempt, "https://evil.org/#access_token=x&\(state)") == "foreign stateMismatch")
  }

  @Test(.covers("CO-29"))
  func `an unknown client is named`() {
    let attempt = attempt()
    guard
      case .refused(let error) = attempt.verdict(
        on: "\(TestOrg.app.redirectURI)#error=invalid_client_id&state=\(attempt.state)")
    else {
      Issue.record("no refusal")
      return
    }
    #expect(error.code == .invalidClientId)
    #expect(error.message.contains("client-1"))
  }

  @Test(.covers("CO-29", "CO-25.1", "CO-76.2", "BX-11.1"))
  func `a login takes its tokens from the redirect, without a token call`()
    async throws
  {
    let stub = LoginServerStub()
    let transport = stub.transport()
    let manager = try await stub.manager(transport)
    let events = await manager.loginEvents()
    let account = try await manager.logIn(
      .browser(
        app: TestOrg.app,
        presenter: ScriptedLoginPresenter { attempt in
          let tokens = PercentEncoding.form([
            (name: "access_token", value: "00D!AQ"), ("refresh_token", "5Aep"),
            ("instance_url", "https://acme.my.salesforce.com"),
            ("id", "https://login.salesforce.com/id/00D000000000001EAA/005000000000001AAA"),
            ("scope", "api id refresh_token"), ("state", attempt.state),
          ])
          return "\(attempt.app.redirectURI)#\(tokens)"
        }, options: LoginOptions(flow: .userAgent)))
    #expect(account.credentials.accessToken == "00D!AQ")
    #expect(account.credentials.refreshToken == "5Aep")
    #expect(account.accessScopes == ["api", "id", "refresh_token"])
    #expect(account.isSessionValid)
    #expect(transport.requests.map { $0.url.path() }.allSatisfy { $0.hasPrefix("/id/") })
    await manager.close()
    var types: Set<String> = []
    for await event in events { types.insert(event.type.rawValue) }
    #expect(types == ["UserAgent"])
  }

  @Test(.covers("CO-67"))
  func `tokens of a redirect show nothing of themselves`() throws {
    let tokens = RedirectTokens(
      response: try TokenResponse(members: [(name: "access_token", value: "geheim")], during: "x"))
    var shown = "\(tokens) \(String(reflecting: tokens))"
    dump(tokens, to: &shown)
    #expect(!shown.contains("geheim"))
  }
}
