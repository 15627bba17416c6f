import Foundation
import TestSupport
import Testing

@testable import SalesforceSDKCommon

/// Does a file of secrets notice that a writer without its key removed or exchanged single records?
struct SecretListTests {
  private let folder: TemporaryFolder
  private let key = MasterKey.random()
  private let names = (0..<3).map { SecretName(service: "service", account: "\($0)") }

  init() throws { folder = try TemporaryFolder() }

  private var store: FileSecretStore {
    FileSecretStore(in: folder.url, masterKey: CallerMasterKey(key))
  }

  private func fill() throws {
    for (number, name) in names.enumerated() { try store.write([UInt8(number)], for: name) }
  }

  private func bytes() throws -> [UInt8] { Array(try Data(contentsOf: store.url)) }

  private func put(_ bytes: [UInt8]) throws { try Data(bytes).write(to: store.url) }

  /// The ranges of the records' bytes.
  private func records(_ bytes: [UInt8]) -> [Range<Int>] {
    let starts = bytes.indices.filter { bytes[$0...].starts(with: Array("FFsr".utf8)) }
    return zip(starts, starts.dropFirst() + [bytes.count]).map { $0..<$1 }
  }

  private func code(_ name: SecretName) -> SecretStoreError.Code? {
    do throws(SecretStoreError) {
      _ = try store.read(name)
      return nil
    } catch {
      return error.code
    }
  }

  /// A file as earlier versions wrote it.
  private func firstVersion() throws -> [UInt8] {
    var file = try SecretFile(masterKey: key, version: 1)
    for (number, name) in names.enumerated() { _ = try file.set([UInt8(number)], for: name) }
    return try file.bytes()
  }

  /// A change of the file by a writer without the key.
  enum Attack: CaseIterable {
    case removal, exchange, older, cutList, noList
  }

  @Test(.covers("CA-6.1"), arguments: Attack.allCases)
  func `a record that was removed or exchanged is damaged, and others stay readable`(
    attack: Attack
  ) throws {
    try fill()
    let old = try bytes()
    try store.write([9], for: names[1])
    var bytes = try bytes()
    let places = records(bytes)
    let list = 80..<places[0].lowerBound
    switch attack {
    case .removal: bytes.removeSubrange(places[1])
    case .exchange: bytes.replaceSubrange(places[1], with: bytes[places[2]])
    case .older: bytes.replaceSubrange(places[1], with: old[records(old)[1]])
    case .cutList:
      bytes.removeSubrange(places[1])
      bytes[list.upperBound - 1] ^= 1
    case .noList:
      bytes.removeSubrange(places[1])
      bytes.removeSubrange(list)
    }
    try put(bytes)
    func check() throws {
      #expect(code(names[1]) == .damaged)
      #expect(try store.read(names[0]) == [0] && store.read(names[2]) == [2])
      #expect(
        throws: SecretStoreError.self,
        performing: { try store.readOrCreate(names[1]) { () throws(SecretStoreError) in [7] } })
    }
    try check()
    // A write of another secret does not hide it.
    try store.write([5], for: SecretName(service: "other"))
    try check()
    // A write heals it.
    try store.write([6], for: names[1])
    #expect(try store.read(names[1]) == [6])
    #expect(try store.dropDamagedSecrets() <= 1)
    #expect(try store.read(SecretName(service: "absent")) == nil)
    #expect(try store.dropDamagedSecrets() == 0)
  }

  @Test(.covers("CA-6.1"))
  func `a secret that was removed does not come back with its old record`() throws {
    try fill()
    let old = try bytes()
    try store.remove(names[1])
    try put(try bytes() + old[records(old)[1]])
    #expect(code(names[1]) == .damaged)
    #expect(try Set(store.list()) == [names[0], names[2]])
    #expect(try store.remove(names[1]))
    #expect(try store.read(names[1]) == nil)
  }

  @Test(.covers("CA-6.1"))
  func `a file of version 1 is read, and gets its list with the next change`() throws {
    let first = try firstVersion()
    try put(first)
    for (number, name) in names.enumerated() { #expect(try store.read(name) == [UInt8(number)]) }
    #expect(try bytes() == first)
    try store.write([9], for: names[0])
    var bytes = try bytes()
    #expect(bytes[8] == 2)
    #expect(try store.read(names[0]) == [9] && store.read(names[1]) == [1])
    bytes.removeSubrange(records(bytes)[1])
    try put(bytes)
    #expect(code(names[1]) == .damaged)
    // The header of before does not make it a file without a list again.
    try put(Array(first[..<80]) + bytes[80...])
    #expect(code(names[1]) != nil && code(names[2]) != nil)
  }

  @Test(.covers("CA-6.1"))
  func `a damaged file of version 1 stays what it is until the damage is dropped`() throws {
    var first = try firstVersion()
    first[first.count - 1] ^= 1
    try put(first)
    try store.write([9], for: names[0])
    #expect(try bytes()[8] == 1)
    #expect(code(names[2]) == .corrupt)
    #expect(try store.dropDamagedSecrets() == 1)
    #expect(try bytes()[8] == 2)
    #expect(try store.read(names[2]) == nil && store.read(names[0]) == [9])
  }
}
