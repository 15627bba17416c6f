import Foundation
import SalesforceSDKCommon
import StoreCrashScript
import TestSupport
import Testing

@testable import SmartStore

/// Do two processes write to one store as two tasks of one process do?
@Suite(.ownThreads) struct SharedStoreTests {
  private let folder: TemporaryFolder
  private var place: URL { folder.file("store") }

  init() throws { folder = try TemporaryFolder() }

  @Test func `two processes write to one store in turns`() async throws {
    let store = try await SharedWriter.open(place)
    let child = try ChildProcess("StoreCrashChild", ["share", place.path, "child", "7"])
    #expect(child.line() == "ready")
    let writer = SharedWriter(name: "parent", seed: 1)
    var steps = 0
    var said = -1
    while said < 40 || steps < 40 {
      try await writer.run(steps, in: store)
      steps += 1
      if said < 40 { said = Int(child.line() ?? "") ?? said }
    }
    #expect(child.kill())
    while let line = child.line() { said = Int(line) ?? said }
    let found = try await SharedSteps(store)
    #expect(found.steps["parent"] == Set(0..<steps))
    let children = try #require(found.steps["child"])
    #expect(children == Set(0...said) || children == Set(0...(said + 1)))
    #expect(found.total == steps + children.count)
    #expect(try await store.verify().isClean)
    try await store.close()
    let files = StoreMaintenance(at: place)
    #expect(try files.verify(CrashScript.encryption(0)).isClean)
  }

  @Test func `a live query notices what another process commits`() async throws {
    let store = try await SharedWriter.open(place)
    let reader = try await SharedWriter.open(
      place, options: SmartStoreOptions(isReadOnly: true))
    let all = try QuerySpec.buildAllQuerySpec(soupName: SharedWriter.soup, pageSize: 1)
    let counts = store.observe { try $0.count(using: all) }
    let countsOfReader = reader.observe { try $0.count(using: all) }
    var results = counts.makeAsyncIterator()
    var resultsOfReader = countsOfReader.makeAsyncIterator()
    #expect(try await results.next() == 0)
    #expect(try await resultsOfReader.next() == 0)
    let child = try ChildProcess("StoreCrashChild", ["share", place.path, "child", "7"])
    var last: Int64 = 0
    for _ in 0..<3 {
      let next = try #require(try await results.next())
      #expect(next > last && next % 3 == 1)
      last = next
    }
    #expect(try await resultsOfReader.next() ?? 0 > 0)
    #expect(child.kill())
    try await reader.close()
    try await store.close()
  }

  @Test func `the error names a process that hangs in a transaction, and its end frees the store`()
    async throws
  {
    var options = SmartStoreOptions()
    options.otherWritersLimit = .milliseconds(150)
    let store = try await SharedWriter.open(place, options: options)
    let child = try ChildProcess("StoreCrashChild", ["hang", place.path])
    #expect(child.line() == "ready")
    #expect(child.line() == "stopped")
    let error = await #expect(throws: SmartStoreError.self) {
      try await SharedWriter(name: "parent", seed: 1).run(0, in: store)
    }
    #expect(error?.code == .busyOtherProcess)
    #expect(error?.message.contains("process \(child.id) ") == true)
    // Readers do not wait.
    let all = try QuerySpec.buildAllQuerySpec(soupName: SharedWriter.soup, pageSize: 1)
    #expect(try await store.count(using: all) == 0)
    #expect(child.kill())
    try await SharedWriter(name: "parent", seed: 1).run(0, in: store)
    let found = try await SharedSteps(store)
    #expect(found.total == 1 && found.steps == ["parent": [0]])
    #expect(try await store.verify().isClean)
    try await store.close()
  }

  @Test func `a transaction that waits for another process can be cancelled`() async throws {
    let store = try await SharedWriter.open(place)
    let child = try ChildProcess("StoreCrashChild", ["hang", place.path])
    while let line = child.line(), line != "stopped" {}
    let write = Task { try await SharedWriter(name: "parent", seed: 1).run(0, in: store) }
    // It waits when it is the next in the queue.
    let queue = place.appending(path: "store.queue").path
    try await poll { try FileLock.take(queue) == nil }
    write.cancel()
    await #expect(throws: CancellationError.self) { try await write.value }
    #expect(child.kill())
    try await store.close()
  }

  @Test func `what needs the store alone is refused while another process has it open`()
    async throws
  {
    let store = try await SharedWriter.open(place)
    let child = try ChildProcess("StoreCrashChild", ["share", place.path, "child", "7"])
    #expect(child.line() == "ready")
    let specs = [SoupIndex(path: "key", type: .string), SoupIndex(path: "other", type: .string)]
    func alter() async throws {
      try await store.alterSoup(named: SharedWriter.soup, indexSpecs: specs, reIndexData: true)
    }
    func registerFiles() async throws {
      try await store.registerSoup(
        withSpec: SoupSpec(name: "files", features: [SoupSpec.featureExternalStorage]),
        withIndices: [SoupIndex(path: "key", type: .string)])
    }
    for work in [alter, registerFiles, store.resumeLongOperations] {
      let error = await #expect(throws: SmartStoreError.self) { try await work() }
      #expect(error?.code == .busyOtherProcess)
    }
    let files = StoreMaintenance(at: place)
    let error = #expect(throws: SmartStoreError.self) {
      try files.changeKey(from: CrashScript.provider(0), to: CrashScript.provider(1))
    }
    #expect(error?.code == .busyOtherProcess)
    // The attempts took nothing away from this process.
    try await SharedWriter(name: "parent", seed: 1).run(0, in: store)
    #expect(child.kill())
    try await alter()
    try await registerFiles()
    // From now on no other process may write.
    let late = try ChildProcess("StoreCrashChild", ["share", place.path, "late", "7"])
    #expect(late.line() == "busyOtherProcess")
    #expect(try await store.verify().isClean)
    try await store.close()
  }

  @Test func `a process that keeps others out is alone`() async throws {
    var options = SmartStoreOptions()
    options.keepsOthersOut = true
    let store = try await SharedWriter.open(place, options: options)
    let child = try ChildProcess("StoreCrashChild", ["share", place.path, "child", "7"])
    #expect(child.line() == "busyOtherProcess")
    try await store.close()
    let second = try ChildProcess("StoreCrashChild", ["share", place.path, "child", "7"])
    #expect(second.line() == "ready")
    await #expect(throws: SmartStoreError.self) {
      try await SharedWriter.open(place, options: options)
    }
    #expect(second.kill())
  }
}

/// The steps of ``SharedWriter`` that a store holds.
struct SharedSteps {
  /// The numbers of the steps, by the name of their process; those that are not there as a whole are left out.
  var steps: [String: Set<Int>] = [:]
  /// What the processes counted together.
  var total = 0

  init(_ store: SmartStore) async throws {
    let spec = try QuerySpec.buildAllQuerySpec(
      soupName: SharedWriter.soup, orderPath: "key", pageSize: 1_000_000)
    var parts: [String: Int] = [:]
    for entry in try await store.queryEntries(using: spec) {
      let key = entry["key"]?.string ?? ""
      if key == SharedWriter.total {
        total = Int(entry["steps"]?.int64 ?? -1)
      } else {
        parts[key.split(separator: "-").dropLast().joined(separator: "-"), default: 0] += 1
      }
    }
    for (step, count) in parts where count == SharedWriter.entriesPerStep {
      let words = step.split(separator: "-")
      steps[String(words[0]), default: []].insert(Int(words[1]) ?? -1)
    }
    // A step that is not whole makes the total wrong.
    if parts.values.contains(where: { $0 != SharedWriter.entriesPerStep }) { total = -1 }
  }
}
