import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import Testing

@testable import SmartStore
import TestSupport

/// What happens to a store that cannot be opened? Nothing: each reason has its error, and every file
/// stays as it is.
struct StoreOpeningFailureTests {
  let folder: StoreFolder

  init() throws { folder = try StoreFolder() }

  /// A store with rows in its database and, if asked for, in its log.
  private func makeStore(withLog: Bool = false) throws -> URL {
    let store = try folder.open()
    try store.fill(200)
    guard withLog else {
      try store.close()
      return folder.store
    }
    let copy = try folder.snapshot(as: "crashed")
    try store.close()
    return copy
  }

  /// Opens the store in `directory`, which must fail with `code` and change no file.
  private func expectFailure(
    _ code: SmartStoreError.Code, at directory: URL,
    _ encryption: StoreEncryption? = nil, line: Int = #line
  ) throws {
    let here = Testing.SourceLocation(
      fileID: #fileID, filePath: #filePath, line: line, column: 1)
    // The lock is empty and may be new.
    let before = try folder.contents(of: directory).filter {
      !StoreFolder.lockFiles.contains($0.key)
    }
    let error = #expect(throws: SmartStoreError.self, sourceLocation: here) {
      let encryption = encryption ?? .encrypted(FixedKeyProvider(folder.key))
      _ = try StoreDatabase.open(at: directory, encryption: encryption)
    }
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: here)
    #expect(error?.message.isEmpty == false, sourceLocation: here)
    let after = try folder.contents(of: directory).filter {
      !StoreFolder.lockFiles.contains($0.key)
    }
    #expect(after == before, sourceLocation: here)
  }

  @Test(.covers("SS-12.2", "SS-34"), arguments: [false, true])
  func `a wrong key is reported and changes nothing`(withLog: Bool) throws {
    let directory = try makeStore(withLog: withLog)
    let other = FixedKeyProvider(SymmetricKey(size: .bits256))
    try expectFailure(.wrongKey, at: directory, .encrypted(other))
    let store = try folder.open(at: directory)
    #expect(try store.count() == 200)
    try store.close()
  }

  @Test(
    .covers("SS-12.4", "SS-34"),
    arguments: ["store_external_soup_blobs.sealed", "store.key.pending"])
  func `what cannot be looked at is not taken for missing`(name: String) throws {
    let directory = try makeStore()
    let link = directory.appending(path: name).path
    // A link to itself exists, but it cannot be followed.
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
    let error = #expect(throws: SmartStoreError.self) { _ = try folder.open() }
    #expect(error?.code == .io, "\(String(describing: error))")
    try FileManager.default.removeItem(atPath: link)
    let store = try folder.open()
    #expect(try store.count() == 200)
    try store.close()
  }

  @Test(.covers("SS-34"))
  func `a key file that cannot be looked at is not replaced`() throws {
    let directory = try makeStore()
    let key = directory.appending(path: "store.key").path
    try FileManager.default.moveItem(atPath: key, toPath: key + ".pending")
    try FileManager.default.createSymbolicLink(atPath: key, withDestinationPath: key)
    let error = #expect(throws: SmartStoreError.self) { _ = try folder.open() }
    #expect(error?.code == .io, "\(String(describing: error))")
    #expect(FileManager.default.fileExists(atPath: key + ".pending"))
    try FileManager.default.removeItem(atPath: key)
    let store = try folder.open()
    #expect(try store.count() == 200)
    try store.close()
  }

  @Test(.covers("SS-34"), arguments: [false, true])
  func `an encrypted store does not open without a key`(withLog: Bool) throws {
    try expectFailure(.wrongKey, at: makeStore(withLog: withLog), .plaintext)
  }

  @Test(.covers("SS-29.2"))
  func `a locked key store fails the opening and is not worked around`() throws {
    struct LockedProvider: StoreKeyProvider {
      func key() throws(SmartStoreError) -> SymmetricKey? {
        throw SmartStoreError(
          .keyLocked, "The key store is locked. Unlock the device and try again.")
      }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        try key() ?? SymmetricKey(size: .bits256)
      }
    }
    try expectFailure(.keyLocked, at: makeStore(), .encrypted(LockedProvider()))
    let fresh = folder.url.appendingPathComponent("fresh")
    #expect(throws: SmartStoreError.self) {
      _ = try StoreDatabase.open(at: fresh, encryption: .encrypted(LockedProvider()))
    }
    #expect(!FileManager.default.fileExists(atPath: fresh.path))
  }

  @Test(.covers("SS-12.2"))
  func `a key that is missing from the key store is reported, and none is made`() throws {
    struct EmptyProvider: StoreKeyProvider {
      func key() throws(SmartStoreError) -> SymmetricKey? { nil }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        Issue.record("a key was made for an existing store")
        return SymmetricKey(size: .bits256)
      }
    }
    try expectFailure(.keyMissing, at: makeStore(), .encrypted(EmptyProvider()))
    // The key file alone is enough to know that there was a key.
    for name in ["store.sqlite", "store.created"] {
      try FileManager.default.removeItem(at: folder.file(name))
    }
    try expectFailure(.keyMissing, at: folder.store, .encrypted(EmptyProvider()))
  }

  @Test(.covers("SS-26"))
  func `the database without its key file does not open`() throws {
    let directory = try makeStore(withLog: true)
    try FileManager.default.removeItem(at: directory.appendingPathComponent("store.key"))
    try expectFailure(.keyMissing, at: directory)
    try expectFailure(.wrongKey, at: directory, .plaintext)
  }

  @Test func `a damaged key file is distinguished from a wrong key at every byte`() throws {
    let directory = try makeStore()
    let path = folder.file("store.key")
    let whole = try Data(contentsOf: path)
    for index in whole.indices {
      var damaged = whole
      damaged[index] ^= 0x10
      try damaged.write(to: path)
      try expectFailure(.corruptKeyFile, at: directory)
    }
    for length in [0, 1, whole.count / 2, whole.count - 1] {
      try whole.prefix(length).write(to: path)
      try expectFailure(.corruptKeyFile, at: directory)
    }
    try (whole + [0]).write(to: path)
    try expectFailure(.corruptKeyFile, at: directory)
    try whole.write(to: path)
    let store = try folder.open()
    #expect(try store.count() == 200)
    try store.close()
  }

  @Test func `the key file of another store does not open this one`() throws {
    let directory = try makeStore(withLog: true)
    let other = folder.url.appendingPathComponent("other")
    try folder.open(at: other).close()
    try Data(contentsOf: other.appendingPathComponent("store.key"))
      .write(to: directory.appendingPathComponent("store.key"))
    try expectFailure(.corrupt, at: directory)
  }

  @Test(.covers("SS-12.3"), arguments: [0, 1, 99, 100, 4096, 10_000])
  func `a file that is no database is reported and kept`(size: Int) throws {
    let directory = try makeStore()
    let path = folder.file("store.sqlite")
    try Data(repeating: 0x5A, count: size).write(to: path)
    try expectFailure(.notADatabase, at: directory)
    if size > 0 {
      try FileManager.default.removeItem(at: folder.file("store.key"))
      try expectFailure(.notADatabase, at: directory, .plaintext)
    }
  }

  @Test func `a plaintext database in the place of an encrypted one is reported and kept`() throws {
    let directory = try makeStore()
    let plain = folder.url.appendingPathComponent("plain")
    let store = try StoreDatabase.open(at: plain, encryption: .plaintext)
    try store.fill(10)
    try store.close()
    try Data(contentsOf: plain.appendingPathComponent("store.sqlite"))
      .write(to: folder.file("store.sqlite"))
    try expectFailure(.notADatabase, at: directory)
    // Without a key file it is a plaintext store, which is not encrypted silently.
    try expectFailure(.keyMissing, at: plain)
  }

  @Test(.covers("SS-12.3"), arguments: [false, true])
  func `a damaged first page is reported, and its log is kept`(withLog: Bool) throws {
    let directory = try makeStore(withLog: withLog)
    let path = directory.appendingPathComponent("store.sqlite")
    var bytes = try Data(contentsOf: path)
    bytes[2000] ^= 1
    try bytes.write(to: path)
    if withLog {
      // The log has the newest first page, so the one in the database may be torn.
      let store = try folder.open(at: directory)
      #expect(try store.count() == 200)
      try store.close()
    } else {
      try expectFailure(.corrupt, at: directory)
    }
  }

  @Test func `a truncated database is reported and its log is kept`() throws {
    let directory = try makeStore()
    let path = folder.file("store.sqlite")
    let whole = try Data(contentsOf: path)
    try whole.prefix(4096 + 100).write(to: path)
    try expectFailure(.corrupt, at: directory)
    try Data().write(to: path)
    try expectFailure(.notADatabase, at: directory)
  }

  @Test(arguments: [false, true])
  func `until a store was found readable its files take no write, not even at closing`(
    isRightKey: Bool
  ) throws {
    let directory = try makeStore(withLog: true)
    let paths = StorePaths(directory: directory)
    var keys = try StoreKeyHierarchy.open(paths, provider: FixedKeyProvider(folder.key))
    if !isRightKey {
      let other = SymmetricKey(size: .bits256)
      let dataKeys = [(epoch: UInt32(1), key: other)]
      keys = try #require(StoreKeys(storeID: keys.storeID, dataKeys: dataKeys))
    }
    let token = UUID().uuidString
    EncryptedStoreRegistry.add(EncryptedStore(keys: keys, cipher: AESGCMCipher()), token: token)
    defer { EncryptedStoreRegistry.remove(token) }
    let uri = try #require(EncryptedVFS.standard).uri(path: paths.database, token: token)
    let before = try folder.contents(of: directory)
    #expect(throws: DatabaseError.self) {
      let queue = try DatabaseQueue(path: uri)
      try queue.write { try $0.execute(sql: "DELETE FROM entry") }
    }
    #expect(try folder.contents(of: directory) == before)
  }

  @Test(.covers("SS-10"))
  func `a creation that fails leaves no folder`() throws {
    struct NoKey: StoreKeyProvider {
      func key() throws(SmartStoreError) -> SymmetricKey? { nil }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        throw SmartStoreError(.io, "The key could not be kept. Free space and try again.")
      }
    }
    #expect(throws: SmartStoreError.self) {
      _ = try StoreDatabase.open(at: folder.store, encryption: .encrypted(NoKey()))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
    #expect(throws: SmartStoreError.self) {
      _ = try folder.open(key: SymmetricKey(size: SymmetricKeySize(bitCount: 64)))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
  }

  @Test func `a second writer is refused, a reader is not`() throws {
    let store = try folder.open()
    try store.fill(50)
    let error = #expect(throws: SmartStoreError.self) { _ = try folder.open() }
    #expect(error?.code == .busyOtherProcess)

    var readOnly = StoreDatabaseOptions()
    readOnly.access = .readOnly
    let reader = try folder.open(readOnly)
    #expect(try reader.count() == 50)
    try store.fill(50)
    #expect(try reader.count() == 100)
    #expect(throws: DatabaseError.self) { try reader.fill(1) }
    try reader.close()
    #expect(try store.integrity() == "ok")
    try store.close()

    let next = try folder.open()
    #expect(try next.count() == 100)
    try next.close()
  }

  @Test(.covers("SS-17"))
  func `a closed store gives its error and makes no file`() throws {
    let store = try folder.open()
    try store.fill(5)
    try store.close()
    try FileManager.default.removeItem(at: folder.store)
    let error = #expect(throws: SmartStoreError.self) { try store.checkpoint() }
    #expect(error?.code == .closed)
    #expect(!FileManager.default.fileExists(atPath: folder.store.path))
  }
}
