import Foundation
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// A master key behind a passphrase: who gets it, and what becomes of damage?
struct SealedKeyFileTests {
  private let folder: TemporaryFolder
  private var file: URL { folder.file("master.sealed") }

  init() throws { folder = try TemporaryFolder() }

  /// A keeper that stretches at less than any accepted cost, because most tests stretch many times.
  private func keeper(
    _ passphrase: String = "open sesame", rounds: Int = 1 << 4
  ) -> SealedKeyFile {
    SealedKeyFile(
      file, passphrase: Passphrase { Array(passphrase.utf8) }, cost: .init(rounds: rounds))
  }

  private func code(_ body: () throws -> Void) -> SecretStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SecretStoreError)?.code
    }
  }

  @Test(.covers("HT-78.3", "CO-144.4", "CA-6.2"))
  func `the right passphrase gives the key, another an error that changes nothing`() throws {
    let key = MasterKey.random()
    #expect(try keeper().load() == nil)
    try keeper().keep(key)
    try keeper().keep(key)
    #expect(try keeper().load() == key && keeper("open sesame\n").load() == key)
    let bytes = try Data(contentsOf: file)
    #expect(!String(decoding: bytes, as: UTF8.self).contains(Hex.encode(key.bytes)))
    for wrong in ["open sesamE", "open sesame ", "x"] {
      #expect(code { _ = try keeper(wrong).load() } == .authenticationFailed)
      #expect(code { try keeper(wrong).keep(key) } == .authenticationFailed)
      #expect(
        code { try keeper(wrong).change(to: Passphrase { [1, 2, 3, 4, 5, 6, 7, 8] }) }
          == .authenticationFailed)
    }
    #expect(code { try keeper().keep(.random()) } == .occupied)
    #expect(try Data(contentsOf: file) == bytes)
    let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  @Test(.covers("HT-78.3")) func `the passphrase can be changed, and the key stays`() throws {
    let key = MasterKey.random()
    #expect(
      code { try keeper().change(to: Passphrase { Array("another one".utf8) }) }
        == .missingMasterKey)
    try keeper().keep(key)
    try keeper().change(to: Passphrase { Array("another one".utf8) })
    #expect(try keeper("another one").load() == key)
    #expect(code { _ = try keeper().load() } == .authenticationFailed)
    try keeper("another one").forget()
    try keeper("another one").forget()
    #expect(try keeper("anything").load() == nil)
  }

  @Test(.covers("HT-78.3"), arguments: ["", "\n", "short", "1234567\n"])
  func `a new passphrase that is missing or too short keeps no key`(passphrase: String) throws {
    let expected: SecretStoreError.Code =
      passphrase.trimmed.isEmpty ? .missingPassphrase : .weakPassphrase
    #expect(code { try keeper(passphrase).keep(.random()) } == expected)
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test(.covers("HT-78.3"))
  func `a damaged file, or one with a cost out of bounds, is damaged and never absent`() throws {
    try keeper().keep(.random())
    let bytes = Array(try Data(contentsOf: file))
    let damage: Set<SecretStoreError.Code> = [.corrupt, .unknownFormat, .authenticationFailed]
    for position in bytes.indices {
      var changed = bytes
      changed[position] ^= 1
      try Data(changed).write(to: file)
      let found = code { _ = try keeper().load() }
      #expect(found.map(damage.contains) == true, "byte \(position)")
    }
    for length in 0..<bytes.count {
      try Data(bytes.prefix(length)).write(to: file)
      #expect(code { _ = try keeper().load() } == .corrupt)
    }
    for change in [
      ("\"n\":16", "\"n\":2"), ("\"n\":16", "\"n\":1073741824"), ("\"p\":1", "\"p\":1000000"),
      ("\"r\":8", "\"r\":0"),
    ] {
      let text = String(decoding: bytes, as: UTF8.self)
        .replacingOccurrences(of: change.0, with: change.1)
      try #require(text.utf8.count != bytes.count || text != String(decoding: bytes, as: UTF8.self))
      try Data(text.utf8).write(to: file)
      #expect(code { _ = try keeper().load() } == .corrupt)
    }
  }

  @Test(.covers("HT-78.3"))
  func `an open file gives the passphrase once, for as often as it is needed`() throws {
    try Data("from a file\n".utf8).write(to: folder.file("passphrase"))
    let descriptor = open(folder.file("passphrase").path, O_RDONLY)
    defer { close(descriptor) }
    let passphrase = Passphrase.fileDescriptor(descriptor)
    let key = MasterKey.random()
    try SealedKeyFile(file, passphrase: passphrase, cost: .init(rounds: 1 << 14)).keep(key)
    #expect(try SealedKeyFile(file, passphrase: passphrase).load() == key)
    #expect(try keeper("from a file").load() == key)
    for number in [Int32(-1), .max, descriptor] {
      #expect(
        code { _ = try SealedKeyFile(file, passphrase: .fileDescriptor(number)).load() }
          == .missingPassphrase)
    }
    // A program that stretches at another cost accepts no file whose cost is too low.
    try FileManager.default.removeItem(at: file)
    try keeper("from a file").keep(key)
    #expect(code { _ = try SealedKeyFile(file, passphrase: passphrase).load() } == .corrupt)
  }

  @Test(.covers("HT-78.3")) func `a systemd credential gives the passphrase, if it is safe`() throws
  {
    let credentials = folder.file("credentials")
    try FileManager.default.createDirectory(at: credentials, withIntermediateDirectories: true)
    let place = credentials.appending(path: "keys")
    try Data("from systemd".utf8).write(to: place)
    chmod(place.path, 0o400)
    func load(_ name: String, _ folder: String? = nil) throws -> MasterKey? {
      try SealedKeyFile(file, passphrase: .credential(name, in: folder ?? credentials.path)).load()
    }
    try keeper("from systemd", rounds: 1 << 14).keep(.random())
    #expect(try load("keys") != nil)
    for name in ["", ".", "..", "a/b", "../keys", "none", "keys\0"] {
      #expect(code { _ = try load(name) } == .missingPassphrase, "\(name)")
    }
    #expect(code { _ = try load("keys", "relative") } == .missingPassphrase)
    chmod(place.path, 0o404)
    #expect(code { _ = try load("keys") } == .exposedKeyFile)
    chmod(place.path, 0o400)
    try FileManager.default.createSymbolicLink(
      at: credentials.appending(path: "link"), withDestinationURL: place)
    mkfifo(credentials.appending(path: "pipe").path, 0o600)
    #expect(code { _ = try load("link") } == .missingPassphrase)
    #expect(code { _ = try load("pipe") } == .missingPassphrase)
    try Data(repeating: 0x61, count: 10_000).write(to: credentials.appending(path: "long"))
    chmod(credentials.appending(path: "long").path, 0o400)
    #expect(code { _ = try load("long") } == .missingPassphrase)
  }

  @Test(.covers("HT-78.3")) func `a key file that other users may read is refused`() throws {
    try keeper().keep(.random())
    chmod(file.path, 0o644)
    #expect(code { _ = try keeper().load() } == .exposedKeyFile)
  }
}
