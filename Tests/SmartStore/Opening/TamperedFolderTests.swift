import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// What can a program that writes into a store's folder, and has no key, have the store do to other files, to its
/// own, or to the process?
struct TamperedFolderTests {
  private let folder: TemporaryFolder
  private let secrets = InMemorySecretStore()
  private var store: URL { folder.file("store") }
  private var encryption: StoreEncryption { .encrypted(SecretStoreKeyProvider(secrets)) }

  init() throws { folder = try TemporaryFolder() }

  private func open(_ encryption: StoreEncryption? = nil) async throws -> SmartStore {
    try await SmartStore.open(at: store, encryption: encryption ?? self.encryption)
  }

  /// A closed store with a soup `s` of three entries, each in a file if the soup is external.
  private func make(_ encryption: StoreEncryption? = nil, isExternal: Bool = false) async throws {
    let store = try await open(encryption)
    try await store.registerSoup(
      withSpec: SoupSpec(name: "s", features: isExternal ? ["externalStorage"] : []),
      withIndices: [SoupIndex]("a:string"))
    try await store.upsert(entries: [["a": "1"], ["a": "2"], ["a": "3"]], forSoupNamed: "s")
    try await store.close()
  }

  private func values() async throws -> [String?] {
    let store = try await open()
    let values = try await store.elements(of: "s").map { $0["a"]?.string }
    try await store.close()
    return values
  }

  private func file(_ name: String) -> URL { store.appending(path: name) }

  private func resize(_ url: URL, to bytes: UInt64) throws {
    let handle = try FileHandle(forWritingTo: url)
    try handle.truncate(atOffset: bytes)
    try handle.close()
  }

  // MARK: Links in the place of folders

  private static let links = [
    "store_external_soup_blobs", "store_external_soup_blobs.sealed",
    "store_external_soup_blobs/TABLE_1", "store_external_soup_blobs/TABLE_9",
    "store_external_soup_blobs/.replaced", "store_external_soup_blobs/.replaced/99",
    "store_external_soup_blobs/.replaced/99/TABLE_1", "store_external_soup_blobs/.staged",
  ]

  @Test(arguments: links)
  func `a link in the place of a folder of entry files removes and moves no file that it leads to`(
    link: String
  ) async throws {
    try await make(isExternal: true)
    let files = FileManager.default
    let victim = folder.file("victim")
    for name in ["letter.txt", "TABLE_1/soupelt_77", "soupelt_78", "TABLE_7/soupelt_1"] {
      let file = victim.appending(path: name)
      try files.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("mine".utf8).write(to: file)
    }
    let before = try files.subpathsOfDirectory(atPath: victim.path).sorted()
    let place = file("store.sqlite").deletingLastPathComponent().appending(path: link)
    try? files.removeItem(at: place)
    try files.createDirectory(
      at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    try files.createSymbolicLink(at: place, withDestinationURL: victim)
    await expectFailure(.io) {
      let store = try await open()
      _ = try await store.elements(of: "s")
      try await store.close()
    }
    _ = try? StoreMaintenance(at: store).verify(encryption)
    #expect(try files.subpathsOfDirectory(atPath: victim.path).sorted() == before)
  }

  @Test func `files that no store writes stay among the entry files`() async throws {
    try await make(isExternal: true)
    let names = ["notes.txt", "TABLE_1/notes.txt", "TABLE_9/notes.txt", "archive/soupelt_1"]
    for name in names + ["TABLE_1/soupelt_77", "TABLE_9/soupelt_1"] {
      let file = file("store_external_soup_blobs/\(name)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("x".utf8).write(to: file)
    }
    #expect(try await values() == ["1", "2", "3"])
    let left = try FileManager.default.subpathsOfDirectory(
      atPath: file("store_external_soup_blobs").path)
    #expect(Set(left).isSuperset(of: names))
    #expect(!left.contains("TABLE_1/soupelt_77") && !left.contains("TABLE_9/soupelt_1"))
  }

  // MARK: Conversions that never happened

  @Test(arguments: [false, true])
  func `a planted folder of converted entry files takes no entry's place`(hasFiles: Bool)
    async throws
  {
    try await make(isExternal: true)
    let planted = file("store_external_soup_blobs.sealed")
    try FileManager.default.createDirectory(at: planted, withIntermediateDirectories: true)
    if hasFiles {
      for id in 1...3 {
        let copy = planted.appending(path: "TABLE_1/soupelt_\(id)")
        try FileManager.default.createDirectory(
          at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("FFSTELT\0garbage".utf8).write(to: copy)
      }
    }
    let error = await expectFailure(.io) { _ = try await open() }
    #expect(error?.message.contains("move it out of the folder") == true)
    try FileManager.default.removeItem(at: planted)
    #expect(try await values() == ["1", "2", "3"])
  }

  // MARK: Files that are missing

  @Test(arguments: [[], ["store.key"], ["store.sqlite-anchor"], ["store.lock"]])
  func `a database that is gone with its note is not replaced by an empty one`(others: [String])
    async throws
  {
    try await make()
    for name in ["store.sqlite", "store.created"] + others {
      try FileManager.default.removeItem(at: file(name))
    }
    let before = try FileManager.default.contentsOfDirectory(atPath: store.path).sorted()
    await expectFailure(.databaseMissing) { _ = try await open() }
    let after = try FileManager.default.contentsOfDirectory(atPath: store.path)
    #expect(Set(after).subtracting(before).isSubset(of: StoreFolder.lockFiles))
  }

  @Test func `a database that is gone with its note is missed without a secret store, too`()
    async throws
  {
    try await make(testEncryption)
    for name in ["store.sqlite", "store.created"] {
      try FileManager.default.removeItem(at: file(name))
    }
    await expectFailure(.databaseMissing) { _ = try await open(testEncryption) }
  }

  @Test func `a lost key is not replaced while the secret store remembers its stores`() async throws
  {
    try await make()
    try secrets.remove(SecretStoreKeyProvider.defaultName)
    let other = folder.file("other")
    await expectFailure(.keyMissing) {
      _ = try await SmartStore.open(name: "other", at: other, encryption: encryption)
    }
    #expect(try secrets.read(SecretStoreKeyProvider.defaultName) == nil)
  }

  // MARK: Files that are cut while a store is open

  @Test(arguments: ["store.sqlite-wal", "store.sqlite"])
  func `a store whose files were cut while it is open acknowledges no write`(name: String)
    async throws
  {
    let store = try await open()
    try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
    let text = String(repeating: "x", count: 9_000)
    for _ in 0..<20 {
      try await store.upsert(entries: [["a": "1", "b": .string(text)]], forSoupNamed: "s")
    }
    if name == "store.sqlite" { try store.database.checkpoint() }
    let size = try #require(try DurableFile(file(name)).size())
    try resize(file(name), to: size / 2 / 4096 * 4096)
    for _ in 0..<2 {
      await expectFailure(.corrupt) {
        try await store.upsert(entries: [["a": "2"]], forSoupNamed: "s")
      }
    }
    try? await store.close()
  }

  @Test func `a store that shrinks and grows by its own work takes writes`() async throws {
    let store = try await open()
    try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
    let text = String(repeating: "x", count: 9_000)
    for round in 0..<3 {
      for _ in 0..<20 {
        try await store.upsert(entries: [["a": "1", "b": .string(text)]], forSoupNamed: "s")
      }
      try store.database.checkpoint()
      try await store.clearSoup("s")
      try store.database.vacuum()
      try store.database.checkpoint()
      let ids = try await store.upsert(entries: [["a": "2"]], forSoupNamed: "s")
      #expect(ids.count == 1, "round \(round)")
    }
    try await store.close()
    #expect(try await values() == ["2"])
  }

  // MARK: Files of any size

  @Test(.timeLimit(.minutes(1)))
  func `a write-ahead log of terabytes that were never written is read to its end`() async throws {
    try await make()
    let log = file("store.sqlite-wal")
    if !DurableFile(log).exists { try Data().write(to: log) }
    // File systems differ in the longest file.
    for size in [8 << 40, 400 << 30] as [UInt64] where (try? resize(log, to: size)) != nil {
      let report = try StoreMaintenance(at: store).acceptLostLog(encryption)
      #expect(report.findings.allSatisfy { $0.kind == .log })
      #expect(try await values() == ["1", "2", "3"])
      if !DurableFile(log).exists { try Data().write(to: log) }
    }
  }

  @Test func `a copy of a log keeps what was written and is known again`() throws {
    let (log, copy) = (folder.file("wal"), folder.file("copy"))
    let bytes = (0..<5000).map { UInt8(truncatingIfNeeded: $0) }
    try Data(bytes).write(to: log)
    try resize(log, to: 64 << 30)
    try WALCopy.make(of: log.path, at: copy.path)
    #expect(try DurableFile(copy).read(limit: 5000) == bytes)
    #expect(try WALCopy.isSame(copy.path, as: log.path))
    let handle = try FileHandle(forWritingTo: log)
    try handle.seek(toOffset: 40 << 30)
    try handle.write(contentsOf: [1])
    try handle.close()
    #expect(try !WALCopy.isSame(copy.path, as: log.path))
  }

  @Test func `a configuration file of terabytes that were never written is refused`() throws {
    let file = folder.file("userstore.json")
    try Data("{}".utf8).write(to: file)
    try resize(file, to: 400 << 30)
    let source = StoreConfigurationSource.folder(folder.url)
    #expect(throws: FileFailure.self) { try source.content(of: "userstore.json") }
  }

  // MARK: Names that lead elsewhere

  @Test(arguments: ["store.sqlite-wal", "store.sqlite-shm", "store.sqlite-anchor"])
  func `a second name of another file is not written to`(name: String) async throws {
    try await make()
    let victim = folder.file("letter.txt")
    try Data("mine".utf8).write(to: victim)
    try? FileManager.default.removeItem(at: file(name))
    try FileManager.default.linkItem(at: victim, to: file(name))
    let error = await #expect(throws: SmartStoreError.self) {
      let store = try await open()
      try await store.upsert(entries: [["a": "4"]], forSoupNamed: "s")
      try await store.close()
    }
    if name != "store.sqlite-anchor" { #expect(error?.message.contains(name) == true) }
    #expect(try Data(contentsOf: victim) == Data("mine".utf8))
  }

  @Test func `files in the place of working files are named in the error`() async throws {
    try await make()
    let journal = file("store.sqlite-journal")
    try Data("x".utf8).write(to: journal)
    var error = await expectFailure(.io) { _ = try await open() }
    #expect(error?.message.contains(journal.lastPathComponent) == true)
    #expect(error?.message.contains("Remove it") == true)
    try FileManager.default.removeItem(at: journal)
    let copy = file("store.sqlite.exported")
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    error = await expectFailure(.io) { _ = try await open() }
    #expect(error?.message.contains("move it away") == true)
    try FileManager.default.removeItem(at: copy)
    #expect(try await values() == ["1", "2", "3"])
  }

  @Test(arguments: ["(SELECT 1)", "TABLE_1_0; DROP TABLE TABLE_1", "TABLE_1_", "", "id"])
  func `a planted column name becomes no part of a statement`(column: String) async throws {
    let store = try await open(.plaintext)
    try await store.registerSoup(withName: "s", withIndices: [SoupIndex]("a:string"))
    try await store.unsafelyExecute(
      "UPDATE soup_index_map SET columnName = '\(column)' WHERE soupName = 's'")
    try await store.close()
    await expectFailure(.corrupt) {
      let store = try await open(.plaintext)
      _ = try await store.elements(of: "s")
    }
  }
}
