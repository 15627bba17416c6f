import Foundation
import LoopbackLogin
import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets

/// The app: accounts and contacts of an org in an encrypted store, and the syncs that keep them up to date.
public struct FieldApp: Sendable {
  private let accounts: UserAccountManager
  private let stores: SmartStoreManager
  private let managers: SyncManagerRegistry
  private let transport = URLSessionTransport()

  /// Opens the app's folder, which holds its keys, accounts and stores.
  public init(in folder: URL) async throws {
    let secrets = FileSecretStore(
      in: folder, masterKey: KeyFile(folder.appending(path: "master.key")))
    accounts = try await UserAccountManager(
      persister: EncryptedAccountDirectory(
        root: folder.appending(path: "accounts"), secrets: secrets), transport: transport)
    stores = SmartStoreManager(
      root: folder.appending(path: "stores"),
      encryption: .encrypted(SecretStoreKeyProvider(secrets)), accounts: accounts)
    let registry = SyncTargetRegistry()
    try StandardSyncTargets.register(into: registry)
    managers = SyncManagerRegistry(registry: registry)
  }

  /// Closes everything. Call it before the process ends.
  public func close() async throws {
    await managers.removeSharedInstances()
    try await stores.close()
    await accounts.close()
  }

  // MARK: Users

  /// Logs in through the system's browser.
  public func logIn() async throws -> String {
    let account = try await accounts.logIn(
      .browser(
        to: try Self.loginServer(), app: try Self.connectedApp(),
        presenter: LoopbackLoginPresenter { page in
          print("waiting for the login; if no browser opens, open \(page.absoluteString)")
          try? await SystemBrowser.open(page)
        }))
    return account.username
  }

  /// Logs in with a token from another source, such as a mock org.
  public func logIn(accessToken: String, instance: String) async throws {
    _ = try await accounts.logIn(
      .tokens(
        accessToken: accessToken, instance: LoginServer(instance), app: try Self.connectedApp()))
  }

  /// Logs out and removes the user's data. Fails while there are edits that were not uploaded.
  public func logOut() async throws {
    _ = try await accounts.logOut(try await account().identity, reason: .userLogout)
  }

  // MARK: Records

  /// The names of the records of a soup.
  public func names(in soup: String) async throws -> [String] {
    let rows = try await store().query(
      "SELECT {\(soup):Name} FROM {\(soup)} ORDER BY {\(soup):Name}")
    return rows.compactMap { $0[0]?.string }
  }

  /// The ids of the records of a soup, by name.
  public func ids(in soup: String) async throws -> [String: String] {
    let rows = try await store().query("SELECT {\(soup):Name}, {\(soup):Id} FROM {\(soup)}")
    return Dictionary(
      rows.compactMap { row in row[0]?.string.flatMap { name in row[1]?.string.map { (name, $0) } }
      },
      uniquingKeysWith: { first, _ in first })
  }

  /// Renames an account, also without a network; the next ``sync()`` uploads it.
  public func rename(account id: String, to name: String) async throws {
    try await store().editRecord(id: id, in: "accounts") { $0["Name"] = .string(name) }
  }

  /// Uploads edits, then downloads what has changed.
  ///
  /// - Returns: The number of records that were uploaded, and of those that need attention: the server refused them,
  ///   or they are in conflict.
  public func sync() async throws -> (uploaded: Int, failed: Int) {
    let manager = try await manager()
    let up = try await manager.reSync(named: "accounts-up").finished()
    let counts = try await manager.outcomeCounts(forId: up.id)
    for name in ["accounts-down", "contacts-down"] {
      _ = try await manager.reSync(named: name).finished()
      _ = try await manager.cleanResyncGhosts(forName: name)
    }
    return (counts.succeeded, counts.failed + counts.skipped)
  }

  /// Removes the records from this machine. Edits that were not uploaded are lost.
  public func clear() async throws {
    for soup in ["accounts", "contacts"] { try await store().clearSoup(soup) }
  }

  // MARK: Parts

  private func account() async throws -> UserAccount {
    guard let account = await accounts.current else { throw FieldAppError.notLoggedIn }
    return account
  }

  private func store() async throws -> SmartStore { try await manager().store }

  /// The manager of the user's syncs. Soups and syncs come from the files in Resources; those that exist stay as they
  /// are.
  private func manager() async throws -> SyncManager {
    let account = try await account()
    let owner = StoreOwner(account)
    let source = StoreConfigurationSource.folder(Self.resources)
    try await stores.setupUserStoreFromDefaultConfig(forUserAccount: owner, from: source)
    guard let store = try await stores.shared(forUserAccount: owner) else {
      throw FieldAppError.notLoggedIn
    }
    let client = RestClient(account: account, accounts: accounts, transport: transport)
    let manager = try await managers.sharedInstance(store: store, sender: client)
    try await manager.setupSyncsFromDefaultConfig(from: source)
    return manager
  }

  private static var resources: URL { Bundle.module.bundleURL.appending(path: "Resources") }

  private static func connectedApp() throws -> ConnectedApp {
    let document = try Data(contentsOf: resources.appending(path: "bootconfig.json"))
    let app = try BootConfiguration(parsing: Array(document)).app
    return ConnectedApp(
      clientId: app.clientId, redirectURI: app.redirectURI, scopes: app.scopes,
      usesHybridGrants: false)
  }

  private static func loginServer() throws -> LoginServer {
    if let url = ProcessInfo.processInfo.environment["TEMPLATEAPP_LOGIN_SERVER"] {
      return try LoginServer(url)
    }
    let document = try Data(contentsOf: resources.appending(path: "servers.json"))
    let servers = try JSONSlice(parsing: Array(document))["servers"]
    return try LoginServer(servers?.elements.first { _ in true }?["url"]?.string ?? "")
  }
}

/// What the app itself reports.
public enum FieldAppError: Error, CustomStringConvertible {
  case notLoggedIn

  public var description: String { "No user is logged in. Run the command 'login' first." }
}
