import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Testing
import TestSupport

/// What happens when a session ends while work is under way?
@Suite struct SessionTests {
  private func refreshes(_ org: MockOrg) -> Int {
    org.requestLog.count { $0.path == "/services/oauth2/token" }
  }

  @Test(.covers("CO-123.1"))
  func `twenty requests that meet an expired session cost one refresh`()
    async throws
  {
    try await FieldDevice.with { device in
      device.org.expireAccessTokens()
      let client = device.client
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 { group.addTask { try await client.send(.limits()).status } }
        var statuses: [Int] = []
        for try await status in group { statuses.append(status) }
        return statuses
      }
      #expect(statuses == Array(repeating: 200, count: 20))
      #expect(refreshes(device.org) == 1)
      // Nothing was sent a third time.
      let log = device.org.requestLog
      #expect(log.count { $0.status == 200 && $0.path.hasSuffix("/limits") } == 20)
      #expect(log.count { $0.status == 401 } <= 20)
    }
  }

  @Test(.covers("CO-121.1"))
  func `a session that expires between two pages does not end the sync`()
    async throws
  {
    try await FieldDevice.with { device in
      try await device.org.generate("Account", count: 450)
      device.org.add(MockOrgFault(path: "/query/", action: .expiredSession))
      let state = try await device.syncDown(batchSize: 200).finished()
      #expect(state.totalSize == 450)
      #expect(try await device.differences().isEmpty)
      #expect(refreshes(device.org) == 1)
    }
  }

  @Test(.covers("CO-121.2"))
  func `a session that expires before a create does not create twice`() async throws {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a"])
      device.org.add(MockOrgFault(path: "/composite/sobjects", action: .expiredSession))
      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["a"])
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("CO-31.4"))
  func `a rotated refresh token is on disk before it is needed`() async throws {
    try await FieldDevice.with({ $0.rotatesRefreshTokens = true }) { device in
      let first = try #require(await device.accounts.current?.credentials.refreshToken)
      var seen = [first]
      var current = device
      for _ in 0..<3 {
        device.org.expireAccessTokens()
        _ = try await current.client.send(.limits())
        let token = try #require(await current.accounts.current?.credentials.refreshToken)
        #expect(!seen.contains(token))
        seen.append(token)
        // The next start knows only what is on disk; an old token would end the session.
        current = try await current.restarted()
        #expect(await current.accounts.current?.credentials.refreshToken == token)
      }
      try await current.close()
    }
  }

  @Test(.covers("MS-85"))
  func `a refused refresh ends the session and wipes nothing`() async throws {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      try await device.edit(id, ["Name": "edited"])
      device.org.add(MockOrgFault(path: "/composite/sobjects", action: .refusedRefresh))
      let failed = try #require(try await failure(of: try await device.syncUp()))
      #expect(failed.reason.code == .server)
      #expect(failed.reason.status == 401)
      #expect(failed.reason.message.contains("Log in again"))
      #expect((failed.reason.cause as? OAuthError)?.code == .invalidGrant)
      #expect(try await device.dirtyRows().map { $0["Name"] } == ["edited"])
      #expect(await device.accounts.current?.identity == device.account.identity)
      #expect(await device.accounts.current?.loginState == .notLoggedIn)

      // A second call sends no request: there is no session to send it with.
      device.org.clearRequestLog()
      let second = try #require(try await failure(of: try await device.syncUp()))
      #expect(second.reason.code == .noRestClient)
      #expect(device.org.requestLog.isEmpty)

      // The account and the edit are still there after a restart, and a login brings all back.
      try await device.close()
      let server = try await MockOrgServer.start(device.org)
      let restarted = try await FieldDevice(
        device.org, server, device.clock, folder: device.folder)
      #expect(await restarted.accounts.current?.loginState == .notLoggedIn)
      // The org listens on another port now, which is another server.
      try await restarted.accounts.confirmMove(
        of: device.account.identity, to: try LoginServer(server.info.instanceUrl))
      try await FieldDevice.logIn(restarted.accounts, server)
      _ = try await restarted.syncUp().finished()
      #expect(try await restarted.serverNames() == ["edited"])
      #expect(try await restarted.dirtyRows().isEmpty)
      try await restarted.close()
      await server.stop()
    }
  }

  @Test(.covers("CO-124"))
  func `a server that fails while it refreshes does not end the session`()
    async throws
  {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a"])
      for action in [
        MockOrgFault.Action.status(500), .garbage, .status(503, body: "busy"),
      ] {
        device.org.expireAccessTokens()
        device.org.add(MockOrgFault(path: "/oauth2/token", count: nil, action: action))
        #expect(try await failure(of: try await device.syncUp()) != nil)
        #expect(await device.accounts.current?.loginState == .loggedIn)
        #expect(try await device.dirtyRows().count == 1)
        device.org.removeAllFaults()
      }
      _ = try await device.syncUp().finished()
      #expect(try await device.serverNames() == ["a"])
    }
  }
}
