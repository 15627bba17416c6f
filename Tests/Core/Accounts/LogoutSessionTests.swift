import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Can what takes part in a logout still reach the server as the user?
struct LogoutSessionTests {
  /// An observer that sends a request as the account that leaves.
  private final class Sender: LogoutObserver {
    let work: @Sendable (UserAccount) async throws -> Void
    let failure = Mutex<(any Error)?>(nil)

    init(_ work: @escaping @Sendable (UserAccount) async throws -> Void) { self.work = work }

    func unsyncedRecords(of account: UserAccount) async throws -> Int { 0 }

    func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
      do {
        try await work(account)
      } catch {
        failure.withLock { $0 = error }
      }
    }
  }

  @Test(.covers("CO-140"), arguments: [false, true])
  func `an observer of a logout sends requests, also with an expired token`(isExpired: Bool)
    async throws
  {
    let requests = Mutex<[String]>([])
    let org = TestOrg { request in
      requests.withLock { $0.append(request.url.path()) }
      return RestResponse(json: "{}")
    }
    if isExpired {
      org.state.withLock {
        $0.accessToken = "access-9"
        $0.rotates = true
      }
    }
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let sender = Sender { account in
      let client = RestClient(account: account, accounts: manager, transport: transport)
      _ = try await client.send(.resources())
    }
    await manager.addLogoutObserver(sender)
    let report = try await manager.logOut(TestOrg.identity)
    #expect(sender.failure.withLock { $0 } == nil)
    #expect(requests.withLock { $0.count } == 1 && report.isRevoked == true)
    // The tokens that came last are the ones that end.
    #expect(org.state.withLock { $0.revocations } == [isExpired ? "refresh-2" : "refresh-1"])
    #expect(await manager.accounts.isEmpty)
  }

  @Test func `no other task has a session while an account leaves`() async throws {
    let org = TestOrg()
    let transport = org.transport()
    let manager = try await org.manager(transport: transport)
    let sender = Sender { account in
      let client = RestClient(account: account, accounts: manager, transport: transport)
      let other = Task.detached { try await client.send(.resources()) }
      let error = await #expect(throws: RestError.self) { try await other.value }
      #expect(error?.code == .notAuthenticated)
    }
    await manager.addLogoutObserver(sender)
    try await manager.logOut(TestOrg.identity)
    #expect(sender.failure.withLock { $0 } == nil)
  }
}
