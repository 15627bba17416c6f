public import Foundation
public import MobileSync
public import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore

/// The accounts, stores and syncs that the services of a bridge use.
///
/// The services act for the user who is the current user when a call is executed.
public struct HybridHost: Sendable {
  /// The accounts.
  public let accounts: UserAccountManager
  /// The stores of the app and of the accounts.
  public let stores: SmartStoreManager
  /// The sync managers of the stores.
  public let syncs: SyncManagerRegistry
  /// The description of the app for `sdkinfo`.
  public var app: HybridApp
  /// The folders from which a page may upload files. Default: none.
  public var uploadFolders: [URL] = []
  /// Logs a user in when a page requests it and there is no user. Default: none, the request fails.
  public var logIn: (@Sendable () async throws -> UserAccount)?
  /// Called when a page has changed the current user, before its call gets its response, to prepare
  /// data of the new user, such as soups. Default: nothing.
  public var userDidChange: (@Sendable (UserAccount) async -> Void)?
  /// Shows the inspector of a store when a page requests it. Default: none, the request fails.
  public var showInspector: (@Sendable (SmartStore) async throws -> Void)?

  private let transport: any HTTPTransport
  let userAgent: UserAgent

  /// Creates a host.
  ///
  /// - Parameters:
  ///   - transport: Sends the requests of pages.
  ///   - userAgent: Describes the program in requests and credentials of a page. The type `Native`, which
  ///     every program has by default, becomes `Hybrid`.
  public init(
    accounts: UserAccountManager, stores: SmartStoreManager, syncs: SyncManagerRegistry,
    transport: any HTTPTransport, userAgent: UserAgent = UserAgent(), app: HybridApp = HybridApp()
  ) {
    self.accounts = accounts
    self.stores = stores
    self.syncs = syncs
    self.transport = transport
    var userAgent = userAgent
    if userAgent.appType == UserAgent.nativeType { userAgent.appType = UserAgent.hybridType }
    self.userAgent = userAgent
    self.app = app
  }

  /// The account of the user for whom a call was made.
  ///
  /// - Throws: ``HybridError`` `notAuthenticated` if there is none, `userChanged`.
  func account(for call: HybridCall) async throws(HybridError) -> UserAccount {
    let account = await accounts.current
    try call.checkUser()
    guard let account else {
      throw HybridError(.notAuthenticated, "No user account found")
    }
    return account
  }

  /// A client that acts for an account.
  func client(_ account: UserAccount) -> RestClient {
    RestClient(
      account: account, accounts: accounts, transport: transport, userAgent: userAgent)
  }

  /// A client without an account.
  func client() -> RestClient { RestClient(transport: transport, userAgent: userAgent) }

  /// The store that a message selects by `isGlobalStore` and `storeName`, created on first use (SS-228).
  ///
  /// - Throws: ``HybridError`` `notAuthenticated` for a user store without a user, `userChanged`;
  ///   the error of opening the store.
  func store(_ selection: StoreSelection, for call: HybridCall) async throws -> SmartStore {
    if selection.isGlobal { return try await stores.sharedGlobal(withName: selection.name) }
    let owner = StoreOwner(try await account(for: call))
    guard let store = try await stores.shared(withName: selection.name, forUserAccount: owner)
    else { throw HybridError(.notAuthenticated, "No user account found") }
    return store
  }

  /// The sync manager of the store that a message selects.
  func syncManager(
    _ selection: StoreSelection, for call: HybridCall
  ) async throws -> SyncManager {
    let account = try await account(for: call)
    return try await syncs.sharedInstance(
      store: try await store(selection, for: call), sender: client(account))
  }
}

/// The description of an app for `sdkinfo`.
public struct HybridApp: Sendable {
  /// The app's name. Default: empty.
  public var name = ""
  /// The app's version. Default: empty.
  public var version = ""
  /// All members of the boot configuration. Default: none.
  public var bootConfiguration: JSONObject = [:]

  /// Whether the app's pages are in its folder and not on the server. Default: true.
  public var isLocal: Bool { bootConfiguration["isLocal"]?.bool ?? true }

  /// Creates an app without a name.
  public init() {}
}

/// The store of a message.
struct StoreSelection: Sendable, Hashable {
  let name: String
  let isGlobal: Bool

  /// Reads `isGlobalStore` and `storeName`. A name that is missing, empty or `undefined` is the default
  /// store's.
  init(_ message: HybridMessage) throws(HybridError) {
    isGlobal = try message.flag("isGlobalStore")
    let name = try message.text("storeName") ?? ""
    self.name = ["", "undefined"].contains(name) ? SmartStore.defaultStoreName : name
  }
}
