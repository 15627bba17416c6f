import AuthFlows
import SalesforceMockOrg
import SalesforceSDKCore
import Testing

/// Does every kind of login give a session that works?
@Suite struct AuthFlowTests {
  static let withRefreshToken: Set<AuthFlow> = [
    .webServer, .hybrid, .pasted, .device, .jwtSession, .tokens,
  ]

  @Test(arguments: AuthFlow.allCases.filter { $0 != .password })
  func `a login gives a session for requests, refreshes and a logout`(_ flow: AuthFlow) async throws
  {
    let report = try await AuthSettings.withMockOrg { settings, _ in
      try await AuthFlowRunner(settings).run(flow)
    }
    for step in ["login", "request", "refresh", "revoked token", "logout"] {
      if flow == .userAgent, ["refresh", "revoked token"].contains(step) {
        #expect(report[step] == .skipped("no refresh token"))
      } else {
        #expect(report[step] == .passed, "\(report.lines)")
      }
    }
    let facts = try #require(report.facts)
    // The app's own credentials have the scope api alone, which does not permit reading the user's name.
    #expect(facts.username == (flow == .clientCredentials ? "" : "admin@fieldforce.example"))
    #expect(facts.hasRefreshToken == Self.withRefreshToken.contains(flow))
    #expect((facts.webTokens > 0) == (flow == .hybrid))
    if facts.hasRefreshToken {
      #expect(report["migration"] == .passed, "\(report.lines)")
    } else {
      #expect(report["migration"] == .skipped("no refresh token"))
    }
  }

  @Test func `a login whose means are missing is skipped with the reason`() async throws {
    try await AuthSettings.withMockOrg { settings, _ in
      var settings = settings
      settings.signingKey = nil
      for flow in [AuthFlow.password, .jwt] {
        let report = try await AuthFlowRunner(settings).run(flow)
        guard case .skipped(let reason)? = report["login"] else {
          Issue.record("\(report.lines)")
          return
        }
        #expect(!reason.isEmpty && report.steps.count == 1 && report.isSuccess)
      }
    }
  }

  @Test func `a refused login fails with the reason of the server, and shows no secret`()
    async throws
  {
    try await AuthSettings.withMockOrg { settings, _ in
      var settings = settings
      settings.clientSecret = "a wrong secret"
      let report = try await AuthFlowRunner(settings).run(.clientCredentials)
      guard case .failed(let message)? = report["login"] else {
        Issue.record("\(report.lines)")
        return
      }
      #expect(message.contains("invalid") && !message.contains("a wrong secret"))
      #expect(!report.isSuccess)
    }
  }

  @Test func `a report shows no token`() async throws {
    try await AuthSettings.withMockOrg { settings, _ in
      let report = try await AuthFlowRunner(settings).run(.tokens)
      let text = report.lines.joined()
      let tokens = try #require(settings.tokens)
      #expect(!text.contains(tokens.access) && !text.contains(tokens.refresh ?? "?"))
      #expect(text.contains("with refresh token"))
    }
  }
}
