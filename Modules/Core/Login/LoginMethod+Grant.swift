import SalesforceSDKCommon

extension LoginMethod {
  /// Logs in with the program's own credentials, such as a signed assertion (CO-34, BX-6).
  ///
  /// The session has no refresh token; while the account manager exists, it renews the session with these
  /// credentials. After a restart, the account has its last access token; pass the credentials again with
  /// ``UserAccountManager/renew(_:with:)``. The login also throws the error of creating an assertion.
  ///
  /// If the granted scopes contain neither `id` nor `full`, the account has no profile: its
  /// ``UserAccount/username`` is empty. Policies of the org for the user's device are unknown then.
  ///
  /// - Parameter server: The login server; for client credentials the org's own domain. Default:
  ///   ``LoginServer/production``.
  public static func grant(
    _ grant: ServerGrant, to server: LoginServer = .production
  ) -> LoginMethod {
    LoginMethod(grant.loginType, to: server) { accounts, makesCurrent in
      let response = try await accounts.service.tokens(by: grant, at: server)
      return try await accounts.keep(
        response,
        app: ConnectedApp(clientId: grant.clientId, redirectURI: "", usesHybridGrants: false),
        server: server, makesCurrent: makesCurrent, grant: grant)
    }
  }

  /// Logs in with an assertion and obtains a session with a refresh token: the assertion's token opens the
  /// authorization page, where the user is already logged in (CO-34).
  ///
  /// - Parameter grant: Used once.
  public static func grant(
    _ grant: ServerGrant, to server: LoginServer = .production, app: ConnectedApp,
    presenter: any LoginPresenter
  ) -> LoginMethod {
    LoginMethod(.jwtTokenExchange, to: server) { accounts, makesCurrent in
      let response = try await accounts.service.tokens(by: grant, at: server)
      let bridge = OAuthCredentials(
        clientId: app.clientId, redirectURI: app.redirectURI, loginServer: server
      ).merging(response)
      let attempt = await accounts.attempt(app: app, server: server, openedWith: bridge)
      return try await accounts.complete(
        attempt, presenter, type: .jwtTokenExchange, makesCurrent: makesCurrent)
    }
  }
}

extension UserAccountManager {
  /// Sets the grant that renews the sessions of an account without a refresh token; `nil` removes
  /// it. Credentials are never written to disk.
  ///
  /// - Throws: ``AccountError`` `unknownAccount`.
  public func renew(
    _ identity: UserAccountIdentity, with grant: ServerGrant?
  ) throws(AccountError) {
    guard machine.account(identity) != nil else {
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
    machine[identity].grant = grant
  }
}
