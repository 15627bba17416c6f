import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import TestSupport
import Testing

/// What becomes of syncs whose account is logged out?
@Suite struct LogoutOfStoresTests {
  private let identity = UserAccountIdentity(
    userId: "005000000000001AAA", organizationId: "00D000000000001EAA")

  private var account: UserAccount {
    let credentials = OAuthCredentials(
      clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production,
      accessToken: "access")
    return UserAccount(
      identity: identity, credentials: credentials, profile: UserProfile(username: "ada"))
  }

  private func open(_ stores: SmartStoreManager, _ community: String? = nil) async throws
    -> SmartStore
  {
    let store = try #require(
      try await stores.shared(
        forUserAccount: .user(
          organizationId: identity.organizationId, userId: identity.userId, communityId: community))
    )
    try await store.registerSoup(
      withName: "accounts",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
      ])
    return store
  }

  @Test(.covers("MS-12", "SS-20"))
  func `a logout closes the managers of all the account's stores, made by hand or shared`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = InMemoryAccountPersister()
    try await persister.save(account)
    let accounts = try await UserAccountManager(
      persister: persister, transport: ScriptedTransport([]))
    let stores = SmartStoreManager(root: folder.url, encryption: .plaintext, accounts: accounts)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let shared = SyncManagerRegistry(registry: registry)
    let org = InMemoryOrg()
    for number in 0..<50 { org.create("Account", ["Name": .string("\(number)")]) }

    let first = try await shared.sharedInstance(store: open(stores), sender: org)
    let second = try await SyncManager(
      store: open(stores, "0DB000000000001GAA"), sender: org, registry: registry)
    let running = try await second.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .leaveIfChanged), soupName: "accounts")
    try await first.store.upsert(
      entries: [["Id": "local_1", SyncKeys.locallyCreated: true]], forSoupNamed: "accounts")
    let error = await #expect(throws: AccountError.self) { try await accounts.logOut(identity) }
    #expect(error?.unsyncedRecords == 1)
    try await first.checkAcceptingSyncs()
    try await first.store.clearSoup("accounts")

    let report = try await accounts.logOut(identity)
    #expect(report.failures.isEmpty && report.unsyncedRecords == 0)
    for manager in [first, second] {
      #expect(await syncErrorCode { try await manager.checkAcceptingSyncs() } == .closed)
      #expect(manager.store.isClosed)
    }
    // The run has ended, in whatever way.
    _ = try? await running.finished()
    #expect(
      try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
        .filter { $0.hasSuffix(".sqlite") }.isEmpty)

    // After the next login everything is new.
    try await persister.save(account)
    try await accounts.reload()
    let again = try await shared.sharedInstance(store: open(stores), sender: org)
    #expect(again !== first)
    try await again.checkAcceptingSyncs()
    #expect(try await again.unsyncedRecords().isEmpty)
    await again.close()
    try await stores.close()
  }
}
