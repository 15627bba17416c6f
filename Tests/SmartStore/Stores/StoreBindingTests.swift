import Crypto
import Foundation
import SalesforceSDKCommon
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// Is a store that of one owner and name, wherever its folder lies?
struct StoreBindingTests {
  private let folder: TemporaryFolder
  private let secrets = InMemorySecretStore()
  private let jane = StoreOwner.user(
    organizationId: "00DFf0000000001MAA", userId: "005Ff0000000001IAA")
  private let joe = StoreOwner.user(
    organizationId: "00D000000000002AAA", userId: "005000000000002AAA")
  private var provider: SecretStoreKeyProvider { SecretStoreKeyProvider(secrets) }

  init() throws { folder = try TemporaryFolder() }

  private func manager(
    _ root: String = "root", _ encryption: StoreEncryption? = nil
  ) -> SmartStoreManager {
    SmartStoreManager(
      root: folder.file(root), encryption: encryption ?? .encrypted(provider),
      isLoggedIn: { _ in true })
  }

  private func place(_ owner: StoreOwner, _ name: String = "defaultStore", root: String = "root")
    throws -> URL
  {
    try StoreFolders(root: folder.file(root)).folder(of: name, owner: owner)
  }

  private func fill(
    _ manager: SmartStoreManager, _ owner: StoreOwner, _ name: String, _ word: String
  )
    async throws
  {
    let store = try #require(try await manager.shared(withName: name, forUserAccount: owner))
    try await store.registerSoup(withName: "notes", withIndices: .init("k:string"))
    try await store.registerSoup(
      withSpec: SoupSpec(name: "files", features: [SoupSpec.featureExternalStorage]),
      withIndices: .init("k:string"))
    for soup in ["notes", "files"] {
      try await store.upsert(entries: [["k": .string(word)]], forSoupNamed: soup)
    }
  }

  private func words(
    _ manager: SmartStoreManager, _ owner: StoreOwner, _ name: String = "defaultStore"
  )
    async throws -> [JSONValue?]
  {
    let store = try #require(try await manager.shared(withName: name, forUserAccount: owner))
    return try await store.elements(of: "notes").map { $0["k"] }
  }

  private func replace(_ target: URL, by source: URL) throws {
    try? FileManager.default.removeItem(at: target)
    try FileManager.default.copyItem(at: source, to: target)
  }

  @Test(arguments: [true, false])
  func `one store's folder in the place of another's is refused, and says why`(
    hasFixedKey: Bool
  ) async throws {
    let encryption = StoreEncryption.encrypted(
      hasFixedKey ? FixedKeyProvider(SymmetricKey(size: .bits256)) : provider)
    let club = StoreOwner.user(
      organizationId: "00DFf0000000001MAA", userId: "005Ff0000000001IAA",
      communityId: "0DB000000000001AAA")
    let stores: [(owner: StoreOwner, name: String)] = [
      (jane, "defaultStore"), (joe, "defaultStore"), (jane, "other"), (.global, "defaultStore"),
      (club, "defaultStore"),
    ]
    var manager = manager("root", encryption)
    for (index, store) in stores.enumerated() {
      try await fill(manager, store.owner, store.name, "word \(index)")
    }
    try await manager.close()
    for target in stores {
      for source in stores where source != target {
        let root = "attacked"
        try replace(folder.file(root), by: folder.file("root"))
        let attacked = try place(target.owner, target.name, root: root)
        try replace(attacked, by: place(source.owner, source.name))
        let before = try contents(attacked)
        manager = self.manager(root, encryption)
        let error = await expectFailure(.foreignStore) {
          _ = try await manager.shared(withName: target.name, forUserAccount: target.owner)
        }
        #expect(error?.message.contains("another account") == true)
        #expect(try contents(attacked) == before)
        // Nor does it help to have the key file say otherwise.
        let file = attacked.appending(path: "store.key")
        try forgeBinding(of: file, StoreIdentity(name: target.name, owner: target.owner))
        let code = hasFixedKey ? SmartStoreError.Code.wrongKey : .foreignStore
        await expectFailure(code) {
          _ = try await manager.shared(withName: target.name, forUserAccount: target.owner)
        }
        try await manager.close()
      }
    }
  }

  /// Writes another owner and name into a key file, as far as that is possible without its key.
  private func forgeBinding(of url: URL, _ identity: StoreIdentity) throws {
    var bytes = Array(try Data(contentsOf: url)).dropLast(32)
    let id = bytes[16..<32].withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    bytes.replaceSubrange(32..<48, with: identity.binding(storeID: id))
    try Data(bytes + SHA256.hash(data: bytes)).write(to: url)
  }

  private func contents(_ directory: URL) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path)
    where !StoreFolder.lockFiles.contains(where: name.hasSuffix) {
      contents[name] = try? Data(contentsOf: directory.appending(path: name))
    }
    return contents
  }

  @Test func `a root that was moved and renamed has the same stores`() async throws {
    let before = manager()
    try await fill(before, jane, "defaultStore", "hers")
    try await fill(before, .global, "settings", "app")
    try await before.close()
    try FileManager.default.createDirectory(
      at: folder.file("container 2"), withIntermediateDirectories: true)
    try FileManager.default.moveItem(
      at: folder.file("root"), to: folder.file("container 2/stores"))
    let after = manager("container 2/stores")
    #expect(try await words(after, jane) == ["hers"])
    #expect(try await words(after, .global, "settings") == ["app"])
    try await after.close()
  }

  @Test func `stores of one name under two roots are both known`() async throws {
    for _ in 0..<2 {
      for root in ["one", "two"] {
        let manager = manager(root)
        try await fill(manager, jane, "defaultStore", root)
        #expect(try await words(manager, jane).last == .some(.string(root)))
        try await manager.close()
      }
    }
  }

  @Test func `each user has a key of their own, and a copy is of no use without it`() async throws {
    let manager = manager()
    try await fill(manager, jane, "defaultStore", "hers")
    try await fill(manager, joe, "defaultStore", "his")
    try await fill(manager, .global, "defaultStore", "app")
    try await manager.close()
    try replace(folder.file("copy"), by: folder.file("root"))
    let copied = self.manager("copy")
    try await copied.eraseKey(forUserAccount: jane)
    await expectFailure(.keyMissing) { _ = try await copied.shared(forUserAccount: jane) }
    #expect(try await words(copied, joe) == ["his"])
    #expect(try await words(copied, .global) == ["app"])
    try await copied.close()
    // Whatever is left in the secret store opens nothing of hers.
    let file = try StoreKeyFile(
      parsing: Array(Data(contentsOf: place(jane, root: "copy").appending(path: "store.key"))))
    for name in try secrets.list() {
      guard let secret = try secrets.read(name), secret.count >= 16 else { continue }
      #expect(throws: StoreKeyFile.Failure.self) {
        try file.unwrap(
          with: SymmetricKey(data: secret),
          for: StoreIdentity(name: "defaultStore", owner: jane))
      }
    }
    // A login of the same user makes another key.
    try await fill(self.manager("new"), jane, "defaultStore", "again")
    await expectFailure(.foreignStore) {
      _ = try await self.manager("copy").shared(forUserAccount: jane)
    }
  }

  // MARK: Format 1

  private func golden() async throws -> StoreEncryption {
    try GoldenFiles.copy("format-1/state", to: folder.file("state"))
    try FileManager.default.moveItem(
      at: folder.file("state/stores"), to: folder.file("root"))
    let stored = FileSecretStore(
      in: folder.file("state"), masterKey: KeyFile(folder.file("state/master.key")))
    for name in try stored.list() {
      if let secret = try stored.read(name) { try secrets.write(secret, for: name) }
    }
    return .encrypted(provider)
  }

  private func format(_ owner: StoreOwner, root: String = "root") throws -> UInt32 {
    try StoreKeyFile(
      parsing: Array(Data(contentsOf: place(owner, root: root).appending(path: "store.key")))
    ).format
  }

  @Test func `a store of format 1 gets the user's key and is bound when it is opened for writing`()
    async throws
  {
    _ = try await golden()
    #expect(try format(jane) == 1)
    let key = try provider.key()
    for _ in 0..<2 {
      let manager = manager()
      #expect(try await words(manager, jane).count == 6)
      #expect(try format(jane) == 2)
      #expect(try await words(manager, .global).count == 6)
      try await manager.close()
    }
    #expect(try provider.key() == key, "the app's stores keep theirs")
    #expect(try provider.provider(for: jane).key() != key)
    #expect(try format(joe) == 1)
    let file = try StoreKeyFile(
      parsing: Array(Data(contentsOf: place(jane).appending(path: "store.key"))))
    #expect(throws: StoreKeyFile.Failure.wrongKey) {
      try file.unwrap(with: #require(key), for: StoreIdentity(owner: jane))
    }
  }

  @Test func `a store of format 1 can be read without being changed`() async throws {
    let encryption = StoreEncryption.encrypted(provider)
    _ = try provider.createKey()
    let first = manager()
    let store = try #require(try await first.shared(forUserAccount: jane))
    try await store.registerSoup(withName: "notes", withIndices: .init("k:string"))
    try await store.upsert(entries: [["k": "hers"]], forSoupNamed: "notes")
    try await first.close()
    try forget(jane)
    let old = Data(try Self.bytes(downgrading: place(jane), identity: .init(owner: jane), provider))
    try old.write(to: place(jane).appending(path: "store.key"))
    let reader = SmartStoreManager(
      root: folder.file("root"), encryption: encryption,
      options: SmartStoreOptions(isReadOnly: true), isLoggedIn: { _ in true })
    #expect(try await words(reader, jane) == ["hers"])
    try await reader.close()
    #expect(try Data(contentsOf: place(jane).appending(path: "store.key")) == old)
  }

  /// The key file of a store in the form of format 1.
  private static func bytes(
    downgrading place: URL, identity: StoreIdentity, _ provider: SecretStoreKeyProvider
  ) throws -> [UInt8] {
    let file = try StoreKeyFile(
      parsing: Array(Data(contentsOf: place.appending(path: "store.key"))))
    let own = try #require(try provider.provider(for: identity.owner).key())
    let shared = try #require(try provider.key())
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: shared, salt: file.storeID.bytes, info: Array("fieldforce store wrap".utf8),
      outputByteCount: 32)
    func big(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    let magic = Array("FFSTKEY\0".utf8)
    var bytes = magic + big(1) + big(UInt32(file.keys.count)) + file.storeID.bytes
    for dataKey in try file.unwrap(with: own, for: identity) {
      let box = try AES.GCM.seal(
        dataKey.key.withUnsafeBytes { Data($0) }, using: key,
        authenticating: magic + big(1) + file.storeID.bytes + big(dataKey.epoch))
      bytes += big(dataKey.epoch) + (box.combined ?? Data())
    }
    return bytes + SHA256.hash(data: bytes)
  }

  private func forget(_ owner: StoreOwner) throws {
    let records: StoreRecords = provider.records(of: owner)
    try records.forgetAll()
  }

  @Test func `a key file of format 1 is refused once the store has been bound`() async throws {
    _ = try await golden()
    try replace(folder.file("old"), by: folder.file("root"))
    let manager = manager()
    #expect(try await words(manager, jane).count == 6)
    try await manager.close()
    // Its own old files, its own old key file alone, and those of another account that was never opened since.
    let hers = try place(jane)
    for source in try [place(jane, root: "old"), place(joe, root: "old")] as [URL] {
      for isWhole in [true, false] {
        try replace(folder.file("kept"), by: hers)
        if isWhole {
          try replace(hers, by: source)
        } else {
          try replace(
            hers.appending(path: "store.key"), by: source.appending(path: "store.key"))
        }
        await expectFailure(.foreignStore) {
          _ = try await self.manager().shared(forUserAccount: jane)
        }
        try replace(hers, by: folder.file("kept"))
      }
    }
    // Who restores an old backup says so.
    try replace(hers, by: place(jane, root: "old"))
    try StoreMaintenance(at: hers, owner: jane).acceptRestoredFiles(provider)
    let restored = self.manager()
    #expect(try await words(restored, jane).count == 6)
    try await restored.close()
    #expect(try format(jane) == 2)
  }

  /// A secret store that fails a change.
  private final class FailingSecrets: SecretStore {
    let base: InMemorySecretStore
    private let remaining: Mutex<Int>

    init(_ base: InMemorySecretStore, after count: Int) {
      self.base = base
      remaining = Mutex(count)
    }

    var protection: SecretProtection { base.protection }
    var hasFailed: Bool { remaining.withLock { $0 < 0 } }

    private func count() throws(SecretStoreError) {
      let isOver = remaining.withLock { remaining in
        remaining -= 1
        return remaining < 0
      }
      if isOver { throw SecretStoreError(.inputOutput, "The disk is full.") }
    }

    func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? { try base.read(name) }
    func update(
      _ name: SecretName,
      _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
    ) throws(SecretStoreError) -> [UInt8]? {
      try count()
      return try base.update(name, change)
    }
    func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
      try count()
      try base.write(secret, for: name)
    }
    func remove(_ name: SecretName) throws(SecretStoreError) -> Bool {
      try count()
      return try base.remove(name)
    }
    func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
  }

  @Test(arguments: 0...3)
  func `a move to format 2 that ends at any step goes on at the next opening`(step: Int)
    async throws
  {
    _ = try await golden()
    let failing = FailingSecrets(secrets, after: step)
    let first = manager("root", .encrypted(SecretStoreKeyProvider(failing)))
    // A key file that cannot be moved is no reason not to open.
    #expect(try await words(first, jane).count == 6)
    try await first.close()
    #expect(failing.hasFailed == (step < 2))
    #expect(try format(jane) == (step == 0 ? 1 : 2))
    let second = manager()
    #expect(try await words(second, jane).count == 6)
    try await second.close()
    #expect(try format(jane) == 2)
    let records: StoreRecords = provider.records(of: jane)
    #expect(try records.records(of: StoreIdentity(owner: jane).recordName).count == 1)
  }

  @Test func `a creation that ends before the secret store knows of it goes on`() async throws {
    for step in 0...2 {
      let secrets = InMemorySecretStore()
      let failing = FailingSecrets(secrets, after: step)
      let root = "root \(step)"
      let first = manager(root, .encrypted(SecretStoreKeyProvider(failing)))
      if step == 0 {
        await #expect(throws: SmartStoreError.self) {
          _ = try await first.shared(forUserAccount: jane)
        }
      } else {
        try await fill(first, jane, "defaultStore", "hers")
      }
      try await first.close()
      let second = manager(root, .encrypted(SecretStoreKeyProvider(secrets)))
      if step == 0 { try await fill(second, jane, "defaultStore", "hers") }
      #expect(try await words(second, jane) == ["hers"])
      try await second.close()
      let records: StoreRecords = SecretStoreKeyProvider(secrets).records(of: jane)
      #expect(try records.records(of: StoreIdentity(owner: jane).recordName).count == 1)
    }
  }

  @Test func `a store that was removed and one that was decrypted are forgotten`() async throws {
    let manager = manager()
    try await fill(manager, jane, "defaultStore", "hers")
    try await manager.removeShared(forUserAccount: jane)
    let records: StoreRecords = provider.records(of: jane)
    #expect(try records.records(of: StoreIdentity(owner: jane).recordName).isEmpty)
    try await fill(manager, jane, "defaultStore", "again")
    let provider = provider
    try await manager.withClosedStore(owner: jane) { files in
      try files.decrypt(provider)
      try files.encrypt(provider)
    }
    #expect(try await words(manager, jane) == ["again"])
    try await manager.close()
  }

  @Test func `a key of the app with a secret store is remembered, too`() async throws {
    let fixed = FixedKeyProvider(SymmetricKey(size: .bits256), remembering: secrets)
    let first = manager("root", .encrypted(fixed))
    try await fill(first, jane, "defaultStore", "hers")
    try await first.close()
    let place = try place(jane)
    try FileManager.default.removeItem(at: place)
    let plain = try await SmartStore.open(at: place, encryption: .plaintext)
    try await plain.close()
    await expectFailure(.notADatabase) {
      _ = try await SmartStore.open(
        owner: jane, at: place, encryption: .encrypted(fixed),
        options: SmartStoreOptions(encryptsPlaintextStore: true))
    }
  }

  @Test func `other keys keep the binding`() async throws {
    let manager = manager()
    try await fill(manager, jane, "defaultStore", "hers")
    let (old, new) = (provider, FixedKeyProvider(SymmetricKey(size: .bits256)))
    try await manager.withClosedStore(owner: jane) { files in
      try files.changeKey(from: old, to: new)
      try files.reencrypt(from: new, to: new)
    }
    try await manager.close()
    let after = self.manager("root", .encrypted(new))
    #expect(try await words(after, jane) == ["hers"])
    try await after.close()
    try replace(place(joe), by: place(jane))
    await expectFailure(.foreignStore) {
      try StoreMaintenance(at: place(joe), owner: joe).changeKey(from: new, to: old)
    }
    await expectFailure(.foreignStore) { _ = try await after.shared(forUserAccount: joe) }
  }
}
