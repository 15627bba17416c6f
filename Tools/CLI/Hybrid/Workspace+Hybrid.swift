import Foundation
import HybridServer
import MobileSync
import SalesforceHybridSDK
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

extension Workspace {
  /// The host that pages use.
  ///
  /// - Parameter www: The folder whose configuration files set up a user who logs in.
  func hybridHost(_ app: HybridApp, www: URL?, _ login: PageLogin) -> HybridHost {
    var host = HybridHost(
      accounts: accounts, stores: stores, syncs: managers, transport: transport,
      userAgent: userAgent, app: app)
    host.logIn = { [accounts] in try await login.run(accounts) }
    if let www {
      host.userDidChange = { account in
        do {
          try await setUp(account, from: www)
        } catch {
          Console.say("the soups and syncs of \(account.username) were not set up: \(error)")
        }
      }
    }
    return host
  }

  /// Registers the soups and creates the syncs of an app's configuration files, in the app's own store and, if a
  /// user is logged in, in the user's (HT-2). Problems of the files are named on standard error.
  func setUp(from www: URL) async throws {
    Self.tell(try await stores.setupGlobalStoreFromDefaultConfig(from: .folder(www)))
    if let account = await accounts.current { try await setUp(account, from: www) }
  }

  /// Does the same for a user, with the syncs of the app's own store, which need a user.
  private func setUp(_ account: UserAccount, from www: URL) async throws {
    let source = StoreConfigurationSource.folder(www)
    let file = { (name: String) in
      FileManager.default.fileExists(atPath: www.appending(path: name).path(percentEncoded: false))
    }
    let owner = StoreOwner(account)
    Self.tell(
      try await stores.setupUserStoreFromDefaultConfig(forUserAccount: owner, from: source))
    let client = RestClient(
      account: account, accounts: accounts, transport: transport, userAgent: userAgent)
    if file("globalsyncs.json") {
      let store = try await stores.sharedGlobal()
      Self.tell(
        try await managers.sharedInstance(store: store, sender: client)
          .setupSyncsFromDefaultConfig(from: source))
    }
    if file("usersyncs.json"), let store = try await stores.shared(forUserAccount: owner) {
      Self.tell(
        try await managers.sharedInstance(store: store, sender: client)
          .setupSyncsFromDefaultConfig(from: source))
    }
  }

  /// Names on standard error what is wrong with a file, and which soups are left out.
  private static func tell(_ problems: [StoreConfigurationProblem]) {
    for problem in problems { Console.say("\(problem)") }
  }

  /// The same of a file of syncs, with the warnings of their fields.
  private static func tell(_ loaded: SyncManager.LoadedSyncs) {
    for problem in loaded.problems { Console.say("\(problem)") }
    for warning in loaded.warnings { Console.warn(warning.message) }
  }
}

extension HybridApp {
  /// The page of `www` with which the app starts. That of an app whose pages are on the server is not in `www`.
  var localStartPage: String {
    bootConfiguration["isLocal"]?.bool == false ? "index.html" : startPage
  }
}
