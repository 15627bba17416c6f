import SalesforceSDKCommon
import SmartStore
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// What does a store give out while the app is locked?
struct ScreenLockTests {
  private static let identity = UserAccountIdentity(
    userId: "005000000000001AAA", organizationId: "00D000000000001EAA")

  /// The managers of a process with one user whose org demands a lock.
  private func start(
    _ folder: TemporaryFolder, isStrict: Bool
  ) async throws -> (
    lock: ScreenLockManager, accounts: UserAccountManager, stores: SmartStoreManager
  ) {
    var account = UserAccount(
      identity: Self.identity,
      credentials: OAuthCredentials(
        clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production,
        accessToken: "access"), profile: UserProfile(username: "ann"))
    account.lockPolicy = LockPolicy(timeoutMinutes: 1)
    let persister = InMemoryAccountPersister()
    try await persister.save(account)
    var lockOptions = ScreenLockManager.Options()
    lockOptions.isStrict = isStrict
    let lock = ScreenLockManager(
      authenticator: ScriptedDeviceAuthenticator([.success(()), .success(())]), options: lockOptions
    )
    var options = UserAccountManager.Options()
    options.screenLock = lock
    let accounts = try await UserAccountManager(
      persister: persister, transport: ScriptedTransport([]), options: options)
    let stores = SmartStoreManager(
      root: folder.file("stores"), encryption: .plaintext, accounts: accounts)
    return (lock, accounts, stores)
  }

  private func owner() -> StoreOwner {
    .user(organizationId: Self.identity.organizationId, userId: Self.identity.userId)
  }

  private func code(_ body: () async throws -> Void) async throws -> SmartStoreError.Code? {
    do {
      try await body()
      return nil
    } catch let error as SmartStoreError {
      return error.code
    }
  }

  @Test(.covers("CO-159"))
  func `a strict lock refuses reads, writes and live queries, and no logout`() async throws {
    let folder = try TemporaryFolder()
    let (lock, accounts, stores) = try await start(folder, isStrict: true)
    try await lock.unlock()
    let store = try #require(
      try await stores.shared(withName: "notes", forUserAccount: owner()))
    try await store.registerSoup(
      withName: "notes", withIndices: [SoupIndex(path: "key", type: .string)])
    try await store.upsert(
      entries: [["key": "secret", "__local__": true]], forSoupNamed: "notes")
    let spec = try QuerySpec.buildAllQuerySpec(soupName: "notes", pageSize: 10)
    #expect(try await store.query(using: spec, startingFromPageIndex: 0).count == 1)
    lock.lock()
    // Twice: a query of a shape that is known takes a shorter way.
    for _ in 0..<2 {
      #expect(
        try await code { _ = try await store.query(using: spec, startingFromPageIndex: 0) }
          == .screenLocked)
    }
    #expect(try await code { _ = try await store.read { _ in 7 } } == .screenLocked)
    #expect(try await code { try await store.inTransaction { _ in } } == .screenLocked)
    #expect(
      try await code { try await store.upsert(entries: [["key": "x"]], forSoupNamed: "notes") }
        == .screenLocked)
    let global = try await stores.sharedGlobal(withName: "app")
    #expect(try await code { _ = try await global.read { _ in 7 } } == .screenLocked)
    // A logout counts what would be lost.
    let error = await #expect(throws: AccountError.self) {
      try await accounts.logOut(Self.identity)
    }
    #expect(error?.code == .unsyncedRecords && error?.unsyncedRecords == 1)
    try await lock.unlock()
    let again = try #require(
      try await stores.shared(withName: "notes", forUserAccount: owner()))
    #expect(try await again.query(using: spec, startingFromPageIndex: 0).count == 1)
    lock.lock()
    try await accounts.logOut(Self.identity, force: true)
    #expect(!lock.isLocked)
    try await stores.close()
  }

  @Test(.covers("CO-159")) func `a lock that is not strict leaves stores alone`() async throws {
    let folder = try TemporaryFolder()
    let (lock, accounts, stores) = try await start(folder, isStrict: false)
    #expect(lock.isLocked)
    let store = try #require(
      try await stores.shared(withName: "notes", forUserAccount: owner()))
    #expect(try await store.read { _ in 7 } == 7)
    try await stores.close()
    withExtendedLifetime(accounts) {}
  }
}
