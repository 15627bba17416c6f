import ArgumentParser
import MobileSync
import SalesforceSDKCommon

/// `fieldforce sync run`: runs syncs again.
struct SyncRunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run",
    abstract: "Run a sync again, by name or id; or several that belong together.",
    discussion: """
      If the records of several sync ups refer to each other, referenced records are
      uploaded first. Ctrl-C stops a run so that it can resume later, with status
      130. Ends with 3 if some records of a sync up were refused, are in conflict or
      wait; 'sync outcomes' lists them.
      Examples: fieldforce sync run accounts
      fieldforce sync run contacts-up accounts-up
      """)

  @Argument(help: "The sync's name or id.") var syncs: [String]
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      var ids: [Int64] = []
      for sync in syncs { ids.append(try await manager.store.existingSync(sync).id) }
      if ids.count == 1 {
        return try await manager.follow(try await manager.reSync(id: ids[0]), output)
      }
      let related = ids
      let command = "fieldforce sync run \(syncs.joined(separator: " "))"
      let line = ProgressLine(title: counted(ids.count, "sync", plural: "syncs"))
      defer { line.clear() }
      let states = try await manager.stoppable(output, command) {
        try await manager.reSyncRelated(ids: related)
      }
      output.print(["syncs": .array(states.map { .object($0.json) })]) { states.map(\.line) }
      try await manager.checkComplete(states)
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
      let id = try await manager.store.existingSync(sync).id
      let line = ProgressLine(title: "ghosts of \(sync)")
      defer { line.clear() }
      let counts = try await manager.stoppable(output, "fieldforce sync ghosts \(sync)") {
        try await manager.cleanResyncGhostCounts(forId: id)
      }
      let soups = counts.bySoup.sorted { $0.key < $1.key }
      output.print([
        "removed": .integer(Int64(counts.removed)),
        "bySoup": .object(JSONObject(soups.map { ($0.key, .integer(Int64($0.value))) })),
      ]) {
        [counted(counts.removed, "ghost") + " removed"]
          + soups.map { "  \($0.value) from \($0.key)" }
      }
    }
  }
}

/// `fieldforce sync delete`: removes a sync.
struct SyncDeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete", abstract: "Delete a sync; the entries that it downloaded stay.",
    discussion: "Example: fieldforce sync delete accounts")

  @Argument(help: "The sync's name or id.") var sync: String
  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withSyncManager { manager in
      let state = try await manager.store.existingSync(sync)
      try await manager.deleteSync(forId: state.id)
      output.print(["deleted": .string(sync)]) { ["\(sync) is deleted"] }
    }
  }
}
