import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import TestSupport
import Testing

@testable import MobileSync
@testable import SalesforceSDKCore

/// Does a sync go on when the app is locked?
struct LockedSyncTests {
  @Test(.covers("CO-159")) func `a sync that is under way goes on in a locked store`() async throws
  {
    let folder = try TemporaryFolder()
    let lock = ScreenLockManager(
      authenticator: ScriptedDeviceAuthenticator([.success(()), .success(())]))
    let user = UserAccountIdentity(
      userId: "005000000000001AAA", organizationId: "00D000000000001EAA")
    lock.usersDidChange([user: LockPolicy(timeoutMinutes: 1)])
    try await lock.unlock()
    var options = SmartStoreOptions()
    options.screenLock = lock
    let store = try await SmartStore.open(
      at: folder.file("store"), encryption: .plaintext, options: options)
    try await store.registerSoup(
      withName: Device.soup,
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: SyncKeys.local, type: .string),
        SoupIndex(path: SyncKeys.syncId, type: .integer),
      ])
    let org = InMemoryOrg()
    for number in 0..<20 { org.create("Account", ["Name": .string("\(number)")]) }
    org.pageSize = 10
    org.intervene { number, _ in
      if number == 2 { lock.lock() }
      return .none
    }
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let manager = try await SyncManager(
      store: store, sender: org, userId: user.userId, registry: registry)
    let run = try await manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    let state = try await run.finished()
    #expect(state.status == .done && state.totalSize == 20 && lock.isLocked)
    let error = await #expect(throws: SmartStoreError.self) { try await store.read { _ in } }
    #expect(error?.code == .screenLocked)
    try await lock.unlock()
    let count = try await store.count(
      using: try .buildAllQuerySpec(soupName: Device.soup, pageSize: 10))
    #expect(count == 20)
    await manager.close()
    try await store.close()
  }
}
