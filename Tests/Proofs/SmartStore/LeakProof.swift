import Foundation
import SalesforceSDKCommon
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Does any word of an element, a soup's name or an index value reach a file, at any time?
@Suite(.ownThreads) struct LeakProof {
  /// A word that stands nowhere but in this test's store.
  private let canary = "canary\(UInt64.random(in: .max / 2 ... .max))"

  /// The files that hold the canary: those below the folder, new ones in the folder for temporary
  /// files, and those that this process has open though they have no name any more.
  private func findings(_ folder: URL, _ known: Set<String>) throws -> [String] {
    let needles = [Data(canary.utf8), canary.data(using: .utf16LittleEndian) ?? Data()]
    var places = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
      .map { folder.appendingPathComponent($0).path }
    let temporary = FileManager.default.temporaryDirectory
    places += try FileManager.default.contentsOfDirectory(atPath: temporary.path)
      .filter { !known.contains($0) }.map { temporary.appendingPathComponent($0).path }
    let open = "/proc/self/fd"
    for name in (try? FileManager.default.contentsOfDirectory(atPath: open)) ?? [] {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(open)/\(name)")
      if target?.hasSuffix(" (deleted)") == true { places.append("\(open)/\(name)") }
    }
    return places.filter { path in
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
        !isFolder.boolValue, isRegular(path), let data = FileManager.default.contents(atPath: path)
      else { return false }
      return needles.contains { data.range(of: $0) != nil }
    }
  }

  private func isRegular(_ path: String) -> Bool {
    let real = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? path
    guard path.hasPrefix("/proc/") else {
      let type =
        try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
      return type == .typeRegular
    }
    // A pipe or socket would wait for its other end.
    return real.hasPrefix("/")
  }

  private func known() throws -> Set<String> {
    Set(
      try FileManager.default.contentsOfDirectory(
        atPath: FileManager.default.temporaryDirectory.path))
  }

  private func entries(_ count: Int) -> [JSONValue] {
    (0..<count).map { index in
      [
        "name": .string("\(canary) name \(index * 7919 % count)"), "rank": .integer(Int64(index)),
        "note": .string("\(canary) and other words \(index)"),
        "more": .string(String(repeating: "\(canary) ", count: 20)),
      ]
    }
  }

  @Test(.covers("SS-26"))
  func `no word is in any file during and after sorts, vacuum, alter and new keys`()
    async throws
  {
    let known = try known()
    let folder = try TemporaryFolder()
    var files = StoreDatabaseOptions()
    // Small caches: pages of open transactions and sorts have to go somewhere.
    files.writerCacheBytes = 100 << 10
    files.readerCacheBytes = 100 << 10
    files.checkpointPages = 200
    let directory = folder.file("store")
    let store = try await SmartStore.open(
      at: directory, encryption: .encrypted(CrashScript.provider(0)), files: files)
    let soup = "soup \(canary)"
    try await store.registerSoup(
      withName: soup,
      withIndices: .init("name:string", "rank:integer", "note:full_text", "more:json1"))
    for _ in 0..<3 { try await store.upsert(entries: entries(400), forSoupNamed: soup) }
    #expect(try findings(folder.url, known) == [])

    let (url, canary) = (folder.url, canary)
    try await store.inTransaction { transaction in
      try transaction.upsert(entries: entries(600), forSoupNamed: soup)
      try transaction.access.execute("UPDATE TABLE_1 SET soup = soup || ' ' WHERE id % 2 = 0")
      #expect(try findings(url, known) == [])
      // A statement that fails half-way is undone from its journal.
      #expect(throws: SmartStoreError.self) {
        try transaction.access.execute(
          "CREATE TABLE once AS SELECT soup FROM TABLE_1; CREATE UNIQUE INDEX o ON once (substr(soup, 1, 9))"
        )
      }
      #expect(try findings(url, known) == [])
      try transaction.access.execute("DROP TABLE once")
    }
    try await store.read { reader in
      let spec = try QuerySpec.buildSmartQuerySpec(
        smartSql: "SELECT {\(soup):more} || {\(soup):name} x FROM {\(soup)} ORDER BY x DESC",
        pageSize: 5)
      #expect(try reader.query(using: spec).count == 5)
      #expect(try findings(url, known) == [])
    }
    let match = try QuerySpec.buildMatchQuerySpec(
      soupName: soup, path: "note", matchKey: canary, pageSize: 10)
    #expect(try await store.query(using: match).count == 10)
    try store.database.vacuum()
    #expect(try findings(folder.url, known) == [])
    #expect(try await store.verify().isClean)
    _ = try await store.databaseSize()
    #expect(try findings(folder.url, known) == [])
    try await store.close()
    var maintenance = StoreMaintenance(at: directory)
    maintenance.didTake = { step in
      let found = try findings(url, known)
      #expect(found == [], "\(step)")
    }
    try maintenance.reencrypt(from: CrashScript.provider(0), to: CrashScript.provider(1))
    #expect(try findings(folder.url, known) == [])
  }

  @Test(.covers("SS-40"))
  func `after a store was encrypted no word is in any file`() async throws {
    let known = try known()
    let folder = try TemporaryFolder()
    let directory = folder.file("store")
    let store = try await SmartStore.open(at: directory, encryption: .plaintext)
    try await store.registerSoup(withName: canary, withIndices: .init("name:string"))
    try await store.upsert(entries: entries(200), forSoupNamed: canary)
    try await store.close()
    #expect(try !findings(folder.url, known).isEmpty, "the canary would be found")
    try StoreMaintenance(at: directory).encrypt(CrashScript.provider(0))
    #expect(try findings(folder.url, known) == [])
  }
}
