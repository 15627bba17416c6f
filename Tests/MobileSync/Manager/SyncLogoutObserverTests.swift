import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport
import Testing

/// Which stores does a logout count, and which does it take?
@Suite struct SyncLogoutObserverTests {
  private let user = "005000000000001AAA", org = "00D000000000001EAA"

  private func owner(_ community: String?) -> StoreOwner {
    .user(organizationId: org, userId: user, communityId: community)
  }

  private func account(_ community: String?) throws -> UserAccount {
    var credentials = OAuthCredentials(
      clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production)
    credentials.communityId = community
    return UserAccount(
      identity: UserAccountIdentity(userId: user, organizationId: org), credentials: credentials,
      profile: UserProfile(username: "jane@example.com"))
  }

  @Test(arguments: [nil, "0DB000000000001GAA"])
  func `SS-20 unsynced records of all the account's communities are counted and taken`(
    community: String?
  ) async throws {
    let folder = try TemporaryFolder()
    let stores = SmartStoreManager(root: folder.url, encryption: .plaintext)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let managers = SyncManagers(registry: registry)
    let observer = SyncLogoutObserver(stores: stores, managers: managers)
    var opened: [SyncManager] = []
    for (number, scope) in [nil, "0DB000000000001GAA", "0DB000000000002GAA"].enumerated() {
      let store = try #require(try await stores.shared(forUserAccount: owner(scope)))
      try await store.registerSoup(
        withName: "accounts",
        withIndices: [
          SoupIndex(path: "Id", type: .string), SoupIndex(path: "__local__", type: .string),
        ])
      try await store.upsert(
        entries: (0...number).map { ["Id": .string("\($0)"), "__local__": true] },
        forSoupNamed: "accounts")
      opened.append(try await managers.sharedInstance(store: store, sender: InMemoryOrg()))
    }
    let account = try account(community)
    #expect(try await observer.unsyncedRecords(of: account) == 1 + 2 + 3)
    // Also those that are not open.
    let others = SmartStoreManager(root: folder.url, encryption: .plaintext)
    let restarted = SyncLogoutObserver(stores: others, managers: SyncManagers(registry: registry))
    await managers.removeSharedInstances(owner: owner("0DB000000000002GAA"))
    try await stores.close()
    #expect(try await restarted.unsyncedRecords(of: account) == 6)
    try await others.close()

    try await observer.willLogOut(account, reason: .userLogout)
    for manager in opened {
      #expect(await syncErrorCode { try await manager.checkAcceptingSyncs() } == .closed)
    }
    for scope in [nil, "0DB000000000001GAA", "0DB000000000002GAA"] {
      #expect(try stores.allStoreNames(forUserAccount: owner(scope)).isEmpty)
    }
  }
}
