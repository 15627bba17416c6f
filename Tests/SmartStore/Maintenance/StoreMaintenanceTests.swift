import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import Synchronization
import Testing

@testable import SmartStore
import TestSupport

/// Do other keys, encrypting and decrypting keep every row, at whatever instant they end?
struct StoreMaintenanceTests {
  let folder: StoreFolder
  let files: StoreMaintenance
  let old: FixedKeyProvider
  let new = FixedKeyProvider(SymmetricKey(size: .bits256))

  init() throws {
    folder = try StoreFolder()
    files = StoreMaintenance(at: folder.store)
    old = FixedKeyProvider(folder.key)
  }

  /// A closed store of some rows, encrypted or not.
  private func makeStore(_ encryption: StoreEncryption? = nil) throws {
    let store = try StoreDatabase.open(
      at: folder.store, encryption: encryption ?? .encrypted(old))
    try store.fillSoup(300)
    try store.writer.write { database in
      try database.execute(sql: "DELETE FROM TABLE_1 WHERE id % 10 = 0")
    }
    try store.close()
  }

  /// The rows, if the store opens so.
  private func count(_ encryption: StoreEncryption, at directory: URL? = nil) throws -> Int {
    let store = try StoreDatabase.open(at: directory ?? folder.store, encryption: encryption)
    let count = try store.count()
    #expect(try store.integrity() == "ok")
    try store.close()
    return count
  }

  private func failure(_ body: () throws -> Void) -> SmartStoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? SmartStoreError)?.code
    }
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.store.path).sorted()
  }

  // MARK: Keys

  @Test(.covers("SS-35"))
  func `wrapping with a new key keeps the data, the pages and retires the old key`()
    throws
  {
    try makeStore()
    let database = try Data(contentsOf: folder.file("store.sqlite"))
    let third = FixedKeyProvider(SymmetricKey(size: .bits256))
    #expect(failure { try files.changeKey(from: third, to: new) } == .wrongKey)
    try files.changeKey(from: old, to: new)
    #expect(try Data(contentsOf: folder.file("store.sqlite")) == database)
    #expect(failure { _ = try count(.encrypted(old)) } == .wrongKey)
    #expect(try count(.encrypted(new)) == 270)
    // Repeated after an interruption, it has nothing to do.
    try files.changeKey(from: old, to: new)
    #expect(try count(.encrypted(new)) == 270)
  }

  @Test(.covers("SS-2", "SS-35"))
  func `changing to the key that a store has already is refused`() throws {
    try makeStore()
    #expect(failure { try files.changeKey(from: old, to: old) } == .wrongKey)
    #expect(try count(.encrypted(old)) == 270)
  }

  @Test(.covers("SS-35"))
  func `no key is made for a store that the old key does not open`() throws {
    final class Unmade: StoreKeyProvider {
      let isMade = Mutex(false)
      func key() throws(SmartStoreError) -> SymmetricKey? { nil }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        isMade.withLock { $0 = true }
        return SymmetricKey(size: .bits256)
      }
    }
    try makeStore()
    let unmade = Unmade()
    let wrong = FixedKeyProvider(SymmetricKey(size: .bits256))
    #expect(failure { try files.changeKey(from: wrong, to: unmade) } == .wrongKey)
    #expect(failure { try files.reencrypt(from: wrong, to: unmade) } == .wrongKey)
    #expect(!unmade.isMade.withLock { $0 })
    #expect(try count(.encrypted(old)) == 270)
  }

  @Test(.covers("SS-35"))
  func `re-encrypting replaces every page and the data key`() throws {
    try makeStore()
    let before = try folder.contents()
    try files.reencrypt(from: old, to: new)
    #expect(failure { _ = try count(.encrypted(old)) } == .wrongKey)
    #expect(try count(.encrypted(new)) == 270)
    #expect(
      try names() == [
        "store.created", "store.key", "store.lock", "store.opening", "store.readers",
        "store.sqlite",
        "store.sqlite-anchor",
      ])
    let after = try folder.contents()
    #expect(after["store.key"]?.count == before["store.key"]?.count)
    // The old data key opens nothing any more.
    try #require(before["store.key"]).write(to: folder.file("store.key"))
    #expect(failure { _ = try count(.encrypted(old)) } == .corrupt)
    try #require(after["store.key"]).write(to: folder.file("store.key"))
    for round in 0..<3 {
      try files.reencrypt(from: new, to: new)
      #expect(try count(.encrypted(new)) == 270, "round \(round)")
    }
  }

  @Test(.covers("SS-35"))
  func `a store that is in use keeps its key`() throws {
    let store = try folder.open()
    try store.fillSoup(10)
    for work: () throws -> Void in [
      { try files.changeKey(from: old, to: new) }, { try files.reencrypt(from: old, to: new) },
      { try files.decrypt(old) }, { try files.encrypt(old) },
      { _ = try files.verify(.encrypted(old)) },
    ] {
      #expect(failure(work) == .busyOtherProcess)
    }
    try store.fillSoup(10)
    #expect(try store.count() == 20)
    try store.close()
    #expect(try count(.encrypted(old)) == 20)
  }

  @Test(.covers("SS-35"))
  func `no process reads a store while its files are exchanged, nor the other way round`()
    throws
  {
    try makeStore()
    var options = StoreDatabaseOptions()
    options.access = .readOnly
    let reader = try folder.open(options)
    #expect(failure { try files.reencrypt(from: old, to: new) } == .busy)
    #expect(failure { try files.decrypt(old) } == .busy)
    #expect(try reader.count() == 270)
    // Readers do not keep each other, or the writer.
    let second = try folder.open(options)
    let writer = try folder.open()
    try writer.fillSoup(5)
    #expect(try second.count() == 275)
    try writer.close()
    try second.close()
    try reader.close()

    // One that comes in the middle would read pages of the old file and of the new log.
    var watched = files
    let outcomes = Mutex<[SmartStoreError.Code?]>([])
    watched.didTake = { [folder, options] step in
      guard step == .copied || step == .replaced else { return }
      do {
        try folder.open(options).close()
        outcomes.withLock { $0.append(nil) }
      } catch {
        outcomes.withLock { $0.append((error as? SmartStoreError)?.code) }
      }
    }
    try watched.reencrypt(from: old, to: new)
    #expect(outcomes.withLock { $0 } == [.busyOtherProcess, .busyOtherProcess])
    let after = try StoreDatabase.open(
      at: folder.store, encryption: .encrypted(new), options: options)
    #expect(try after.count() == 275)
    try after.close()
  }

  @Test(.covers("SS-36"))
  func `the key of a store depends on nothing but its provider`() throws {
    // Opening again, changing what lies next to the key file and re-encrypting leave the key alone.
    try makeStore()
    let keyFile = try Data(contentsOf: folder.file("store.key"))
    try Data("1234".utf8).write(to: folder.file("passcode"))
    #expect(try count(.encrypted(old)) == 270)
    #expect(try Data(contentsOf: folder.file("store.key")) == keyFile)
  }

  @Test(.covers("SS-29.1", "SS-39.2"))
  func `a provider that has no key yet makes one for a key change`() throws {
    final class Fresh: StoreKeyProvider {
      let kept = Mutex<SymmetricKey?>(nil)
      func key() throws(SmartStoreError) -> SymmetricKey? { kept.withLock { $0 } }
      func createKey() throws(SmartStoreError) -> SymmetricKey {
        let key = SymmetricKey(size: .bits256)
        kept.withLock { $0 = key }
        return key
      }
    }
    try makeStore()
    let fresh = Fresh()
    try files.changeKey(from: old, to: fresh)
    #expect(try count(.encrypted(fresh)) == 270)
  }

  // MARK: Encrypting and decrypting

  @Test(.covers("SS-40"))
  func `a plaintext store is encrypted and decrypted with all its rows`() throws {
    try makeStore(.plaintext)
    #expect(throws: SmartStoreError.self) { try files.decrypt(old) }
    try files.encrypt(old)
    #expect(
      try names() == [
        "store.created", "store.key", "store.lock", "store.opening", "store.readers",
        "store.sqlite",
        "store.sqlite-anchor",
      ])
    let sealed = try Data(contentsOf: folder.file("store.sqlite"))
    #expect(sealed.prefix(15) == Data("Fieldforce seal".utf8))
    #expect(sealed.range(of: Data("abcdefgh".utf8)) == nil)
    #expect(failure { _ = try count(.plaintext) } == .wrongKey)
    #expect(failure { _ = try count(.encrypted(new)) } == .wrongKey)
    #expect(try count(.encrypted(old)) == 270)
    #expect(failure { try files.encrypt(old) } == .wrongKey)

    try files.decrypt(old)
    #expect(
      try names() == [
        "store.created", "store.lock", "store.opening", "store.readers", "store.sqlite",
      ])
    #expect(failure { _ = try count(.encrypted(old)) } == .keyMissing)
    #expect(try count(.plaintext) == 270)
    // Any program reads it.
    let queue = try DatabaseQueue(path: folder.file("store.sqlite").path)
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM TABLE_1") } == 270)
    try queue.close()

    try files.encrypt(new)
    #expect(try count(.encrypted(new)) == 270)
    #expect(try files.verify(.encrypted(new)).isClean)
  }

  @Test(.covers("SS-13"))
  func `a plaintext store that is opened with a key is encrypted, if that is wanted`()
    async throws
  {
    let plain = try await SmartStore.open(at: folder.store, encryption: .plaintext)
    try await plain.registerSoup(withName: "notes", withIndices: .init("k:string"))
    try await plain.upsert(entries: [["k": "a"], ["k": "b"]], forSoupNamed: "notes")
    try await plain.close()
    var options = SmartStoreOptions(encryptsPlaintextStore: false)
    await expectFailure(.keyMissing) {
      _ = try await SmartStore.open(
        at: folder.store, encryption: .encrypted(old), options: options)
    }
    options.encryptsPlaintextStore = true
    let sealed = try await SmartStore.open(
      at: folder.store, encryption: .encrypted(old), options: options)
    #expect(try await sealed.elements(of: "notes").count == 2)
    #expect(try await sealed.verify().isClean)
    try await sealed.close()
    await expectFailure(.wrongKey) {
      _ = try await SmartStore.open(at: folder.store, encryption: .plaintext)
    }
  }

  @Test(.covers("SS-40"))
  func `with no store there is nothing to do, and none is made`() throws {
    for work: () throws -> Void in [
      { try files.encrypt(old) }, { try files.decrypt(old) },
      { try files.reencrypt(from: old, to: new) }, { _ = try files.verify(.encrypted(old)) },
      { try files.changeKey(from: old, to: new) },
    ] {
      #expect(failure(work) == .databaseMissing)
    }
    #expect(!FileManager.default.fileExists(atPath: folder.file("store.sqlite").path))
  }

  // MARK: Interruptions

  enum Work: String, CaseIterable, Sendable { case encrypt, decrypt, reencrypt }

  private func run(_ work: Work, _ files: StoreMaintenance) throws {
    switch work {
    case .encrypt: try files.encrypt(old)
    case .decrypt: try files.decrypt(old)
    case .reencrypt: try files.reencrypt(from: old, to: new)
    }
  }

  @Test(.covers("SS-35", "SS-40"), arguments: Work.allCases)
  func `a crash after any step leaves a store that opens one way, with all rows`(
    work: Work
  ) throws {
    try makeStore(work == .encrypt ? .plaintext : nil)
    let crashed = Mutex<[(StoreConversion.Step, URL)]>([])
    var files = files
    files.didTake = { [folder] step in
      let copy = try folder.snapshot(as: "after-\(step)")
      crashed.withLock { $0.append((step, copy)) }
    }
    try run(work, files)
    let copies = crashed.withLock { $0 }
    #expect(copies.count >= 4)
    let ways: [StoreEncryption] = [.plaintext, .encrypted(old), .encrypted(new)]
    for (step, copy) in copies {
      let opened = ways.filter { (try? count($0, at: copy)) == 270 }
      #expect(opened.count == 1, "after \(step)")
      let names = try FileManager.default.contentsOfDirectory(atPath: copy.path)
      #expect(
        names.allSatisfy {
          [
            "store.created", "store.key", "store.lock", "store.opening", "store.readers",
            "store.sqlite",
            "store.sqlite-anchor",
          ].contains($0)
        },
        "after \(step): \(names)")
      // And what was interrupted can be done again.
      let again = StoreMaintenance(at: copy)
      if case .encrypted? = opened.first, work == .encrypt { continue }
      if case .plaintext? = opened.first, work == .decrypt { continue }
      try run(work, again)
      #expect(
        try count(
          work == .decrypt ? .plaintext : .encrypted(work == .encrypt ? old : new), at: copy)
          == 270, "after \(step)")
    }
  }

  @Test(.covers("SS-40"), arguments: Work.allCases)
  func `a failure at any step leaves the store as it was, or done`(work: Work) throws {
    struct Interruption: Error {}
    let before: StoreEncryption = work == .encrypt ? .plaintext : .encrypted(old)
    for step in StoreConversion.Step.allCases {
      let folder = try StoreFolder()
      let store = try StoreDatabase.open(at: folder.store, encryption: before)
      try store.fillSoup(50)
      try store.close()
      var files = StoreMaintenance(at: folder.store)
      files.didTake = { if $0 == step { throw Interruption() } }
      let isReached = (try? run(work, files)) == nil
      guard isReached else { continue }
      let ways: [StoreEncryption] = [.plaintext, .encrypted(old), .encrypted(new)]
      #expect(ways.filter { (try? count($0, at: folder.store)) == 50 }.count == 1, "\(step)")
      if step != .replaced {
        #expect(try count(before, at: folder.store) == 50, "\(step)")
      }
    }
  }

  @Test(.covers("SS-35"))
  func `a re-encryption that fails late says that the new key opens the store`() throws {
    struct Interruption: Error {}
    try makeStore()
    let size = try Data(contentsOf: folder.file("store.key")).count
    var failing = files
    failing.didTake = { if $0 == .replaced { throw Interruption() } }
    #expect(failure { try failing.reencrypt(from: old, to: new) } == .unfinishedOperation)
    #expect(failure { _ = try count(.encrypted(old)) } == .wrongKey)
    #expect(try count(.encrypted(new)) == 270)
    #expect(try Data(contentsOf: folder.file("store.key")).count > size)
    // The older data key is forgotten when the call is repeated.
    try files.reencrypt(from: old, to: new)
    #expect(try count(.encrypted(new)) == 270)
    #expect(try Data(contentsOf: folder.file("store.key")).count == size)
  }

  @Test(.covers("SS-35"))
  func `a re-encryption that goes on and fails again keeps both data keys`() throws {
    struct Interruption: Error {}
    try makeStore()
    for step in [StoreConversion.Step.replaced, .keyWritten, .copied] {
      var failing = files
      failing.didTake = { if $0 == step { throw Interruption() } }
      #expect(failure { try failing.reencrypt(from: old, to: new) } != nil, "\(step)")
      #expect(try count(.encrypted(new)) == 270, "\(step)")
    }
  }

  @Test(.covers("SS-35"))
  func `a key file that cannot be written or put back is reported`() throws {
    struct Interruption: Error {}
    try makeStore()
    // Where the new key file is written first; root may write anywhere, but not a file to a folder.
    let place = folder.file("store.key.new")
    @Sendable func block() throws {
      try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
    }
    var failing = files
    failing.didTake = { if $0 == .verified { try block() } }
    #expect(failure { try failing.reencrypt(from: old, to: new) } == .io)
    #expect(try count(.encrypted(old)) == 270)
    try FileManager.default.removeItem(at: place)
    failing.didTake = { step in
      guard step == .keyWritten else { return }
      try block()
      throw Interruption()
    }
    #expect(failure { try failing.reencrypt(from: old, to: new) } == .backupFailed)
    try FileManager.default.removeItem(at: place)
    #expect(try count(.encrypted(new)) == 270)
    try files.reencrypt(from: old, to: new)
    #expect(try count(.encrypted(new)) == 270)
  }

  @Test(.covers("SS-41"))
  func `each failure of maintenance has its number`() throws {
    try makeStore(.plaintext)
    var files = files
    // A page of the copy that is damaged before it is read again.
    files.didTake = { [folder] step in
      guard step == .copied else { return }
      let path = folder.file("store.sqlite.encrypted")
      var bytes = try Data(contentsOf: path)
      bytes[2 * PageFormat.pageSize + 9] ^= 1
      try bytes.write(to: path)
    }
    #expect(failure { try files.encrypt(old) } == .verificationReadFailed)
    files.didTake = { [folder] step in
      guard step == .copied else { return }
      try Data(count: 8192).write(to: folder.file("store.sqlite.encrypted"))
    }
    #expect(failure { try files.encrypt(old) } == .verificationOpenFailed)
    files.didTake = { [folder] step in
      guard step == .verified else { return }
      try FileManager.default.removeItem(at: folder.file("store.sqlite.encrypted"))
    }
    #expect(failure { try files.encrypt(old) } == .replaceFailed)
    #expect(try count(.plaintext) == 270)

    files.didTake = nil
    try files.encrypt(old)
    files.didTake = { [folder] step in
      guard step == .verified else { return }
      try FileManager.default.removeItem(at: folder.file("store.key"))
    }
    let keyFile = try Data(contentsOf: folder.file("store.key"))
    #expect(failure { try files.decrypt(old) } == .backupFailed)
    try keyFile.write(to: folder.file("store.key"))
    files.didTake = nil
    var bytes = try Data(contentsOf: folder.file("store.sqlite"))
    bytes[3 * PageFormat.pageSize + 5] ^= 1
    try bytes.write(to: folder.file("store.sqlite"))
    #expect(failure { try files.decrypt(old) } == .exportFailed)

    let codes: [SmartStoreError.Code] = [
      .attachFailed, .exportFailed, .detachFailed, .backupFailed, .replaceFailed,
      .verificationOpenFailed, .verificationReadFailed,
    ]
    #expect(codes.map(\.number) == Array(1...7))
    #expect(Set(codes.map(\.domain)) == [SmartStoreError.maintenanceDomain])
  }

  @Test(.covers("SS-201", "SS-35"))
  func `files of entries follow every change of keys and encryption`()
    async throws
  {
    let soup = SoupSpec(name: "files", features: [SoupSpec.featureExternalStorage])
    let word = "lighthouse"
    var ways: [StoreEncryption] = [.plaintext]
    let plain = try await SmartStore.open(at: folder.store, encryption: .plaintext)
    try await plain.registerSoup(withSpec: soup, withIndices: .init("k:integer"))
    try await plain.upsert(
      entries: (0..<8).map { ["k": .integer($0), "text": .string(word)] }, forSoupNamed: "files")
    try await plain.close()
    let stages: [(name: String, work: (StoreMaintenance) throws -> Void)] = [
      ("encrypt", { try $0.encrypt(old) }), ("changeKey", { try $0.changeKey(from: old, to: new) }),
      ("reencrypt", { try $0.reencrypt(from: new, to: old) }), ("decrypt", { try $0.decrypt(old) }),
    ]
    ways += [.encrypted(old), .encrypted(new), .encrypted(old), .plaintext]
    for (stage, way) in zip(stages, ways.dropFirst()) {
      let copies = Mutex<[URL]>([])
      var files = files
      let name = stage.name
      files.didTake = { [folder] step in
        let copy = folder.url.appendingPathComponent("\(name)-\(step)")
        try FileManager.default.copyItem(at: folder.store, to: copy)
        copies.withLock { $0.append(copy) }
      }
      try stage.work(files)
      // What was done, and what a crash after each step leaves.
      for directory in [folder.store] + copies.withLock({ $0 }) {
        var opened = 0
        for way in [StoreEncryption.plaintext, .encrypted(old), .encrypted(new)] {
          var options = SmartStoreOptions()
          options.encryptsPlaintextStore = false
          guard
            let store = try? await SmartStore.open(at: directory, encryption: way, options: options)
          else { continue }
          opened += 1
          let texts = try await store.elements(of: "files").map { $0["text"] }
          #expect(texts == Array(repeating: .string(word), count: 8), "\(directory.path)")
          #expect(try await store.verify().isClean, "\(directory.path)")
          try await store.close()
          let blobs = directory.appendingPathComponent("store_external_soup_blobs/TABLE_1")
          for name in try FileManager.default.contentsOfDirectory(atPath: blobs.path) {
            let bytes = try Data(contentsOf: blobs.appendingPathComponent(name))
            var isPlain = false
            if case .plaintext = way { isPlain = true }
            #expect((bytes.range(of: Data(word.utf8)) != nil) == isPlain, "\(directory.path)")
          }
          let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
          #expect(!names.contains { $0.contains("blobs.") }, "\(names)")
        }
        #expect(opened == 1, "\(directory.path)")
      }
      let store = try await SmartStore.open(at: folder.store, encryption: way)
      try await store.close()
    }
  }

  // MARK: Format

  @Test(.covers("SS-31"))
  func `an encrypted file with SQLite's first words opens by its mark`() throws {
    try makeStore()
    var bytes = try Data(contentsOf: folder.file("store.sqlite"))
    bytes.replaceSubrange(0..<16, with: Data("SQLite format 3\0".utf8))
    bytes.replaceSubrange(72..<80, with: Data("FFSEALED".utf8))
    try bytes.write(to: folder.file("store.sqlite"))
    #expect(try count(.encrypted(old)) == 270)
    // Without the mark it would be a plaintext database in a sealed one's place.
    bytes.replaceSubrange(72..<80, with: Data(count: 8))
    try bytes.write(to: folder.file("store.sqlite"))
    #expect(failure { _ = try count(.encrypted(old)) } == .notADatabase)
  }

  @Test func `pages of two epochs are read side by side, in the database and in the log`() throws {
    try makeStore()
    let paths = StorePaths(directory: folder.store)
    try StoreKeyHierarchy.write(
      try StoreKeyHierarchy.nextEpoch(paths, from: old, to: old).file, paths)
    // New pages are sealed in the new epoch, the others stay.
    let store = try folder.open()
    try store.fillSoup(30)
    let crashed = try folder.snapshot(as: "crashed")
    try store.close()
    #expect(try count(.encrypted(old)) == 300)
    #expect(try count(.encrypted(old), at: crashed) == 300)
    // A log of the older epoch is recovered too.
    let again = try folder.open(at: crashed)
    try again.fillSoup(30)
    let second = try folder.snapshot(of: crashed, as: "second")
    try again.close()
    let secondFiles = StoreMaintenance(at: second)
    try secondFiles.reencrypt(from: old, to: new)
    #expect(try count(.encrypted(new), at: second) == 330)
  }
}
