import ArgumentParser
import Foundation
import SalesforceSDKCommon

/// `fieldforce keys`: what keeps the master key of the state folder.
struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Show what keeps the keys, and move them.",
    subcommands: [Status.self, Move.self], defaultSubcommand: Status.self)

  /// `fieldforce keys status`.
  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status", abstract: "Show what keeps the master key.",
      discussion: "Example: fieldforce keys --json")

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let keeper = try KeeperChoice.keeperName(of: state.folder)
      output.print(["keeper": keeper.map(JSONValue.string) ?? .null]) {
        [keeper.map { "the master key is kept by \($0)" } ?? "there is no master key yet"]
      }
    }
  }

  /// `fieldforce keys move`.
  struct Move: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "move", abstract: "Move the master key to another keeper.",
      discussion: """
        The new keeper has the key before the former one forgets it; the same command
        completes an interrupted move. Backups of what the former keeper had still
        hold the key.
        Examples:
          fieldforce keys move secret-service
          fieldforce keys move passphrase
          fieldforce keys move passphrase-fd:4 --secrets passphrase-fd:3 3<old.txt \\
            4<new.txt
          fieldforce keys move file
        """)

    @Argument(help: "file, secret-service, passphrase, passphrase-fd:N or credential:NAME.")
    var keeper: String
    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let new = try KeeperChoice.Keeper(parsing: keeper)
      let folder = state.folder
      guard FileManager.default.fileExists(atPath: folder.path) else {
        throw CommandFailure("missingMasterKey", "There is no state folder \(folder.path).")
      }
      let named = try state.keepers.named
      if new.name == "passphrase", try KeeperChoice.keeperName(of: folder) == new.name {
        let old = named.first { $0.name == new.name } ?? .passphrase
        try KeeperChoice.sealedFile(old, of: folder).change(to: new.source { true })
      } else {
        try KeeperChoice([new] + named.filter { $0.name != new.name }).key(of: folder).move(
          to: new.name)
      }
      output.print(["keeper": .string(new.name)]) { ["the master key is kept by \(new.name)"] }
    }
  }
}
