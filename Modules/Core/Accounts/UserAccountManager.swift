import Foundation
import SalesforceSDKCommon
import Synchronization

/// The accounts of an installation, their tokens, and the current user.
///
/// Only the manager has the tokens. Each change is on disk before it takes effect, and several
/// processes may share one ``EncryptedAccountDirectory``. Only calls with "current" in their name
/// depend on the current user.
public actor UserAccountManager {
  /// The options of an account manager.
  public struct Options: Sendable {
    /// Whether a refused refresh token ends the account's session. Its data stays; the user has to
    /// log in again. Default: true.
    public var endsSessionWhenRefreshIsRefused: Bool
    /// The maximum time for which a logout waits for each of its observers. Default: 30 seconds.
    public var observerTimeLimit: Duration
    /// The maximum time for which a logout waits for the server to revoke the refresh token.
    /// Default: 10 seconds.
    public var revocationTimeLimit: Duration
    /// The time for which a request for tokens continues after a logout, another login or
    /// ``UserAccountManager/close()`` abandoned it, because its response may contain the only valid
    /// tokens. Default: 10 seconds.
    public var exchangeTimeLimit: Duration = .seconds(10)
    /// Whether to refuse the login of users for integrations only, which costs a request (CO-53).
    /// Default: false.
    public var refusesIntegrationUsers = false
    /// Whether a login is kept although the server returns only the ids of the user (CO-71). Default: false.
    public var keepsLoginWithoutProfile = false
    /// Whether this device is managed: an org may allow the login of some users only on managed devices
    /// (CO-18). Default: false.
    public var isManagedApp = false
    /// The login servers, connected app and ways to log in that an organization requires (CO-171);
    /// a managed device counts as ``isManagedApp``. Default: none.
    public var managed: ManagedConfigurationFile?
    /// The lock of the app, which follows the policies of its users' orgs (CO-155). A lock serves
    /// one manager. Default: none.
    public var screenLock: ScreenLockManager?
    /// Whether the app enforces the lock policies of orgs itself. Without it and without
    /// ``screenLock``, the login of a user whose org requires a lock is refused (CO-156). Default:
    /// false.
    public var enforcesScreenLockItself = false
    /// Decides what comes after a failed login or refresh (CO-41). Default: nothing; the caller gets the error.
    public var errorHandlers: AuthenticationErrorHandlers?
    /// Logs a user in when a request has no session (CO-9, CO-122). Default: none; such requests fail with `notAuthenticated`.
    public var loginHandler: LoginHandler?
    /// Whether logins by a user may begin here. A helper process that shares the accounts sets it to false: then they fail with
    /// `interactionNotAllowed` (CO-193). Default: true.
    public var isInteractive = true
    /// Additional members of token responses to store with the account (CO-19). Default: none.
    public var additionalTokenFields: [String] = []
    /// Additional parameters of every refresh (CO-19). Default: none.
    public var additionalRefreshParameters: [String: String] = [:]
    /// The place at which the features in use are shown. Default: in the user agent of the process.
    package var markers = FeatureMarkers.shared

    /// Creates options.
    public init(
      endsSessionWhenRefreshIsRefused: Bool = true, observerTimeLimit: Duration = .seconds(30),
      revocationTimeLimit: Duration = .seconds(10)
    ) {
      self.endsSessionWhenRefreshIsRefused = endsSessionWhenRefreshIsRefused
      self.observerTimeLimit = observerTimeLimit
      self.revocationTimeLimit = revocationTimeLimit
    }
  }

  let persister: any AccountPersister
  /// The service for requests that continue after ``close()``; all other requests use ``service``.
  let oauth: OAuthService
  nonisolated let options: Options
  let clock: any Clock<Duration>
  let eventSource = EventSource<AccountEvent>()
  let loginSource = EventSource<LoginEvent>()
  let loginHosts: LoginHostStorage?
  /// The accounts in memory.
  var machine = AccountsMachine<CoalescedTask<UserAccount>>() {
    didSet {
      guard machine.version != oldValue.version else { return }
      let accounts = machine.accounts
      roster.withLock { $0 = accounts.mapValues(\.loginState) }
      let policies = lockPolicies
      if policies != oldValue.lockPolicies {
        options.screenLock?.usersDidChange(policies)
      }
      showUsers()
    }
  }
  /// The states of the accounts, for synchronous callers.
  nonisolated let roster = Mutex<[UserAccountIdentity: UserAccount.LoginState]>([:])
  var observers: [any LogoutObserver] = []
  /// The keepers of account data, by ``AccountDataKeeper/keeperId``.
  nonisolated let keepers = Mutex<[(id: String, keeper: any AccountDataKeeper)]>([])
  /// The reporter of logins and refreshes to analytics.
  nonisolated let analyticsReporter = Mutex<(any AccountAnalyticsReporter)?>(nil)
  /// The logins that requests wait for, by the user that has to log in.
  var loginsOnDemand: [UserAccountIdentity?: CoalescedTask<UserAccount>] = [:]
  /// The login at work.
  var login: Task<UserAccount, any Error>?
  private var isClosed = false

  /// Loads the accounts of `persister`, without the network.
  ///
  /// - Parameter persister: The storage of the accounts.
  /// - Parameter transport: The transport for the calls for tokens and users; other requests have
  ///   their own.
  /// - Parameter userAgent: The user agent of these calls.
  /// - Parameter options: The settings of the manager.
  /// - Parameter loginHosts: The list in which the current user's login server becomes the selected
  ///   one. Default: none.
  /// - Parameter clock: The clock for time limits and pauses.
  /// - Throws: ``AccountError`` `keyUnavailable`, `keyMissing` or `readFailed`.
  public init(
    persister: any AccountPersister, transport: any HTTPTransport,
    userAgent: UserAgent = UserAgent(), options: Options = Options(),
    loginHosts: LoginHostStorage? = nil, clock: any Clock<Duration> = ContinuousClock()
  ) async throws(AccountError) {
    self.persister = persister
    self.oauth = OAuthService(
      transport: transport, userAgent: userAgent,
      refreshParameters: options.additionalRefreshParameters, clock: clock)
    self.loginHosts = loginHosts
    self.options = options
    self.clock = clock
    options.screenLock?.attach(to: self)
    load(try await persister.fetchAll())
    options.screenLock?.usersDidChange(lockPolicies)
  }

  /// The lock policies of the users' orgs, by user.
  var lockPolicies: [UserAccountIdentity: LockPolicy] {
    machine.lockPolicies
  }

  /// The lock of the app; nil if the app is never locked.
  package nonisolated var screenLock: ScreenLockManager? { options.screenLock }

  /// Reads the accounts again, with the changes of other processes.
  ///
  /// - Throws: ``AccountError``, as at the start; then the accounts do not change.
  public func reload() async throws(AccountError) {
    while true {
      let before = machine.changes
      let stored = try await persister.fetchAll()
      // A change in this process since then may be newer than the accounts that were read.
      if machine.changes == before { return load(stored) }
    }
  }

  private func load(_ stored: StoredAccounts) { machine.load(stored) }

  /// Ends refreshes, a login in progress, and event streams.
  ///
  /// A request that may return new tokens continues for ``Options/exchangeTimeLimit``, and its tokens are on
  /// disk on return. From now on, requests, refreshes and logins fail with `closed`. Calls without network
  /// access still work, and so does a logout, which informs the server.
  public func close() async {
    isClosed = true
    cancelLogin()
    let running = machine.allRefreshes
    for refresh in running { refresh.giveUp() }
    for refresh in running { await refresh.cancel() }
    if let login {
      // A presenter may ignore its cancellation.
      _ = try? await CoalescedTask { try await login.value }.value(
        within: options.exchangeTimeLimit + options.revocationTimeLimit, by: clock)
    }
    eventSource.finish()
    loginSource.finish()
  }

  // MARK: - Finding accounts

  /// All accounts, sorted by identity.
  public var accounts: [UserAccount] {
    machine.accounts.values.sorted { $0.identity < $1.identity }
  }

  /// Returns the account of a user; `nil` if it does not exist.
  public func account(for identity: UserAccountIdentity) -> UserAccount? {
    machine.account(identity)
  }

  /// Returns the accounts of one org, in either form of its id.
  public func accounts(inOrganization organizationId: String) -> [UserAccount] {
    accounts.filter {
      $0.identity
        == UserAccountIdentity(userId: $0.userId, organizationId: organizationId)
    }
  }

  /// Returns the accounts whose data is on a host.
  public func accounts(onInstanceHost host: String) -> [UserAccount] {
    accounts.filter { $0.credentials.instanceURL?.host()?.lowercased() == host.lowercased() }
  }

  /// Returns the accounts that logged in at a domain.
  public func accounts(withLoginDomain domain: String) -> [UserAccount] {
    accounts.filter { $0.credentials.loginServer.domain.lowercased() == domain.lowercased() }
  }

  /// The account files that could not be read, or whose tokens could not be read, when the accounts
  /// were last loaded.
  public var unreadableAccounts: [UnreadableAccount] { machine.unreadable }

  /// Returns the events of accounts from now on. Each call returns a separate stream, which buffers
  /// all events until they are read, and ends with ``close()``.
  public nonisolated func events() -> some AsyncSequence<AccountEvent, Never> & Sendable {
    eventSource.stream()
  }

  // MARK: - The current user

  /// The current user's account; `nil` if there is none.
  public var current: UserAccount? { machine.current }

  /// Makes an account the current user; `nil` means no current user. The selection survives
  /// restarts, even if another process has changed it since the accounts were read.
  ///
  /// - Throws: ``AccountError`` `unknownAccount`, `writeFailed`, `busy`.
  public func setCurrent(_ identity: UserAccountIdentity?) async throws(AccountError) {
    if let identity, machine.account(identity) == nil {
      throw AccountError(.unknownAccount, "There is no account \(identity) to switch to. Log in.")
    }
    willSetCurrent(identity)
    try await persister.updateCurrent { _ in identity }
    didSetCurrent(identity)
  }

  /// Announces a change of the current user.
  func willSetCurrent(_ identity: UserAccountIdentity?) {
    guard identity != current?.identity, let account = identity.flatMap({ machine.account($0) })
    else {
      return
    }
    eventSource.send(.willBecomeCurrent(previous: current?.identity), account)
  }

  /// Changes the current user in memory, after the change on disk.
  ///
  /// - Parameter choosesServer: Whether the user's login server becomes the chosen one. The site of
  ///   a headless login has no login page, so it is not chosen (CO-81).
  func didSetCurrent(_ identity: UserAccountIdentity?, choosesServer: Bool = true) {
    let previous = current
    guard machine.setCurrent(identity) else { return }
    if let account = identity.flatMap({ machine.account($0) }) {
      if choosesServer { loginHosts?.follow(account.credentials.loginServer) }
      eventSource.send(.didBecomeCurrent(previous: previous?.identity), account)
    } else if let previous {
      eventSource.send(.didResignCurrent, previous)
    }
  }

  // MARK: - The network

  /// The service for requests about tokens and users, until ``close()``.
  var service: OAuthService {
    get throws(AccountError) {
      try checkOpen()
      return oauth
    }
  }

  func checkOpen() throws(AccountError) {
    guard !isClosed else { throw AccountError(.closed, "The account manager was closed.") }
  }
}
