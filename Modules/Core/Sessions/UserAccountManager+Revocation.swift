import SalesforceSDKCommon

/// The end of a session on the server.
extension UserAccountManager {
  /// Revokes a session on the server. The local state does not depend on the result.
  func revoke(_ credentials: OAuthCredentials, reason: LogoutReason) async -> Bool? {
    guard credentials.revocableToken != nil else { return nil }
    let oauth = oauth
    do {
      return try await limited(to: options.revocationTimeLimit, "revoking the refresh token") {
        try await oauth.revoke(credentials, reason: reason)
      }
    } catch {
      CoreLogger.log.warning("the server was not told to end a refresh token", error: error)
      return false
    }
  }

  /// Revokes the refresh token of a login that failed: servers limit the tokens for a user and an
  /// app, and would drop those of other devices instead.
  func giveBack(_ credentials: OAuthCredentials) async {
    let token = credentials.revocableToken
    // The server may have returned the token of an existing account.
    guard !machine.accounts.values.contains(where: { $0.credentials.revocableToken == token })
    else { return }
    // Sent to the server that issued the token: other servers in the refused response must not
    // receive it.
    var given = credentials
    given.communityId = nil
    given.communityURL = nil
    // In a separate task, because the task of the login may be cancelled.
    _ = await Task { [given] in await revoke(given, reason: .unexpected) }.value
  }
}
