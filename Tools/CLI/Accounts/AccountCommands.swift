import ArgumentParser
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce accounts`: lists the accounts.
struct AccountsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts", abstract: "List the accounts.",
    discussion: "Example: fieldforce accounts --json")

  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let accounts = await workspace.accounts.accounts
      let current = await workspace.accounts.current?.identity
      for unreadable in await workspace.accounts.unreadableAccounts {
        Console.warn(unreadable.error.message)
      }
      let documents = accounts.map { $0.document(isCurrent: $0.identity == current) }
      output.print(["accounts": .array(documents)], empty: "no accounts") {
        Table(
          ["", "USER", "ID"],
          accounts.map { [$0.identity == current ? "*" : "", $0.username, "\($0.identity)"] })
      }
    }
  }
}

/// `fieldforce switch`: makes another account the current user.
struct SwitchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "switch", abstract: "Make another account the current user.",
    discussion: "Example: fieldforce switch ada@acme.example")

  @Argument(help: "The user name or user id.") var user: String
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      let account = try await workspace.account(named: user)
      try await workspace.accounts.setCurrent(account.identity)
      output.print(account.document(isCurrent: true)) { ["\(account.username) is current"] }
    }
  }
}

/// `fieldforce logout`: removes an account and its stores.
struct LogoutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logout",
    abstract: "Log out: tokens, stores and all data of the account are removed.",
    discussion: """
      Refused while records of the account are not yet synced up, unless --force is
      given, and while another process has a store of the account open. Save the
      records before with 'fieldforce rescue export'.
      Examples:
        fieldforce logout --force
        fieldforce logout --all
      """)

  @Argument(help: "The user name or user id; without it, the current user.") var user: String?
  @Flag(help: "Log out although unsynced records are lost.") var force = false
  @Flag(help: "Log out every account; none if one of them has unsynced records.") var all = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !all || user == nil else {
      throw ValidationError("Give either a user or --all.")
    }
  }

  func run() async throws {
    try await state.withWorkspace { workspace in
      if all {
        let reports = try await workspace.accounts.logOutAll(reason: .userLogout, force: force)
        reports.forEach(warn)
        output.print(["accounts": .array(reports.map(\.document))]) {
          reports.isEmpty ? ["no accounts"] : reports.map(\.line)
        }
        return
      }
      let account =
        if let user { try await workspace.account(named: user) } else {
          try await workspace.lockedAccount()
        }
      let report = try await workspace.accounts.logOut(
        account.identity, reason: .userLogout, force: force)
      warn(report)
      output.print(report.document) { [report.line] }
    }
  }

  private func warn(_ report: LogoutReport) {
    for failure in report.failures {
      Console.warn(CommandFailure(failure).message)
    }
  }
}

extension LogoutReport {
  /// `{"username", "unsyncedRecords"}`.
  fileprivate var document: JSONValue {
    [
      "username": .string(account.username),
      "unsyncedRecords": unsyncedRecords.map { .integer(Int64($0)) } ?? .null,
    ]
  }

  fileprivate var line: String {
    let lost = unsyncedRecords ?? 0
    return "logged out \(account.username)"
      + (lost > 0 ? ", \(counted(lost, "unsynced record")) lost" : "")
  }
}

extension Workspace {
  /// The account with that user name or id.
  func account(named name: String) async throws -> UserAccount {
    let matching = await accounts.accounts.filter { $0.username == name || $0.userId == name }
    guard let account = matching.first, matching.count == 1 else {
      throw CommandFailure(
        "unknownAccount",
        matching.isEmpty
          ? "There is no account \(name). 'fieldforce accounts' lists them."
          : "Several accounts are called \(name). Give the user id.")
    }
    return account
  }
}
