import Foundation
import SalesforceMockOrg
import SalesforceSDKCommon
import Subprocess
import TestSupport
import Testing

/// CO-31, CO-98, BX-4: processes are killed while the org rotates refresh tokens and ends the whole
/// session of a token that is used twice.
@Suite struct TokenLossTests {
  private static let rounds = Effort.times(5)

  @Test
  func `CO-31 CO-98 BX-4 no account is locked out by processes that are killed as they refresh`()
    async throws
  {
    var options = MockOrgOptions()
    options.rotatesRefreshTokens = true
    options.forgivesLostRefreshes = true
    try await withMockOrg(options) { org, server in
      let tool = try Tool()
      let info = server.info
      _ = try await tool.json(
        "login", "--url", info.url, "--access-token", info.accessToken, "--refresh-token",
        info.refreshToken, "--client-id", info.clientId)
      let seed = Effort.seed(.random(in: 0..<1_000_000))
      var random = SeededGenerator(seed: seed)
      // How long a whole run takes here: kills fall anywhere inside, most of them into the refresh.
      let start = ContinuousClock.now
      org.expireAccessTokens()
      _ = try await tool("rest", "GET", "/limits")
      let whole = ContinuousClock.now - start
      for round in 0..<Self.rounds {
        org.expireAccessTokens()
        let delays = (0..<2).map { _ in whole * Double.random(in: 0.2...1.2, using: &random) }
        // Two at once, so that one may find what the other left behind.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for delay in delays {
            group.addTask {
              try await tool.kill(after: delay, ["rest", "GET", "/limits"])
            }
          }
          try await group.waitForAll()
        }
        let account = try await tool.json("accounts")["accounts"]?[0]
        #expect(account?["userId"]?.string == info.userId, "round \(round), seed \(seed)")
        let result = try await tool("rest", "GET", "/limits")
        #expect(result.status == 0, "round \(round), seed \(seed): \(result.errors)")
      }
    }
  }
}
