import Foundation
import SalesforceSDKCommon
import Synchronization
import Testing
import TestSupport

@testable import SalesforceSDKCore

/// CO-144 to CO-149, CO-152, CO-153: keys and what is sealed with them.
@Suite struct KeyTests {
  private func code(
    sourceLocation: Testing.SourceLocation = #_sourceLocation, _ call: () throws -> Void
  ) -> EncryptionError.Code? {
    #expect(throws: EncryptionError.self, sourceLocation: sourceLocation, performing: call)?.code
  }

  @Test(.covers("CO-145"))
  func `a key is made once, kept, and removed only on demand`() throws {
    let secrets = InMemorySecretStore()
    let keys = KeyGenerator(secrets)
    let key = try keys.encryptionKey(.keyValueStores)
    #expect(key.bytes.count == 32)
    #expect(try keys.encryptionKey(.keyValueStores) == key)
    #expect(try KeyGenerator(secrets).encryptionKey(.keyValueStores) == key)
    #expect(try keys.encryptionKey(.urlCache) != key)
    #expect(
      Set(try secrets.list().map(\.service)) == [
        "com.salesforce.keystore.com.salesforce.keyValueStores.encryptionKey",
        "com.salesforce.keystore.com.salesforce.URLCache.encryptionKey",
      ])
    #expect(try keys.removeEncryptionKey(.keyValueStores))
    #expect(try !keys.removeEncryptionKey(.keyValueStores))
    #expect(try keys.encryptionKey(.keyValueStores) != key)
    #expect(
      [KeyLabel.userAccount, .userPhotos, .eventStore].map(\.rawValue) == [
        "com.salesforce.userAccount.encryptionKey",
        "com.salesforce.userAccount.photos.encryptionKey",
        "com.salesforce.eventStore.encryptionKey",
      ])
  }

  @Test(.covers("CO-145"))
  func `many callers at once all get the same key`() async throws {
    let secrets = InMemorySecretStore()
    let found = await withTaskGroup(of: [UInt8]?.self) { group in
      for _ in 0..<50 {
        group.addTask { try? KeyGenerator(secrets).encryptionKey(.eventStore).bytes }
      }
      return await group.reduce(into: Set<[UInt8]?>()) { $0.insert($1) }
    }
    #expect(found.count == 1)
    #expect(found.first != .some(nil))
  }

  @Test(.covers("CO-145", "BX-79.1"))
  func `a key that cannot be read is an error and is never replaced`()
    throws
  {
    let secrets = InMemorySecretStore()
    let name = SecretName(service: "com.salesforce.keystore.x")
    try secrets.write([1, 2, 3], for: name)
    #expect(code { _ = try KeyGenerator(secrets).encryptionKey(KeyLabel("x")) } == .keyDamaged)
    #expect(try secrets.read(name) == [1, 2, 3])
    secrets.setLocked(true)
    #expect(code { _ = try KeyGenerator(secrets).encryptionKey(KeyLabel("y")) } == .keyLocked)
    #expect(code { try KeyGenerator(secrets).removeEncryptionKey(KeyLabel("x")) } == .keyLocked)
  }

  @Test(.covers("CO-144.1", "CO-144.3", "BX-79.2", "HT-78.1"))
  func `keys lie encrypted by the master key, and another one opens none`()
    throws
  {
    let folder = try TemporaryFolder()
    let master = MasterKey.random()
    let keys = KeyGenerator(FileSecretStore(in: folder.url, masterKey: CallerMasterKey(master)))
    let key = try keys.encryptionKey(.userPhotos)
    #expect(keys.protection == .callerKey)
    let file = try Array(Data(contentsOf: folder.file(FileSecretStore.fileName)))
    #expect(file.firstRange(of: key.bytes) == nil)
    let wrong = KeyGenerator(
      FileSecretStore(in: folder.url, masterKey: CallerMasterKey(.random())))
    #expect(code { _ = try wrong.encryptionKey(.userPhotos) } == .wrongKey)
    let again = KeyGenerator(FileSecretStore(in: folder.url, masterKey: CallerMasterKey(master)))
    #expect(try again.encryptionKey(.userPhotos) == key)
  }

  @Test(.covers("CO-149", "CO-153", "BX-79.2", "BX-98"))
  func `keys may come from the host program, and be known in tests`()
    throws
  {
    struct Fixed: EncryptionKeyProvider {
      let key: EncryptionKey
      func encryptionKey(_ label: KeyLabel) throws(EncryptionError) -> EncryptionKey { key }
    }
    let key = try #require(EncryptionKey([UInt8](repeating: 7, count: 32)))
    let folder = try TemporaryFolder()
    let stores = KeyValueStores(folders: UserFolders(root: folder.url), keys: Fixed(key: key))
    try stores.globalStore(named: "a").saveValue("x", forKey: "k")
    #expect(try stores.globalStore(named: "a").readValue(forKey: "k") == "x")
    let known = KeyGenerator(InMemorySecretStore()) { key }
    #expect(try known.encryptionKey(.eventStore) == key)
    #expect(EncryptionKey([1]) == nil)
  }

  @Test(.covers("CO-152.1"))
  func `no description, dump or error shows a key`() throws {
    let key = EncryptionKey.random()
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] {
      #expect(!text.contains(Hex.encode(key.bytes)))
      #expect(!text.contains("\(key.bytes[0]), \(key.bytes[1])"))
      #expect(text.count < 60)
    }
  }

  @Test(.covers("CO-146", "BX-79.1"))
  func `data is encrypted with a nonce of its own, and opens as a whole or not`()
    throws
  {
    let key = EncryptionKey.random()
    for size in [0, 1, 511, 512, 513, 100_000] {
      let plain = [UInt8](repeating: 5, count: size)
      let sealed = try Encryptor.encrypt(plain, using: key)
      #expect(sealed.count == size + 28)
      #expect(try Encryptor.decrypt(sealed, using: key) == plain)
      #expect(try Encryptor.encrypt(plain, using: key) != sealed)
    }
    let sealed = try Encryptor.encrypt([1, 2, 3], using: key, context: [9])
    #expect(try Encryptor.decrypt(sealed, using: key, context: [9]) == [1, 2, 3])
    #expect(code { _ = try Encryptor.decrypt(sealed, using: key) } == .decryptionFailed)
    #expect(
      code { _ = try Encryptor.decrypt(sealed, using: .random(), context: [9]) }
        == .decryptionFailed)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1
      #expect(
        code { _ = try Encryptor.decrypt(changed, using: key, context: [9]) } == .decryptionFailed)
    }
    #expect(code { _ = try Encryptor.decrypt([1], using: key) } == .truncated)
    #expect(code { _ = try Encryptor.encrypt([1], using: nil) } == .noEncryptionKey)
    #expect(code { _ = try Encryptor.decrypt(sealed, using: nil) } == .noEncryptionKey)
  }

  // MARK: Streams

  private func seal(
    _ plain: [UInt8], _ key: EncryptionKey, pieces: Int = 1000, context: [UInt8] = [1]
  ) throws -> [UInt8] {
    var stream = EncryptStream(key: key, context: context, chunkPower: 9)
    var sealed: [UInt8] = []
    var rest = plain[...]
    while !rest.isEmpty {
      sealed += try stream.update(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
    }
    return sealed + (try stream.finish())
  }

  private func open(
    _ sealed: [UInt8], _ key: EncryptionKey, pieces: Int = 1000, context: [UInt8] = [1]
  ) throws -> [UInt8] {
    var stream = DecryptStream(key: key, context: context)
    return try open(sealed, &stream, pieces)
  }

  private func open(
    _ sealed: [UInt8], _ stream: inout DecryptStream, _ pieces: Int
  ) throws -> [UInt8] {
    var plain: [UInt8] = []
    var rest = sealed[...]
    while !rest.isEmpty {
      plain += try stream.update(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
    }
    return plain + (try stream.finish())
  }

  @Test(.covers("CO-147", "BX-79.1"))
  func `a stream opens as it was encrypted, however it is cut into pieces`()
    throws
  {
    let key = EncryptionKey.random()
    for size in [0, 1, 511, 512, 513, 1023, 1024, 1025, 5000] {
      let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      for pieces in [1, 7, 512, 540, 10_000] {
        let sealed = try seal(plain, key, pieces: pieces)
        #expect(sealed.count == 44 + size + 16 * max(1, (size + 511) / 512))
        #expect(try open(sealed, key, pieces: pieces) == plain)
      }
    }
  }

  @Test(.covers("CO-147"))
  func `chunks that are missing, moved, doubled or foreign are noticed`() throws {
    let key = EncryptionKey.random()
    let plain = (0..<2000).map { UInt8(truncatingIfNeeded: $0) }
    let sealed = try seal(plain, key)
    let head = Array(sealed.prefix(44))
    let chunks = stride(from: 44, to: sealed.count, by: 528)
      .map { Array(sealed[$0..<min($0 + 528, sealed.count)]) }
    #expect(chunks.count == 4)
    func joined(_ order: [Int]) -> [UInt8] { head + order.flatMap { chunks[$0] } }
    for order in [[0, 1, 2], [1, 0, 2, 3], [0, 0, 1, 2, 3], [0, 1, 3], [3], [0, 1, 2, 3, 3]] {
      #expect(code { _ = try open(joined(order), key) } == .decryptionFailed, "\(order)")
    }
    let foreign = try seal(plain, key)
    #expect(
      code { _ = try open(head + foreign.dropFirst(44), key) } == .decryptionFailed)
    #expect(code { _ = try open(sealed, key, context: [2]) } == .decryptionFailed)
    #expect(code { _ = try open(sealed, .random()) } == .decryptionFailed)
    for length in [0, 7, 43] {
      #expect(code { _ = try open(Array(sealed.prefix(length)), key) } == .truncated)
    }
    for length in [44, 59] {
      #expect(code { _ = try open(Array(sealed.prefix(length)), key) } == .truncated)
    }
    for length in stride(from: 60, to: sealed.count, by: 97) {
      #expect(code { _ = try open(Array(sealed.prefix(length)), key) } != nil)
    }
    for index in stride(from: 0, to: sealed.count, by: 41) {
      var changed = sealed
      changed[index] ^= 0x80
      #expect(code { _ = try open(changed, key) } != nil, "\(index)")
    }
  }

  @Test(.covers("CO-147"))
  func `the older form of streams can still be read`() throws {
    let key = EncryptionKey.random()
    for size in [0, 100, 512, 1300] {
      let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      var sealed: [UInt8] = []
      for start in stride(from: 0, to: size, by: 512) {
        sealed += try Encryptor.encrypt(Array(plain[start..<min(start + 512, size)]), using: key)
      }
      for pieces in [1, 540, 4000] {
        var stream = DecryptStream.legacy(key: key)
        #expect(try open(sealed, &stream, pieces) == plain)
      }
      guard size > 0 else { continue }
      var stream = DecryptStream.legacy(key: key)
      #expect(throws: EncryptionError.self) { try open(Array(sealed.dropLast()), &stream, 100) }
    }
  }

  @Test(.covers("CO-148.1"))
  func `hashes, encodings and random bytes`() {
    #expect(
      Digests.sha256Hex("abc")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
    #expect(RandomBytes.make(32) != RandomBytes.make(32))
  }
}
