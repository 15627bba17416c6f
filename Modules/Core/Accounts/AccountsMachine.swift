import SalesforceSDKCommon

/// The accounts of a manager in memory, with one entry for each user: decides what is written, what a value from
/// disk replaces, who refreshes, and what a logout may begin. No clock, no I/O, no await.
///
/// - Parameter Refresh: The handle of a refresh at work.
struct AccountsMachine<Refresh: Sendable>: Sendable {
  /// The knowledge about one user.
  struct Entry: Sendable {
    /// The account; `nil` after its removal, while something of it is still at work.
    fileprivate(set) var account: UserAccount?
    /// The number of the change that is not on disk yet.
    fileprivate(set) var unsavedChange: Int?
    /// The refresh at work, with its number.
    fileprivate(set) var refresh: (number: Int, handle: Refresh)?
    /// Whether this process is logging the account out.
    fileprivate(set) var isLeaving = false
    /// The grant that renews a session without a refresh token.
    var grant: ServerGrant?
    /// The OpenID token of the last refresh.
    var openIDToken: String?
    /// The origins that a caller confirmed for an account that moves.
    var confirmedServers: Set<String> = []

    /// Whether the account on disk is as new as this one.
    fileprivate var isReplaceable: Bool { unsavedChange == nil && !isLeaving }

    fileprivate var isEmpty: Bool {
      account == nil && refresh == nil && !isLeaving && grant == nil && openIDToken == nil
        && confirmedServers.isEmpty
    }
  }

  private var entries: [UserAccountIdentity: Entry] = [:]
  /// The user who was made the current one last; may have no account any more.
  private(set) var currentIdentity: UserAccountIdentity?
  /// The accounts that could not be read.
  private(set) var unreadable: [UnreadableAccount] = []
  private var heldPolicies: [UserAccountIdentity: LockPolicy] = [:]
  /// The number of changes to accounts and the current user in this process.
  private(set) var changes = 0
  /// A number that is another one after any account in memory has changed.
  private(set) var version = 0
  private var refreshes = 0

  // MARK: - Finding

  /// The accounts by user.
  var accounts: [UserAccountIdentity: UserAccount] { entries.compactMapValues(\.account) }

  /// The lock policies by user, also of accounts whose files cannot be read.
  var lockPolicies: [UserAccountIdentity: LockPolicy] {
    accounts.compactMapValues(\.lockPolicy).merging(heldPolicies) { policy, _ in policy }
  }

  /// The account of a user; `nil` if there is none.
  func account(_ identity: UserAccountIdentity) -> UserAccount? { entries[identity]?.account }

  /// The current user's account; `nil` if there is none.
  var current: UserAccount? { currentIdentity.flatMap(account) }

  /// The identity as the account in memory spells it; `nil` without an account.
  func spelling(of identity: UserAccountIdentity) -> UserAccountIdentity? {
    guard let index = entries.index(forKey: identity), entries[index].value.account != nil else {
      return nil
    }
    return entries[index].key
  }

  /// The entry of a user; an empty one if there is none.
  subscript(_ identity: UserAccountIdentity) -> Entry {
    get { entries[identity] ?? Entry() }
    set { entries[identity] = newValue.isEmpty ? nil : newValue }
  }

  // MARK: - Loading

  /// Replaces the accounts by those on disk, except what is not written yet or is being logged out here.
  mutating func load(_ stored: StoredAccounts) {
    var next: [UserAccountIdentity: Entry] = [:]
    for account in stored.accounts {
      var entry = self[account.identity]
      if entry.account == nil || entry.isReplaceable { entry.account = account }
      next[account.identity] = entry
    }
    for (identity, var entry) in entries where next[identity] == nil {
      if entry.isReplaceable { entry.account = nil }
      if !entry.isEmpty { next[identity] = entry }
    }
    entries = next
    currentIdentity = stored.current
    unreadable = stored.unreadable
    heldPolicies = stored.heldPolicies.filter { account($0.key) == nil }
    version += 1
  }

  /// Replaces an account by the one that another process wrote.
  mutating func adopt(_ account: UserAccount) {
    changes += 1
    set(account, of: account.identity)
    entries[account.identity]?.unsavedChange = nil
  }

  // MARK: - Writing

  /// Takes a new value that is to be written next.
  mutating func willSave(_ account: UserAccount) {
    changes += 1
    var shown = account
    // Tokens may arrive while a logout waits for them; the logout continues.
    if self.account(account.identity)?.loginState == .loggingOut { shown.loginState = .loggingOut }
    set(shown, of: account.identity)
    entries[account.identity]?.unsavedChange = changes
  }

  /// The number of the change that is not on disk yet; `nil` if the disk has the newest value.
  func unsavedChange(of identity: UserAccountIdentity) -> Int? { entries[identity]?.unsavedChange }

  /// The value with that number is on disk.
  mutating func didSave(_ identity: UserAccountIdentity, change: Int?) {
    guard let entry = entries[identity], entry.unsavedChange == change else { return }
    entries[identity]?.unsavedChange = nil
  }

  /// Undoes a change that could not be stored.
  mutating func restore(
    _ former: UserAccount?, _ change: Int?, insteadOf identity: UserAccountIdentity
  ) {
    set(former, of: identity)
    var entry = self[identity]
    entry.unsavedChange = change
    self[identity] = entry
  }

  /// The next step for a value that could not be written earlier.
  enum Unsaved: Equatable {
    /// Everything is on disk, or another process has logged in since: its account is in memory now.
    case settled
    /// Another process has logged the user out; it knew an older token than this account's.
    case removed(UserAccount)
    case write(UserAccount)
  }

  /// Decides about a value that is not written yet.
  ///
  /// - Parameter stored: The account on disk now.
  mutating func settleUnsaved(_ identity: UserAccountIdentity, stored: UserAccount?) -> Unsaved {
    guard let entry = entries[identity], entry.unsavedChange != nil, var account = entry.account
    else { return .settled }
    guard let stored else {
      remove(identity)
      return .removed(account)
    }
    guard stored.credentials.identifier == account.credentials.identifier,
      stored.loginState != .loggingOut || entry.isLeaving
    else {
      adopt(stored)
      return .settled
    }
    if account.loginState == .loggingOut { account.loginState = .loggedIn }
    return .write(account)
  }

  /// The account with the newest known tokens: the one on disk, unless memory has a newer value of the same login.
  func newest(_ identity: UserAccountIdentity, stored: UserAccount?) -> UserAccount? {
    guard let stored, let entry = entries[identity], entry.unsavedChange != nil,
      let here = entry.account
    else { return stored }
    return stored.credentials.identifier == here.credentials.identifier ? here : stored
  }

  /// The result of reading an account from disk.
  enum TakenOver: Equatable {
    /// Memory has changed during the reading: read again.
    case changed
    case account(UserAccount)
    case removed
  }

  /// Loads the account on disk into memory, unless memory has a newer value.
  ///
  /// - Parameter before: The account in memory when the reading began.
  mutating func takeOver(
    _ identity: UserAccountIdentity, stored: UserAccount?, since before: UserAccount
  ) -> TakenOver {
    guard let entry = entries[identity], entry.account == before else { return .changed }
    if entry.unsavedChange != nil { return .account(before) }
    guard let stored else { return .removed }
    if stored.credentials.identifier == before.credentials.identifier,
      stored.credentials.refreshToken == nil, before.credentials.refreshToken != nil
    {
      // The secret store is damaged. The tokens in memory are still valid, or the server refuses
      // them.
      return .account(before)
    }
    guard before.loginState != .loggingOut else { return .account(before) }
    set(stored, of: identity)
    return .account(stored)
  }

  // MARK: - The current user

  /// Changes the current user in memory.
  ///
  /// - Returns: Whether it was another one.
  mutating func setCurrent(_ identity: UserAccountIdentity?) -> Bool {
    guard identity != current?.identity else { return false }
    changes += 1
    currentIdentity = identity
    return true
  }

  // MARK: - Sessions

  /// The result for a request that needs the session of an account.
  enum Session {
    case unknown
    /// The account has no session that this task may use.
    case ended(UserAccount)
    case account(UserAccount)
  }

  /// The session of an account.
  ///
  /// - Parameter ending: The account whose logout runs the task as an observer.
  func session(
    of identity: UserAccountIdentity, ending: UserAccountIdentity?
  ) -> Session {
    guard let account = account(identity) else { return .unknown }
    return mayUseSession(of: account, ending: ending) ? .account(account) : .ended(account)
  }

  /// Whether a task may use the session of an account.
  func mayUseSession(of account: UserAccount, ending: UserAccountIdentity?) -> Bool {
    switch account.loginState {
    case .loggedIn: true
    case .loggingOut: ending == account.identity && isLeaving(account.identity)
    case .notLoggedIn: false
    }
  }

  /// The refresh at work, which serves all requests.
  func refresh(of identity: UserAccountIdentity) -> Refresh? { entries[identity]?.refresh?.handle }

  /// The refreshes at work.
  var allRefreshes: [Refresh] { entries.values.compactMap { $0.refresh?.handle } }

  /// The number of the next refresh.
  mutating func nextRefresh() -> Int {
    refreshes += 1
    return refreshes
  }

  /// A refresh has begun.
  mutating func didStartRefresh(
    of identity: UserAccountIdentity, number: Int, _ handle: Refresh
  ) {
    var entry = self[identity]
    entry.refresh = (number, handle)
    self[identity] = entry
  }

  /// A refresh has ended. One with another number, which began since, stays.
  mutating func didEndRefresh(of identity: UserAccountIdentity, number: Int) {
    var entry = self[identity]
    guard entry.refresh?.number == number else { return }
    entry.refresh = nil
    self[identity] = entry
  }

  /// The account without a session that is to be saved after the server refused the refresh token of `stored`;
  /// `nil` if another login came since, or there is no session to end.
  func endedSession(of stored: UserAccount) -> UserAccount? {
    guard var account = account(stored.identity), account.loginState == .loggedIn,
      account.credentials.identifier == stored.credentials.identifier
    else { return nil }
    account.loginState = .notLoggedIn
    return account
  }

  // MARK: - Logouts

  /// Whether this process is logging the account out.
  func isLeaving(_ identity: UserAccountIdentity) -> Bool { entries[identity]?.isLeaving ?? false }

  /// Whether a logout of the account was in progress when its process ended.
  func isLogoutInterrupted(_ identity: UserAccountIdentity) -> Bool {
    account(identity)?.loginState == .loggingOut && !isLeaving(identity)
  }

  /// The beginning of a logout.
  enum Logout: Equatable {
    case unknown
    /// Another logout of the account is in progress.
    case inProgress(UserAccount)
    /// The account as it is now, and its former state.
    case begun(UserAccount, former: UserAccount.LoginState)
  }

  /// Begins a logout: from now on the account has no session.
  ///
  /// - Parameter resumes: Whether the logout was interrupted by the end of its process.
  mutating func beginLogout(of identity: UserAccountIdentity, resumes: Bool) -> Logout {
    guard var account = account(identity) else { return .unknown }
    guard resumes || account.loginState.allows(.loggingOut) else { return .inProgress(account) }
    let former = account.loginState
    account.loginState = .loggingOut
    set(account, of: identity)
    entries[identity]?.isLeaving = true
    return .begun(account, former: former)
  }

  /// Takes a logout back that may not go on, or leaves the account without a session.
  mutating func setLoginState(_ state: UserAccount.LoginState, of identity: UserAccountIdentity) {
    guard var account = account(identity) else { return }
    account.loginState = state
    set(account, of: identity)
  }

  /// The logout has ended, with or without the account.
  mutating func endLogout(of identity: UserAccountIdentity) {
    var entry = self[identity]
    entry.isLeaving = false
    self[identity] = entry
  }

  /// Removes an account after a logout, with everything that belongs to it.
  mutating func remove(_ identity: UserAccountIdentity) {
    changes += 1
    version += 1
    heldPolicies[identity] = nil
    var entry = Entry()
    entry.isLeaving = isLeaving(identity)
    self[identity] = entry
  }

  private mutating func set(_ account: UserAccount?, of identity: UserAccountIdentity) {
    version += 1
    if account != nil { heldPolicies[identity] = nil }
    var entry = self[identity]
    entry.account = account
    self[identity] = entry
  }
}
