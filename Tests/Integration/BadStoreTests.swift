import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// What happens to the edits in a store that cannot be opened, or lacks what is requested?
/// Nothing: each reason has its error, and all files stay as they are.
///
/// A full disk is scripted below the store: see the storage tests of SmartStore.
@Suite struct BadStoreTests {
  /// A device with a clean record and an edited one; its app has ended.
  private func withClosedDevice(
    _ body: (FieldDevice, Files) async throws -> Void
  ) async throws {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      try await device.org.create("Account", ["Name": "b"])
      _ = try await device.syncDown().finished()
      try await device.edit(id, ["Name": "edited"])
      try await device.close()
      try await body(device, Files(device))
    }
  }

  /// The files of the device's store.
  private struct Files {
    let folder: URL

    init(_ device: FieldDevice) { folder = device.store.directory }

    var database: URL { folder.appending(path: "store.sqlite") }

    /// All but the files that are there to be locked, which may be new.
    func contents() throws -> [String: Data] {
      var contents: [String: Data] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
      where !["store.lock", "store.opening", "store.turn", "store.queue"].contains(name) {
        contents[name] = try Data(contentsOf: folder.appending(path: name))
      }
      return contents
    }
  }

  /// Opens the device's store with these secrets, which has to fail and to change no file.
  private func expectRefusal(
    _ code: SmartStoreError.Code, _ device: FieldDevice, _ files: Files,
    _ secrets: some SecretStore, location: Testing.SourceLocation = #_sourceLocation
  ) async throws {
    let before = try files.contents()
    let accounts = try await UserAccountManager(
      persister: EncryptedAccountDirectory(
        root: device.folder.appending(path: "accounts"),
        secrets: FieldDevice.secrets(in: device.folder)), transport: URLSessionTransport())
    let stores = SmartStoreManager(
      root: device.stores.root, encryption: .encrypted(SecretStoreKeyProvider(secrets)),
      accounts: accounts)
    let error = await #expect(throws: SmartStoreError.self, sourceLocation: location) {
      _ = try await stores.shared(forUserAccount: StoreOwner(device.account))
    }
    #expect(error?.code == code, sourceLocation: location)
    #expect(error?.message.isEmpty == false, sourceLocation: location)
    #expect(try files.contents() == before, sourceLocation: location)
    // The logout does not take for granted that there is nothing to lose.
    let refusal = await #expect(throws: AccountError.self, sourceLocation: location) {
      try await accounts.logOut(device.account.identity)
    }
    #expect(refusal?.code == .unsyncedRecords && refusal?.unsyncedRecords == nil)
    #expect((refusal?.cause as? SmartStoreError)?.code == code, sourceLocation: location)
    #expect(try files.contents() == before, sourceLocation: location)
    try await stores.close()
    await accounts.close()
  }

  /// The app starts again, the edit is there, and is uploaded.
  private func expectAllThere(_ device: FieldDevice) async throws {
    let restarted = try await FieldDevice(
      device.org, device.server, device.clock, folder: device.folder)
    #expect(try await restarted.rows().count == 2)
    #expect(try await restarted.dirtyRows().map { $0["Name"] } == ["edited"])
    _ = try await restarted.syncUp().finished()
    #expect(try await restarted.serverNames() == ["b", "edited"])
    try await restarted.close()
  }

  @Test(.covers("SS-34"))
  func `a wrong key is reported, and with the right one everything is there`()
    async throws
  {
    try await withClosedDevice { device, files in
      let wrong = InMemorySecretStore()
      _ = try SecretStoreKeyProvider(wrong).provider(for: StoreOwner(device.account)).createKey()
      try await expectRefusal(.wrongKey, device, files, wrong)
      try await expectAllThere(device)
    }
  }

  @Test(.covers("SS-29"))
  func `a lost key is reported, and no new one is made in its place`() async throws {
    try await withClosedDevice { device, files in
      let empty = InMemorySecretStore()
      try await expectRefusal(.keyMissing, device, files, empty)
      #expect(try empty.list().isEmpty)
      try await expectAllThere(device)
    }
  }

  @Test(.covers("SS-29"))
  func `a locked key store is reported, and later everything is there`() async throws {
    try await withClosedDevice { device, files in
      let locked = InMemorySecretStore()
      locked.setLocked(true)
      try await expectRefusal(.keyLocked, device, files, locked)
      try await expectAllThere(device)
    }
  }

  @Test func `a file that is no database is reported and kept, whatever it holds`() async throws {
    try await withClosedDevice { device, files in
      let good = try Data(contentsOf: files.database)
      let secrets = FieldDevice.secrets(in: device.folder)
      for bad in [Data("these are somebody's notes".utf8), Data(count: 8192)] {
        try bad.write(to: files.database)
        try await expectRefusal(.notADatabase, device, files, secrets)
      }
      try good.write(to: files.database)
      try await expectAllThere(device)
    }
  }

  @Test func `a page that was changed on disk is reported when it is read`() async throws {
    try await withClosedDevice { device, files in
      let good = try Data(contentsOf: files.database)
      var bad = good
      // Behind the first page, whose damage shows at once.
      for offset in stride(from: 4096 + 100, to: bad.count, by: 4096) { bad[offset] ^= 1 }
      try bad.write(to: files.database)
      let stores = SmartStoreManager(
        root: device.stores.root,
        encryption: .encrypted(SecretStoreKeyProvider(FieldDevice.secrets(in: device.folder))),
        isLoggedIn: { _ in true })
      let error = await #expect(throws: SmartStoreError.self) {
        let store = try await stores.shared(forUserAccount: StoreOwner(device.account))
        _ = try await store?.query("SELECT {accounts:_soup} FROM {accounts}")
      }
      #expect(error?.code == .corrupt)
      try await stores.close()
      try good.write(to: files.database)
      try await expectAllThere(device)
    }
  }

  @Test func `a store that is open for writing elsewhere is refused, and works on there`()
    async throws
  {
    try await FieldDevice.with { device in
      let id = try await device.org.create("Account", ["Name": "a"])
      _ = try await device.syncDown().finished()
      let others = SmartStoreManager(
        root: device.stores.root,
        encryption: .encrypted(SecretStoreKeyProvider(FieldDevice.secrets(in: device.folder))),
        isLoggedIn: { _ in true })
      let error = await #expect(throws: SmartStoreError.self) {
        _ = try await others.shared(forUserAccount: StoreOwner(device.account))
      }
      #expect(error?.code == .busyOtherProcess)
      #expect(error?.message.contains("Close it there") == true)
      try await others.close()

      try await device.edit(id, ["Name": "edited"])
      _ = try await device.syncUp().finished()
      #expect(try await device.differences().isEmpty)
    }
  }

  @Test(.covers("SS-149"))
  func `Smart SQL on an unknown soup is reported by the soup's name`() async throws {
    try await FieldDevice.with { device in
      let error = await #expect(throws: SmartStoreError.self) {
        _ = try await device.store.query("SELECT {orders:Id} FROM {orders}")
      }
      #expect(error?.code == .unknownSoup)
      #expect(error?.number == 999)
      #expect(error?.message.contains("orders") == true)
    }
  }

  @Test func `an index spec with an unknown type makes no soup`() async throws {
    try await FieldDevice.with { device in
      let error = await #expect(throws: SmartStoreError.self) {
        try await device.store.registerSoup(
          withName: "orders",
          withIndices: [
            SoupIndex(path: "Id", type: .string),
            SoupIndex(path: "Total", type: SoupIndexType(rawValue: "decimal")),
          ])
      }
      #expect(error?.code == .invalidIndexSpec)
      #expect(error?.message.contains("decimal") == true)
      #expect(try await device.store.soupExists(forName: "orders") == false)
      // The name is free for a soup that is described well.
      try await device.store.registerSoup(
        withName: "orders", withIndices: [SoupIndex(path: "Id", type: .string)])
    }
  }

  @Test func `a batch with one entry that is no object stores none of it`() async throws {
    try await FieldDevice.with { device async throws in
      let error = await #expect(throws: SmartStoreError.self) {
        try await device.store.upsert(
          entries: [["Name": "a"], ["Name": "b"], 3], forSoupNamed: FieldDevice.soup)
      }
      #expect(error?.code == .invalidEntry)
      #expect(try await device.rows().isEmpty)
    }
  }

  @Test func `a sync on a soup that does not exist fails and says so`() async throws {
    try await FieldDevice.with { device in
      let run = try await device.manager.syncUp(
        options: SyncOptions(mergeMode: .overwrite, fieldlist: ["Name"]), soupName: "orders")
      let failed = try #require(try await failure(of: run))
      #expect((failed.reason.cause as? SmartStoreError)?.code == .unknownSoup)
      #expect(failed.reason.message.contains("orders"))
      #expect(device.org.requestLog.isEmpty)
    }
  }
}
