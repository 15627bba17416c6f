import ArgumentParser
import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce lock`: locks the state folder where an org demands that.
struct LockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lock", abstract: "Lock the accounts and stores, or show whether they are locked.",
    discussion: """
      An org can demand that apps lock themselves. Then commands that show records
      or send requests need a passcode, unless the last such command is fewer
      minutes ago than the org allows. Without such a demand nothing is locked.
      Examples:
        fieldforce lock
        fieldforce lock --status
      """)

  @Flag(help: "Show the state alone.") var status = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    try await state.withWorkspace { workspace in
      if !status { try workspace.lock() }
      workspace.showLock(output)
    }
  }
}

/// `fieldforce unlock`: unlocks the state folder, with a new passcode the first time.
struct UnlockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unlock", abstract: "Unlock the accounts and stores with the passcode.",
    discussion: """
      The first passcode is created here. Ten wrong ones in a row log out the users
      whose org demands the lock, but those that have unsynced records; they stay
      locked until they log in again.
      Examples:
        fieldforce unlock
        fieldforce unlock --passcode @passcode.txt
        fieldforce unlock --change
      """)

  @Flag(help: "Choose another passcode.") var change = false
  @OptionGroup var state: StateOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard state.newPasscode == nil || change else {
      throw ValidationError("--new-passcode goes with --change.")
    }
  }

  func run() async throws {
    try await state.withWorkspace { workspace in
      if change {
        try await workspace.changePasscode()
      } else {
        try await workspace.unlock()
      }
      workspace.showLock(output)
    }
  }
}

extension Workspace {
  /// Makes the user authenticate if the accounts and stores are locked.
  func unlock() async throws {
    guard screenLock.isLocked else { return try noteUse(isAuthenticated: false) }
    guard passcode.isAvailable else {
      throw CommandFailure(
        "screenLocked",
        "The accounts and stores are locked, as an org demands. Run 'fieldforce unlock', or give --passcode @FILE."
      )
    }
    try await screenLock.unlock()
    try noteUse(isAuthenticated: true)
  }

  /// Locks, and has the next command need the passcode.
  func lock() throws {
    try LastUse.forget(in: secrets)
    screenLock.lock()
  }

  /// Chooses another passcode. The former one is checked.
  func changePasscode() async throws {
    guard let policy = screenLock.policy else {
      throw CommandFailure("noLock", "No org demands a lock, so there is no passcode to change.")
    }
    try await unlock()
    // The org demanded a longer one, or there was none: it was chosen just now.
    guard !passcode.hasChosen else { return }
    try await PasscodeAuthenticator(secrets: secrets, prompt: passcode).change(for: policy)
  }

  /// Prints the lock of the accounts and stores: `{"locked", "timeoutMinutes", "passcodeLength"}`.
  func showLock(_ output: OutputOptions) {
    let policy = screenLock.policy
    output.print([
      "locked": .bool(screenLock.isLocked),
      "timeoutMinutes": policy.map { .integer(Int64($0.timeoutMinutes)) } ?? .null,
      "passcodeLength": policy.map { .integer(Int64($0.passcodeLength)) } ?? .null,
    ]) {
      guard let policy else { return ["not locked: no org demands it"] }
      let minutes = counted(policy.timeoutMinutes, "minute")
      return [screenLock.isLocked ? "locked" : "unlocked until \(minutes) after the last command"]
    }
  }

  /// The person used the accounts or stores now.
  private func noteUse(isAuthenticated: Bool) throws {
    guard screenLock.policy != nil else { return }
    screenLock.userDidInteract()
    try LastUse.write(screenLock.lastUse, isAuthenticated: isAuthenticated, in: secrets)
  }
}
