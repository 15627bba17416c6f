import Crypto
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import TestSupport
import Testing

/// Do the files that earlier versions wrote open, with all that is in them?
struct GoldenTests {
  private let owner = StoreOwner.user(
    organizationId: "00DFf0000000001MAA", userId: "005Ff0000000001IAA")

  private func check(_ store: SmartStore, _ word: String) async throws {
    let notes = try await store.query(
      using: .buildAllQuerySpec(soupName: "notes", orderPath: "n", pageSize: 10))
    #expect(notes.map { $0["k"]?.string } == (0..<6).map { "\(word) \($0)" })
    let found = try await store.query(
      using: .buildMatchQuerySpec(
        soupName: "notes", path: "text", matchKey: word, pageSize: 10))
    #expect(found.count == 6)
    let files = try await store.query(
      using: .buildAllQuerySpec(soupName: "files", orderPath: "k", pageSize: 10))
    #expect(files.map { $0["k"]?.string } == (0..<2).map { "\(word) file \($0)" })
    #expect(try await store.verify().isClean)
    try await store.upsert(entries: [["k": "new", "n": 9]], forSoupNamed: "notes")
  }

  @Test func `stores of format 1 under the keys of a secret store open, again and again`()
    async throws
  {
    let folder = try TemporaryFolder()
    let state = folder.file("state")
    try GoldenFiles.copy("format-1/state", to: state)
    let owners: [(owner: StoreOwner, word: String)] = [
      (owner, "mine"), (.global, "app"),
      (
        .user(organizationId: "00D000000000002AAA", userId: "005000000000002AAA"), "other"
      ),
      (
        .user(
          organizationId: "00DFf0000000001MAA", userId: "005Ff0000000001IAA",
          communityId: "0DB000000000001AAA"), "club"
      ),
    ]
    for _ in 0..<2 {
      let stores = SmartStoreManager(
        root: state.appending(path: "stores"),
        encryption: .encrypted(SecretStoreKeyProvider(FieldDevice.secrets(in: state))),
        isLoggedIn: { _ in true })
      for (owner, word) in owners {
        let store = try #require(try await stores.shared(forUserAccount: owner))
        try await check(store, word)
        // For the next round.
        try await store.removeEntries(
          usingQuerySpec: .buildExactQuerySpec(
            soupName: "notes", path: "k", matchKey: "new", pageSize: 10), forSoupNamed: "notes")
      }
      try await stores.close()
    }
  }

  @Test(arguments: ["fixed", "crashed"])
  func `stores of format 1 under a key of the app open`(word: String) async throws {
    let folder = try TemporaryFolder()
    try GoldenFiles.copy("format-1/\(word)", to: folder.file("store"))
    let store = try await SmartStore.open(
      at: folder.file("store"),
      encryption: .encrypted(FixedKeyProvider(SymmetricKey(data: Data(repeating: 7, count: 32)))))
    try await check(store, word)
    try await store.close()
  }

  @Test func `plaintext stores of format 1 open`() async throws {
    let folder = try TemporaryFolder()
    try GoldenFiles.copy("format-1/plain", to: folder.file("store"))
    let store = try await SmartStore.open(at: folder.file("store"), encryption: .plaintext)
    try await check(store, "plain")
    try await store.close()
  }

  @Test func `an account and key-value stores of format 1 open, again and again`() async throws {
    let folder = try TemporaryFolder()
    let state = folder.file("state")
    try GoldenFiles.copy("format-1/state", to: state)
    for _ in 0..<2 {
      let secrets = FieldDevice.secrets(in: state)
      let accounts = try await UserAccountManager(
        persister: EncryptedAccountDirectory(
          root: state.appending(path: "accounts"), secrets: secrets),
        transport: URLSessionTransport())
      let account = try #require(await accounts.current)
      #expect(account.identity.userId == "005Ff0000000001IAA")
      #expect(account.credentials.accessToken?.isEmpty == false)
      #expect(account.credentials.refreshToken?.isEmpty == false)
      let values = KeyValueStores(
        folders: UserFolders(root: state.appending(path: "values")), keys: KeyGenerator(secrets),
        accounts: accounts)
      let mine = try values.store(named: "drafts", for: account)
      let app = try values.globalStore(named: "drafts")
      for (store, word) in [(mine, "mine"), (app, "app")] {
        #expect(try store.readValue(forKey: "a") == word)
        #expect(try store.allKeys() == ["a"])
        try store.saveValue("new", forKey: "b")
        #expect(try store.readValue(forKey: "b") == "new")
        try store.removeValue(forKey: "b")
      }
      await accounts.close()
    }
  }
}
