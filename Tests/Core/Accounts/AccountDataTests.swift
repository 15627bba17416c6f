import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Does a logout know of the data that something else keeps for an account, also in a later process?
@Suite struct AccountDataTests: AccountFolderSuite {
  let secrets = InMemorySecretStore()

  @Test func `data is kept for accounts that are here and stay, and for no other`() async throws {
    let org = TestOrg()
    let manager = try await org.manager()
    let unknown = UserAccountIdentity(
      userId: "005000000000009AAA", organizationId: "00D000000000001EAA")
    #expect(try await manager.startKeepingData("Notes", of: unknown) == false)
    #expect(try await manager.startKeepingData("Notes", of: TestOrg.identity))
    let hanging = HangingObserver()
    manager.register(Keeper(keeperName: "Notes"))
    await manager.addLogoutObserver(hanging)
    let logout = Task { try await manager.logOut(TestOrg.identity) }
    try await hanging.isErasing.wait()
    #expect(try await manager.startKeepingData("Pictures", of: TestOrg.identity) == false)
    hanging.release.open()
    _ = try await logout.value
  }

  @Test func `a process without the keeper of an account's data refuses its logout`() async throws {
    let folder = try TemporaryFolder()
    let account = account("005000000000001AAA")
    try await persister(folder.url).save(account)
    let first = try await manager(folder.url)
    #expect(try await first.startKeepingData("Notes", of: account.identity))
    #expect(await first.account(for: account.identity)?.dataKeepers == ["Notes"])

    let second = try await manager(folder.url)
    let error = await #expect(throws: AccountError.self) {
      try await second.logOut(account.identity)
    }
    #expect(error?.code == .unsyncedRecords)
    #expect(error?.message.contains("Notes") == true)
    #expect(await second.accounts.count == 1)
    second.register(Keeper(keeperName: "Notes"))
    _ = try await second.logOut(account.identity)
    #expect(await second.accounts.isEmpty)
  }

  @Test func `the keeper is noted once`() async throws {
    let persister = FailingPersister()
    try await persister.save(TestOrg().account())
    let manager = try await UserAccountManager(
      persister: persister, transport: TestOrg().transport())
    #expect(try await manager.startKeepingData("Notes", of: TestOrg.identity))
    let visits = persister.visits.withLock { $0 }
    #expect(try await manager.startKeepingData("Notes", of: TestOrg.identity))
    #expect(persister.visits.withLock { $0 } == visits)
  }
}

/// Keeps nothing, and takes part in a logout.
private struct Keeper: AccountDataKeeper {
  let keeperName: String
  var keeperId: String { keeperName }

  func erase(_ account: UserAccount) async throws {}
}
