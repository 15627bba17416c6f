import Foundation
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import SoqlSyncDown
import StandardSyncTargets
import TestSupport
import Testing

@testable import MobileSync

/// Does one manager alone work on a store, and does the next one get it when that one is gone?
@Suite struct OneManagerTests {
  private func manager(_ device: Device, store: SmartStore? = nil) async throws -> SyncManager {
    try await SyncManager(
      store: store ?? device.store, sender: device.org, registry: device.registry)
  }

  private func registry(_ device: Device) -> SyncManagerRegistry {
    SyncManagerRegistry(registry: device.registry)
  }

  @Test func `a second manager on one store is refused, and the running sync goes on`()
    async throws
  {
    let org = InMemoryOrg()
    org.create("Account", ["Name": "a"])
    let device = try await Device.open(org)
    let request = Latch()
    org.intervene { _, _ in
      await request.pass()
      return .none
    }
    let run = try await device.manager.syncDown(
      target: try SoqlSyncDownTarget(query: Device.query),
      options: SyncOptions(mergeMode: .overwrite), soupName: Device.soup)
    await request.arrival()
    let error = await #expect(throws: SyncError.self) { try await manager(device) }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("SyncManagerRegistry") == true)
    let shared = registry(device)
    #expect(
      await syncErrorCode {
        _ = try await shared.sharedInstance(store: device.store, sender: org)
      } == .storeInUse)
    #expect(try await device.manager.syncStatus(forId: run.state.id)?.status == .running)
    request.open()
    #expect(try await run.finished().status == .done)
    #expect(org.requests.count == 1)
  }

  @Test func `a store that was opened under another path counts as the same`() async throws {
    let device = try await Device.open(InMemoryOrg())
    let folder = try TemporaryFolder()
    let link = folder.file("link")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: device.store.directory)
    let options = SmartStoreOptions(isReadOnly: true)
    let same = try await SmartStore.open(at: link, encryption: .plaintext, options: options)
    #expect(await syncErrorCode { _ = try await manager(device, store: same) } == .storeInUse)
    try await same.close()
  }

  @Test func `the next manager is made once the first is closed, and not before its work is over`()
    async throws
  {
    let org = InMemoryOrg()
    let device = try await Device.open(org)
    let latch = Latch()
    let held = Task { [store = device.store] in
      try await store.inTransaction { _ in latch.passBlocking() }
    }
    await latch.arrival()
    let first = device.manager
    let creating = Task {
      try await first.createSyncUp(
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup)
    }
    while await first.writers == 0 { await Task.yield() }
    let closing = Task { await first.close() }
    while await syncErrorCode({ try await first.checkAcceptingSyncs() }) != .closed {
      await Task.yield()
    }
    #expect(await syncErrorCode { _ = try await manager(device) } == .storeInUse)
    latch.open()
    try await held.value
    _ = try await creating.value
    await closing.value
    let next = try await manager(device)
    #expect(try await next.syncs().count == 1)
    // The second close of the first one takes nothing from the next.
    await first.close()
    #expect(await syncErrorCode { _ = try await manager(device) } == .storeInUse)
    await next.close()
    let last = try await manager(device)
    await last.close()
  }

  @Test(.timeLimit(.minutes(1)))
  func `a manager that is dropped without a close frees its store`() async throws {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    do {
      let dropped = try await manager(device)
      _ = try await dropped.syncUp(
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: Device.soup
      ).finished()
    }
    var code: SyncError.Code?
    repeat {
      await Task.yield()
      code = await syncErrorCode { _ = try await manager(device) }
    } while code == .storeInUse
    #expect(code == nil)
  }

  @Test func `a manager that cannot be made leaves its store free`() async throws {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    try await device.store.close()
    #expect(await syncErrorCode { _ = try await manager(device) } == .store)
    #expect(await syncErrorCode { _ = try await manager(device) } == .store)
  }

  @Test func `a store that was closed and opened again gets a manager of its own`() async throws {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    let managers = registry(device)
    let first = try await managers.sharedInstance(store: device.store, sender: device.org)
    let place = device.store.directory
    try await device.store.close()
    let again = try await TestStores.open(in: place)
    let direct = try await manager(device, store: again)
    await direct.close()
    let second = try await managers.sharedInstance(store: again, sender: device.org)
    #expect(second !== first && second.store === again)
    #expect(try await second.syncs().isEmpty)
    try await again.close()
  }

  @Test func `the registry replaces a manager that its user closed`() async throws {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    let managers = registry(device)
    let first = try await managers.sharedInstance(store: device.store, sender: device.org)
    await first.close()
    let second = try await managers.sharedInstance(store: device.store, sender: device.org)
    #expect(second !== first)
    try await second.checkAcceptingSyncs()
  }

  @Test func `the registry makes the next manager when the removed one has ended its work`()
    async throws
  {
    let device = try await Device.open(InMemoryOrg())
    await device.manager.close()
    let managers = registry(device)
    for _ in 1...20 {
      let first = try await managers.sharedInstance(store: device.store, sender: device.org)
      async let removed: Void = managers.removeSharedInstance(store: device.store)
      async let some = managers.sharedInstance(store: device.store, sender: device.org)
      async let other = managers.sharedInstance(store: device.store, sender: device.org)
      _ = try await (some, other)
      await removed
      await first.close()
      let last = try await managers.sharedInstance(store: device.store, sender: device.org)
      try await last.checkAcceptingSyncs()
    }
  }
}
