import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SalesforceSDKCore

/// What the server receives when a session without a refresh token ends.
@Suite struct RevocationTests {
  @Test func `a logout without a refresh token revokes the access token`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([org.account(refreshToken: nil)])
    let report = try await manager.logOut(TestOrg.identity)
    #expect(report.isRevoked == true)
    #expect(org.state.withLock { $0.revocations } == ["access-1"])
  }

  @Test func `a login with the same access token does not revoke it`() async throws {
    let org = TestOrg()
    let manager = try await org.manager([org.account(refreshToken: nil)])
    for refreshToken in ["refresh-1", nil] {
      try await manager.logIn(
        .tokens(
          accessToken: "access-1", refreshToken: refreshToken,
          instance: try LoginServer("https://acme.my.salesforce.com")))
    }
    #expect(!org.state.withLock { $0.revocations }.contains("access-1"))
  }
}
