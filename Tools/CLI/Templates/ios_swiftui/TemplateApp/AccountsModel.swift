import Foundation
import MobileSync
import Observation
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import SoqlSyncDown
import StandardSyncTargets

/// What the list shows: the names of the accounts in the store, live.
@Observable @MainActor
final class AccountsModel {
  private(set) var names: [String] = []
  /// What stands in the place of the list; nil while it has rows.
  private(set) var message: String? = "Loading"
  private var manager: SyncManager?

  func start() async {
    do {
      let manager = try await Self.open()
      self.manager = manager
      show(
        try await manager.store.query(
          "SELECT {accounts:Name} FROM {accounts} ORDER BY {accounts:Name}"))
    } catch {
      message = error.localizedDescription
    }
  }

  func sync() async {
    guard let manager else { return }
    do {
      _ = try await manager.reSync(named: "accounts-down").finished()
      show(
        try await manager.store.query(
          "SELECT {accounts:Name} FROM {accounts} ORDER BY {accounts:Name}"))
    } catch {
      message = error.localizedDescription
    }
  }

  private func show(_ rows: [JSONValue]) {
    names = rows.compactMap { $0[0]?.string }
    message = names.isEmpty ? "No accounts. Pull down to sync." : nil
  }

  /// Opens the store of the current user. The login of an app with screens goes here: the guide Sign-in of Fieldforce
  /// shows it.
  private static func open() async throws -> SyncManager {
    let folder = URL.applicationSupportDirectory
    let secrets = FileSecretStore(
      in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
    let transport = URLSessionTransport()
    let accounts = try await UserAccountManager(
      persister: EncryptedAccountDirectory(
        root: folder.appending(path: "accounts"), secrets: secrets), transport: transport)
    guard let account = await accounts.current else { throw AppError.notLoggedIn }
    let stores = SmartStoreManager(
      root: folder.appending(path: "stores"),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)), accounts: accounts)
    guard let store = try await stores.shared(forUserAccount: StoreOwner(account)) else {
      throw AppError.notLoggedIn
    }
    try await store.registerSoup(
      withName: "accounts",
      withIndices: [
        SoupIndex(path: "Id", type: .string), SoupIndex(path: "Name", type: .string),
        SoupIndex(path: SyncKeys.local, type: .string),
      ])
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    let manager = try await SyncManagerRegistry(registry: registry).sharedInstance(
      store: store, sender: RestClient(account: account, accounts: accounts, transport: transport))
    if try await !manager.hasSync(forName: "accounts-down") {
      _ = try await manager.createSyncDown(
        target: SoqlSyncDownTarget(query: "SELECT Id, Name FROM Account"),
        options: SyncOptions(mergeMode: .leaveIfChanged), soupName: "accounts",
        syncName: "accounts-down")
    }
    return manager
  }
}

/// What the app itself reports.
enum AppError: LocalizedError {
  case notLoggedIn

  var errorDescription: String? { "No user is logged in." }
}
