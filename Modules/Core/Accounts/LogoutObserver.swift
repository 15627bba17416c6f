/// An observer of logouts, for a program that keeps data of accounts outside of this package's stores.
///
/// Add one with ``UserAccountManager/addLogoutObserver(_:)``. A logout first counts the data that would be
/// lost, and only then calls the observers to erase it. Stores of the account are closed by then.
public protocol LogoutObserver: Sendable {
  /// Counts the records of `account` with local changes that were not uploaded.
  ///
  /// - Throws: If they cannot be counted; then the logout is refused unless the caller forces it.
  func unsyncedRecords(of account: UserAccount) async throws -> Int

  /// Closes and erases the program's data of `account`, and of no other account. Until it returns,
  /// a `RestClient` of the account can send requests in this task, but not in other tasks. On
  /// return the data is erased.
  ///
  /// - Throws: If data could not be erased; the logout continues and reports the error.
  func willLogOut(_ account: UserAccount, reason: LogoutReason) async throws
}

/// The result of a logout.
public struct LogoutReport: Sendable {
  /// The account, without its tokens.
  public let account: UserAccount
  /// The number of entries that were lost because the logout was forced; `nil` if they could not be
  /// counted.
  public let unsyncedRecords: Int?
  /// The data that could not be erased.
  public let failures: [any Error]
  /// Whether the server ended the refresh token; `nil` if there was no refresh token.
  public let isRevoked: Bool?
}
