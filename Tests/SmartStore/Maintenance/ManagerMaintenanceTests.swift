import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Can stores of a running app get another key, and be checked, without anybody seeing half of it?
struct ManagerMaintenanceTests {
  private let user = StoreOwner.user(organizationId: "00D", userId: "005", communityId: "0DB")
  private let new = FixedKeyProvider(SymmetricKey(size: .bits256))

  @Test(.covers("SS-35", "BX-98"))
  func `all stores of an app change over to a new key, also after an interruption`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      guard case .encrypted(let old) = testEncryption else { return }
      let before = SmartStoreManager(
        root: folder.url, encryption: testEncryption, isLoggedIn: { _ in true })
      for owner in [StoreOwner.global, user] {
        for name in ["one", "two"] {
          let store = try #require(
            try await before.shared(withName: name, forUserAccount: owner))
          try await store.registerSoup(withName: name, withIndices: .init("k:string"))
        }
      }
      try await before.close()
      // One store was changed before the interruption.
      try StoreMaintenance(at: folder.url.appending(path: "stores/one"), name: "one")
        .changeKey(from: old, to: new)

      let after = SmartStoreManager(
        root: folder.url, encryption: .encrypted(new), isLoggedIn: { _ in true })
      #expect(try await after.changeKey(from: old) == 4)
      for owner in [StoreOwner.global, user] {
        let store = try #require(try await after.shared(withName: "two", forUserAccount: owner))
        #expect(try await store.soupExists(forName: "two"))
      }
      try await after.close()
      let retired = SmartStoreManager(
        root: folder.url, encryption: testEncryption, isLoggedIn: { _ in true })
      await expectFailure(.wrongKey) { _ = try await retired.sharedGlobal(withName: "one") }
    }
  }

  @Test(.covers("SS-35"))
  func `a store that fails keeps no other from its new key, plaintext needs none`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      guard case .encrypted(let old) = testEncryption else { return }
      let before = SmartStoreManager(
        root: folder.url, encryption: testEncryption, isLoggedIn: { _ in true })
      // The app's stores come first.
      _ = try await before.sharedGlobal(withName: "bad")
      _ = try await before.shared(withName: "good", forUserAccount: user)
      try await before.close()
      try await SmartStore.open(
        at: folder.url.appending(path: "stores/plain"), encryption: .plaintext
      ).close()
      let keyFile = folder.url.appending(path: "stores/bad/store.key")
      let whole = try Data(contentsOf: keyFile)
      try Data("no key file".utf8).write(to: keyFile)

      let after = SmartStoreManager(
        root: folder.url, encryption: .encrypted(new), isLoggedIn: { _ in true })
      await expectFailure(.corruptKeyFile) { try await after.changeKey(from: old) }
      #expect(try await after.shared(withName: "good", forUserAccount: user) != nil)
      try whole.write(to: keyFile)
      #expect(try await after.changeKey(from: old) == 3)
      _ = try await after.sharedGlobal(withName: "bad")
      try await after.close()
      let plain = try await SmartStore.open(
        at: folder.url.appending(path: "stores/plain"), encryption: .plaintext)
      try await plain.close()
    }
  }

  @Test(.covers("SS-35"))
  func `an encrypted store without its key file is no plaintext store`() async throws {
    try await TemporaryFolder.with { folder in
      guard case .encrypted(let old) = testEncryption else { return }
      let before = SmartStoreManager(
        root: folder.url, encryption: testEncryption, isLoggedIn: { _ in true })
      _ = try await before.sharedGlobal(withName: "bad")
      try await before.close()
      try FileManager.default.removeItem(
        at: folder.url.appending(path: "stores/bad/store.key"))
      let after = SmartStoreManager(
        root: folder.url, encryption: .encrypted(new), isLoggedIn: { _ in true })
      await expectFailure(.keyMissing) { try await after.changeKey(from: old) }
      try await after.close()
    }
  }

  @Test func `who asks for a store while its files are worked on waits for a new instance`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let manager = SmartStoreManager(
        root: folder.url, encryption: testEncryption, isLoggedIn: { _ in true })
      let first = try await manager.sharedGlobal()
      try await first.registerSoup(withName: "notes", withIndices: .init("k:string"))
      async let report = manager.withClosedStore(owner: .global) { try $0.verify(testEncryption) }
      async let other = manager.withClosedStore(owner: .global) { try $0.verify(testEncryption) }
      var second = try await manager.sharedGlobal()
      #expect(try await report.isClean)
      #expect(try await other.isClean)
      if second.isClosed { second = try await manager.sharedGlobal() }
      #expect(first.isClosed)
      #expect(try await second.soupExists(forName: "notes"))
      await expectFailure(.closed) { _ = try await first.allSoupNames() }
      try await manager.close()
    }
  }
}
