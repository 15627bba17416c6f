import ArgumentParser
import SalesforceSDKCommon
import SmartStore

/// `fieldforce store encrypt`: a plaintext state folder becomes an encrypted one.
struct StoreEncryptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "encrypt", abstract: "Encrypt all stores of a plaintext state folder.",
    discussion: """
      What is encrypted is checked first: schema, entries and indexes. Interrupted,
      repeat it.
      Example: fieldforce store encrypt --state notes
      """)

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    let count = try await Workspace.encrypt(state.folder, keepers: try state.keepers)
    output.print(["encrypted": .integer(Int64(count))]) {
      ["\(counted(count, "store")) encrypted; later commands need no --plaintext"]
    }
  }
}

/// `fieldforce store reencrypt`: a new data key for a store.
struct StoreReencryptCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reencrypt", abstract: "Encrypt every page of a store with a new key.",
    discussion: """
      Necessary when a store reports that its key has encrypted as many pages as is
      safe. The store is copied first, so it needs as much free space again.
      Interrupted, repeat it.
      Example: fieldforce store reencrypt --store orders
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.state.withWorkspace { try await $0.reencrypt(store) }
    let name = store.store ?? SmartStore.defaultStoreName
    output.print(["reencrypted": .string(name)]) { ["store \(name) has a new key"] }
  }
}

/// `fieldforce store accept-restored`: accepts files that were restored from a backup.
struct StoreAcceptRestoredCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept-restored",
    abstract: "Accept the files of a store that you restored from a backup.",
    discussion: """
      A store refuses files that are older than those it has known, since they may
      have been exchanged. Only for files that you restored yourself: what was
      written since the backup is lost. Files of another account or store are
      refused all the same.
      Example: fieldforce store accept-restored --store orders
      """)

  @OptionGroup var store: StoreOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await store.state.withWorkspace { try await $0.acceptRestoredFiles(store) }
    let name = store.store ?? SmartStore.defaultStoreName
    output.print(["accepted": .string(name)]) {
      ["the files of store \(name) are accepted when it is opened next"]
    }
  }
}
