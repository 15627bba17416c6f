import Foundation
import SalesforceSDKCommon
import Synchronization

/// The accounts of an installation, their tokens, and the current user.
///
/// Only the manager has the tokens. Each change is on disk before it takes effect, and several processes may
/// share one ``EncryptedAccountDirectory``. Only calls that name the current user depend on it.
public actor UserAccountManager {
  /// How the manager behaves.
  public struct Options: Sendable {
    /// Whether a refused refresh token ends the account's session. Its data stays; the user has to
    /// log in again. Default: true.
    public var endsSessionWhenRefreshIsRefused: Bool
    /// How long a logout waits for each of its observers. Default: 30 seconds.
    public var observerTimeLimit: Duration
    /// How long a logout waits for the server to end the refresh token. Default: 10 seconds.
    public var revocationTimeLimit: Duration
    /// How long a request for tokens continues after a logout, another login or
    /// ``UserAccountManager/close()`` abandoned it, because its response may have the only valid tokens.
    /// Default: 10 seconds.
    public var exchangeTimeLimit: Duration = .seconds(10)
    /// Whether users that only integrations use are refused at their login; it costs a request
    /// (CO-53). Default: false.
    public var refusesIntegrationUsers = false
    /// Whether a login is kept although the server returns only the ids of the user (CO-71). Default: false.
    public var keepsLoginWithoutProfile = false
    /// Whether this device is managed: an org may allow the login of some users only on managed devices
    /// (CO-18). Default: false.
    public var isManagedApp = false
    /// The login servers, connected app and ways to log in that an organisation demands (CO-171); a managed device counts as
    /// ``isManagedApp``. Default: none.
    public var managed: ManagedConfigurationFile?
    /// Locks the app as the orgs of its users demand (CO-155). A lock serves one manager. Default: nothing.
    public var screenLock: ScreenLockManager?
    /// Whether the app enforces the lock policies of orgs by itself. Without it and without ``screenLock``, the login of a user whose org
    /// demands a lock is refused (CO-156). Default: false.
    public var enforcesScreenLockItself = false
    /// Additional members of token responses to store with the account (CO-19). Default: none.
    public var additionalTokenFields: [String] = []
    /// Additional parameters of every refresh (CO-19). Default: none.
    public var additionalRefreshParameters: [String: String] = [:]

    /// Makes options.
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
  /// Asks also after ``close()``; what does not have to uses ``service``.
  let oauth: OAuthService
  nonisolated let options: Options
  let clock: any Clock<Duration>
  let eventSource = EventSource<AccountEvent>()
  let loginSource = EventSource<LoginEvent>()
  let loginHosts: LoginHostStorage?
  var held: [UserAccountIdentity: UserAccount] = [:] {
    didSet {
      let states = held.mapValues(\.loginState)
      roster.withLock { $0 = states }
      let policies = lockPolicies
      if policies != oldValue.compactMapValues(\.lockPolicy) {
        options.screenLock?.usersDidChange(policies)
      }
    }
  }
  /// The states of the accounts, for those who cannot wait.
  nonisolated let roster = Mutex<[UserAccountIdentity: UserAccount.LoginState]>([:])
  /// Accounts whose newest value is not on disk yet, with the number of the change that made it.
  var unsaved: [UserAccountIdentity: Int] = [:]
  /// Counts what happens to accounts and the current user here.
  private var changes = 0
  var refreshes: [UserAccountIdentity: CoalescedTask<UserAccount>] = [:]
  var observers: [any LogoutObserver] = []
  /// What keeps data of accounts, by ``AccountDataKeeper/keeperId``.
  nonisolated let keepers = Mutex<[(id: String, keeper: any AccountDataKeeper)]>([])
  /// What reports logins and refreshes to analytics.
  nonisolated let analyticsReporter = Mutex<(any AccountAnalyticsReporter)?>(nil)
  /// The accounts that this process logs out now.
  var leaving: Set<UserAccountIdentity> = []
  /// How sessions without a refresh token are renewed.
  var grants: [UserAccountIdentity: ServerGrant] = [:]
  /// The OpenID tokens that refreshes brought last.
  var openIDTokens: [UserAccountIdentity: String] = [:]
  /// Origins that the caller confirmed for accounts that move.
  var confirmedServers: [UserAccountIdentity: Set<String>] = [:]
  /// The login at work.
  var login: Task<UserAccount, any Error>?
  private var isClosed = false
  private var currentIdentity: UserAccountIdentity?
  private var unreadable: [UnreadableAccount] = []

  /// Loads the accounts that `persister` holds; no network is used.
  ///
  /// - Parameter persister: The storage of the accounts.
  /// - Parameter transport: Carries the calls for tokens and users; requests have one of their own.
  /// - Parameter userAgent: The user agent of these calls.
  /// - Parameter options: The settings of the manager.
  /// - Parameter loginHosts: Where the current user's login server becomes the selected one.
  ///   Default: nowhere.
  /// - Parameter clock: Measures time limits and pauses.
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
    adopt(try await persister.fetchAll())
    options.screenLock?.usersDidChange(lockPolicies)
  }

  /// What the orgs of the users demand, by user.
  var lockPolicies: [UserAccountIdentity: LockPolicy] { held.compactMapValues(\.lockPolicy) }

  /// What locks the app; nil if nothing does.
  package nonisolated var screenLock: ScreenLockManager? { options.screenLock }

  /// Reads the accounts again, with the changes of other processes.
  ///
  /// - Throws: ``AccountError``, as at the start; then the accounts stay as they were.
  public func reload() async throws(AccountError) {
    while true {
      let before = changes
      let stored = try await persister.fetchAll()
      // What changed here since may be newer than what was read.
      if changes == before { return adopt(stored) }
    }
  }

  /// Ends refreshes, a login in progress, and event streams.
  ///
  /// A request that may return new tokens continues for ``Options/exchangeTimeLimit``, and its tokens are on
  /// disk on return. From now on, requests, refreshes and logins fail with `closed`. Calls without network
  /// access still work, and so does a logout, which informs the server.
  public func close() async {
    isClosed = true
    cancelLogin()
    let running = Array(refreshes.values)
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
  public var accounts: [UserAccount] { held.values.sorted { $0.identity < $1.identity } }

  /// The account of that user; `nil` if there is none.
  public func account(for identity: UserAccountIdentity) -> UserAccount? { held[identity] }

  /// The accounts of one org; both forms of its id will do.
  public func accounts(inOrganization organizationId: String) -> [UserAccount] {
    accounts.filter {
      $0.identity
        == UserAccountIdentity(userId: $0.userId, organizationId: organizationId)
    }
  }

  /// The accounts whose data is on that host.
  public func accounts(onInstanceHost host: String) -> [UserAccount] {
    accounts.filter { $0.credentials.instanceURL?.host()?.lowercased() == host.lowercased() }
  }

  /// The accounts that logged in at that domain.
  public func accounts(withLoginDomain domain: String) -> [UserAccount] {
    accounts.filter { $0.credentials.loginServer.domain.lowercased() == domain.lowercased() }
  }

  /// The account files that could not be read, or not with their tokens, when the accounts were last
  /// loaded.
  public var unreadableAccounts: [UnreadableAccount] { unreadable }

  /// The events of accounts from now on. Each call returns a separate stream, which buffers all events until
  /// they are read, and ends with ``close()``.
  public func events() -> some AsyncSequence<AccountEvent, Never> & Sendable {
    eventSource.stream()
  }

  // MARK: - The current user

  /// The current user's account; `nil` if there is none.
  public var current: UserAccount? { currentIdentity.flatMap { held[$0] } }

  /// Creates an account the current user; `nil` means no current user. The selection survives restarts, also if
  /// another process has switched since the accounts were read.
  ///
  /// - Throws: ``AccountError`` `unknownAccount`, `writeFailed`, `busy`.
  public func setCurrent(_ identity: UserAccountIdentity?) async throws(AccountError) {
    if let identity, held[identity] == nil {
      throw AccountError(.unknownAccount, "There is no account \(identity) to switch to. Log in.")
    }
    willSetCurrent(identity)
    try await persister.updateCurrent { _ in identity }
    didSetCurrent(identity)
  }

  /// Announces another current user.
  func willSetCurrent(_ identity: UserAccountIdentity?) {
    guard identity != current?.identity, let account = identity.flatMap({ held[$0] }) else {
      return
    }
    eventSource.send(.willBecomeCurrent(previous: current?.identity), account)
  }

  /// Takes over who the current user is from now on, as the disk already says.
  ///
  /// - Parameter choosesServer: Whether the user's login server becomes the chosen one. The site of a
  ///   headless login shows no login page, so it is not one to choose (CO-81).
  func didSetCurrent(_ identity: UserAccountIdentity?, choosesServer: Bool = true) {
    let previous = current
    guard identity != previous?.identity else { return }
    changes += 1
    currentIdentity = identity
    if let account = identity.flatMap({ held[$0] }) {
      if choosesServer { loginHosts?.follow(account.credentials.loginServer) }
      eventSource.send(.didBecomeCurrent(previous: previous?.identity), account)
    } else if let previous {
      eventSource.send(.didResignCurrent, previous)
    }
  }

  // MARK: - Sessions

  /// The account with the tokens that requests are to use now.
  ///
  /// - Throws: ``AccountError`` `unknownAccount` or `notLoggedIn`; what a refresh throws, if there
  ///   is only a refresh token.
  func session(of identity: UserAccountIdentity) async throws -> UserAccount {
    _ = try active(identity)
    if unsaved[identity] != nil {
      try await persister.withExclusiveAccess(to: identity) {
        try await self.saveUnsaved(identity)
      }
    }
    // Only without an access token does it take a refresh.
    return try await refreshedSession(of: identity, replacing: nil)
  }

  /// The account whose logout the task takes part in as an observer: its session is good until the observer returns.
  @TaskLocal static var endingAccount: UserAccountIdentity?

  /// The account if it has a session that requests may use.
  func active(_ identity: UserAccountIdentity) throws(AccountError) -> UserAccount {
    try checkOpen()
    guard let account = held[identity] else {
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
    guard hasSession(account) else {
      throw AccountError(.notLoggedIn, "\(account) has no session. Log in again.")
    }
    return account
  }

  /// Whether the task may use the session of an account.
  func hasSession(_ account: UserAccount) -> Bool {
    switch account.loginState {
    case .loggedIn: true
    case .loggingOut: Self.endingAccount == account.identity && leaving.contains(account.identity)
    case .notLoggedIn: false
    }
  }

  /// Asks servers for tokens and users, until ``close()``.
  var service: OAuthService {
    get throws(AccountError) {
      try checkOpen()
      return oauth
    }
  }

  private func checkOpen() throws(AccountError) {
    guard !isClosed else { throw AccountError(.closed, "The account manager was closed.") }
  }

  /// Keeps an account, on disk first.
  ///
  /// If the disk fails, the account is still kept in memory: tokens that the server has already exchanged
  /// must not be lost. It is written before it is used next. To be called with exclusive access to the
  /// account.
  func save(_ account: UserAccount) async throws(AccountError) {
    changes += 1
    unsaved[account.identity] = changes
    var shown = account
    // Tokens may come while a logout waits for them, which goes on.
    if held[account.identity]?.loginState == .loggingOut { shown.loginState = .loggingOut }
    held[account.identity] = shown
    try await write(account)
  }

  /// Writes what could not be written when it came, unless another process logged in or out since. To
  /// be called with exclusive access to the account.
  func saveUnsaved(_ identity: UserAccountIdentity) async throws(AccountError) {
    let stored = try await persister.fetch(identity)
    guard unsaved[identity] != nil, var account = held[identity] else { return }
    guard let stored else {
      drop(identity)
      // The process that logged the user out knew an older one.
      _ = await revoke(account.credentials, reason: .refreshTokenRotated)
      return
    }
    guard stored.credentials.identifier == account.credentials.identifier,
      stored.loginState != .loggingOut || leaving.contains(identity)
    else {
      return adopt(stored)
    }
    if account.loginState == .loggingOut { account.loginState = .loggedIn }
    try await write(account)
  }

  /// The account with the tokens that the server granted last, as far as can be known: as it is on disk,
  /// unless something newer waits here to be written or the disk cannot be read. `nil` if it is gone
  /// there or nowhere. To be called with exclusive access to the account.
  func newest(_ identity: UserAccountIdentity) async -> UserAccount? {
    do throws(AccountError) {
      let stored = try await persister.fetch(identity)
      let here = unsaved[identity] == nil ? nil : held[identity]
      guard let stored, let here else { return stored }
      return stored.credentials.identifier == here.credentials.identifier ? here : stored
    } catch {
      CoreLogger.log.warning("account \(identity) on disk cannot be read", error: error)
      return held[identity]
    }
  }

  /// The account as it is on disk now, which this manager takes over, unless something newer waits
  /// here to be written; `nil` if it is gone there or here. To be called with exclusive access to the
  /// account.
  func takeOver(_ identity: UserAccountIdentity) async throws(AccountError) -> UserAccount? {
    while let before = held[identity] {
      let stored = try await persister.fetch(identity)
      // What changed here since may be newer than what was read.
      guard held[identity] == before else { continue }
      if unsaved[identity] != nil { return before }
      guard let stored else { return nil }
      if stored.credentials.identifier == before.credentials.identifier,
        stored.credentials.refreshToken == nil, before.credentials.refreshToken != nil
      {
        // The secret store is damaged; what is known here is still good, or the server says that it is
        // not.
        return before
      }
      guard before.loginState != .loggingOut else { return before }
      held[identity] = stored
      return stored
    }
    return nil
  }

  /// Writes the newest value of an account.
  private func write(_ account: UserAccount) async throws(AccountError) {
    let change = unsaved[account.identity]
    try await persister.save(account)
    if unsaved[account.identity] == change { unsaved[account.identity] = nil }
  }

  /// Takes an account away after a logout.
  func drop(_ identity: UserAccountIdentity) {
    changes += 1
    held[identity] = nil
    unsaved[identity] = nil
    refreshes[identity] = nil
    grants[identity] = nil
    openIDTokens[identity] = nil
    confirmedServers[identity] = nil
  }

  /// Takes over what another process wrote.
  func adopt(_ account: UserAccount) {
    changes += 1
    held[account.identity] = account
    unsaved[account.identity] = nil
  }

  private func adopt(_ stored: StoredAccounts) {
    var next: [UserAccountIdentity: UserAccount] = [:]
    for account in stored.accounts { next[account.identity] = account }
    for (identity, account) in held
    where unsaved[identity] != nil || leaving.contains(identity) {
      next[identity] = account
    }
    held = next
    currentIdentity = stored.current
    unreadable = stored.unreadable
  }
}
