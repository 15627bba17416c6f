import Foundation
import SalesforceSDKCommon

extension LoginMethod {
  /// Creates an account from tokens of another source. As in every login, the server returns the
  /// user of the tokens and the org's requirements for the app.
  ///
  /// The login throws ``OAuthError`` `accessDenied` if the server refuses the token.
  ///
  /// - Parameter refreshToken: Without one the session lasts only as long as the access token.
  /// - Parameter instance: The server with the org's data.
  /// - Parameter app: The connected app that issued the tokens; needed to refresh them.
  public static func tokens(
    accessToken: String, refreshToken: String? = nil, instance: LoginServer,
    app: ConnectedApp = ConnectedApp(clientId: "", redirectURI: "")
  ) -> LoginMethod {
    let credentials = OAuthCredentials(
      clientId: app.clientId, redirectURI: app.redirectURI, loginServer: instance,
      usesHybridGrants: app.usesHybridGrants, accessToken: accessToken,
      refreshToken: refreshToken, instanceURL: instance.url)
    return LoginMethod(.unknown, to: instance) { accounts, makesCurrent in
      let (identity, identityURL, profile) = try await accounts.service.userInfo(of: credentials)
      var credentials = credentials
      credentials.identityURL = identityURL
      // The userinfo endpoint does not return the org's requirements for the app; the identity
      // service does.
      let account =
        identityURL == nil
        ? UserAccount(identity: identity, credentials: credentials, profile: profile)
        : try await accounts.account(&credentials, isRenewed: true, expected: identity)
      return try await accounts.enter(account, makesCurrent: makesCurrent)
    }
  }
}
