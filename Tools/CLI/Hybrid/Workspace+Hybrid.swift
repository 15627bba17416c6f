import Foundation
import MobileSync
import SalesforceHybridSDK
import SalesforceSDKCore
import SmartStore

extension Workspace {
  /// What pages work on.
  func hybridHost(_ app: HybridApp) -> HybridHost {
    HybridHost(
      accounts: accounts, stores: stores, syncs: managers, transport: transport,
      userAgent: userAgent, app: app)
  }

  /// Registers the soups and creates the syncs of an app's configuration files, in the app's own store and, if a
  /// user is logged in, in the user's (HT-2). A file that is missing or cannot be read is logged.
  func setUp(from www: URL) async throws {
    let source = StoreConfigurationSource.folder(www)
    let file = { (name: String) in
      FileManager.default.fileExists(atPath: www.appending(path: name).path(percentEncoded: false))
    }
    try await stores.setupGlobalStoreFromDefaultConfig(from: source)
    guard let account = await accounts.current else { return }
    let owner = StoreOwner(account)
    try await stores.setupUserStoreFromDefaultConfig(forUserAccount: owner, from: source)
    let client = try await client()
    if file("globalsyncs.json") {
      let store = try await stores.sharedGlobal()
      try await managers.sharedInstance(store: store, sender: client)
        .setupSyncsFromDefaultConfig(from: source)
    }
    if file("usersyncs.json"), let store = try await stores.shared(forUserAccount: owner) {
      try await managers.sharedInstance(store: store, sender: client)
        .setupSyncsFromDefaultConfig(from: source)
    }
  }
}
