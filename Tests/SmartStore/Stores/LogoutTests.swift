import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Synchronization
import TestSupport
import Testing

/// What does a logout do with the stores of a program that only makes its managers, as the guides show?
@Suite struct LogoutTests {
  private let folder: TemporaryFolder
  private let persister = InMemoryAccountPersister()
  private let ada = UserAccountIdentity(
    userId: "005000000000001AAA", organizationId: "00D000000000001EAA")
  private let bob = UserAccountIdentity(
    userId: "005000000000002AAA", organizationId: "00D000000000001EAA")

  init() throws { folder = try TemporaryFolder() }

  private static func account(_ identity: UserAccountIdentity) -> UserAccount {
    let credentials = OAuthCredentials(
      clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production,
      accessToken: "access")
    return UserAccount(
      identity: identity, credentials: credentials, profile: UserProfile(username: "\(identity)"))
  }

  private func owner(_ identity: UserAccountIdentity, _ community: String? = nil) -> StoreOwner {
    .user(
      organizationId: identity.organizationId, userId: identity.userId, communityId: community)
  }

  /// The managers of a process that starts now.
  private func start(
    _ keeper: (any AccountPersister)? = nil
  ) async throws -> (accounts: UserAccountManager, stores: SmartStoreManager) {
    let accounts = try await UserAccountManager(
      persister: keeper ?? persister, transport: ScriptedTransport([]))
    return (accounts, makeStores(accounts))
  }

  private func makeStores(_ accounts: UserAccountManager) -> SmartStoreManager {
    SmartStoreManager(
      root: folder.file("stores"), encryption: testEncryption, accounts: accounts)
  }

  /// Writes entries into soups with an index on the flag and without.
  private func fill(_ store: SmartStore?, _ entries: [JSONValue]) async throws {
    let store = try #require(store)
    for (soup, paths) in [("indexed", ["key", "__local__"]), ("plain", ["key"])] {
      try await store.registerSoup(
        withName: soup, withIndices: paths.map { SoupIndex(path: $0, type: .string) })
      try await store.upsert(entries: entries, forSoupNamed: soup)
    }
  }

  /// The folders of stores below the root.
  private func storesOnDisk() -> [String] {
    let all = FileManager.default.enumerator(atPath: folder.file("stores").path)?.allObjects
    return (all as? [String] ?? []).filter { $0.hasSuffix("store.sqlite") }.sorted()
  }

  @Test(.covers("SS-20", "SS-209.1", "CO-87.1"))
  func `a logout removes the account's stores, open or not, and no others`()
    async throws
  {
    for identity in [ada, bob] { try await persister.save(Self.account(identity)) }
    let before = try await start()
    for owner in [owner(ada), owner(ada, "0DB000000000001GAA"), owner(bob)] {
      for name in ["a", "b"] {
        try await fill(
          before.stores.shared(withName: name, forUserAccount: owner),
          [["key": "clean", "__local__": false, "__locally_created__": false]])
      }
    }
    try await fill(before.stores.sharedGlobal(), [["key": "app's", "__local__": true]])
    try await before.stores.close()

    let now = try await start()
    let open = try #require(
      try await now.stores.shared(withName: "a", forUserAccount: owner(ada)))
    let report = try await now.accounts.logOut(ada)
    #expect(report.unsyncedRecords == 0 && report.failures.isEmpty)
    #expect(open.isClosed)
    #expect(storesOnDisk().count == 3)
    #expect(try now.stores.allStoreNames(forUserAccount: owner(bob)).sorted() == ["a", "b"])
    #expect(try await now.stores.shared(forUserAccount: owner(ada)) == nil)
    #expect(try await now.stores.sharedGlobal().unsyncedEntries() == ["indexed": 1, "plain": 1])
    try await now.stores.close()
  }

  @Test func `a logout is refused while a store that nothing has opened holds unsynced entries`()
    async throws
  {
    try await persister.save(Self.account(ada))
    let before = try await start()
    let flags = ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"]
    try await fill(
      before.stores.shared(withName: "x", forUserAccount: owner(ada, "0DB000000000001GAA")),
      flags.map { ["key": "a", $0: true] } + [["key": "clean"], ["key": "b", "__local__": false]])
    try await before.stores.close()

    let now = try await start()
    #expect(try await now.accounts.unsyncedRecords(of: ada) == 8)
    let error = await #expect(throws: AccountError.self) { try await now.accounts.logOut(ada) }
    #expect(error?.code == .unsyncedRecords && error?.unsyncedRecords == 8)
    #expect(await now.accounts.account(for: ada)?.loginState == .loggedIn)
    #expect(storesOnDisk().count == 1)
    let report = try await now.accounts.logOut(ada, force: true)
    #expect(report.unsyncedRecords == 8 && report.failures.isEmpty)
    #expect(storesOnDisk().isEmpty)
  }

  @Test func `an entry that is written while a logout decides refuses it`() async throws {
    try await persister.save(Self.account(ada))
    let (accounts, stores) = try await start()
    let store = try #require(try await stores.shared(forUserAccount: owner(ada)))
    try await fill(store, [["key": "clean"]])
    let late = Acting { counting in
      // The stores are counted by now.
      if counting {
        try await store.upsert(
          entries: [["key": "late", "__local__": true]], forSoupNamed: "plain")
      }
    }
    await accounts.addLogoutObserver(late)
    let error = await #expect(throws: AccountError.self) { try await accounts.logOut(ada) }
    #expect(error?.unsyncedRecords == 1)
    #expect(await accounts.account(for: ada)?.loginState == .loggedIn)
    let again = try #require(try await stores.shared(forUserAccount: owner(ada)))
    #expect(try await again.unsyncedEntries() == ["plain": 1])
    try await stores.close()
  }

  @Test func `a store that another process has open refuses every logout and keeps its key`()
    async throws
  {
    try await persister.save(Self.account(ada))
    let (accounts, stores) = try await start()
    try await fill(stores.shared(forUserAccount: owner(ada)), [["key": "clean"]])
    try await stores.close()
    let other = SmartStoreManager(
      root: folder.file("stores"), encryption: testEncryption, isLoggedIn: { _ in true })
    let opened = try #require(try await other.shared(forUserAccount: owner(ada)))
    for force in [false, true] {
      let error = await #expect(throws: AccountError.self) {
        try await accounts.logOut(ada, force: force)
      }
      #expect(error?.code == .busy)
      #expect((error?.cause as? SmartStoreError)?.code == .busyOtherProcess)
      #expect(await accounts.account(for: ada)?.loginState == .loggedIn)
      #if os(Linux)
        let message = (error?.cause as? SmartStoreError)?.message
        #expect(message?.contains("in process \(getpid())") == true)
      #endif
    }
    try await opened.upsert(entries: [["key": "late"]], forSoupNamed: "plain")
    try await other.close()
    #expect(try await accounts.logOut(ada).failures.isEmpty)
    #expect(await accounts.accounts.isEmpty)
  }

  @Test func `a process that has not made the manager of the stores cannot log the account out`()
    async throws
  {
    try await persister.save(Self.account(ada))
    let (accounts, stores) = try await start()
    try await fill(stores.shared(forUserAccount: owner(ada)), [["key": "new", "__local__": true]])
    try await stores.close()
    // The note survives a new login and the change of a profile.
    try await accounts.setCustomData("north", forKey: "region", of: ada)

    let other = try await UserAccountManager(
      persister: persister, transport: ScriptedTransport([]))
    let error = await #expect(throws: AccountError.self) { try await other.logOut(ada) }
    #expect(error?.code == .unsyncedRecords && error?.message.contains("SmartStore:stores") == true)
    let made = makeStores(other)
    #expect(try await other.unsyncedRecords(of: ada) == 2)
    try await made.close()
  }

  @Test func `a manager without accounts opens no store of an account`() async throws {
    let stores = SmartStoreManager(root: folder.file("stores"), encryption: testEncryption)
    await expectFailure(.accountsMissing) {
      _ = try await stores.shared(forUserAccount: owner(ada))
    }
    _ = try await stores.sharedGlobal()
    #expect(storesOnDisk() == ["stores/defaultStore/store.sqlite"])
    try await stores.close()
  }

  @Test(.covers("SS-21"))
  func `a store that is opened while its account is logged out leaves nothing behind`()
    async throws
  {
    for round in 0..<30 {
      try await persister.save(Self.account(ada))
      let (accounts, stores) = try await start()
      if round % 2 == 0 { _ = try await stores.shared(withName: "s", forUserAccount: owner(ada)) }
      async let opened: Void = {
        for name in ["s", "t", "u"] {
          for _ in 0..<(round % 7) { await Task.yield() }
          _ = try? await stores.shared(withName: name, forUserAccount: owner(ada))
        }
      }()
      for _ in 0..<(round % 5) { await Task.yield() }
      _ = try await accounts.logOut(ada)
      await opened
      #expect(storesOnDisk() == [], "round \(round)")
      #expect(try await stores.shared(withName: "s", forUserAccount: owner(ada)) == nil)
      try await stores.close()
    }
  }

  @Test func `a logout whose process ended is finished before the account is used again`()
    async throws
  {
    try await persister.save(Self.account(ada))
    let (accounts, stores) = try await start()
    try await fill(stores.shared(forUserAccount: owner(ada)), [["key": "clean"]])
    // What the disk holds when the process is killed after the decision.
    let killed = InMemoryAccountPersister()
    await accounts.addLogoutObserver(
      Acting { [persister] counting in
        guard !counting, let account = try await persister.fetch(ada) else { return }
        try await killed.save(account)
      })
    try await accounts.logOut(ada)
    let restore = SmartStoreManager(
      root: folder.file("stores"), encryption: testEncryption, isLoggedIn: { _ in true })
    try await fill(restore.shared(forUserAccount: owner(ada)), [["key": "clean"]])
    try await restore.close()
    #expect(storesOnDisk().count == 1)

    // Without the manager of its stores the account is there and of no use.
    let poor = try await UserAccountManager(persister: killed, transport: ScriptedTransport([]))
    await poor.finishInterruptedLogouts()
    #expect(await poor.account(for: ada)?.loginState == .loggingOut)
    let client = RestClient(
      account: Self.account(ada), accounts: poor, transport: ScriptedTransport([]))
    await #expect(throws: RestError.self) { _ = try await client.send(.limits()) }

    let next = try await start(killed)
    #expect(try await next.stores.shared(forUserAccount: owner(ada)) == nil)
    #expect(storesOnDisk().isEmpty)
    #expect(await next.accounts.accounts.isEmpty)
    #expect(try await killed.fetch(ada) == nil)
  }
}

/// An observer that does something when it counts, and when it erases.
private struct Acting: LogoutObserver {
  let act: @Sendable (_ counting: Bool) async throws -> Void

  func unsyncedRecords(of account: UserAccount) async throws -> Int {
    try await act(true)
    return 0
  }

  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws {
    try await act(false)
  }
}
