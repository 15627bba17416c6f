import SalesforceSDKCommon

/// The session of an account: its tokens, for requests.
extension UserAccountManager {
  /// Returns the account with the tokens for requests.
  ///
  /// - Throws: ``AccountError`` `unknownAccount` or `notLoggedIn`; the errors of a refresh, if
  ///   there is only a refresh token.
  func session(of identity: UserAccountIdentity) async throws -> UserAccount {
    _ = try active(identity)
    if machine.unsavedChange(of: identity) != nil {
      try await persister.withExclusiveAccess(to: identity) {
        try await self.saveUnsaved(identity)
      }
    }
    // A refresh is needed only without an access token.
    return try await refreshedSession(of: identity, replacing: nil)
  }

  /// The account whose logout runs this task as an observer: its session is valid until the
  /// observer returns.
  @TaskLocal static var endingAccount: UserAccountIdentity?

  /// Returns the account if requests may use its session.
  func active(_ identity: UserAccountIdentity) throws(AccountError) -> UserAccount {
    try checkOpen()
    switch machine.session(of: identity, ending: Self.endingAccount) {
    case .account(let account): return account
    case .ended(let account):
      throw AccountError(.notLoggedIn, "\(account) has no session. Log in again.")
    case .unknown:
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
  }

  /// Whether the task may use the session of an account.
  func hasSession(_ account: UserAccount) -> Bool {
    machine.mayUseSession(of: account, ending: Self.endingAccount)
  }

  /// Runs `body` with the account's tokens, and again with new tokens if the server refuses them.
  func withFreshSession<Result: Sendable>(
    of identity: UserAccountIdentity, _ body: (UserAccount) async throws -> Result
  ) async throws -> Result {
    let account = try await session(of: identity)
    do {
      return try await body(account)
    } catch let error as OAuthError where error.code == .accessDenied {
      return try await body(
        try await refreshedSession(of: identity, replacing: account.credentials.accessToken))
    }
  }
}
