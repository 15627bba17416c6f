import Crypto
import Foundation
import MobileSync
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import Testing
import TestSupport

/// What does a logout take with it, and can it lose an edit?
@Suite struct LogoutTests {
  @Test(.covers("SS-20"))
  func `a logout with unsynced records is refused and changes nothing`() async throws {
    try await FieldDevice.with { device in
      try await device.create(["Name": "a"])
      try await device.create(["Name": "b"])
      let error = await #expect(throws: AccountError.self) {
        try await device.accounts.logOut(device.account.identity)
      }
      #expect(error?.code == .unsyncedRecords)
      #expect(error?.unsyncedRecords == 2)
      #expect(error?.message.contains("2 unsynced records") == true)
      #expect(device.org.requestLog.isEmpty)
      #expect(await device.accounts.current?.loginState == .loggedIn)

      // Everything goes on, and after a sync there is nothing in the way.
      _ = try await device.syncUp().finished()
      let report = try await device.accounts.logOut(device.account.identity)
      #expect(report.unsyncedRecords == 0)
      #expect(report.isRevoked == true)
      #expect(try await device.serverNames() == ["a", "b"])
    }
  }

  @Test(.covers("SS-20"))
  func `a forced logout removes the account's stores and no others`()
    async throws
  {
    try await FieldDevice.with { device in
      let owner = StoreOwner(device.account)
      let other = StoreOwner.user(
        organizationId: "00D000000000002AAA", userId: "005000000000002AAA")
      // Another program keeps its stores in the same folder.
      let others = SmartStoreManager(
        root: device.stores.root,
        encryption: .encrypted(SecretStoreKeyProvider(FieldDevice.secrets(in: device.folder))),
        isLoggedIn: { _ in true })
      let second = try #require(
        try await device.stores.shared(withName: "second", forUserAccount: owner))
      for store in [
        try await device.stores.sharedGlobal(),
        try #require(try await others.shared(forUserAccount: other)), second,
      ] {
        try await store.registerSoup(
          withName: "notes", withIndices: [.init(path: "x", type: .string)])
        try await store.upsert(entries: [["x": "y"]], forSoupNamed: "notes")
      }
      try await device.create(["Name": "a"])
      let directories = [device.store.directory, second.directory]

      let report = try await device.accounts.logOut(device.account.identity, force: true)
      #expect(report.unsyncedRecords == 1)
      #expect(report.failures.isEmpty)
      #expect(report.isRevoked == true)
      #expect(await device.accounts.accounts.isEmpty)
      #expect(await device.accounts.current == nil)
      for directory in directories {
        #expect(!FileManager.default.fileExists(atPath: directory.path))
      }
      #expect(try device.stores.allStoreNames(forUserAccount: owner).isEmpty)
      // What was held on to is closed, not half alive.
      #expect(device.store.isClosed)
      await #expect(throws: SyncError.self) { _ = try await device.syncUp() }
      await #expect(throws: RestError.self) { _ = try await device.client.send(.limits()) }

      #expect(
        try await device.stores.sharedGlobal().query("SELECT {notes:x} FROM {notes}").count == 1)
      let kept = try #require(try await others.shared(forUserAccount: other))
      #expect(try await kept.query("SELECT {notes:x} FROM {notes}").count == 1)
      try await others.close()

      // The next start knows no user, and a new login begins with an empty store.
      try await device.close()
      let server = try await MockOrgServer.start(device.org)
      let restarted = try await FieldDevice(
        device.org, server, device.clock, folder: device.folder)
      #expect(try await restarted.store.soupExists(forName: FieldDevice.soup) == false)
      try await restarted.close()
      await server.stop()
    }
  }

  @Test(.covers("CO-84.4"))
  func `a logout without a network removes everything here`() async throws {
    try await FieldDevice.with { device in
      device.org.add(MockOrgFault(path: "/oauth2/revoke", count: nil, action: .dropBeforeCommit))
      let report = try await device.accounts.logOut(device.account.identity)
      #expect(report.isRevoked == false)
      #expect(await device.accounts.accounts.isEmpty)
      #expect(!FileManager.default.fileExists(atPath: device.store.directory.path))
    }
  }

  @Test func `after a logout no copy of the account's stores can be opened`() async throws {
    try await FieldDevice.with { device in
      let values = KeyValueStores(
        folders: UserFolders(root: device.folder.appending(path: "values")),
        keys: KeyGenerator(FieldDevice.secrets(in: device.folder)), accounts: device.accounts)
      try values.store(named: "drafts", for: device.account).saveValue("mine", forKey: "a")
      try await device.create(["Name": "a"])
      let copy = device.folder.appending(path: "copy")
      for name in ["stores", "values"] {
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
          at: device.folder.appending(path: name), to: copy.appending(path: name))
      }
      let owner = StoreOwner(device.account)
      let account = device.account
      let report = try await device.accounts.logOut(account.identity, force: true)
      #expect(report.failures.isEmpty)

      // With all that is left in the secret store, and after a login of the same user.
      for round in 0..<2 {
        let secrets = FieldDevice.secrets(in: device.folder)
        let copied = SmartStoreManager(
          root: copy.appending(path: "stores"),
          encryption: .encrypted(SecretStoreKeyProvider(secrets)), isLoggedIn: { _ in true })
        let error = await #expect(throws: SmartStoreError.self) {
          _ = try await copied.shared(forUserAccount: owner)
        }
        #expect(error.map { [.keyMissing, .foreignStore, .wrongKey].contains($0.code) } == true)
        for name in try secrets.list() {
          guard let secret = try secrets.read(name), secret.count >= 16 else { continue }
          let tried = SmartStoreManager(
            root: copy.appending(path: "stores"),
            encryption: .encrypted(FixedKeyProvider(SymmetricKey(data: secret))),
            isLoggedIn: { _ in true })
          let error = await #expect(throws: SmartStoreError.self) {
            _ = try await tried.shared(forUserAccount: owner)
          }
          #expect(error?.code == .wrongKey)
        }
        if round == 0 {
          // The logout has revoked the tokens of the first server.
          let server = try await MockOrgServer.start(device.org)
          try await FieldDevice.logIn(device.accounts, server)
          let again = KeyValueStores(
            folders: UserFolders(root: copy.appending(path: "values")), keys: KeyGenerator(secrets),
            accounts: device.accounts)
          let error = #expect(throws: EncryptionError.self) {
            _ = try again.store(named: "drafts", for: account)
          }
          #expect(error?.code == .wrongKey)
          await server.stop()
        }
      }
    }
  }
}
