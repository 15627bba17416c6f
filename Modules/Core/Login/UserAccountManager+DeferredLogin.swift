import SalesforceSDKCommon
import Synchronization

/// Logins that begin because a request has no session (CO-9, CO-122), and processes that begin none (CO-193).
extension UserAccountManager {
  /// Logs a user in for requests without a session.
  ///
  /// - Parameter accounts: The manager to log in with.
  /// - Parameter identity: The user that has to log in again; nil for any.
  public typealias LoginHandler =
    @Sendable (_ accounts: UserAccountManager, _ identity: UserAccountIdentity?) async throws ->
    UserAccount

  /// Whether a user is logged in: a process that shares the accounts can ask before it begins its work. Call ``reload()``
  /// to see what other processes did.
  public nonisolated var hasLoggedInUser: Bool {
    roster.withLock { $0.values.contains(.loggedIn) }
  }

  /// Refuses what a person would have to do.
  ///
  /// - Throws: ``OAuthError`` `interactionNotAllowed`.
  nonisolated func checkInteraction() throws(OAuthError) {
    guard options.isInteractive else {
      throw OAuthError(
        .interactionNotAllowed,
        "This process starts no login by a user. Log in with the app that it belongs to.")
    }
  }

  /// The account with a session for a client that was created without one: the current one, or the one that logs in now.
  func accountOnDemand() async throws -> UserAccount {
    if let current, hasSession(current) { return current }
    return try await loginOnDemand(of: nil)
  }

  /// The account after a login by the program's handler. One login at a time serves all requests that wait for it.
  ///
  /// - Throws: ``AccountError`` `notLoggedIn` without a handler; ``OAuthError`` `interactionNotAllowed`, `accessDenied` if
  ///   another user logged in; what the handler throws.
  func loginOnDemand(of identity: UserAccountIdentity?) async throws -> UserAccount {
    guard let handler = options.loginHandler else {
      throw AccountError(.notLoggedIn, "No user is logged in. Log in first, or set a loginHandler.")
    }
    if let identity, machine.account(identity)?.loginState == .loggingOut {
      throw AccountError(
        .notLoggedIn, "Account \(identity) is being logged out. Log in after that.")
    }
    try checkInteraction()
    let login = loginsOnDemand[identity] ?? startLogin(of: identity, by: handler)
    let account = try await login.value()
    guard identity == nil || account.identity == identity else {
      throw OAuthError(
        .accessDenied,
        "Account \(account.identity) logged in instead of the one of the request. Log in as that user."
      )
    }
    return account
  }

  private func startLogin(
    of identity: UserAccountIdentity?, by handler: @escaping LoginHandler
  ) -> CoalescedTask<UserAccount> {
    let login = CoalescedTask<UserAccount> {
      try await handler(self, identity)
    } whenDone: {
      await self.loginEnded(identity)
    }
    loginsOnDemand[identity] = login
    return login
  }

  private func loginEnded(_ identity: UserAccountIdentity?) { loginsOnDemand[identity] = nil }
}
