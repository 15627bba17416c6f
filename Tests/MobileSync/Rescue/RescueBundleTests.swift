import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SmartStore
import Testing
import TestSupport

/// What becomes of a bundle that is damaged, cut off, or not for this store?
@Suite struct RescueBundleTests {
  private static let user = RescueUser(
    organizationId: "00D000000000001EAA", userId: "005000000000001AAA")
  private static let pair = RescueKeyPair()

  private func device() async throws -> Device {
    let device = try await Device.open(InMemoryOrg())
    try await device.create([["Name": "made"], ["Name": "another"]])
    return device
  }

  private func bundle(
    of device: Device, for recipient: RescueRecipient? = nil, user: RescueUser = user
  ) async throws -> [UInt8] {
    try await device.store.exportRescue(
      for: recipient ?? .publicKey(Self.pair.publicKey), of: user, registry: device.registry
    ).bundle
  }

  /// The code with which a fresh device refuses a bundle; nothing may have changed then.
  private func refusal(
    _ bundle: [UInt8], on device: Device, with key: RescueKey? = nil, user: RescueUser = user
  ) async throws -> RescueError.Code? {
    do {
      _ = try await device.store.importRescue(
        bundle, with: key ?? .privateKey(Self.pair.privateKey), of: user,
        registry: device.registry)
      return nil
    } catch let error as RescueError {
      #expect(!error.message.isEmpty && error.errorDescription == error.message)
      return error.code
    }
  }

  @Test func `a change of any byte of a bundle is refused as damage, and changes nothing`()
    async throws
  {
    let bundle = try await bundle(of: device())
    let target = try await Device.open(InMemoryOrg())
    for index in bundle.indices {
      for change in [UInt8(1), 0x80] {
        var changed = bundle
        changed[index] ^= change
        let code = try await refusal(changed, on: target)
        #expect(code == .damaged, "byte \(index)")
      }
    }
    #expect(try await target.rows().isEmpty)
  }

  @Test func `a bundle that is cut off anywhere, or has more behind its end, is refused`()
    async throws
  {
    let bundle = try await bundle(of: device())
    let target = try await Device.open(InMemoryOrg())
    for length in bundle.indices {
      #expect(
        try await refusal(Array(bundle[..<length]), on: target) == .damaged, "\(length) bytes")
    }
    for tail in [[0], bundle.suffix(20), bundle[...]] as [ArraySlice<UInt8>] {
      #expect(try await refusal(bundle + tail, on: target) == .damaged)
    }
    #expect(try await target.rows().isEmpty)
    #expect(try await refusal(bundle, on: target) == nil)
    #expect(try await target.rows().count == 2)
  }

  @Test func `a bundle of several chunks reads back, and no chunk can be left out or moved`()
    async throws
  {
    let device = try await device()
    let long = String(repeating: "x", count: 50_000)
    for number in 0..<5 {
      try await device.create([["Name": .string("\(number)"), "Text": .string(long)]])
    }
    let bundle = try await bundle(of: device)
    let target = try await Device.open(InMemoryOrg())
    // The chunks stand at the end, each with 4 bytes of length, 65,536 of text and 16 of tag.
    let size = 65_556
    let start = try #require(
      (0..<bundle.count).first { start in
        let rest = bundle.count - start
        return rest > 3 * size
          && Array(bundle[start..<(start + 4)]) == [0, 1, 0, 16]
          && Array(bundle[(start + size)..<(start + size + 4)]) == [0, 1, 0, 16]
      })
    let (first, second) = (
      bundle[start..<(start + size)], bundle[(start + size)..<(start + 2 * size)]
    )
    let (head, tail) = (bundle[..<start], bundle[(start + 2 * size)...])
    let changes: [[ArraySlice<UInt8>]] = [
      [head, second, first, tail], [head, first, tail], [head, second, tail], [head, first],
      [head, first, second, second, tail],
    ]
    for parts in changes {
      #expect(try await refusal(Array(parts.joined()), on: target) == .damaged)
    }
    #expect(try await refusal(bundle, on: target) == nil)
    #expect(try await target.rows().count == 7)
  }

  @Test
  func `a wrong passphrase, a wrong key and the wrong kind of key are not reported as damage`()
    async throws
  {
    let device = try await device()
    let target = try await Device.open(InMemoryOrg())
    let sealed = try await bundle(of: device, for: .passphrase("correct horse"))
    #expect(try await refusal(sealed, on: target, with: .passphrase("battery staple")) == .wrongKey)
    #expect(try await refusal(sealed, on: target) == .wrongKey)
    let forKey = try await bundle(of: device)
    #expect(try await refusal(forKey, on: target, with: .passphrase("correct horse")) == .wrongKey)
    let other = RescueKeyPair()
    #expect(
      try await refusal(forKey, on: target, with: .privateKey(other.privateKey)) == .wrongKey)
    #expect(try await target.rows().isEmpty)
    #expect(try await refusal(sealed, on: target, with: .passphrase("correct horse")) == nil)
  }

  @Test func `another user's bundle is refused, the forms of an id are the same user's`()
    async throws
  {
    let device = try await device()
    let bundle = try await bundle(of: device)
    let target = try await Device.open(InMemoryOrg())
    let other = RescueUser(organizationId: "00D000000000001EAA", userId: "005000000000002AAA")
    let elsewhere = RescueUser(organizationId: "00D000000000002EAA", userId: "005000000000001AAA")
    #expect(try await refusal(bundle, on: target, user: other) == .foreignUser)
    #expect(try await refusal(bundle, on: target, user: elsewhere) == .foreignUser)
    #expect(try await target.rows().isEmpty)
    let short = RescueUser(organizationId: "00D000000000001", userId: "005000000000001")
    #expect(try await refusal(bundle, on: target, user: short) == nil)
  }

  @Test func `what is no bundle at all is refused`() async throws {
    let target = try await Device.open(InMemoryOrg())
    for bytes in [[], Array("FFRESCUE".utf8), Array("{}".utf8), [UInt8](repeating: 0, count: 500)] {
      #expect(try await refusal(bytes, on: target) == .damaged)
    }
  }

  @Test func `short passphrases and texts that are no keys are refused`() {
    #expect(throws: RescueError.self) { try RescueRecipient.passphrase("1234567") }
    for text in ["", "x", "AAAA", Self.pair.publicKey + "AAAA"] {
      #expect(throws: RescueError.self) { try RescueRecipient.publicKey(text) }
      #expect(throws: RescueError.self) { try RescueKey.privateKey(text) }
    }
  }

  @Test func `a bundle shows its user and counts, and no value of a record in plain text`()
    async throws
  {
    let bundle = try await bundle(of: device())
    let contents = try SmartStore.rescueContents(
      bundle, with: .privateKey(Self.pair.privateKey))
    #expect(contents.user == Self.user && contents.entries == [Device.soup: 2])
    for text in ["made", "accounts", "005000000000001", "Name"] {
      #expect(Data(bundle).range(of: Data(text.utf8)) == nil)
    }
  }

  @Test func `a soup without the index that the import needs is named, and nothing is changed`()
    async throws
  {
    let bundle = try await bundle(of: device())
    let folder = try TemporaryFolder()
    let store = try await TestStores.open(in: folder.url)
    try await store.registerSoup(
      withName: Device.soup, withIndices: [SoupIndex(path: "Name", type: .string)])
    await #expect {
      try await store.importRescue(
        bundle, with: .privateKey(Self.pair.privateKey), of: Self.user,
        registry: SyncTargetRegistry())
    } throws: { error in
      guard let error = error as? RescueError else { return false }
      return error.code == .missingIndex && error.message.contains("'__local__'")
    }
    #expect(try await store.allSoupNames() == [Device.soup])
  }
}
