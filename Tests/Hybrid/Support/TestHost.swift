import MobileSync
import SalesforceHybridSDK
import SalesforceMockOrg
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport

/// A program with accounts, stores and syncs of its own, and a bridge to them.
struct TestHost: Sendable {
  let accounts: UserAccountManager
  let stores: SmartStoreManager
  let syncs: SyncManagerRegistry
  let bridge: HybridBridge

  static let store = "com.salesforce.smartstore"
  static let sync = "com.salesforce.mobilesync"

  /// Runs `body` with a host without a user and without a network.
  ///
  /// - Parameters:
  ///   - modules: Plug-ins that need the host.
  ///   - prepare: Changes the accounts before there is a bridge, which has no event of it to follow.
  static func with(
    plugins: [any HybridPlugin] = [], modules: (HybridHost) -> [any HybridPlugin] = { _ in [] },
    encryption: StoreEncryption? = nil,
    prepare: (UserAccountManager) async throws -> Void = { _ in },
    adjust: (inout HybridHost) -> Void = { _ in },
    _ body: (TestHost) async throws -> Void
  ) async throws {
    try await with(
      URLSessionTransport(), modules: { plugins + modules($0) }, encryption: encryption,
      prepare: prepare, adjust: adjust, body)
  }

  /// Runs `body` with a mock org and a host whose user has logged in to it.
  static func withOrg(
    modules: (HybridHost) -> [any HybridPlugin] = { _ in [] },
    adjust: (inout HybridHost) -> Void = { _ in },
    _ body: (TestHost, MockOrg) async throws -> Void
  ) async throws {
    try await withMockOrg { org, server in
      try await with(
        modules: modules, prepare: { try await $0.logIn(to: server) }, adjust: adjust
      ) { try await body($0, org) }
    }
  }

  private static func with(
    _ transport: any HTTPTransport, modules: (HybridHost) -> [any HybridPlugin],
    encryption: StoreEncryption?, prepare: (UserAccountManager) async throws -> Void,
    adjust: (inout HybridHost) -> Void, _ body: (TestHost) async throws -> Void
  ) async throws {
    try await TemporaryFolder.with { folder in
      let secrets = FileSecretStore(
        in: folder.url, masterKey: KeyFile(folder.file("master.key")))
      let accounts = try await UserAccountManager(
        persister: EncryptedAccountDirectory(root: folder.file("accounts"), secrets: secrets),
        transport: transport)
      try await prepare(accounts)
      let stores = SmartStoreManager(
        root: folder.file("stores"),
        encryption: encryption ?? .encrypted(SecretStoreKeyProvider(secrets)), accounts: accounts)
      let registry = SyncTargetRegistry()
      try StandardSyncTargets.register(into: registry)
      let syncs = SyncManagerRegistry(registry: registry)
      var host = HybridHost(
        accounts: accounts, stores: stores, syncs: syncs, transport: transport)
      adjust(&host)
      let bridge = try HybridBridge.standard(host: host, plugins: modules(host))
      let test = TestHost(accounts: accounts, stores: stores, syncs: syncs, bridge: bridge)
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(test))
      } catch {
        result = .failure(error)
      }
      await bridge.close()
      await syncs.removeSharedInstances()
      try await stores.close()
      await accounts.close()
      try result.get()
    }
  }
}

extension UserAccountManager {
  /// Logs the user of a mock org in, who becomes the current user.
  @discardableResult
  func logIn(to server: MockOrgServer) async throws -> UserAccount {
    try await logIn(with: server.info)
  }

  /// Logs a user of a mock org in, who becomes the current user.
  func logIn(with info: ConnectionInfo) async throws -> UserAccount {
    try await logIn(
      .tokens(
        accessToken: info.accessToken, refreshToken: info.refreshToken,
        instance: try LoginServer(info.instanceUrl),
        app: ConnectedApp(
          clientId: info.clientId, redirectURI: info.redirectUri, usesHybridGrants: false)))
  }
}
