import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Who decides what comes after a failed login or refresh?
@Suite struct ErrorHandlerTests {
  private let org = TestOrg()
  private let presenter = ScriptedLoginPresenter {
    "\($0.app.redirectURI)?code=x&state=\($0.state)"
  }

  /// What handlers were called with, in order.
  private final class Calls: Sendable {
    private let calls = Mutex<[String]>([])
    var all: [String] { calls.withLock { $0 } }

    func handler(
      _ name: String, _ outcome: AuthenticationErrorHandlers.Outcome,
      then change: @escaping @Sendable () -> Void = {}
    ) -> AuthenticationErrorHandlers.Handler {
      { failure in
        let kind = failure.login.map { "\($0)" } ?? "refresh"
        let code = (failure.error as? OAuthError).map { "\($0.code)" } ?? "other"
        self.calls.withLock { $0.append("\(name) \(kind) \(code) \(failure.attempt)") }
        change()
        return outcome
      }
    }
  }

  private func code(_ body: () async throws -> Void) async -> OAuthError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? OAuthError)?.code
    }
  }

  private func manager(
    _ accounts: [UserAccount], _ handlers: AuthenticationErrorHandlers
  ) async throws -> UserAccountManager {
    var options = UserAccountManager.Options()
    options.errorHandlers = handlers
    return try await org.manager(accounts, options: options)
  }

  @Test(.covers("BX-111", "CO-41.2"))
  func `handlers are tried in order until one decides, and the login goes on after a retry`()
    async throws
  {
    org.state.withLock { $0.refusal = "invalid_request" }
    let calls = Calls()
    let handlers = AuthenticationErrorHandlers()
    handlers.add("last", calls.handler("last", .propagate))
    handlers.add("first", before: "last", calls.handler("first", .next))
    handlers.add(
      "middle", before: "last",
      calls.handler("middle", .retry) {
        org.state.withLock { $0.refusal = nil }
      })
    #expect(handlers.names == ["first", "middle", "last"])
    let manager = try await manager([], handlers)
    try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter))
    #expect(
      calls.all == ["first WebServer invalidRequest 1", "middle WebServer invalidRequest 1"])
    await manager.close()
  }

  @Test(.covers("BX-111", "CO-41.2", "CO-41.3"))
  func
    `a handler can be replaced at its place and removed, and without a decision the caller gets the error`()
    async throws
  {
    org.state.withLock { $0.refusal = "invalid_request" }
    let calls = Calls()
    let handlers = AuthenticationErrorHandlers()
    handlers.add("a", calls.handler("a", .next))
    handlers.add("b", calls.handler("b", .next))
    handlers.add("a", calls.handler("A", .next))
    #expect(handlers.remove("b") && !handlers.remove("b"))
    let manager = try await manager([], handlers)
    #expect(
      await code { try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter)) }
        == .invalidRequest)
    handlers.add("b", before: "a", calls.handler("b", .propagate))
    #expect(
      await code { try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter)) }
        == .invalidRequest)
    #expect(
      calls.all == ["A WebServer invalidRequest 1", "b WebServer invalidRequest 1"])
    await manager.close()
  }

  @Test(.covers("BX-111", "CO-41.2"))
  func `a handler that always wants a retry gets three`() async throws {
    org.state.withLock { $0.refusal = "invalid_request" }
    let calls = Calls()
    let handlers = AuthenticationErrorHandlers()
    handlers.add("stubborn", calls.handler("stubborn", .retry))
    let manager = try await manager([], handlers)
    #expect(
      await code { try await manager.logIn(.browser(app: TestOrg.app, presenter: presenter)) }
        == .invalidRequest)
    #expect(calls.all.map { $0.suffix(1) } == ["1", "2", "3", "4"])
    await manager.close()
  }

  @Test(.covers("BX-111", "CO-41.2"))
  func `one failed refresh asks the handlers once for all requests that wait`() async throws {
    org.state.withLock {
      $0.accessToken = "access-9"
      $0.isUnreachable = true
    }
    let calls = Calls()
    let handlers = AuthenticationErrorHandlers()
    handlers.add(
      "offline",
      calls.handler("offline", .retry) {
        org.state.withLock { $0.isUnreachable = false }
      })
    let manager = try await manager([org.account()], handlers)
    let client = RestClient(
      account: org.account(), accounts: manager, transport: org.transport())
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<4 {
        group.addTask { try await client.send(RestRequest(path: "/limits")).isSuccess }
      }
      for try await isSuccess in group { #expect(isSuccess) }
    }
    #expect(calls.all == ["offline refresh refreshFailed 1"])
    await manager.close()
  }

  @Test(.covers("BX-111", "BX-112", "CO-41.2"))
  func `a handler logs the account out after a refused refresh, unless that loses entries`()
    async throws
  {
    for unsynced in [0, 2] {
      let org = TestOrg()
      org.state.withLock {
        $0.accessToken = "access-9"
        $0.refusal = "invalid_grant"
      }
      var options = UserAccountManager.Options()
      let handlers = AuthenticationErrorHandlers()
      handlers.add("revoked") { failure in
        (failure.error as? OAuthError)?.code == .invalidGrant ? .logOut : .next
      }
      options.errorHandlers = handlers
      let manager = try await org.manager(options: options)
      await manager.addLogoutObserver(Unsynced(count: unsynced))
      let client = RestClient(
        account: org.account(), accounts: manager, transport: org.transport())
      #expect(
        await code { _ = try await client.send(RestRequest(path: "/limits")) } == .invalidGrant)
      #expect(await manager.accounts.isEmpty == (unsynced == 0))
      await manager.close()
    }
  }

  /// Keeps entries that were not uploaded.
  private struct Unsynced: LogoutObserver {
    let count: Int
    func unsyncedRecords(of account: UserAccount) async throws -> Int { count }
    func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {}
  }
}
