public import MobileSync
public import SalesforceSDKCore
public import SmartStore

/// What an ``Inspector`` shows of an app. What is left out is missing from the page.
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
  /// The accounts. Without them the page shows the app's own stores alone.
  public var accounts: UserAccountManager?
  /// The targets that syncs may name. Without them the page shows no syncs.
  public var syncTargets: SyncTargetRegistry?
  /// The managers of the syncs, and who sends their requests. Without them syncs can be seen and not run.
  public var syncs: SyncRunner?
  /// The key-value stores.
  public var keyValueStores: KeyValueStores?
  /// The servers that a login offers.
  public var loginHosts: LoginHostStorage?
  /// Chooses the connected app of a login; with it the page can set another one for the next login.
  public var loginApps: ConnectedAppSelector?
  /// The rows of the developer information that the app adds, behind its own section's title.
  public var information: [(name: String, value: String)] = []
  /// The actions that the app adds to logout and switch user.
  public var actions: [InspectorAction] = []
  /// What the inspector knows of requests, log records and events. Default: nothing.
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
    /// The app's managers: a store takes one at a time.
    public let managers: SyncManagerRegistry
    /// Makes the client that acts as an account.
    public let sender: @Sendable (UserAccount) async throws -> any SyncRequestSender

    /// Makes a runner.
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

/// An action that an app adds to the page, such as "Fill with test data" (CO-185).
public struct InspectorAction: Sendable {
  /// The name on the button, unique in the app.
  public let name: String
  /// Whether it changes data, so that a read-only inspector refuses it.
  public let writes: Bool
  /// A question that the page asks before it runs; nil for none.
  public let confirmation: String?
  let run: @Sendable () async throws -> String

  /// Makes an action.
  ///
  /// - Parameters:
  ///   - writes: Whether it changes data. Default: true.
  ///   - confirmation: A question that the page asks first. Default: none.
  ///   - run: Returns what the page shows afterwards. The message of an error is shown too.
  public init(
    name: String, writes: Bool = true, confirmation: String? = nil,
    run: @escaping @Sendable () async throws -> String
  ) {
    self.name = name
    self.writes = writes
    self.confirmation = confirmation
    self.run = run
  }
}
