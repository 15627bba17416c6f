/// Keeps data of accounts and takes part in their logout.
///
/// A store of records registers one with ``UserAccountManager/addLogoutObserver(_:)``. A logout
/// first asks all observers how much would be lost, and only then lets them erase it.
public protocol LogoutObserver: Sendable {
  /// How many records of `account` were changed here and not yet sent to the server.
  ///
  /// - Throws: If they cannot be counted; then the logout is refused unless the caller insists.
  func unsyncedRecords(of account: UserAccount) async throws -> Int

  /// Closes and erases what is kept for `account`, and for nobody else. The account's tokens are
  /// still valid. On return the data is gone.
  ///
  /// - Throws: If something could not be erased; the logout goes on and reports it.
  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws
}

/// What a logout did.
public struct LogoutReport: Sendable {
  /// The account, without its tokens.
  public let account: UserAccount
  /// How many records were lost because the caller insisted; `nil` if they could not be counted.
  public let unsyncedRecords: Int?
  /// What observers could not erase.
  public let failures: [any Error]
  /// Whether the server ended the refresh token. `nil` if there was none.
  public let isRevoked: Bool?
}
