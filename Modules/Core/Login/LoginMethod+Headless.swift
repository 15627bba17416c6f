import SalesforceSDKCommon

/// Logins to a community without a page, if the org allows it (CO-50). Names, codes and passwords
/// never appear in errors or logs.
extension LoginMethod {
  /// Logs a user in with name and password.
  ///
  /// The login throws ``OAuthError`` `invalidUsername` or `invalidPassword` before anything is sent, or with the
  /// server's refusal.
  ///
  /// - Parameter server: The community's address.
  public static func password(
    username: String, password: String, to server: LoginServer, app: ConnectedApp
  ) -> LoginMethod {
    headless(to: server, app) {
      OAuthService.HeadlessCredentials(
        type: "Named-User",
        pair: (try HeadlessRules.username(username), try HeadlessRules.password(password)))
    }
  }

  /// Completes a login or a registration with the one-time code that the user received.
  ///
  /// - Parameter verification: The result of
  ///   ``UserAccountManager/requestOneTimeCode(for:by:at:captcha:)`` or
  ///   ``UserAccountManager/register(_:by:at:captcha:)``.
  /// - Parameter server: The community's address.
  public static func oneTimeCode(
    _ code: String, for verification: PendingVerification, to server: LoginServer,
    app: ConnectedApp
  ) -> LoginMethod {
    headless(to: server, app) {
      OAuthService.HeadlessCredentials(
        type: verification.purpose.rawValue, method: verification.method,
        pair: (verification.identifier, code.trimmed))
    }
  }

  private static func headless(
    to server: LoginServer, _ app: ConnectedApp,
    _ proof: @escaping @Sendable () throws -> OAuthService.HeadlessCredentials
  ) -> LoginMethod {
    LoginMethod(.native, to: server) { _ in
      let proof = try proof()
      return { accounts, makesCurrent in
        let service = try await accounts.service
        let attempt = AuthorizationSession(app: app, server: server, deviceId: service.deviceId)
        let response = try await accounts.granted {
          try await service.tokens(with: proof, attempt: attempt)
        }
        return try await accounts.keep(
          response, app: app, server: server, makesCurrent: makesCurrent, choosesServer: false)
      }
    }
  }
}
