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

  private static let names = [
    "store.sqlite", "store.sqlite-anchor", "store.sqlite-wal", "store.key",
  ]

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
    for name in Self.names {
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

  /// Opening refuses the files and a check names the log; no file is changed.
  private func expectRefusal(_ files: [String: Data], _ comment: Comment) async throws {
    let directory = try place(files)
    do {
      try await SmartStore.open(at: directory, encryption: encryption).close()
      Issue.record(comment)
    } catch {
      #expect(error.code == .corruptLog, comment)
    }
    let report = try StoreMaintenance(at: directory).verify(encryption)
    #expect(report.findings.contains { $0.kind == .log }, comment)
    for (name, data) in files {
      #expect(try Data(contentsOf: directory.appendingPathComponent(name)) == data, comment)
    }
  }

  @Test(.covers("SS-26"))
  func `every flipped bit of the log is refused, and leaves the files alone`()
    async throws
  {
    var (files, _) = try await makeFiles(steps: 25, withLog: true)
    let whole = files["store.sqlite-wal"]
    var random = SeededGenerator(seed: script.seed)
    for _ in 0..<Effort.times(200) {
      let (damaged, byte) = try flipBit(in: whole, using: &random)
      files["store.sqlite-wal"] = damaged
      try await expectRefusal(files, "byte \(byte), seed \(script.seed)")
    }
  }

  @Test(.covers("SS-26"))
  func `a log that is removed, cut at any frame or exchanged is refused`() async throws {
    let (files, states) = try await makeFiles(steps: 12, withLog: true)
    let (others, _) = try await makeFiles(steps: 12, withLog: true)
    let whole = try #require(files["store.sqlite-wal"])
    var changed = files
    changed["store.sqlite-wal"] = nil
    try await expectRefusal(changed, "removed")
    for size in stride(from: PageFormat.logHeaderSize, to: whole.count, by: PageFormat.frameSize) {
      changed["store.sqlite-wal"] = whole.prefix(size)
      try await expectRefusal(changed, "\(size) of \(whole.count) bytes, seed \(script.seed)")
    }
    changed["store.sqlite-wal"] = others["store.sqlite-wal"]
    try await expectRefusal(changed, "another store's")
    // Later sessions, in each of which a log begins, and is left by a crash or gone.
    let directory = folder.file("session")
    try FileManager.default.moveItem(at: try place(files), to: directory)
    for step in 12..<18 {
      var writer = CrashWriter(folder: directory, script: script, key: 0)
      writer.usesFiles = false
      try await writer.open()
      try await writer.run(.upsert(Array(0..<20)), step: step)
      let crashed = folder.file("crashed")
      try? FileManager.default.removeItem(at: crashed)
      try FileManager.default.copyItem(at: directory, to: crashed)
      try await writer.close()
      for place in [crashed, directory] {
        var later: [String: Data] = [:]
        for name in Self.names {
          later[name] = try? Data(contentsOf: place.appendingPathComponent(name))
        }
        // The first session here continues the WAL that was there.
        if step > 12 || later["store.sqlite-wal"] == nil {
          later["store.sqlite-wal"] = whole
          try await expectRefusal(later, "an older one, step \(step)")
        }
      }
    }
    #expect(states.count == 13)
  }

  @Test(.covers("SS-26"))
  func `every flipped bit of the key file is reported, and leaves the files alone`()
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
  func `every flipped bit of an entry's file is found, and so is a swap`()
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
