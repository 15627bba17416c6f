import Foundation
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore
@testable import SmartStoreTests

/// Is every change to a store's files that was made without its key noticed, or without effect?
@Suite(.ownThreads) struct TamperingProof {
  private let folder: TemporaryFolder
  private let script = CrashScript(seed: Effort.seed(33))
  private let encryption = StoreEncryption.encrypted(CrashScript.provider(0))

  init() throws { folder = try TemporaryFolder(inMemory: true) }

  /// The files of a store by name, after some steps; with a log, as after a crash.
  private func makeFiles(
    steps: Int, withLog: Bool
  ) async throws -> (files: [String: Data], states: [CrashModel]) {
    let directory = folder.file(UUID().uuidString)
    var writer = CrashWriter(folder: directory, script: script, key: 0)
    writer.usesFiles = false
    writer.checkpointPages = 100_000
    try await writer.open()
    var states = [CrashModel()]
    for step in 0..<steps {
      let action = CrashScript.Action.upsert([step % 20, step % 7 + 20])
      try await writer.run(action, step: step)
      states.append((states.last ?? CrashModel()).after(action, step: step))
    }
    if !withLog { try await writer.close() }
    var files: [String: Data] = [:]
    for name in ["store.sqlite", "store.sqlite-wal", "store.key"] {
      files[name] = try? Data(contentsOf: directory.appendingPathComponent(name))
    }
    if withLog { try await writer.close() }
    return (files, states)
  }

  private func place(_ files: [String: Data]) throws -> URL {
    let directory = folder.file("damaged")
    try? FileManager.default.removeItem(at: directory)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (name, data) in files { try data.write(to: directory.appendingPathComponent(name)) }
    return directory
  }

  private func flipBit(
    in data: Data?, using random: inout SeededGenerator
  ) throws -> (data: Data, byte: Int) {
    var damaged = try #require(data)
    let byte = Int.random(in: damaged.indices, using: &random)
    damaged[byte] ^= 1 << UInt8.random(in: 0...7, using: &random)
    return (damaged, byte)
  }

  @Test(.covers("SS-26"))
  func `every flipped bit of the database is found by a check`() async throws {
    var (files, _) = try await makeFiles(steps: 40, withLog: false)
    let whole = files["store.sqlite"]
    var random = SeededGenerator(seed: script.seed)
    for _ in 0..<Effort.times(400) {
      let (damaged, byte) = try flipBit(in: whole, using: &random)
      files["store.sqlite"] = damaged
      let report = try StoreMaintenance(at: try place(files)).verify(encryption)
      let page = UInt32(byte / PageFormat.pageSize) + 1
      #expect(
        report.findings.contains { $0.page == page || $0.kind == .structure },
        "byte \(byte), seed \(script.seed)")
    }
  }

  @Test(.covers("SS-26"))
  func `a flipped bit of the log costs at most the last two steps, or is found`()
    async throws
  {
    var (files, states) = try await makeFiles(steps: 25, withLog: true)
    let whole = files["store.sqlite-wal"]
    var random = SeededGenerator(seed: script.seed)
    var found = 0
    for _ in 0..<Effort.times(400) {
      let (damaged, byte) = try flipBit(in: whole, using: &random)
      files["store.sqlite-wal"] = damaged
      let directory = try place(files)
      let store = try await SmartStore.open(at: directory, encryption: encryption)
      let model = try await CrashModel.found(in: store, key: 0, script: script)
      #expect(states.contains(model), "byte \(byte), seed \(script.seed)")
      let report = try await store.verify()
      if report.findings.contains(where: { $0.kind == .log }) {
        found += 1
        // Nothing is thrown away that may still be read by hand.
        let kept = try Data(contentsOf: directory.appending(path: "store.sqlite-wal.damaged-1"))
        #expect(kept == damaged)
      } else {
        // A torn write looks the same.
        #expect(states.suffix(3).contains(model), "byte \(byte), seed \(script.seed)")
      }
      #expect(report.findings.allSatisfy { $0.kind == .log })
      try await store.close()
    }
    #expect(found > Effort.times(300))
  }

  @Test(.covers("SS-26"))
  func `every flipped bit of the key file is told, and leaves the files alone`()
    async throws
  {
    var (files, _) = try await makeFiles(steps: 3, withLog: false)
    let whole = files["store.key"]
    var random = SeededGenerator(seed: script.seed)
    for _ in 0..<Effort.times(200) {
      let (damaged, byte) = try flipBit(in: whole, using: &random)
      files["store.key"] = damaged
      let directory = try place(files)
      await expectFailure(.corruptKeyFile) {
        _ = try await SmartStore.open(at: directory, encryption: encryption)
      }
      for (name, data) in files {
        #expect(
          try Data(contentsOf: directory.appendingPathComponent(name)) == data,
          "byte \(byte), seed \(script.seed)")
      }
    }
  }

  @Test(.covers("SS-26"))
  func `any two pages swapped within a store are found`() async throws {
    var (files, _) = try await makeFiles(steps: 40, withLog: false)
    let whole = try #require(files["store.sqlite"])
    let count = whole.count / PageFormat.pageSize
    var random = SeededGenerator(seed: script.seed)
    for _ in 0..<Effort.times(20) {
      let first = Int.random(in: 0..<count, using: &random)
      let second = (first + Int.random(in: 1..<count, using: &random)) % count
      var swapped = whole
      swapped.replaceSubrange(range(of: first), with: whole[range(of: second)])
      swapped.replaceSubrange(range(of: second), with: whole[range(of: first)])
      files["store.sqlite"] = swapped
      let report = try StoreMaintenance(at: try place(files)).verify(encryption)
      // Without its first page a file is no database at all.
      let isWithoutStart = report.findings.contains { $0.kind == .structure } && first * second == 0
      for page in [first, second] {
        #expect(
          isWithoutStart || report.findings.contains { $0.page == UInt32(page + 1) },
          "pages \(first) and \(second), seed \(script.seed)")
      }
    }
  }

  @Test(.covers("SS-26"))
  func `a page of another store with the same key is found in any place`() async throws {
    var (files, _) = try await makeFiles(steps: 30, withLog: false)
    let (others, _) = try await makeFiles(steps: 30, withLog: false)
    let whole = try #require(files["store.sqlite"])
    let foreign = try #require(others["store.sqlite"])
    for page in 1..<min(whole.count, foreign.count) / PageFormat.pageSize {
      var mixed = whole
      mixed.replaceSubrange(range(of: page), with: foreign[range(of: page)])
      files["store.sqlite"] = mixed
      let report = try StoreMaintenance(at: try place(files)).verify(encryption)
      #expect(report.findings.contains { $0.page == UInt32(page + 1) }, "page \(page)")
    }
    // Nor do the key file or the log of the other one fit.
    files["store.sqlite"] = whole
    files["store.key"] = others["store.key"]
    let report = try StoreMaintenance(at: try place(files)).verify(encryption)
    #expect(!report.isClean)
  }

  @Test(.covers("SS-193"))
  func `every flipped bit of an element's file is found, and so is a swap`()
    async throws
  {
    let directory = folder.file("external")
    var writer = CrashWriter(folder: directory, script: script, key: 0)
    try await writer.open()
    try await writer.run(.upsert(Array(0..<10)), step: 0)
    try await writer.close()
    // The third of the soups that the writer registers.
    let files = directory.appendingPathComponent("store_external_soup_blobs/TABLE_3")
    let names = try FileManager.default.contentsOfDirectory(atPath: files.path).sorted()
    #expect(names.count == 10)
    var random = SeededGenerator(seed: script.seed)
    for _ in 0..<Effort.times(100) {
      let name = try #require(names.randomElement(using: &random))
      let path = files.appendingPathComponent(name)
      let whole = try Data(contentsOf: path)
      let (damaged, byte) = try flipBit(in: whole, using: &random)
      try damaged.write(to: path)
      let report = try StoreMaintenance(at: directory).verify(encryption)
      let finding = report.findings.first
      #expect(report.findingCount == 1, "\(name), byte \(byte), seed \(script.seed)")
      #expect(finding?.soup == CrashScript.externalSoup.name)
      #expect(finding?.entryId.map { "soupelt_\($0)" } == name)
      try whole.write(to: path)
    }
    let (first, second) = (
      files.appendingPathComponent(names[0]), files.appendingPathComponent(names[1])
    )
    let contents = (try Data(contentsOf: first), try Data(contentsOf: second))
    try contents.1.write(to: first)
    try contents.0.write(to: second)
    #expect(try StoreMaintenance(at: directory).verify(encryption).findingCount == 2)
  }

  private func range(of page: Int) -> Range<Int> {
    page * PageFormat.pageSize..<(page + 1) * PageFormat.pageSize
  }
}
