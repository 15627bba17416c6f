public import MobileSync
public import SalesforceSDKCore
public import SmartStore

/// The parts of an app that an ``Inspector`` shows. Parts that are nil are missing from the page.
///
/// ```swift
/// var app = InspectedApp(name: "Field Notes", stores: stores)
/// app.accounts = accounts
/// app.syncTargets = targets
/// let inspector = try await Inspector.start(showing: app)
/// print(inspector.url)
/// ```
public struct InspectedApp: Sendable {
  /// The name, at the top of the page.
  public var name: String
  /// The stores of the app and of its accounts.
  public var stores: SmartStoreManager
  /// The accounts. Without them, the page shows only the app's own stores.
  public var accounts: UserAccountManager?
  /// The targets that syncs may name. Without them the page shows no syncs.
  public var syncTargets: SyncTargetRegistry?
  /// The managers of the syncs, and the senders of their requests. Without them, syncs are shown
  /// but cannot be run.
  public var syncs: SyncRunner?
  /// The boot configuration, for the developer information.
  public var boot: BootConfiguration?
  /// The managed configuration, for the developer information.
  public var managed: ManagedConfiguration?
  /// The source of the managed configuration, in place of ``managed``: each page shows its present state. Default: none.
  public var managedFile: ManagedConfigurationFile?
  /// The key-value stores.
  public var keyValueStores: KeyValueStores?
  /// The login servers to choose from.
  public var loginHosts: LoginHostStorage?
  /// The selector of the connected app of a login, in which the page can set another app for the
  /// next login.
  public var loginApps: ConnectedAppSelector?
  /// Additional rows of the developer information, in a section of the app.
  public var information: [(name: String, value: String)] = []
  /// The actions that the app adds to logout and switch user.
  public var actions: [DeveloperAction] = []
  /// The recorder of requests, log records and events. Default: none.
  public var recorder: InspectorRecorder?
  /// Whether an inspector may be started. Default: only in debug builds.
  public var isDeveloperSupportEnabled = SmartStoreOptions.isDebugBuild
  /// The user agent of the app's requests.
  public var userAgent: String?

  /// Whether a store that an action opens is closed afterwards, so that other processes may write it: for a program that
  /// uses its manager for the inspector alone. An app may begin to use the store in that time. Default: false.
  package var closesStores = false

  /// Runs syncs for the page.
  public struct SyncRunner: Sendable {
    /// The app's managers; a store accepts one at a time.
    public let managers: SyncManagerRegistry
    /// Creates the client of an account.
    public let sender: @Sendable (UserAccount) async throws -> any SyncRequestSender

    /// Creates a runner.
    public init(
      managers: SyncManagerRegistry,
      sender: @escaping @Sendable (UserAccount) async throws -> any SyncRequestSender
    ) {
      self.managers = managers
      self.sender = sender
    }
  }

  /// Describes an app by its name and its stores.
  public init(name: String, stores: SmartStoreManager) {
    self.name = name
    self.stores = stores
  }
}

/// An action that an app adds to the page.
@available(*, unavailable, renamed: "DeveloperAction")
public typealias InspectorAction = DeveloperAction
