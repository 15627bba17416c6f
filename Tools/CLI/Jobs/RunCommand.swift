import ArgumentParser
import Foundation
import MobileSync
import SalesforceAnalytics
import SalesforcePush
import SalesforceSDKCommon
import SalesforceSDKCore

/// `fieldforce run`: jobs for systemd timers and cron (HT-87).
struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a job, as a timer does.",
    subcommands: [Sync.self, RenewPush.self, PublishAnalytics.self])

  /// `fieldforce run sync`.
  struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "sync",
      abstract:
        "Run a sync, unless it is at work already, no user is logged in, or the stores are locked.",
      discussion: """
        Each ends with 0 and a note: a timer comes again. The rest is as with 'sync
        run'.
        Example: fieldforce run sync accounts
        """)

    @Argument(help: "The sync's name or id.") var sync: String
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let job = "sync \(sync)"
      try await RunCommand.once(job, in: store.state.folder, output) {
        var obstacle: String?
        try await store.state.withWorkspace { workspace in
          guard await workspace.accounts.current != nil else {
            return obstacle = "no user is logged in"
          }
          // A timer's job runs again after a user has unlocked the stores.
          guard !workspace.screenLock.isLocked else { return obstacle = "the stores are locked" }
          let manager = try await workspace.syncManager(store)
          let id = try await manager.store.existingSync(sync).id
          try await manager.follow(try await manager.reSync(id: id), output)
        }
        if let obstacle { RunCommand.skip(job, obstacle, output) }
      }
    }
  }

  /// `fieldforce run renew-push`.
  struct RenewPush: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "renew-push",
      abstract: "Register the devices of all accounts again that are 6 days old.",
      discussion: "Example: fieldforce run renew-push")

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let job = "renew-push"
      try await RunCommand.once(job, in: state.folder, output) {
        try await state.withWorkspace { workspace in
          let accounts = await workspace.accounts.accounts
          guard !accounts.isEmpty else {
            return RunCommand.skip(job, "no user is logged in", output)
          }
          var renewed = 0
          for account in accounts {
            let client = workspace.client(of: account)
            if try await workspace.push.renew(.periodic, account: account, client: client) {
              renewed += 1
            }
          }
          output.print(["job": .string(job), "renewed": .integer(Int64(renewed))]) {
            ["\(counted(renewed, "device")) registered again"]
          }
        }
      }
    }
  }

  /// `fieldforce run publish-analytics`.
  struct PublishAnalytics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "publish-analytics",
      abstract: "Send the analytics events of all accounts to their orgs.",
      discussion: """
        Events that an org does not accept are kept for the next time.
        Example: fieldforce run publish-analytics
        """)

    @OptionGroup var state: StateOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
      let job = "publish-analytics"
      try await RunCommand.once(job, in: state.folder, output) {
        try await state.withWorkspace { workspace in
          let accounts = await workspace.accounts.accounts
          guard !accounts.isEmpty else {
            return RunCommand.skip(job, "no user is logged in", output)
          }
          var published = 0
          for account in accounts where account.loginState == .loggedIn {
            published += await workspace.analytics.publish(for: account).published
          }
          output.print(["job": .string(job), "published": .integer(Int64(published))]) {
            ["\(counted(published, "event")) published"]
          }
        }
      }
    }
  }

  /// Runs a job unless another process runs it now.
  static func once(
    _ job: String, in folder: URL, _ output: OutputOptions, _ body: () async throws -> Void
  ) async throws {
    let jobs = folder.appending(path: "jobs")
    // Names of jobs may contain any character, but names of files may not.
    let path = jobs.appending(path: Digests.sha256Hex(job).prefix(32) + ".lock").path
    let lock: FileLock?
    do {
      try DurableFile.makeOwnFolder(jobs.path)
      lock = try FileLock.take(path)
    } catch {
      throw CommandFailure("file", "\(error). Check the folder of --state.")
    }
    guard let lock else { return skip(job, "it is at work in another process", output) }
    try await lock.whileHeld(body)
  }

  /// Prints the reason why a job had nothing to do.
  static func skip(_ job: String, _ reason: String, _ output: OutputOptions) {
    output.print(["job": .string(job), "skipped": .string(reason)]) { ["\(job): \(reason)"] }
  }
}
