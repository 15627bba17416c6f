import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What happens to a request without a session, in a program with a login handler and in one that may not log in?
@Suite struct DeferredLoginTests {
  private let org = TestOrg()

  /// Logs in as the org's user.
  private func handler(
    _ count: @escaping @Sendable () -> Void = {}
  ) -> UserAccountManager.LoginHandler {
    { accounts, _ in
      count()
      return try await accounts.logIn(
        .browser(
          app: TestOrg.app,
          presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }))
    }
  }

  private func failure(_ body: () async throws -> Void) async -> String? {
    do {
      try await body()
      return nil
    } catch let error as RestError {
      return "\(error.code)"
    } catch let error as OAuthError {
      return "\(error.code)"
    } catch {
      return "\(error)"
    }
  }

  @Test(.covers("CO-9.2", "CO-122.2"))
  func `requests without any user wait for one login, and go out as its user`() async throws {
    let count = Mutex(0)
    var options = UserAccountManager.Options()
    options.loginHandler = handler { count.withLock { $0 += 1 } }
    let manager = try await org.manager([], options: options)
    let client = RestClient(accounts: manager, transport: org.transport())
    #expect(client.identity == nil && !manager.hasLoggedInUser)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<5 {
        group.addTask { try await client.send(RestRequest(path: "/limits")).status }
      }
      for try await status in group { #expect(status == 200) }
    }
    #expect(count.withLock { $0 } == 1)
    #expect(client.identity == TestOrg.identity && manager.hasLoggedInUser)
    #expect(org.state.withLock { $0.refusedRequests } == 0)
    // Another client begins with the user who is there.
    let second = RestClient(accounts: manager, transport: org.transport())
    #expect(try await second.send(RestRequest(path: "/limits")).isSuccess)
    #expect(count.withLock { $0 } == 1)
    await manager.close()
  }

  @Test(.covers("CO-9.2", "BX-111"))
  func `the guide's handlers log in on demand and decide about failures`() async throws {
    let transport = org.transport()
    let persister = InMemoryAccountPersister()
    let app = TestOrg.app
    let presenter = ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }
    let isOnline = true
    // sample: login-handlers
    let handlers = AuthenticationErrorHandlers()
    handlers.add("network") { failure in
      (failure.error as? OAuthError)?.code == .refreshFailed && isOnline ? .retry : .next
    }
    handlers.add("revoked") { failure in
      (failure.error as? OAuthError)?.code == .invalidGrant ? .logOut : .next
    }
    var options = UserAccountManager.Options()
    options.errorHandlers = handlers
    // end of sample
    #expect(handlers.names == ["network", "revoked"])
    // sample: login-on-demand
    options.loginHandler = { accounts, user in
      try await accounts.logIn(.browser(app: app, presenter: presenter))
    }
    let accounts = try await UserAccountManager(
      persister: persister, transport: transport, options: options)
    let client = RestClient(accounts: accounts, transport: transport)
    let limits = try await client.send(.limits())  // logs in first
    // end of sample
    #expect(limits.isSuccess)
    await accounts.close()
  }

  @Test(.covers("CO-9.1", "CO-9.2"))
  func `a request that needs no user starts no login`() async throws {
    var options = UserAccountManager.Options()
    options.loginHandler = { _, _ in throw OAuthError(.cancelled, "not this time") }
    let manager = try await org.manager([], options: options)
    let client = RestClient(accounts: manager, transport: org.transport())
    var request = RestRequest(path: "https://acme.my.salesforce.com/services/data")
    request.requiresAuthentication = false
    #expect(try await client.send(request).isSuccess)
    #expect(client.identity == nil)
    await manager.close()
  }

  @Test(.covers("CO-122.1", "CO-122.2"))
  func `a request fails with the error of its login, or at once without a handler`() async throws {
    var options = UserAccountManager.Options()
    options.loginHandler = { _, _ in throw OAuthError(.accessDenied, "The user refused.") }
    for (options, expected) in [(options, "accessDenied"), (.init(), "notAuthenticated")] {
      let manager = try await org.manager([], options: options)
      let client = RestClient(accounts: manager, transport: org.transport())
      let ended = await failure { _ = try await client.send(RestRequest(path: "/limits")) }
      #expect(ended == expected)
      #expect(client.identity == nil)
      await manager.close()
    }
  }

  @Test(.covers("CO-122.2"))
  func `an account whose session ended logs in again, and no other user takes its place`()
    async throws
  {
    var options = UserAccountManager.Options()
    options.loginHandler = handler()
    let other = UserAccountIdentity(
      userId: "005000000000009AAA", organizationId: "00D000000000001EAA")
    var ended = [org.account(), org.account(identity: other)]
    for index in ended.indices { ended[index].loginState = .notLoggedIn }
    let manager = try await org.manager(ended, options: options)
    let client = RestClient(account: ended[0], accounts: manager, transport: org.transport())
    #expect(try await client.send(RestRequest(path: "/limits")).isSuccess)
    let foreign = RestClient(account: ended[1], accounts: manager, transport: org.transport())
    #expect(
      await failure { _ = try await foreign.send(RestRequest(path: "/limits")) } == "accessDenied")
    // After a logout, a client starts no login of its own.
    try await manager.logOut(TestOrg.identity)
    #expect(
      await failure { _ = try await client.send(RestRequest(path: "/limits")) }
        == "notAuthenticated")
    await manager.close()
  }

  @Test(.covers("CO-9.2"))
  func `no login begins for an account that is being logged out`() async throws {
    let count = Mutex(0)
    var options = UserAccountManager.Options()
    options.loginHandler = handler { count.withLock { $0 += 1 } }
    var leaving = org.account()
    leaving.loginState = .loggingOut
    let manager = try await org.manager([leaving], options: options)
    await #expect {
      _ = try await manager.loginOnDemand(of: TestOrg.identity)
    } throws: { error in
      (error as? AccountError)?.code == .notLoggedIn
    }
    #expect(count.withLock { $0 } == 0)
    await manager.close()
  }

  @Test(.covers("CO-193", "CA-27.3", "HT-73.2", "HT-79.2"))
  func `a helper process shares the accounts, starts no login and knows whether a user is there`()
    async throws
  {
    let persister = InMemoryAccountPersister()
    let app = try await UserAccountManager(persister: persister, transport: org.transport())
    var options = UserAccountManager.Options()
    options.isInteractive = false
    options.loginHandler = handler()
    let helper = try await UserAccountManager(
      persister: persister, transport: org.transport(), options: options)
    let client = RestClient(accounts: helper, transport: org.transport())
    #expect(!helper.hasLoggedInUser)
    let expected = "interactionNotAllowed"
    #expect(
      await failure { _ = try await client.send(RestRequest(path: "/limits")) } == expected)
    #expect(
      await failure {
        try await helper.logIn(
          .browser(app: TestOrg.app, presenter: ScriptedLoginPresenter { _ in "x" }))
      } == expected)
    #expect(
      await failure { try await helper.logIn(.device(app: TestOrg.app, showing: { _ in })) }
        == expected)
    #expect(
      await failure {
        try await helper.logIn(
          .browser(to: .welcome, app: TestOrg.app, presenter: ScriptedLoginPresenter { _ in "x" }))
      } == expected)
    try await app.logIn(
      .browser(
        app: TestOrg.app,
        presenter: ScriptedLoginPresenter { "\($0.app.redirectURI)?code=x&state=\($0.state)" }))
    try await helper.reload()
    #expect(helper.hasLoggedInUser)
    #expect(try await client.send(RestRequest(path: "/limits")).isSuccess)
    await app.close()
    await helper.close()
  }
}
