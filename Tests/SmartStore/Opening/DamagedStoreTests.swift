import Crypto
import Foundation
import SalesforceSDKCommon
import TestSupport
import Testing

@testable import SmartStore

/// Does a damaged store leave every file as it is, whatever is called?
struct DamagedStoreTests {
  private static let soup = "notes"
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder(inMemory: true) }

  /// The files of a store by name; with a log, as after a crash.
  private func makeFiles(
    withLog: Bool, _ encryption: StoreEncryption = testEncryption
  ) async throws -> [String: Data] {
    let directory = folder.file(UUID().uuidString)
    let store = try await SmartStore.open(at: directory, encryption: encryption)
    try await store.registerSoup(
      withName: Self.soup, withIndices: .init("key:integer", "text:string", "words:full_text"))
    try await store.upsert(entries: (0..<60).map(element), forSoupNamed: Self.soup)
    if withLog {
      _ = try await store.databaseSize()
      try await store.upsert(entries: (60..<80).map(element), forSoupNamed: Self.soup)
    } else {
      try await store.close()
    }
    let files = try contents(of: directory)
    try await store.close()
    return files
  }

  private func element(_ key: Int) -> JSONValue {
    let words = (0..<60).map { "word\(($0 * 7 + key) % 53)" }.joined(separator: " ")
    return [
      "key": .integer(Int64(key)), "text": .string("\(key) \(words)"), "words": .string(words),
    ]
  }

  /// The files of a folder but the index of the log, which SQLite rebuilds whenever it opens a store.
  private func contents(of directory: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
    where !name.hasSuffix("-shm") {
      files[name] = try Data(contentsOf: directory.appendingPathComponent(name))
    }
    return files
  }

  private func place(_ files: [String: Data]) throws -> URL {
    let directory = folder.file("damaged")
    try? FileManager.default.removeItem(at: directory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: directory.appendingPathComponent(name)) }
    return directory
  }

  /// Every damage to the pages of a database, by name.
  private func damages(_ whole: Data, foreign: Data) -> [(name: String, data: Data)] {
    let size = PageFormat.pageSize
    let count = whole.count / size
    func page(_ number: Int, of data: Data) -> Data { data[number * size..<(number + 1) * size] }
    var damages: [(String, Data)] = [
      ("cut within a page", whole.dropLast(100)), ("without its last page", whole.dropLast(size)),
    ]
    for number in 0..<count {
      var flipped = whole
      flipped[number * size + (number == 0 ? 200 : 7)] ^= 4
      damages.append(("page \(number + 1) changed", flipped))
      if number > 0, (number + 1) * size <= foreign.count {
        var mixed = whole
        mixed.replaceSubrange(number * size..<(number + 1) * size, with: page(number, of: foreign))
        damages.append(("page \(number + 1) of another store", mixed))
      }
      if number > 1 {
        var swapped = whole
        swapped.replaceSubrange(
          number * size..<(number + 1) * size, with: page(number - 1, of: whole))
        swapped.replaceSubrange(
          (number - 1) * size..<number * size, with: page(number, of: whole))
        damages.append(("pages \(number) and \(number + 1) swapped", swapped))
      }
    }
    return damages
  }

  @Test(arguments: [false, true])
  func `a check of a damaged store finds the damage and changes no file`(
    withLog: Bool
  ) async throws {
    var files = try await makeFiles(withLog: withLog)
    let other = try await makeFiles(withLog: false)
    let whole = try #require(files["store.sqlite"])
    for (name, data) in damages(whole, foreign: try #require(other["store.sqlite"])) {
      files["store.sqlite"] = data
      let directory = try place(files)
      let report = try StoreMaintenance(at: directory).verify(testEncryption)
      // With a log, what it holds takes the place of the page.
      if !withLog { #expect(!report.isClean, "\(name)") }
      let after = try contents(of: directory)
      #expect(withoutLocks(after) == withoutLocks(files), "\(name)")
    }
  }

  @Test(arguments: [false, true])
  func `a write that meets a damaged page changes no file`(withLog: Bool) async throws {
    var files = try await makeFiles(withLog: withLog)
    let other = try await makeFiles(withLog: false)
    let whole = try #require(files["store.sqlite"])
    var refused = 0
    for (name, data) in damages(whole, foreign: try #require(other["store.sqlite"])) {
      files["store.sqlite"] = data
      let directory = try place(files)
      do {
        let store = try await SmartStore.open(at: directory, encryption: testEncryption)
        do {
          _ = try await store.upsert(
            entries: (0..<60).map(element), forSoupNamed: Self.soup, withExternalIdPath: "key")
          try await store.close()
          // It met no damage.
          continue
        } catch {
          try? await store.close()
        }
      } catch {
        // It does not open.
      }
      refused += 1
      let after = try contents(of: directory)
      #expect(withoutLocks(after) == withoutLocks(files), "\(name)")
    }
    #expect(refused > 5)
  }

  /// The files that are not empty, and not only there to be locked.
  private func withoutLocks(_ files: [String: Data]) -> [String: Data] {
    files.filter { !$0.value.isEmpty && !StoreFolder.lockFiles.contains($0.key) }
  }

  @Test func `a store that is opened to write and closed changes no file`() async throws {
    let files = try await makeFiles(withLog: false)
    let directory = try place(files)
    let store = try await SmartStore.open(at: directory, encryption: testEncryption)
    #expect(try await store.elements(of: Self.soup).count == 60)
    #expect(try await store.verify().isClean)
    try await store.close()
    let after = try contents(of: directory)
    #expect(withoutLocks(after) == withoutLocks(files))
  }

  @Test(arguments: [false, true])
  func `a check of a whole store changes no file, encrypted or not`(isPlain: Bool) async throws {
    let encryption = isPlain ? StoreEncryption.plaintext : testEncryption
    for withLog in [false, true] {
      let files = try await makeFiles(withLog: withLog, encryption)
      let directory = try place(files)
      let report = try StoreMaintenance(at: directory).verify(encryption)
      #expect(report.isClean, "\(report.findings)")
      #expect(report.elements == (withLog ? 80 : 60))
      let after = try contents(of: directory)
      #expect(withoutLocks(after) == withoutLocks(files))
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
      #expect(!names.contains("store.sqlite-shm"))
      #expect(withLog || !names.contains("store.sqlite-wal"))
    }
  }

  @Test func `damage that another process reads past is found by a concurrent check`() async throws
  {
    let files = try await makeFiles(withLog: false)
    let directory = try place(files)
    let reader = try await SmartStore.open(
      at: directory, encryption: testEncryption, options: SmartStoreOptions(isReadOnly: true))
    #expect(try await reader.elements(of: Self.soup).count == 60)
    let report = try StoreMaintenance(at: directory).verify(testEncryption)
    #expect(report.isClean, "\(report.findings)")
    try await reader.close()
  }
}
