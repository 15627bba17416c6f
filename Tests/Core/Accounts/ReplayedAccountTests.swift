import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Does an account file of an ended login, put in the place of the present one, erase anything?
@Suite struct ReplayedAccountTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()
  private let user = "005000000000001AAA"

  private func file(_ folder: URL) throws -> URL {
    folder.appending(
      path: try #require(try files(folder).first { $0.hasSuffix("UserAccount.sealed") }))
  }

  /// The account as it is on disk while a logout is at work.
  private func leaving() -> UserAccount {
    var account = account(user)
    account.loginState = .loggingOut
    return account
  }

  @Test(.covers("CO-84"))
  func `the mark of a logout of an earlier login does not log the present one out`() async throws {
    try await TemporaryFolder.with { folder in
      let persister = persister(folder.url)
      let earlier = leaving()
      try await persister.save(earlier)
      let replayed = try Data(contentsOf: file(folder.url))
      try await persister.delete(earlier)
      let present = account(user)
      try await persister.save(present)
      #expect(present.credentials.identifier != earlier.credentials.identifier)
      try replayed.write(to: file(folder.url))

      let manager = try await manager(folder.url)
      let keeper = HoldingKeeper { 5 }
      manager.register(keeper)
      await manager.finishInterruptedLogouts()
      #expect(await manager.unreadableAccounts.map(\.error.code) == [.replacedFile])
      #expect(await manager.accounts.isEmpty)
      #expect(keeper.erased.withLock { $0 } == 0)
      // A login ends that. Then its user can log out, which counts what would be lost.
      try await persister.save(present)
      try await manager.reload()
      #expect(await manager.account(for: earlier.identity)?.loginState == .loggedIn)
      let error = await #expect(throws: AccountError.self) {
        try await manager.logOut(earlier.identity)
      }
      #expect(error?.code == .unsyncedRecords)
      #expect(keeper.erased.withLock { $0 } == 0)
    }
  }

  @Test(.covers("CO-84"))
  func `a logout that its process did not end is finished, and leaves no secret`() async throws {
    try await TemporaryFolder.with { folder in
      try await persister(folder.url).save(leaving())
      let manager = try await manager(folder.url)
      let keeper = HoldingKeeper { 5 }
      manager.register(keeper)
      await manager.finishInterruptedLogouts()
      #expect(await manager.accounts.isEmpty)
      #expect(keeper.erased.withLock { $0 } == 1)
      #expect(try Set(secrets.list()) == AccountSecretNames.withoutAccounts)
    }
  }
}
