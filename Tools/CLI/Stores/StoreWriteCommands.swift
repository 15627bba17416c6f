import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store upsert`: JSON lines from standard input into a soup, all or none.
struct StoreUpsertCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upsert",
    abstract: "Insert or update entries, one JSON object per line: all or none.",
    discussion: """
      An object replaces the whole entry that has its id; 'store edit' changes
      single fields.
      Example: fieldforce store upsert accounts --external-id Id < accounts.jsonl
      """)

  @Argument(help: "The soup's name.") var soup: String
  @Option(help: "An indexed path that identifies the entry to update.") var externalId: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let input = StandardInput.all()
    var elements: [JSONSlice] = []
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where line.contains(where: { $0 > 0x20 }) {
      do {
        elements.append(try JSONSlice(parsing: Array(line)))
      } catch {
        throw CommandFailure(.invalidEntry, "Invalid entry in line \(index + 1): \(error.message)")
      }
    }
    let batch = elements
    try await store.withStore { store in
      let ids = try await store.upsert(
        slices: batch, soup: soup, externalIdPath: externalId)
      output.print([
        "upserted": .integer(Int64(ids.count)), "ids": .array(ids.map { .integer($0) }),
      ]) { [counted(ids.count, "entry", plural: "entries") + " stored"] }
    }
  }
}

/// `fieldforce store remove`: removes entries by id or by query.
struct StoreRemoveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove entries by id, or the first page of a query.",
    discussion: "Example: fieldforce store remove accounts --id 3 --id 4")

  @Argument(help: "The soup's name.") var soup: String
  @Option(name: .customLong("id"), help: "An entry id; may be repeated.") var ids: [Int64] = []
  @Option(help: "A query spec in JSON.") var spec: String?
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard ids.isEmpty != (spec == nil) else { throw ValidationError("Give --id or --spec.") }
  }

  func run() async throws {
    try await store.withStore { store in
      if let spec {
        let removed = try await store.removeEntries(
          usingQuerySpec: try QuerySpec(text: spec, soupName: soup), forSoupNamed: soup)
        output.print(["removed": .integer(Int64(removed))]) { Self.lines(removed) }
      } else {
        let removed = try await remove(from: store)
        let missing = Set(ids).subtracting(removed).sorted()
        output.print([
          "removed": .integer(Int64(removed.count)),
          "ids": .array(removed.map { .integer($0) }),
          "missing": .array(missing.map { .integer($0) }),
        ]) {
          Self.lines(removed.count) + missing.map { "there was no entry with id \($0)" }
        }
      }
    }
  }

  /// Removes the entries with the given ids, and returns the ids that existed.
  private func remove(from store: SmartStore) async throws -> [Int64] {
    try await store.inTransaction { transaction in
      let found = try transaction.retrieve(usingSoupEntryIds: ids, fromSoupNamed: soup)
        .compactMap { $0[SmartStore.soupEntryId]?.int64 }
      try transaction.remove(entryIds: found, forSoupNamed: soup)
      return found
    }
  }

  private static func lines(_ removed: Int) -> [String] {
    [
      removed == 0
        ? "no entry to remove" : counted(removed, "entry", plural: "entries") + " removed"
    ]
  }
}
