import ArgumentParser
import MobileSync
import SalesforceSDKCommon

/// `fieldforce sync list`: every sync of the store.
struct SyncListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the syncs, also while some of them run.",
    discussion: "Example: fieldforce sync list --json")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncsToRead { store, _ in
      let syncs = try await store.syncs()
      let document: JSONValue = ["syncs": .array(syncs.map { .object($0.json) })]
      guard Terminal.output.isTerminal else { return output.print(document) { syncs.map(\.line) } }
      output.print(document, empty: "no syncs") { .of(syncs) }
    }
  }
}

/// `fieldforce sync status`: one sync, and the outcomes of its records.
struct SyncStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract:
      "Show a sync, by name or id: its progress, and the records that need attention.",
    discussion: """
      It also works while the sync runs in another terminal.
      Example: fieldforce sync status accounts
      """)

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncsToRead { store, registry in
      let report = try await store.syncReport(
        forId: try await store.existingSync(sync).id, registry: registry)
      output.print(report.document) { report.lines }
    }
  }
}

/// `fieldforce sync outcomes`: the outcome of each record in a sync up's last run.
struct SyncOutcomesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "outcomes",
    abstract: "List the outcome of each record in the last run of a sync up.",
    discussion: "Example: fieldforce sync outcomes accounts-up")

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncsToRead { store, _ in
      let outcomes = try await store.syncOutcomes(
        forId: try await store.existingSync(sync).id)
      let document: JSONValue = ["outcomes": .array(outcomes.map(\.document))]
      guard Terminal.output.isTerminal else {
        return output.print(document) {
          outcomes.isEmpty ? ["no outcomes"] : outcomes.map(\.line)
        }
      }
      output.print(document, empty: "no outcomes") { .of(outcomes) }
    }
  }
}
