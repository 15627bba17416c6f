import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce wipe`: logs all users out and removes what the state folder holds (HT-91).
struct WipeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "wipe", abstract: "Log all users out and delete all data and keys.",
    discussion: """
      Refused while an account has records that are not yet synced up, unless
      --force is given. Stores without a user are deleted, too. Requests a
      confirmation on the terminal, unless --yes is given. Files of others in the
      folder stay.
      Example: fieldforce wipe --yes
      """)

  @Flag(help: "Delete without a confirmation.") var yes = false
  @Flag(help: "Delete although unsynced records are lost.") var force = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  /// The possible content of a state folder, in the order of removal: data that needs the keys
  /// first, the keys last. So an interrupted command can be repeated at every point.
  private static let contents = [
    "stores", "accounts", "analytics", "jobs", "login-hosts.json", "login-hosts.json.lock",
    "settings.json",
    FileSecretStore.fileName, FileSecretStore.fileName + ".lock",
  ]
  private static let keys = [
    "master.key", "master.sealed", "keys.json", "keys.json.lock", "secret-service.lock",
    "installation-id",
  ]

  func run() async throws {
    let folder = state.folder
    guard FileManager.default.fileExists(atPath: folder.path) else {
      output.print(["wiped": .bool(false)]) { ["there is nothing in \(folder.path)"] }
      return
    }
    try confirm(folder)
    let reports = try await state.withWorkspace { workspace in
      try await workspace.accounts.logOutAll(reason: .userLogout, force: force)
    }
    for name in Self.contents { try remove(folder.appending(path: name)) }
    // The secret of this folder in the secret service is no longer needed.
    if let keeper = try KeeperChoice.keeperName(of: folder), keeper == "secret-service" {
      try KeeperChoice.keeper(.secretService, of: folder).forget()
    }
    for name in Self.keys { try remove(folder.appending(path: name)) }
    // Only if it is empty: what else is in it belongs to others.
    rmdir(folder.path)
    output.print(["wiped": .bool(true), "accounts": .integer(Int64(reports.count))]) {
      ["\(counted(reports.count, "account")) logged out; \(folder.path) is wiped"]
    }
  }

  private func confirm(_ folder: URL) throws {
    guard !yes else { return }
    guard isatty(STDIN_FILENO) == 1 else {
      throw CommandFailure("unconfirmed", "Nothing was deleted. Confirm with --yes.")
    }
    Console.say(
      "all accounts, stores and keys in \(folder.path) will be deleted; type yes to go on:")
    guard readLine() == "yes" else {
      throw CommandFailure("unconfirmed", "Nothing was deleted.")
    }
  }

  private func remove(_ url: URL) throws {
    do {
      try FileManager.default.removeItem(at: url)
    } catch let error as CocoaError where error.code == .fileNoSuchFile {
      return
    }
  }
}
