import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// What every secret store promises, and what the file adds to it.
struct SecretStoreTests {
  private let folder: TemporaryFolder
  private let name = SecretName(service: "key", account: "a")

  init() throws { folder = try TemporaryFolder() }

  private func fileStore(_ key: MasterKey? = nil) -> FileSecretStore {
    if let key { return FileSecretStore(in: folder.url, masterKey: CallerMasterKey(key)) }
    return FileSecretStore(in: folder.url, masterKey: KeyFile(folder.file("master.key")))
  }

  private func code(_ body: () throws(SecretStoreError) -> Void) -> SecretStoreError.Code? {
    do throws(SecretStoreError) {
      try body()
      return nil
    } catch {
      return error.code
    }
  }

  @Test(.covers("CA-1.1", "CA-5", "CA-6.4"), arguments: [true, false])
  func `secrets are written, read, listed and removed`(inFile: Bool) throws {
    let store: any SecretStore = inFile ? fileStore() : InMemorySecretStore()
    #expect(try store.read(name) == nil && store.list().isEmpty && !store.remove(name))
    // No part of a name can be taken for another, and no account is not an empty one.
    let names = [
      name, SecretName(service: "key"), SecretName(service: "key", account: ""),
      SecretName(service: "a_b", account: "c"), SecretName(service: "a", account: "b_c"),
      SecretName(service: "key", account: "a", group: "g"), SecretName(service: "ключ\n\""),
    ]
    for (number, name) in names.enumerated() { try store.write([UInt8(number)], for: name) }
    for (number, name) in names.enumerated() { #expect(try store.read(name) == [UInt8(number)]) }
    #expect(try Set(store.list()) == Set(names))
    try store.write([], for: name)
    #expect(try store.read(name) == [])
    let large = [UInt8](repeating: 7, count: 1 << 16)
    try store.write(large, for: name)
    #expect(try store.read(name) == large)
    #expect(try store.remove(name) && store.read(name) == nil && !store.remove(name))
    #expect(try store.list().count == names.count - 1)
  }

  @Test(.covers("CA-6.1", "HT-78.1", "CO-144.3", "SS-39.2"))
  func `secrets survive in a file that hides them, for one user`()
    throws
  {
    let secret = Array("a very secret text".utf8)
    try fileStore().write(secret, for: SecretName(service: "service-name"))
    #expect(try fileStore().read(SecretName(service: "service-name")) == secret)
    for file in ["keychain.db", "master.key", "keychain.db.lock"] {
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(file).path)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
    }
    let bytes = try Data(contentsOf: folder.file("keychain.db"))
    #expect(bytes.range(of: Data(secret)) == nil && bytes.range(of: Data("service".utf8)) == nil)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(files.sorted() == ["keychain.db", "keychain.db.lock", "master.key"])
  }

  @Test(.covers("CA-6.2"))
  func `a wrong master key is reported and changes nothing`() throws {
    let key = MasterKey.random()
    try fileStore(key).write([1], for: name)
    let before = try Data(contentsOf: folder.file("keychain.db"))
    let wrong = fileStore(.random())
    #expect(
      code { () throws(SecretStoreError) in _ = try wrong.read(name) } == .authenticationFailed)
    #expect(
      code { () throws(SecretStoreError) in try wrong.write([2], for: name) }
        == .authenticationFailed)
    #expect(code { () throws(SecretStoreError) in _ = try wrong.list() } == .authenticationFailed)
    #expect(try Data(contentsOf: folder.file("keychain.db")) == before)
    #expect(try fileStore(key).read(name) == [1])
  }

  @Test(.covers("CA-6.2"))
  func `a missing key file is never replaced while secrets exist`() throws {
    try fileStore().write([1], for: name)
    let place = folder.file("master.key")
    let key = try Data(contentsOf: place)
    try FileManager.default.removeItem(at: place)
    #expect(
      code { () throws(SecretStoreError) in _ = try fileStore().read(name) } == .missingMasterKey)
    #expect(
      code { () throws(SecretStoreError) in try fileStore().write([2], for: name) }
        == .missingMasterKey)
    #expect(!FileManager.default.fileExists(atPath: place.path))
    try Data("nonsense".utf8).write(to: place)
    chmod(place.path, 0o600)
    #expect(code { () throws(SecretStoreError) in _ = try fileStore().read(name) } == .corrupt)
    try key.write(to: place)
    chmod(place.path, 0o644)
    #expect(
      code { () throws(SecretStoreError) in _ = try fileStore().read(name) } == .exposedKeyFile)
    chmod(place.path, 0o600)
    #expect(try fileStore().read(name) == [1])
  }

  @Test(.covers("CA-6.1"))
  func `whichever byte is damaged, other secrets are read and none seems absent`()
    throws
  {
    let key = MasterKey.random()
    let store = fileStore(key)
    let names = (0..<3).map { SecretName(service: "service \($0)") }
    for (number, name) in names.enumerated() { try store.write([UInt8(number)], for: name) }
    let intact = try Data(contentsOf: store.url)
    let headerLength = 80
    // Mark and length, then nonce, flag, three entries and tag.
    let recordStart = headerLength + 8 + 12 + 1 + 3 * 32 + 16
    for place in stride(from: 0, to: intact.count, by: 1) {
      var damaged = intact
      damaged[place] ^= 0x10
      try damaged.write(to: store.url)
      var readable = 0
      for (number, name) in names.enumerated() {
        do throws(SecretStoreError) {
          #expect(try store.read(name) == [UInt8(number)], "byte \(place)")
          readable += 1
        } catch {
          #expect(
            error.code == (place < headerLength ? .corrupt : .damaged)
              || place < 10 && error.code == .unknownFormat)
        }
      }
      let expected = place < headerLength ? 0 : place < recordStart ? 3 : 2
      #expect(readable == expected, "byte \(place)")
    }
    // A damaged record stays until it is written or removed.
    var damaged = intact
    damaged[intact.count - 1] ^= 1
    try damaged.write(to: store.url)
    try store.write([9], for: names[0])
    #expect(code { () throws(SecretStoreError) in _ = try store.read(names[2]) } == .damaged)
    #expect(
      code { () throws(SecretStoreError) in
        _ = try store.readOrCreate(names[2]) { () throws(SecretStoreError) in [0] }
      } == .damaged)
    #expect(try store.dropDamagedSecrets() == 1 && store.read(names[2]) == nil)
    #expect(try store.read(names[0]) == [9] && store.read(names[1]) == [1])
    try intact.prefix(intact.count - 5).write(to: store.url)
    #expect(code { () throws(SecretStoreError) in _ = try store.read(names[2]) } == .damaged)
    #expect(try store.read(names[1]) == [1])
  }

  @Test(.covers("CA-6.1"), arguments: [80, 149])
  func `a write next to lost records does not make them seem absent`(place: Int) throws {
    let key = MasterKey.random()
    let store = fileStore(key)
    let other = SecretName(service: "other")
    try store.write([1], for: name)
    // The mark of the list behind the header, or of the first record behind that.
    var damaged = try Data(contentsOf: store.url)
    damaged[place] ^= 1
    try damaged.write(to: store.url)
    try store.write([2], for: other)
    #expect(try store.read(other) == [2])
    let lost = place == 80 ? SecretName(service: "absent") : name
    #expect(code { () throws(SecretStoreError) in _ = try store.read(lost) } == .damaged)
  }

  @Test(.covers("CA-7"))
  func `a change keeps all others out until it is written`() throws {
    let key = MasterKey.random()
    let hasty = FileSecretStore(
      in: folder.url, masterKey: CallerMasterKey(key), patience: .zero)
    try hasty.update(name) { _ throws(SecretStoreError) in
      #expect(
        code { () throws(SecretStoreError) in try hasty.write([2], for: name) } == .locked)
      return [1]
    }
    #expect(try hasty.read(name) == [1])
  }

  @Test(.covers("CA-7"))
  func `who finds no secret and is overtaken takes the one that was made`() throws {
    let base = InMemorySecretStore()
    try base.write([1], for: name)
    #expect(
      try LateStore(base: base).readOrCreate(name) { () throws(SecretStoreError) in [2] } == [1])
    #expect(try base.read(name) == [1])
  }

  @Test(.covers("CA-6.2"))
  func `a key file that another process creates first is used, also if it is gone`()
    throws
  {
    // It cannot be read, and its name is taken.
    let place = folder.file("master.key")
    try FileManager.default.createSymbolicLink(
      at: place, withDestinationURL: folder.file("elsewhere"))
    #expect(
      code { () throws(SecretStoreError) in try fileStore().write([1], for: name) }
        == .missingMasterKey)
  }

  @Test(.covers("CA-1.2", "CA-7"), arguments: [true, false])
  func `of five hundred tasks that create a secret all get the same`(
    inFile: Bool
  ) async throws {
    let store: any SecretStore = inFile ? fileStore() : InMemorySecretStore()
    let secrets = try await withThrowingTaskGroup(of: (Bool, [UInt8]).self) { group in
      for number in 0..<500 {
        group.addTask {
          let name = SecretName(service: "key", account: number % 2 == 0 ? "a" : "b")
          let secret = try store.readOrCreate(name) { () throws(SecretStoreError) in
            RandomBytes.make(8)
          }
          return (number % 2 == 0, secret)
        }
      }
      return try await group.reduce(into: [Bool: Set<[UInt8]>]()) { result, next in
        result[next.0, default: []].insert(next.1)
      }
    }
    #expect(secrets[true]?.count == 1 && secrets[false]?.count == 1)
    #expect(try store.list().count == 2)
  }

  @Test(.covers("CA-7", "HT-79.1"))
  func `a change waits for the holder of the lock, and says so`() throws {
    let key = MasterKey.random()
    try fileStore(key).write([1], for: name)
    // To the system each opening of the lock's file is a holder of its own, as another process is.
    guard let holder = try FileLock.take(folder.file("keychain.db.lock").path) else {
      Issue.record("the lock is taken before the test takes it")
      return
    }
    let store = FileSecretStore(
      in: folder.url, masterKey: CallerMasterKey(key), patience: .milliseconds(20))
    try holder.whileHeld { () throws(SecretStoreError) in
      #expect(code { () throws(SecretStoreError) in try store.write([2], for: name) } == .locked)
      let unchanged = try store.read(name)
      #expect(unchanged == [1])
    }
    _ = consume holder
    try store.write([2], for: name)
    #expect(try store.read(name) == [2])
  }

  @Test(.covers("CA-6.3", "HT-78.2"))
  func `locked is an error of its own and never looks like absence`() throws {
    let store = InMemorySecretStore()
    try store.write([1], for: name)
    store.setLocked(true)
    #expect(code { () throws(SecretStoreError) in _ = try store.read(name) } == .locked)
    #expect(
      code { () throws(SecretStoreError) in
        _ = try store.readOrCreate(name) { () throws(SecretStoreError) in [2] }
      } == .locked)
    store.setLocked(false)
    #expect(try store.read(name) == [1])
  }

  @Test func `a change that throws leaves the secret as it was`() throws {
    let store = fileStore()
    try store.write([1], for: name)
    let failure = code { () throws(SecretStoreError) in
      try store.update(name) { _ throws(SecretStoreError) in
        throw SecretStoreError(.locked, "not now")
      }
    }
    #expect(failure == .locked)
    #expect(try store.read(name) == [1])
    let large = [UInt8](repeating: 0, count: FileSecretStore.maxSecretBytes + 1)
    #expect(code { () throws(SecretStoreError) in try store.write(large, for: name) } == .tooLarge)
    #expect(try store.read(name) == [1])
  }

  @Test(.covers("CO-144.2"))
  func `the level of protection can be read and a key shows nothing of itself`()
    throws
  {
    #expect(fileStore().protection == .keyFile && fileStore(.random()).protection == .callerKey)
    #expect(InMemorySecretStore().protection == .memory)
    let bytes = [UInt8](repeating: 0xab, count: 32)
    let key = try #require(MasterKey(bytes))
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!"\(key)\(String(reflecting: key))\(dumped)".contains("171"))
    #expect(MasterKey([1]) == nil)
  }
}

/// A secret store whose reader comes before the writer that overtakes it.
private struct LateStore: SecretStore {
  let base: InMemorySecretStore

  var protection: SecretProtection { base.protection }
  func read(_ name: SecretName) throws(SecretStoreError) -> [UInt8]? { nil }
  func update(
    _ name: SecretName, _ change: (_ secret: [UInt8]?) throws(SecretStoreError) -> [UInt8]?
  ) throws(SecretStoreError) -> [UInt8]? { try base.update(name, change) }
  func write(_ secret: [UInt8], for name: SecretName) throws(SecretStoreError) {
    try base.write(secret, for: name)
  }
  func remove(_ name: SecretName) throws(SecretStoreError) -> Bool { try base.remove(name) }
  func list() throws(SecretStoreError) -> [SecretName] { try base.list() }
}
