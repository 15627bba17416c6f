import ArgumentParser
import MobileSync
import SalesforceSDKCommon
import SoqlSyncDown

/// `fieldforce sync`: records down to a soup and up again.
struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Sync soups with the server.",
    subcommands: [
      SyncDownCommand.self, SyncUpCommand.self, SyncLoadCommand.self, SyncRunCommand.self,
      SyncListCommand.self, SyncStatusCommand.self, SyncGhostsCommand.self,
      SyncConflictsCommand.self, SyncResolveCommand.self,
    ])
}

/// A merge mode as an argument.
struct MergeModeArgument: ExpressibleByArgument {
  let mode: SyncMergeMode

  init?(argument: String) {
    guard let mode = SyncMergeMode(rawValue: argument) else { return nil }
    self.mode = mode
  }
}

/// What the commands that make a sync share.
struct NewSyncOptions: ParsableArguments {
  @Option(help: "The soup.") var soup: String
  @Option(help: "OVERWRITE (the default), LEAVE_IF_CHANGED or MERGE_FIELDS.") var mergeMode:
    MergeModeArgument?
  @Option(help: "A name, by which the sync can be run again.") var name: String?

  /// What was asked for, or the default.
  var mode: SyncMergeMode { mergeMode?.mode ?? .overwrite }
}

/// `fieldforce sync down`: makes a sync down and runs it.
struct SyncDownCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "down", abstract: "Bring the records of a SOQL query into a soup.",
    discussion: """
      The soup needs indexes on Id and __local__; one on __sync_id__ (integer) is recommended.
      Example: fieldforce sync down --soup accounts --query 'SELECT Name FROM Account' --name accounts
      """)

  @Option(help: "The SOQL query.") var query: String
  @OptionGroup var sync: NewSyncOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let target = try SoqlSyncDownTarget(query: query)
    try await store.withSyncManager { manager in
      let run = try await manager.syncDown(
        target: target, options: SyncOptions(mergeMode: sync.mode), soupName: sync.soup,
        syncName: sync.name)
      try await manager.follow(run, output)
    }
  }
}

/// `fieldforce sync up`: makes a sync up and runs it.
struct SyncUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "up", abstract: "Send the changed records of a soup.",
    discussion: """
      Example: fieldforce sync up --soup accounts --fields Name Phone --merge-mode LEAVE_IF_CHANGED
      """)

  @Option(parsing: .upToNextOption, help: "The fields to send.") var fields: [String]
  @Flag(help: "Fetch the new modification dates of sent records, so that they can be sent again.")
  var fetchDates = false
  @OptionGroup var sync: NewSyncOptions
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let list = fields.flatMap { $0.split(separator: ",").map(String.init) }
    try await store.withSyncManager { manager in
      let run = try await manager.syncUp(
        options: SyncOptions(
          mergeMode: sync.mode, fieldlist: list, fetchesModificationDates: fetchDates),
        soupName: sync.soup, syncName: sync.name)
      try await manager.follow(run, output)
    }
  }
}

/// `fieldforce sync run`: runs a sync again.
struct SyncRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a sync again, by name or id.",
    discussion: "Example: fieldforce sync run accounts")

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      let state = try await manager.sync(named: sync)
      try await manager.follow(try await manager.reSync(id: state.id), output)
    }
  }
}

/// `fieldforce sync list`: every sync of the store.
struct SyncListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the syncs.",
    discussion: "Example: fieldforce sync list --json")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      let syncs = try await manager.syncs()
      output.print(["syncs": .array(syncs.map { .object($0.json) })]) { syncs.map(\.line) }
    }
  }
}

/// `fieldforce sync status`: one sync, and what became of its records.
struct SyncStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract:
      "Show a sync, by name or id: how far it is, and which records need somebody, and why.",
    discussion: "Example: fieldforce sync status accounts")

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      let report = try await manager.report(forId: try await manager.sync(named: sync).id)
      output.print(report.document) { report.lines }
    }
  }
}

/// `fieldforce sync ghosts`: removes records that the server no longer has.
struct SyncGhostsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ghosts",
    abstract: "Remove records that the server no longer returns for a sync down.",
    discussion: "Example: fieldforce sync ghosts accounts")

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      let removed = try await manager.cleanResyncGhosts(
        forId: try await manager.sync(named: sync).id)
      output.print(["removed": .integer(Int64(removed))]) { ["\(removed) ghosts are removed"] }
    }
  }
}
