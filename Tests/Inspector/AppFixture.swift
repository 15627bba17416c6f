import FieldforceInspector
import Foundation
import MobileSync
import MobileSyncTestSupport
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore
import StandardSyncTargets
import TestSupport

/// An app with an account, a store of it, and syncs with an org in memory.
struct AppFixture {
  let folder: TemporaryFolder
  let org = InMemoryOrg()
  let accounts: UserAccountManager
  let account: UserAccount
  let stores: SmartStoreManager
  let recorder = InspectorRecorder()
  let managers: SyncManagerRegistry
  private let targets: SyncTargetRegistry

  /// Parts of these must stand in no response.
  static let accessToken = "00D000000000001!secretAccess"
  static let refreshToken = "5Aepsecret.refresh"

  init() async throws {
    folder = try TemporaryFolder()
    var credentials = OAuthCredentials(
      clientId: "key", redirectURI: "app://done", loginServer: .production,
      accessToken: Self.accessToken, refreshToken: Self.refreshToken,
      instanceURL: URL(string: "https://acme.example"))
    credentials.issuedAtMilliseconds = 1_700_000_000_000
    credentials.scopes = ["api", "refresh_token"]
    account = UserAccount(
      identity: UserAccountIdentity(
        userId: "005000000000001AAA", organizationId: "00D000000000001AAA"),
      credentials: credentials, profile: UserProfile(username: "ada@acme.example"))
    let persister = InMemoryAccountPersister()
    try await persister.save(account)
    let identity = account.identity
    try await persister.updateCurrent { _ in identity }
    accounts = try await UserAccountManager(
      persister: persister,
      transport: recorder.transport(
        ScriptedTransport([RestResponse(status: 503, json: "{}")])))
    stores = SmartStoreManager(
      root: folder.file("stores"),
      encryption: .encrypted(SecretStoreKeyProvider(InMemorySecretStore())), accounts: accounts)
    targets = SyncTargetRegistry()
    try StandardSyncTargets.register(into: targets)
    managers = SyncManagerRegistry(registry: targets)
  }

  var app: InspectedApp {
    var app = InspectedApp(name: "Tests", stores: stores)
    app.isDeveloperSupportEnabled = true
    app.accounts = accounts
    app.syncTargets = targets
    app.recorder = recorder
    app.closesStores = true
    app.syncs = InspectedApp.SyncRunner(managers: managers) { [org] _ in org }
    return app
  }

  /// Makes the account's store with a soup of accounts and its syncs, and runs the sync down.
  func setUp() async throws {
    let manager = try await syncManager()
    try await manager.store.registerSoup(
      withName: "accounts",
      withIndices: ["Id", "Name", "__local__"].map { SoupIndex(path: $0, type: .string) } + [
        SoupIndex(path: "__sync_id__", type: .integer)
      ])
    let down = try await manager.syncDown(
      targetJSON: [
        "type": "soql", "query": "select Id, Name, Phone, LastModifiedDate from Account",
      ], options: SyncOptions(mergeMode: .mergeFields), soupName: "accounts", syncName: "down")
    _ = try await down.finished()
  }

  func syncManager() async throws -> SyncManager {
    let store = try await stores.shared(forUserAccount: StoreOwner(account))
    guard let store else { preconditionFailure("the account is logged in") }
    return try await managers.sharedInstance(store: store, sender: org)
  }

  /// Closes the store, as an app does that ends.
  func close() async throws {
    await managers.removeSharedInstances()
    try await stores.close()
  }

  /// Runs `body` with an inspector, and stops it.
  func inspect(
    access: Inspector.Access = .readWrite, limits: InspectorLimits = InspectorLimits(),
    _ body: (InspectorClient) async throws -> Void
  ) async throws {
    let inspector = try await Inspector.start(showing: app, access: access, limits: limits)
    do {
      try await body(InspectorClient(inspector))
    } catch {
      await inspector.stop()
      throw error
    }
    await inspector.stop()
    try await close()
    await accounts.close()
  }
}
