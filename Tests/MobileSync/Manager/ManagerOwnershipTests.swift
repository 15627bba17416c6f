import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import Synchronization
import TestSupport
import Testing

/// Which managers does a call reach, and which does it leave alone?
@Suite struct ManagerOwnershipTests {
  private let organization = "00D000000000001EAA"

  private func account(_ userId: String) -> UserAccount {
    let credentials = OAuthCredentials(
      clientId: "c", redirectURI: "http://localhost/cb", loginServer: .production,
      accessToken: "access")
    return UserAccount(
      identity: UserAccountIdentity(userId: userId, organizationId: organization),
      credentials: credentials, profile: UserProfile(username: userId))
  }

  private func target() throws -> SoqlSyncDownTarget {
    try SoqlSyncDownTarget(query: Device.query)
  }

  private func device(_ count: Int, pageSize: Int = 2_000) async throws -> Device {
    let org = InMemoryOrg()
    org.pageSize = pageSize
    for number in 0..<count { org.create("Account", ["Name": .string("\(number)")]) }
    return try await Device.open(org)
  }

  @Test(.covers("MS-12"))
  func `a logout leaves the managers of a user with a similar id and of global stores`()
    async throws
  {
    let folder = try TemporaryFolder()
    let persister = InMemoryAccountPersister()
    let (leaving, staying) = ("005000000000001AAA", "005000000000001AAB")
    for id in [leaving, staying] { try await persister.save(account(id)) }
    let accounts = try await UserAccountManager(
      persister: persister, transport: ScriptedTransport([]))
    let stores = SmartStoreManager(root: folder.url, encryption: .plaintext, accounts: accounts)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let managers = SyncManagerRegistry(registry: registry)
    func manager(_ store: SmartStore?) async throws -> SyncManager {
      try await managers.sharedInstance(store: try #require(store), sender: InMemoryOrg())
    }
    func store(_ userId: String) async throws -> SmartStore? {
      try await stores.shared(
        forUserAccount: .user(organizationId: organization, userId: userId))
    }
    let gone = try await manager(store(leaving))
    let other = try await manager(store(staying))
    let global = try await manager(stores.sharedGlobal())

    let identity = UserAccountIdentity(userId: leaving, organizationId: organization)
    try await accounts.logOut(identity)
    #expect(await syncErrorCode { try await gone.checkAcceptingSyncs() } == .closed)
    for manager in [other, global] {
      try await manager.checkAcceptingSyncs()
      #expect(!manager.store.isClosed)
    }
    await managers.removeSharedInstances()
    for manager in [other, global] {
      #expect(await syncErrorCode { try await manager.checkAcceptingSyncs() } == .closed)
    }
    try await stores.close()
  }

  @Test(.covers("MS-13"))
  func `removing all managers closes those of every owner`() async throws {
    let devices = [try await device(0), try await device(0)]
    for device in devices { await device.manager.close() }
    let managers = SyncManagerRegistry(registry: devices[0].registry)
    var made: [SyncManager] = []
    for device in devices {
      made.append(try await managers.sharedInstance(store: device.store, sender: device.org))
    }
    await managers.removeSharedInstances()
    for manager in made {
      #expect(await syncErrorCode { try await manager.checkAcceptingSyncs() } == .closed)
    }
    let new = try await managers.sharedInstance(store: devices[0].store, sender: devices[0].org)
    #expect(new !== made[0])
    await managers.removeSharedInstances()
  }

  @Test(.covers("MS-42"))
  func `whether the manager accepts comes before whether the sync runs, and that before its type`()
    async throws
  {
    let device = try await device(1)
    try await device.create([["Name": "new"]])
    let latch = Latch()
    device.org.intervene { _, _ in
      await latch.pass()
      return .none
    }
    let up = try await device.manager.syncUp(
      options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    await latch.arrival()
    let id = up.state.id
    #expect(
      await syncErrorCode { _ = try await device.manager.cleanResyncGhosts(forId: id) }
        == .alreadyRunning)
    await device.manager.stop()
    #expect(
      await syncErrorCode { _ = try await device.manager.reSync(id: id) } == .managerStopped)
    latch.open()
    _ = try? await up.finished()
  }

  @Test(.covers("MS-361"))
  func `a consumer that never reads its updates delays no run`() async throws {
    let device = try await device(40, pageSize: 1)
    let other = try await self.device(3)
    let unread = try await device.manager.syncDown(
      target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    var iterator = unread.updates.makeAsyncIterator()
    let first = await iterator.next()
    #expect(first?.status == .running)
    #expect(try await unread.finished().totalSize == 40)
    for device in [device, other] {
      let run = try await device.manager.syncDown(
        target: target(), options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
      #expect(try await run.finished().status == .done)
    }
  }

  @Test(.covers("MS-269.1"))
  func `a global store reads globalsyncs.json and no other file`() async throws {
    let device = try await device(0)
    #expect(device.store.isGlobal)
    let asked = AskedNames()
    let files = StoreConfigurationSource { name in
      asked.add(name)
      return Array(
        #"{"syncs": [{"syncName": "\#(name)", "syncType": "syncUp", "soupName": "a", "options": {"fieldlist": ["Name"]}}]}"#
          .utf8)
    }
    let loaded = try await device.manager.setupSyncsFromDefaultConfig(from: files)
    #expect(loaded.created.map(\.name) == ["globalsyncs.json"])
    #expect(asked.names == ["globalsyncs.json"])
  }
}

/// The names of the files that a source was read for.
private final class AskedNames: Sendable {
  private let kept = Mutex<[String]>([])
  var names: [String] { kept.withLock { $0 } }
  func add(_ name: String) { kept.withLock { $0.append(name) } }
}
