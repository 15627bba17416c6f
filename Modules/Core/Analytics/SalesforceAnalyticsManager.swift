import Foundation
public import SalesforceAnalytics
public import SalesforceSDKCommon
import Synchronization

/// The analytics of an installation: one `AnalyticsManager` for each user and community, and one
/// without a user (CA-39).
///
/// ```swift
/// let analytics = SalesforceAnalyticsManager(
///   folders: folders, keys: keys, accounts: accounts, transport: transport, userAgent: userAgent)
/// let stores = SmartStoreManager(
///   root: root, encryption: encryption, options: SmartStoreOptions(events: analytics), accounts: accounts)
/// ```
///
/// As an event store, it stores the events of stores and syncs with the user whose data they
/// concern, and other events with the current user. From its creation on, it records logins and
/// refreshes as events. A logout removes the user's events, so they are never published afterwards.
///
/// No event names a user, an org, an instance, a soup or a record, except that the event of a login lists the login
/// servers.
public final class SalesforceAnalyticsManager: Sendable {
  /// The options of the manager.
  public let options: AnalyticsOptions

  let folders: UserFolders
  let keys: any EncryptionKeyProvider
  /// The accounts keep this manager alive, and not the other way round.
  let accounts: @Sendable () -> UserAccountManager?
  private let transport: any HTTPTransport
  private let userAgent: UserAgent
  let managers = Mutex<[URL: AnalyticsManager]>([:])

  static let folderName = "event_stores"

  /// Creates the manager and registers it with the accounts. No file is read or created yet.
  ///
  /// - Parameters:
  ///   - folders: The folders of users; each gets a folder `event_stores`.
  ///   - keys: Provides the keys with the label ``KeyLabel/eventStore``, of the app and of each
  ///     user.
  ///   - accounts: The accounts whose logins and refreshes are events, and whose logouts remove
  ///     events.
  ///   - transport: Sends the publications.
  ///   - userAgent: Describes the program in publications, and app and device in events.
  public init(
    folders: UserFolders, keys: any EncryptionKeyProvider, accounts: UserAccountManager,
    transport: any HTTPTransport, userAgent: UserAgent = UserAgent(),
    options: AnalyticsOptions = AnalyticsOptions()
  ) {
    self.folders = folders
    self.keys = keys
    self.accounts = { [weak accounts] in accounts }
    self.transport = transport
    self.userAgent = userAgent
    self.options = options
    accounts.register(AnalyticsKeeper(analytics: self, folders: folders))
    accounts.register(self)
  }

  // MARK: Managers

  /// Returns the events of a user in one community. Returns the same object while the user is
  /// logged in.
  ///
  /// - Returns: nil if the account has no session or its key is unavailable; the log has the
  ///   reason.
  public func manager(for account: UserAccount) -> AnalyticsManager? {
    manager(
      for: account.identity, in: folders.communityFolder(of: account), account.credentials.clientId)
  }

  /// Returns the events of the app without a user. They have no publisher until the program adds
  /// one.
  ///
  /// - Returns: nil if the key is unavailable; the log has the reason.
  public func unauthenticatedManager() -> AnalyticsManager? {
    let folder = folders.root
    if let known = managers.withLock({ $0[folder] }) { return known }
    do throws(EncryptionError) {
      let manager = make(in: folder, key: try keys.encryptionKey(.eventStore), isEnabled: true, nil)
      return keep(manager, in: folder)
    } catch {
      CoreLogger.log.warning("The events of the app cannot be stored.", error: error)
      return nil
    }
  }

  private func manager(
    for identity: UserAccountIdentity, in folder: URL, _ clientId: String?
  ) -> AnalyticsManager? {
    guard let accounts = accounts(), accounts.isLoggedIn(identity) else { return nil }
    if let known = managers.withLock({ $0[folder] }) { return known }
    do {
      let isEnabled = try AnalyticsOptOut(in: folder).isEnabled
      let key = try keys.encryptionKey(.eventStore, of: identity)
      let manager = make(in: folder, key: key, isEnabled: isEnabled, clientId)
      manager.addRemotePublisher(
        AILTNPublisher { [weak self] in await self?.client(for: identity) },
        transform: AILTNTransform())
      mark(isEnabled)
      return keep(manager, in: folder)
    } catch {
      CoreLogger.log.warning("The events of account \(identity) cannot be stored.", error: error)
      return nil
    }
  }

  /// Of several that are made at once one stays.
  private func keep(_ manager: AnalyticsManager, in folder: URL) -> AnalyticsManager {
    managers.withLock { managers in
      if let known = managers[folder] { return known }
      managers[folder] = manager
      return manager
    }
  }

  private func make(
    in folder: URL, key: EncryptionKey, isEnabled: Bool, _ clientId: String?
  ) -> AnalyticsManager {
    let store = EventStoreManager(
      directory: folder.appending(path: Self.folderName), maxEvents: options.maxEvents,
      isLoggingEnabled: isEnabled, isAppDisabled: options.isDisabled,
      encrypt: { bytes, id in
        try Encryptor.encrypt(bytes, using: key, context: Self.context(of: id))
      },
      decrypt: { bytes, id in
        try Encryptor.decrypt(bytes, using: key, context: Self.context(of: id))
      })
    return AnalyticsManager(
      store: store,
      deviceAppAttributes: DeviceAppAttributes(
        appVersion: userAgent.appVersion, appName: options.appName,
        osVersion: userAgent.systemVersion, osName: userAgent.systemName,
        nativeAppType: userAgent.appType, mobileSdkVersion: SDKVersion.current,
        deviceModel: userAgent.model,
        deviceId: userAgent.installationId.isEmpty ? nil : userAgent.installationId,
        clientId: clientId))
  }

  /// Binds a file to its event.
  private static func context(of eventId: String) -> [UInt8] {
    Array("fieldforce event \(eventId)".utf8)
  }

  private func client(for identity: UserAccountIdentity) async -> RestClient? {
    guard let accounts = accounts(), let account = await accounts.account(for: identity) else {
      return nil
    }
    return RestClient(
      account: account, accounts: accounts, transport: transport, userAgent: userAgent)
  }

  // MARK: Opting out

  /// Whether the events of a user are stored and sent. Default: true.
  ///
  /// - Throws: `PreferencesError` `inputOutput`.
  public func isLoggingEnabled(for account: UserAccount) throws -> Bool {
    try AnalyticsOptOut(in: folders.communityFolder(of: account)).isEnabled
  }

  /// Sets whether the events of a user are stored and sent; the choice stays until the user logs out. At each login the
  /// custom attribute `ailtn_enabled` of the connected app overrides it, if the org has set one.
  ///
  /// Stored events stay, and are not sent until logging is enabled again.
  ///
  /// - Throws: ``AccountError`` `notLoggedIn` if the account has no session; `PreferencesError`.
  public func setLoggingEnabled(_ isEnabled: Bool, for account: UserAccount) async throws {
    guard accounts()?.isLoggedIn(account.identity) == true else {
      throw AccountError(
        .notLoggedIn, "Cannot change the analytics of \(account): it has no session. Log in first.")
    }
    try AnalyticsOptOut(in: folders.communityFolder(of: account)).set(isEnabled)
    await apply(isEnabled, to: account)
  }

  func apply(_ isEnabled: Bool, to account: UserAccount) async {
    await manager(for: account)?.store.setLoggingEnabled(isEnabled)
    mark(isEnabled)
  }

  /// Shows in the user agent whether analytics are on.
  private func mark(_ isEnabled: Bool) {
    if isEnabled, !options.isDisabled {
      options.markers.register("AI")
    } else {
      options.markers.unregister("AI")
    }
  }

  // MARK: Events

  /// Builds and stores an event of the program or the SDK: an interaction with the origin `system`,
  /// with the class as its page. Nothing happens if there is no such user, the user opted out, or
  /// the SDK's events are off.
  ///
  /// - Parameters:
  ///   - account: The user that the event belongs to. Default: the current user.
  ///   - attributes: `startTime` and `endTime`, in milliseconds since 1970, also set the times of
  ///     the event.
  public func createAndStoreEvent(
    name: String, account: UserAccount? = nil, className: String, attributes: JSONObject = [:]
  ) async {
    var owner = account
    if owner == nil { owner = await accounts()?.current }
    guard let owner, let manager = manager(for: owner) else { return }
    await add(
      AnalyticsEvent(
        name: name, className: className, attributes: attributes,
        startTime: attributes["startTime"]?.int64 ?? 0,
        endTime: attributes["endTime"]?.int64 ?? 0), to: manager)
  }

  func add(_ event: AnalyticsEvent, to manager: AnalyticsManager) async {
    guard options.storesSDKEvents else { return }
    let built = manager.eventIfValid { builder in
      builder.name = event.name
      builder.startTime = event.startTime
      builder.endTime = event.endTime
      builder.schemaType = .interaction
      builder.eventType = .system
      builder.page = ["context": .string(event.className)]
      builder.attributes = event.attributes.isEmpty ? nil : event.attributes
    }
    if let built { await manager.store.store(built) }
  }

  func add(_ event: AnalyticsEvent, of owner: EventOwner) async {
    let identity = UserAccountIdentity(userId: owner.userId, organizationId: owner.organizationId)
    let account = await accounts()?.account(for: identity)
    let folder = folders.communityFolder(of: identity, communityId: owner.communityId)
    guard let manager = manager(for: identity, in: folder, account?.credentials.clientId) else {
      return
    }
    await add(event, to: manager)
  }
}
