import ArgumentParser
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store`: commands for stores and their entries.
struct StoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store", abstract: "Query and change a store; list stores.",
    subcommands: [
      StoreQueryCommand.self, StoreCreateCommand.self, StoreEditCommand.self,
      StoreDeleteCommand.self,
      StoreUndoCommand.self, StoreUpsertCommand.self, StoreRemoveCommand.self,
      StoreListCommand.self, StoreSizeCommand.self, StoreVerifyCommand.self,
      StoreEncryptCommand.self, StoreReencryptCommand.self, StoreAcceptLossCommand.self,
      StoreAcceptRestoredCommand.self,
    ])
}

/// `fieldforce store list`: the names of the stores.
struct StoreListCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the stores.",
    discussion: "Example: fieldforce store list --global")

  @Flag(help: "The app's own stores instead of the current user's.") var global = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let names =
        if global { try workspace.stores.allGlobalStoreNames() } else {
          try workspace.stores.allStoreNames(
            forUserAccount: StoreOwner(try await workspace.currentAccount()))
        }
      let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      output.print(["stores": .array(sorted.map { .string($0) })], empty: "no stores") {
        Table(["STORE"], sorted.map { [$0] })
      }
    }
  }
}

/// `fieldforce store size`: the bytes on disk.
struct StoreSizeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "size", abstract: "Print a store's size in bytes.",
    discussion: "Example: fieldforce store size --store orders")

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.withStoreToRead { store in
      let bytes = try await store.databaseSize()
      output.print(["bytes": .integer(Int64(clamping: bytes))]) { ["\(bytes) bytes"] }
    }
  }
}
