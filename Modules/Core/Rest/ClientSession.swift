import SalesforceSDKCommon
import Synchronization

/// The account of a client and its tokens.
final class ClientSession: Sendable {
  let accounts: UserAccountManager?
  private let bound: Mutex<UserAccountIdentity?>

  /// - Parameter accounts: `nil` for a client without an account.
  /// - Parameter identity: `nil` if the account is decided by the first request that needs one.
  init(accounts: UserAccountManager?, identity: UserAccountIdentity?) {
    self.accounts = accounts
    self.bound = Mutex(identity)
  }

  /// The account that the session belongs to; once set, it never changes.
  var identity: UserAccountIdentity? { bound.withLock { $0 } }

  /// The account with its tokens; `nil` if the request is sent without one.
  func account(for request: RestRequest) async throws -> UserAccount? {
    guard let accounts else {
      guard !request.requiresAuthentication else {
        throw RestError(
          .notAuthenticated, "\(request) needs an account and this client has none. Log in first.")
      }
      return nil
    }
    if identity == nil, !request.requiresAuthentication { return nil }
    return try await explaining(request) {
      let identity =
        if let identity { identity } else { bind(try await accounts.accountOnDemand().identity) }
      do {
        return try await accounts.session(of: identity)
      } catch let error as AccountError
        where error.code == .notLoggedIn && request.requiresAuthentication
        && accounts.options.loginHandler != nil
      {
        _ = try await accounts.loginOnDemand(of: identity)
        return try await accounts.session(of: identity)
      }
    }
  }

  /// The account with other tokens than those that the server refused.
  func refreshedAccount(
    for request: RestRequest, replacing account: UserAccount?
  ) async throws -> UserAccount? {
    guard let accounts, let identity else { return nil }
    return try await explaining(request) {
      try await accounts.refreshedSession(
        of: identity, replacing: account?.credentials.accessToken)
    }
  }

  /// Makes an account that of the session, unless it has one; which one it has.
  private func bind(_ identity: UserAccountIdentity) -> UserAccountIdentity {
    bound.withLock { bound in
      if bound == nil { bound = identity }
      return bound ?? identity
    }
  }

  /// The account with its tokens, or the reason why it has none in the form of this module.
  private func explaining(
    _ request: RestRequest, _ get: () async throws -> UserAccount
  ) async throws -> UserAccount {
    do {
      return try await get()
    } catch let error as AccountError
      where [.unknownAccount, .notLoggedIn, .closed].contains(error.code)
    {
      throw RestError(
        .notAuthenticated, "\(request) cannot be sent: \(error.message)", cause: error)
    }
  }
}
