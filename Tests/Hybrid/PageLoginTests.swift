import Foundation
import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceReact
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization
import TestSupport
import Testing

/// What do pages and modules get of a login that they ask for, and of the sessions that it brings?
struct PageLoginTests {
  /// The services that log in.
  private static let services = [
    AccountServiceTests.oauth, "SFOauthReactBridge", "SalesforceOauthReactBridge",
  ]

  /// Runs `body` with a host without a user, whose logins wait for the latch and are counted.
  private func withLogin(
    _ result: @escaping @Sendable (UserAccountManager, MockOrgServer) async throws -> UserAccount,
    _ body: (Page, Latch, _ logins: () -> Int) async throws -> Void
  ) async throws {
    let latch = Latch()
    let count = Logins()
    try await withMockOrg { _, server in
      try await TestHost.with(
        modules: ReactModules.plugins,
        adjust: { host in
          let accounts = host.accounts
          host.logIn = {
            count.begin()
            await latch.wait()
            return try await result(accounts, server)
          }
        }
      ) { host in
        try await body(try Page(host.bridge), latch) { count.number }
      }
    }
  }

  @Test(.covers("HT-44", "HT-7"), arguments: services)
  func `calls that wait for a login share it, and each gets the credentials once`(
    service: String
  ) async throws {
    try await withLogin({ accounts, server in try await accounts.logIn(to: server) }) {
      page, latch, logins in
      #expect(try await page.failure(service, "getAuthCredentials") == "Not authenticated")
      var calls: [Int] = []
      for _ in 0..<4 { calls.append(try await page.post(service, "authenticate", [:])) }
      while logins() == 0 { await Task.yield() }
      latch.open()
      for call in calls {
        let response = await page.response(call)
        #expect(response["status"] == "ok")
        let credentials = response["value"]
        for key in [
          "accessToken", "refreshToken", "clientId", "userId", "orgId", "loginUrl", "instanceUrl",
          "userAgent",
        ] { #expect(credentials?[key]?.string?.isEmpty == false, "\(key)") }
        #expect(credentials?["communityId"] == .null && credentials?["communityUrl"] == .null)
        let responses = page.frames.filter {
          $0["id"] == .integer(Int64(call)) && $0["status"]?.string != "pending"
        }
        #expect(responses.count == 1)
      }
      #expect(logins() == 1)
      // From now on there is a user, and no other login.
      #expect(try await page.value(service, "getAuthCredentials")?["userId"] != nil)
      #expect(try await page.value(service, "authenticate")?["userId"] != nil)
      #expect(logins() == 1)
    }
  }

  @Test(.covers("HT-44"), arguments: services)
  func `a login that is cancelled fails each waiting call once, and the next may try again`(
    service: String
  ) async throws {
    let fails = Mutex(true)
    try await withLogin({ accounts, server in
      if fails.withLock({ $0 }) { throw OAuthError(.cancelled, "The person closed the page.") }
      return try await accounts.logIn(to: server)
    }) { page, latch, logins in
      var calls: [Int] = []
      for _ in 0..<3 { calls.append(try await page.post(service, "authenticate", [:])) }
      while logins() == 0 { await Task.yield() }
      latch.open()
      for call in calls {
        let response = await page.response(call)
        #expect(response["status"] == "error")
        #expect(response["value"]?.text.contains("The person closed the page.") == true)
      }
      #expect(logins() >= 1)
      fails.withLock { $0 = false }
      #expect(try await page.value(service, "authenticate")?["userId"] != nil)
    }
  }

  @Test(.covers("HT-7", "BX-13", "BX-130.1"))
  func `after a hybrid grant the credentials hold the sessions of web pages`() async throws {
    try await withMockOrg { _, server in
      try await TestHost.with { host in
        let info = server.info
        let account = try await host.accounts.logIn(
          .tokens(
            accessToken: info.accessToken, refreshToken: info.refreshToken,
            instance: try LoginServer(info.instanceUrl),
            app: ConnectedApp(clientId: info.clientId, redirectURI: info.redirectUri)))
        let page = try Page(host.bridge)
        let plain = try await page.value(AccountServiceTests.oauth, "getAuthCredentials")
        #expect(plain?["lightning_sid"] == nil)
        try await host.accounts.refresh(account.identity)
        let renewed = try #require(await host.accounts.current)
        #expect(!renewed.credentials.webSession.isEmpty)
        let credentials = try await page.value(AccountServiceTests.oauth, "getAuthCredentials")
        for (key, value) in renewed.credentials.webSession {
          #expect(credentials?[key]?.string == value, "\(key)")
        }
        for key in [
          "lightning_domain", "lightning_sid", "visualforce_domain", "visualforce_sid",
          "content_domain", "content_sid", "csrf_token", "cookie-clientSrc", "cookie-sid_Client",
          "sidCookieName",
        ] { #expect(credentials?[key]?.string?.isEmpty == false, "\(key)") }
      }
    }
  }
}

/// Counts the logins that were begun.
private final class Logins: Sendable {
  private let count = Mutex(0)
  var number: Int { count.withLock { $0 } }
  func begin() { count.withLock { $0 += 1 } }
}
