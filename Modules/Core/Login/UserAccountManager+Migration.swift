import SalesforceSDKCommon

extension UserAccountManager {
  /// Moves an account to another connected app: the same user, new tokens, the same data. The former refresh
  /// token is revoked. Other accounts and the current user do not change (CO-52).
  ///
  /// - Throws: As ``logIn(_:makesCurrent:)``; `accessDenied` if another user logged in.
  ///   After an error the account is unchanged.
  @discardableResult
  public func migrate(
    _ identity: UserAccountIdentity, to app: ConnectedApp, presenter: any LoginPresenter
  ) async throws -> UserAccount {
    // A refresh before the page is cheaper than a page that shows a login form.
    let account = try await session(of: identity)
    let server = account.credentials.loginServer
    return try await asLogin(.refreshTokenMigration, at: server) {
      let attempt = await self.attempt(app: app, server: server, openedWith: account.credentials)
      return try await self.complete(
        attempt, presenter, type: .refreshTokenMigration, makesCurrent: false, expected: identity)
    }
  }
}
