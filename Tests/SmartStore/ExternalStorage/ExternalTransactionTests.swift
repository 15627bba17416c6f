import Crypto
import Foundation
import GRDB
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Do rows and files stay together through failures, crashes and readers of older snapshots?
@Suite struct ExternalTransactionTests {
  private let specs = [SoupIndex]("a:string")
  private let spec = SoupSpec(name: "s", features: ["externalStorage"])
  private struct Stop: Error {}

  private func open(_ place: URL) async throws -> SmartStore {
    try await SmartStore.open(
      at: place, encryption: testEncryption,
      options: SmartStoreOptions(now: { 1_700_000_000_000 }))
  }

  /// A store with a soup `s` of three elements in files, `a` being `1` to `3`.
  private func filled(_ place: URL) async throws -> SmartStore {
    let store = try await open(place)
    try await store.registerSoup(withSpec: spec, withIndices: specs)
    try await store.upsert(entries: [["a": "1"], ["a": "2"], ["a": "3"]], forSoupNamed: "s")
    return store
  }

  private func values(_ store: SmartStore) async throws -> [String?] {
    try await store.elements(of: "s").map { $0["a"]?.string }
  }

  /// Everything below the folder of files.
  private func tree(_ place: URL) throws -> [String] {
    let root = place.appending(path: "store_external_soup_blobs")
    return try FileManager.default.subpathsOfDirectory(atPath: root.path).sorted()
  }

  private let settled = ["TABLE_1", "TABLE_1/soupelt_1", "TABLE_1/soupelt_2", "TABLE_1/soupelt_3"]

  /// Changes, replaces, adds and deletes elements in one transaction.
  private func change(_ transaction: borrowing StoreTransaction) throws {
    try transaction.update(entry: ["a": "changed"], withSoupEntryId: 1, inSoupNamed: "s")
    try transaction.update(entry: ["a": "again"], withSoupEntryId: 1, inSoupNamed: "s")
    try transaction.remove(entryIds: [2], forSoupNamed: "s")
    try transaction.create(entry: ["a": "new"], inSoupNamed: "s")
    try transaction.registerSoup(
      withSpec: SoupSpec(name: "t", features: spec.features), withIndices: specs)
    try transaction.create(entry: ["a": "t"], inSoupNamed: "t")
  }

  @Test(.covers("SS-116", "SS-195"))
  func `a transaction reads the files that it wrote`() async throws {
    try await TemporaryFolder.with { folder in
      let store = try await filled(folder.file("store"))
      try await store.inTransaction { transaction in
        try change(transaction)
        let seen = try transaction.query(
          using: .buildAllQuerySpec(soupName: "s", orderPath: "_soupEntryId", pageSize: 9))
        #expect(seen.map { $0["a"] } == ["again", "3", "new"])
        try transaction.clearSoup("s")
        try transaction.create(entry: ["a": "last"], inSoupNamed: "s")
        #expect(
          try transaction.retrieve(usingSoupEntryIds: [1, 5], fromSoupNamed: "s").map {
            $0["a"]?.string
          }
            == ["last"])
      }
      #expect(try await values(store) == ["last"])
      #expect(
        try tree(folder.file("store")).filter { $0.hasPrefix("TABLE_1") }
          == ["TABLE_1", "TABLE_1/soupelt_5"])
      try await store.close()
    }
  }

  @Test(.covers("SS-194", "SS-115"))
  func `a transaction that is rolled back leaves every file as it was`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      await #expect(throws: Stop.self) {
        try await store.inTransaction { transaction in
          try change(transaction)
          throw Stop()
        }
      }
      #expect(try await values(store) == ["1", "2", "3"])
      #expect(try tree(place).filter { !$0.hasPrefix(".") } == settled)
      await #expect(throws: Stop.self) {
        try await store.inTransaction { transaction in
          try transaction.removeSoup("s")
          throw Stop()
        }
      }
      #expect(try await values(store) == ["1", "2", "3"])
      // A call that fails inside takes its own files along, and no others.
      try await store.inTransaction { transaction in
        try transaction.update(entry: ["a": "kept"], withSoupEntryId: 1, inSoupNamed: "s")
        do throws(SmartStoreError) {
          try transaction.upsert(
            entries: [["_soupEntryId": 1, "a": "lost"], ["_soupEntryId": 2, "a": "lost"], "bad"],
            forSoupNamed: "s")
          Issue.record("nothing was thrown")
        } catch {
          #expect(error.code == .invalidEntry)
        }
      }
      #expect(try await values(store) == ["kept", "2", "3"])
      try await store.close()
    }
  }

  @Test(.covers("SS-194"))
  func `a file that cannot be written fails the call, and the row stays`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      let staging = place.appending(path: "store_external_soup_blobs/.staged")
      try? FileManager.default.removeItem(at: staging)
      try Data().write(to: staging)
      await expectFailure(.io) {
        try await store.upsert(entries: [["a": "4"]], forSoupNamed: "s")
      }
      try? FileManager.default.removeItem(at: staging)
      #expect(try await store.rows("select {s:a} from {s}").count == 3)
      // The folder of its place is gone, too: files that were moved go back.
      let aside = place.appending(path: "store_external_soup_blobs/.replaced")
      try? FileManager.default.removeItem(at: aside)
      try Data().write(to: aside)
      await expectFailure(.io) {
        try await store.update(entry: ["a": "x"], withSoupEntryId: 1, inSoupNamed: "s")
      }
      try FileManager.default.removeItem(at: aside)
      #expect(try await values(store) == ["1", "2", "3"])
      try await store.upsert(entries: [["a": "4"]], forSoupNamed: "s")
      #expect(try await values(store) == ["1", "2", "3", "4"])
      try await store.close()
    }
  }

  @Test(.covers("SS-194"))
  func `a commit that SQLite refuses brings the files back`() async throws {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      // A deferred foreign key is looked at when the transaction commits, after the files moved.
      try store.onWriter {
        try $0.execute(
          sql: """
            PRAGMA foreign_keys = ON; CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED);
            """)
      }
      await expectFailure(.sql) {
        try await store.inTransaction { transaction in
          try change(transaction)
          try transaction.access.execute("INSERT INTO child VALUES (7)")
        }
      }
      #expect(try await values(store) == ["1", "2", "3"])
      #expect(
        try tree(place).filter { !$0.hasPrefix(".") && !$0.hasPrefix("TABLE_2") } == settled)
      try await store.inTransaction { try change($0) }
      #expect(try await values(store) == ["again", "3", "new"])
      try await store.close()
      // What was left of it is gone after the next opening.
      let again = try await open(place)
      #expect(try tree(place).filter { $0.hasPrefix(".") } == [])
      try await again.close()
    }
  }

  @Test(.covers("SS-194"))
  func `a process that dies in the middle of a commit leaves no half of it`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      let copy = folder.file("copy")
      // While the transaction's files are in their places and the database has not committed.
      #expect(throws: Stop.self) {
        try store.onWriter { database in
          try database.inTransaction {
            let access = StoreAccess(
              database, catalog: try store.catalogs.current(database),
              diagnostics: store.diagnostics,
              isSingleCall: false, files: store.files)
            try change(StoreTransaction(access))
            let sequence = try #require(try access.takeExternalSequence())
            try store.files.commit(access.externalChanges, sequence: sequence) {
              try FileManager.default.copyItem(at: place, to: copy)
              throw Stop()
            }
            return .rollback
          }
        }
      }
      #expect(try tree(copy).contains("TABLE_1/soupelt_4"))
      #expect(try tree(copy).contains { $0.hasSuffix("TABLE_1/soupelt_2") && $0.hasPrefix(".") })
      let crashed = try await open(copy)
      #expect(try await values(crashed) == ["1", "2", "3"])
      #expect(try tree(copy) == settled)
      try await crashed.close()
      #expect(try await values(store) == ["1", "2", "3"])
      try await store.close()
    }
  }

  @Test(.covers("SS-194"))
  func `a process that dies after a commit has all of it, and strays go`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      // A reader of the old state keeps the files that the commit replaces.
      let snapshot = store.files.beginReading()
      try await store.inTransaction { try change($0) }
      let copy = folder.file("copy")
      try FileManager.default.copyItem(at: place, to: copy)
      #expect(try tree(copy).contains { $0.hasPrefix(".replaced/") })
      let blobs = copy.appending(path: "store_external_soup_blobs")
      // A file that no store writes is not the store's to delete.
      for stray in ["TABLE_1/soupelt_77", "TABLE_1/other", "TABLE_9/soupelt_1"] {
        let file = blobs.appending(path: stray)
        try FileManager.default.createDirectory(
          at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: file)
      }
      let crashed = try await open(copy)
      #expect(try await values(crashed) == ["again", "3", "new"])
      #expect(
        try tree(copy) == [
          "TABLE_1", "TABLE_1/other", "TABLE_1/soupelt_1", "TABLE_1/soupelt_3",
          "TABLE_1/soupelt_4", "TABLE_2", "TABLE_2/soupelt_1",
        ])
      try await crashed.close()
      withExtendedLifetime(snapshot) {}
      try await store.close()
    }
  }

  @Test(.covers("SS-195", "SS-116"))
  func `a reader sees the files of its own snapshot`() async throws {
    try await TemporaryFolder.with { folder in
      let place = folder.file("store")
      let store = try await filled(place)
      let read = try await store.read { reader in
        let all = try QuerySpec.buildAllQuerySpec(
          soupName: "s", orderPath: "_soupEntryId", pageSize: 9)
        // The snapshot is taken; now others write, and wait until they have.
        _ = try reader.count(using: all)
        let writes = DispatchGroup()
        writes.enter()
        Task {
          try await store.inTransaction { try change($0) }
          try await store.clearSoup("s")
          try await store.upsert(entries: [["a": "after"]], forSoupNamed: "s")
          writes.leave()
        }
        writes.wait()
        return try reader.query(using: all).map { $0["a"]?.string }
      }
      #expect(read == ["1", "2", "3"])
      #expect(try await values(store) == ["after"])
      #expect(try tree(place).filter { $0.hasPrefix(".replaced/") } == [])
      try await store.close()
    }
  }

  @Test(.covers("SS-194"))
  func `a store with entry files commits so that a power cut takes nothing back`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let store = try await open(folder.file("store"))
      try await store.registerSoup(withName: "plain", withIndices: specs)
      func synchronous() async throws -> Int? {
        try await store.inTransaction(durability: .normal) { transaction in
          try transaction.create(entry: ["a": "x"], inSoupNamed: "plain")
          return try Int.fetchOne(transaction.access.database, sql: "PRAGMA synchronous")
        }
      }
      #expect(try await synchronous() == 1)
      try await store.registerSoup(withSpec: spec, withIndices: specs)
      #expect(try await synchronous() == 2)
      try await store.close()
      let again = try await open(folder.file("store"))
      #expect(
        try await again.inTransaction(durability: .normal) {
          try Int.fetchOne($0.access.database, sql: "PRAGMA synchronous")
        } == 2)
      try await again.close()
    }
  }

  /// The files of a conversion, with a encryptor of their own.
  private func conversionFiles(
    _ folder: TemporaryFolder
  ) throws -> (encryptor: ExternalFileEncryptor, plain: ExternalFiles, sealed: ExternalFiles) {
    let keys = try #require(
      StoreKeys(storeID: UUID(), dataKeys: [(epoch: UInt32(1), key: SymmetricKey(size: .bits256))]))
    let encryptor = ExternalFileEncryptor(store: EncryptedStore(keys: keys, cipher: AESGCMCipher()))
    let database = folder.file("store.sqlite").path
    return (
      encryptor, ExternalFiles(database: database, encryptor: nil),
      ExternalFiles(database: database, encryptor: encryptor)
    )
  }

  @Test(.covers("SS-201"), arguments: [true, false])
  func `files are rewritten with the encryption of the store, or not at all`(
    isReplaced: Bool
  ) async throws {
    try await TemporaryFolder.with { folder in
      let (encryptor, plain, sealed) = try conversionFiles(folder)
      let conversion = ExternalConversion(database: folder.file("store.sqlite").path)
      // Without files nothing is made.
      try conversion.prepare(from: nil, to: encryptor)
      try conversion.recover(isSealed: true)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])

      var changes = ExternalChanges()
      for id in 1...3 as ClosedRange<Int64> {
        let staged = try plain.stage(Array("{\(id)}".utf8), table: "TABLE_1", entryId: id)
        changes.write(staged, table: "TABLE_1", entryId: id)
      }
      try plain.commit(changes, sequence: 1) {}
      func expectContent(of files: ExternalFiles) throws {
        for id in 1...3 as ClosedRange<Int64> {
          #expect(
            try files.read(table: "TABLE_1", entryId: id, at: 1) == Array("{\(id)}".utf8))
        }
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            == ["store_external_soup_blobs"])
      }
      try conversion.prepare(from: nil, to: encryptor)
      try conversion.recover(isSealed: isReplaced)
      try expectContent(of: isReplaced ? sealed : plain)
      guard isReplaced else { return }
      #expect(throws: (any Error).self) { try plain.read(table: "TABLE_1", entryId: 9, at: 1) }
      // Back again, with a crash between the two moves.
      try conversion.prepare(from: encryptor, to: nil)
      try FileManager.default.moveItem(
        at: folder.file("store_external_soup_blobs"),
        to: folder.file("store_external_soup_blobs.old"))
      try conversion.recover(isSealed: false)
      try conversion.recover(isSealed: false)
      try expectContent(of: plain)
    }
  }

  @Test(.covers("SS-201", "SS-35"))
  func `files are encrypted again under a newer key, one after another`()
    async throws
  {
    try await TemporaryFolder.with { folder in
      let storeID = UUID()
      let old = (epoch: UInt32(1), key: SymmetricKey(size: .bits256))
      let new = (epoch: UInt32(2), key: SymmetricKey(size: .bits256))
      func files(_ keys: [(epoch: UInt32, key: SymmetricKey)]) throws -> ExternalFiles {
        let keys = try #require(StoreKeys(storeID: storeID, dataKeys: keys))
        let store = EncryptedStore(keys: keys, cipher: AESGCMCipher())
        return ExternalFiles(
          database: folder.file("store.sqlite").path, encryptor: ExternalFileEncryptor(store: store)
        )
      }
      let before = try files([old])
      var changes = ExternalChanges()
      for id in 1...5 as ClosedRange<Int64> {
        let staged = try before.stage(Array("{\(id)}".utf8), table: "TABLE_1", entryId: id)
        changes.write(staged, table: "TABLE_1", entryId: id)
      }
      try before.commit(changes, sequence: 1) {}
      #expect(throws: (any Error).self) {
        try files([new]).read(table: "TABLE_1", entryId: 1, at: 1)
      }
      try files([old, new]).reencryptFiles()
      for id in 1...5 as ClosedRange<Int64> {
        #expect(
          try files([new]).read(table: "TABLE_1", entryId: id, at: 1) == Array("{\(id)}".utf8))
      }
      try files([old, new]).reencryptFiles()
      // A file is good in its own place alone.
      #expect(throws: (any Error).self) {
        let path = folder.file("store_external_soup_blobs/TABLE_1")
        try FileManager.default.removeItem(at: path.appending(path: "soupelt_2"))
        try FileManager.default.moveItem(
          at: path.appending(path: "soupelt_1"), to: path.appending(path: "soupelt_2"))
        _ = try files([new]).read(table: "TABLE_1", entryId: 2, at: 1)
      }
    }
  }
}
