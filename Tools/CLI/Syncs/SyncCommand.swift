import ArgumentParser

/// `fieldforce sync`: records down to a soup and up again.
struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync", abstract: "Sync soups with the server.",
    subcommands: [
      SyncDownCommand.self, SyncUpCommand.self, SyncLoadCommand.self, SyncRunCommand.self,
      SyncListCommand.self, SyncStatusCommand.self, SyncDiffCommand.self, SyncOutcomesCommand.self,
      SyncGhostsCommand.self, SyncConflictsCommand.self, SyncResolveCommand.self,
      SyncChangeCommand.self, SyncDeleteCommand.self,
    ])
}
