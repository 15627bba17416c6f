package import Foundation
import SalesforceSDKCommon
package import SmartStore

/// One of several processes that write to the same store.
///
/// Each step is one transaction: it creates three entries and adds 1 to a number that all processes count in. So
/// whatever ends a process, each of its steps is there as a whole or not at all, and the number is that of the steps.
package struct SharedWriter: Sendable {
  package static let soup = "shared"
  /// The key of the entry with the number.
  package static let total = "total"
  package static let entriesPerStep = 3

  /// Tells the processes apart.
  package let name: String
  private let seed: UInt64

  package init(name: String, seed: UInt64) {
    self.name = name
    self.seed = seed
  }

  /// Opens the store, together with other processes. Its WAL is short, so that each of them checkpoints it often.
  package static func open(
    _ folder: URL, options: SmartStoreOptions = SmartStoreOptions()
  ) async throws -> SmartStore {
    var files = StoreDatabaseOptions()
    files.checkpointPages = 60
    files.checkpointInterval = CrashWriter.shortInterval
    files.isShared = !options.keepsOthersOut
    files.turnLimit = options.otherWritersLimit
    let store = try await SmartStore.open(
      at: folder, encryption: CrashScript.encryption(0), options: options, files: files)
    if options.isReadOnly { return store }
    try await store.registerSoup(
      withName: soup,
      withIndices: [
        SoupIndex(path: "key", type: .string), SoupIndex(path: "words", type: .fullText),
      ])
    return store
  }

  /// Begins a transaction and runs `body` in it.
  package static func pause(in store: SmartStore, _ body: @Sendable () -> Void) async throws {
    try await store.inTransaction { transaction in
      try transaction.upsert(entries: [["key": "pause"]], forSoupNamed: soup)
      body()
    }
  }

  /// Does one step.
  package func run(_ step: Int, in store: SmartStore) async throws {
    let number = (seed &+ UInt64(step)) &* 0x9E37_79B9_7F4A_7C15 >> 32
    let durability = number % 3 == 0 ? Durability.normal : .full
    let text = String(repeating: "word\(number % 97) ", count: Int(number % 80))
    try await store.inTransaction(durability: durability) { transaction in
      let id = try transaction.lookupSoupEntryId(
        soupNamed: Self.soup, fieldPath: "key", fieldValue: .string(Self.total))
      let known = try id.flatMap { id in
        try transaction.retrieve(usingSoupEntryIds: [id], fromSoupNamed: Self.soup).first
      }
      let entries = (0..<Self.entriesPerStep).map { part -> JSONValue in
        ["key": .string("\(name)-\(step)-\(part)"), "words": .string(text)]
      }
      let total = (known?["steps"]?.int64 ?? 0) + 1
      try transaction.upsert(
        entries: entries + [["key": .string(Self.total), "steps": .integer(total)]],
        forSoupNamed: Self.soup, withExternalIdPath: "key")
    }
    if number % 11 == 0 { _ = try await store.databaseSize() }
  }
}
