import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SalesforceSDKCore

/// Does a key-value store stay bound to one user and name when its files are copied?
@Suite struct KeyValueBindingTests {
  private let folder: TemporaryFolder
  private let secrets = InMemorySecretStore()
  private let jane = TestOrg().account(
    identity: UserAccountIdentity(
      userId: "005Ff0000000001IAA", organizationId: "00DFf0000000001MAA"))
  private let joe = TestOrg().account(
    identity: UserAccountIdentity(
      userId: "005000000000002AAA", organizationId: "00D000000000001EAA"))
  private var member: UserAccount {
    var member = jane
    member.credentials.communityId = "0DB000000000001AAA"
    return member
  }

  init() throws { folder = try TemporaryFolder() }

  private func stores(
    _ accounts: UserAccountManager, _ keys: (any EncryptionKeyProvider)? = nil
  ) -> KeyValueStores {
    KeyValueStores(
      folders: UserFolders(root: folder.file("values")), keys: keys ?? KeyGenerator(secrets),
      accounts: accounts)
  }

  private func place(_ account: UserAccount?, _ name: String = "drafts") -> URL {
    let folders = UserFolders(root: folder.file("values"))
    return (account.map { folders.communityFolder(of: $0) } ?? folders.root)
      .appending(path: "key_value_stores/\(name)")
  }

  private func replace(_ target: URL, by source: URL) throws {
    try? FileManager.default.removeItem(at: target)
    try FileManager.default.copyItem(at: source, to: target)
  }

  private func store(
    _ stores: KeyValueStores, _ account: UserAccount?, _ name: String = "drafts"
  ) throws -> KeyValueEncryptedFileStore {
    if let account { return try stores.store(named: name, for: account) }
    return try stores.globalStore(named: name)
  }

  private func code(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ call: () throws -> Void
  ) -> EncryptionError.Code? {
    #expect(throws: EncryptionError.self, sourceLocation: sourceLocation, performing: call)?.code
  }

  private struct OneKey: EncryptionKeyProvider {
    let key = EncryptionKey.random()
    func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey { key }
  }

  @Test(arguments: [true, false])
  func `one store's files in the place of another's are refused`(hasOneKey: Bool) async throws {
    let accounts = try await TestOrg().manager([jane, joe])
    let keys: any EncryptionKeyProvider = hasOneKey ? OneKey() : KeyGenerator(secrets)
    let all: [(account: UserAccount?, name: String)] = [
      (jane, "drafts"), (joe, "drafts"), (nil, "drafts"), (jane, "other"), (member, "drafts"),
    ]
    for (index, one) in all.enumerated() {
      try store(stores(accounts, keys), one.account, one.name).saveValue("\(index)", forKey: "a")
    }
    try replace(folder.file("kept"), by: folder.file("values"))
    for target in all.indices {
      for source in all.indices where source != target {
        try replace(folder.file("values"), by: folder.file("kept"))
        try replace(
          place(all[target].account, all[target].name),
          by: place(all[source].account, all[source].name))
        #expect(
          code { _ = try store(stores(accounts, keys), all[target].account, all[target].name) }
            == .foreignStore)
        #expect(
          try store(stores(accounts, keys), all[source].account, all[source].name)
            .readValue(forKey: "a") == "\(source)")
      }
    }
  }

  @Test func `a store of format 2 is bound once, and an old file is refused afterwards`()
    async throws
  {
    try GoldenFiles.copy("format-1/state", to: folder.file("state"))
    try FileManager.default.moveItem(
      at: folder.file("state/values"), to: folder.file("values"))
    let golden = KeyGenerator(
      FileSecretStore(
        in: folder.file("state"), masterKey: KeyFile(folder.file("state/master.key"))))
    let accounts = try await TestOrg().manager([jane, joe])
    try replace(folder.file("old"), by: place(jane))
    try replace(folder.file("old app"), by: place(nil))
    for _ in 0..<2 {
      #expect(try store(stores(accounts, golden), jane).readValue(forKey: "a") == "mine")
      let bytes = try Array(Data(contentsOf: place(jane).appending(path: "version")))
      #expect(KeyValueFormat.format(of: bytes) == 3)
    }
    for old in ["old", "old app"] {
      try replace(folder.file("kept"), by: place(jane))
      try replace(place(jane), by: folder.file(old))
      #expect(code { _ = try store(stores(accounts, golden), jane) } == .foreignStore)
      try replace(place(jane), by: folder.file("kept"))
    }
    // Nor is a folder without a version file taken for a store of version 1.
    try FileManager.default.removeItem(at: place(jane))
    try FileManager.default.createDirectory(at: place(jane), withIntermediateDirectories: true)
    try Data([1]).write(to: place(jane).appending(path: Digests.sha256Hex("a")))
    #expect(code { _ = try store(stores(accounts, golden), jane) } == .foreignStore)
  }

  @Test func `a move that was interrupted goes on at the next opening`() async throws {
    try GoldenFiles.copy("format-1/state", to: folder.file("state"))
    try FileManager.default.moveItem(
      at: folder.file("state/values"), to: folder.file("values"))
    let stored = FileSecretStore(
      in: folder.file("state"), masterKey: KeyFile(folder.file("state/master.key")))
    let keys = KeyGenerator(stored)
    let accounts = try await TestOrg().manager([jane])
    // The user's key was made, and the file is still the old one.
    _ = try keys.encryptionKey(.keyValueStores, of: jane.identity)
    #expect(try store(stores(accounts, keys), jane).readValue(forKey: "a") == "mine")
    // The file was moved, and the secret store does not know of it yet.
    let records = try #require(keys.records(.keyValueStores, of: jane.identity))
    try records.forgetAll()
    #expect(try store(stores(accounts, keys), jane).readValue(forKey: "a") == "mine")
    let name = (place(jane).pathComponents.suffix(5).prefix(3) + ["drafts"]).joined(separator: "/")
    #expect(try records.records(of: name).count == 1)
  }

  @Test func `after a logout no secret that is left opens a copy`() async throws {
    let org = TestOrg()
    let accounts = try await org.manager([jane, joe])
    let stores = stores(accounts)
    for account in [jane, member, joe] {
      try store(stores, account).saveValue("x", forKey: "a")
    }
    try store(stores, nil).saveValue("x", forKey: "a")
    try replace(folder.file("copy"), by: place(jane))
    _ = try await accounts.logOut(jane.identity)
    let version = try Array(Data(contentsOf: folder.file("copy/version")))
    var tried = 0
    for name in try secrets.list() {
      guard let key = try secrets.read(name).flatMap({ EncryptionKey($0) }) else { continue }
      tried += 1
      let binding = KeyValueBinding(
        parts: [
          jane.organizationId, jane.userId, "internal", "drafts",
        ], key: key)
      #expect(KeyValueFormat.isBound(version, to: binding))
      #expect(code { _ = try KeyValueFormat(version, binding) } == .wrongKey)
    }
    #expect(tried == 2, "joe's and the app's")
    #expect(try store(stores, joe).readValue(forKey: "a") == "x")
    #expect(try store(stores, nil).readValue(forKey: "a") == "x")
  }

  @Test func `another key for a user's store keeps it bound`() async throws {
    let accounts = try await TestOrg().manager([jane, joe])
    let keys = KeyGenerator(secrets)
    let one = OneKey()
    let mine = try store(stores(accounts, keys), jane)
    try mine.saveValue("x", forKey: "a")
    try mine.changeEncryptionKey(
      from: keys.encryptionKey(.keyValueStores, of: jane.identity), to: one.key)
    #expect(try store(stores(accounts, one), jane).readValue(forKey: "a") == "x")
    try replace(place(joe), by: place(jane))
    #expect(code { _ = try store(stores(accounts, one), joe) } == .foreignStore)
  }
}
