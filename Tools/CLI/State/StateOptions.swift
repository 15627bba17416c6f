import ArgumentParser
import FieldforceInspector
import Foundation
import MobileSync
import SmartStore

/// The location of accounts, keys and stores for a command.
struct StateOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The folder of accounts, keys and stores.",
      discussion: "Default: fieldforce in the XDG state folder."),
    completion: .directory)
  var state: String?

  @Flag(
    help: "Create a state folder with plaintext stores, or use an existing one.")
  var plaintext = false

  @Option(
    help: ArgumentHelp(
      "What keeps the master key: file, secret-service, passphrase, passphrase-fd:N, credential:NAME.",
      discussion: """
        Several, separated by commas, are tried in this order for a new folder.
        Default: the variable FIELDFORCE_SECRETS, else file. 'fieldforce keys' shows
        the keeper of a folder and moves the key.
        """))
  var secrets: KeeperChoice?

  @Option(
    help: ArgumentHelp(
      "The passcode of a locked folder: @FILE, or - for a line of standard input.",
      discussion:
        "Default: a question at the terminal. 'fieldforce lock' says when a folder is locked."))
  var passcode: String?

  @Option(help: .hidden)
  var newPasscode: String?

  func validate() throws {
    try SecretArgument.check(passcode, option: "--passcode")
    try SecretArgument.check(newPasscode, option: "--new-passcode")
  }

  /// The keepers that may store the master key.
  var keepers: KeeperChoice {
    get throws {
      if let secrets { return secrets }
      guard let text = ProcessInfo.processInfo.environment["FIELDFORCE_SECRETS"], !text.isEmpty
      else {
        return KeeperChoice()
      }
      return try KeeperChoice(parsing: text)
    }
  }

  /// The folder, whether it exists or not.
  var folder: URL {
    if let state { return URL(filePath: state) }
    let environment = ProcessInfo.processInfo.environment
    if let base = environment["XDG_STATE_HOME"], base.hasPrefix("/") {
      return URL(filePath: base).appending(path: "fieldforce")
    }
    return URL.homeDirectory.appending(path: ".local/state/fieldforce")
  }

  /// Opens the folder, calls a closure with its content, and closes everything afterwards.
  ///
  /// - Parameter isReadOnly: Whether nothing in the folder is created or changed.
  func withWorkspace<Result>(
    recorder: InspectorRecorder? = nil, isReadOnly: Bool = false,
    _ body: (Workspace) async throws -> Result
  ) async throws -> Result {
    let workspace = try await Workspace(
      folder: folder, wantsPlaintext: plaintext, keepers: try keepers,
      passcode: CommandPasscode(
        passcode: try passcode.map { try SecretArgument.read($0, "passcode") },
        new: try newPasscode.map { try SecretArgument.read($0, "passcode") }),
      recorder: recorder, isReadOnly: isReadOnly)
    async let _: Void = workspace.followManaged()
    do {
      let result = try await body(workspace)
      try await workspace.close()
      return result
    } catch {
      try? await workspace.close()
      throw error
    }
  }
}

/// The store of a command: the current user's default store unless another is named.
struct StoreOptions: ParsableArguments {
  @OptionGroup var state: StateOptions

  @Option(help: "The store's name.")
  var store: String?

  @Flag(help: "The app's own store, which needs no login.")
  var global = false
}

extension StoreOptions {
  /// Opens the store read-only and calls a closure with it.
  func withStoreToRead(_ body: (SmartStore) async throws -> Void) async throws {
    try await state.withWorkspace { workspace in
      try await body(try await workspace.storeToRead(self))
    }
  }

  /// Opens the store and calls a closure with it.
  func withStore(_ body: (SmartStore) async throws -> Void) async throws {
    try await state.withWorkspace { workspace in
      try await body(try await workspace.store(self))
    }
  }

  /// Opens the store and calls a closure with its sync manager, which sends requests as the current user.
  func withSyncManager(_ body: (SyncManager) async throws -> Void) async throws {
    try await state.withWorkspace { workspace in
      try await body(try await workspace.syncManager(self))
    }
  }

  /// Opens the store for reading its syncs, also while another process runs them.
  func withSyncsToRead(
    _ body: (SmartStore, SyncTargetRegistry) async throws -> Void
  ) async throws {
    try await state.withWorkspace { workspace in
      try await body(try await workspace.storeOfSyncsToRead(self), workspace.registry)
    }
  }
}
