import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

/// What does a file store of secrets refuse, and what does it leave alone?
struct SecretFileTests {
  private let folder: TemporaryFolder
  private let name = SecretName(service: "key", account: "a")

  init() throws { folder = try TemporaryFolder() }

  private var store: FileSecretStore {
    FileSecretStore(in: folder.url, masterKey: KeyFile(folder.file("master.key")))
  }

  private var file: URL { folder.file(FileSecretStore.fileName) }

  private func code(_ body: () throws -> Void) -> SecretStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SecretStoreError)?.code
    }
  }

  @Test(.covers("CA-6"), arguments: [1, 7, 8, 9, 43, 79])
  func `a file that lost a part of its header is damaged`(length: Int) throws {
    try store.write([1], for: name)
    try Data(try Data(contentsOf: file).prefix(length)).write(to: file)
    #expect(code { _ = try store.read(name) } == .corrupt)
  }

  @Test(.covers("CA-6"))
  func `a file of another kind is damaged, and not of a newer version`() throws {
    try store.write([1], for: name)
    try Data(repeating: 0x20, count: 500).write(to: file)
    #expect(code { _ = try store.read(name) } == .corrupt)
  }

  @Test(.covers("CA-6"), arguments: [8, 9])
  func `a file of a newer version is not damaged`(position: Int) throws {
    try store.write([1], for: name)
    var bytes = Array(try Data(contentsOf: file))
    bytes[position] = 3
    try Data(bytes).write(to: file)
    #expect(code { _ = try store.read(name) } == .unknownFormat)
    #expect(code { try store.write([2], for: name) } == .unknownFormat)
    #expect(Array(try Data(contentsOf: file)) == bytes)
  }

  @Test(.covers("CA-6"))
  func `a removal makes neither a file nor a key`() throws {
    #expect(try !store.remove(name))
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(!FileManager.default.fileExists(atPath: folder.file("master.key").path))
  }

  @Test(.covers("CA-6"))
  func `a secret that is too large changes nothing`() throws {
    try store.write([1], for: name)
    let large = [UInt8](repeating: 7, count: FileSecretStore.maxSecretBytes + 1)
    #expect(code { try store.write(large, for: name) } == .tooLarge)
    #expect(try store.read(name) == [1])
    try store.write(Array(large.dropLast()), for: name)
  }

  @Test(.covers("CA-6"))
  func `what is damaged can be dropped, and is absent then`() throws {
    let other = SecretName(service: "other")
    try store.write([1], for: name)
    try store.write([2], for: other)
    var bytes = Array(try Data(contentsOf: file))
    bytes[bytes.count - 1] ^= 0xFF
    try Data(bytes).write(to: file)
    #expect(code { _ = try store.read(other) } == .damaged)
    #expect(try store.dropDamagedSecrets() == 1)
    #expect(try store.read(other) == nil && store.read(name) == [1])
    #expect(try store.dropDamagedSecrets() == 0)
  }
}
