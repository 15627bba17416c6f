import Foundation
import SalesforceSDKCommon

extension LoginMethod {
  /// Logs a user in through the browser, by default with the web-server flow and PKCE.
  ///
  /// - Parameter server: A login server, an org's own domain, or a page that finds the org
  ///   (``LoginServer/welcome``), for which the presenter must be a ``DiscoveryPresenter``.
  ///   Default: ``LoginServer/production``.
  /// - Parameter presenter: Shows the login page.
  public static func browser(
    to server: LoginServer = .production, app: ConnectedApp, presenter: any LoginPresenter,
    options: LoginOptions = LoginOptions()
  ) -> LoginMethod {
    browser(to: server, apps: ConnectedAppSelector(app), presenter: presenter, options: options)
  }

  /// Logs a user in through the browser, with the app that `apps` selects for the server (CO-4).
  ///
  /// The login throws the error of the selection.
  public static func browser(
    to server: LoginServer = .production, apps: ConnectedAppSelector,
    presenter: any LoginPresenter, options: LoginOptions = LoginOptions()
  ) -> LoginMethod {
    let type = presenter.loginType ?? (options.flow == .userAgent ? .userAgent : .webServer)
    return LoginMethod(type, to: server) { _ in
      let selection = try await apps.selection(for: server)
      return { accounts, makesCurrent in
        let account = try await accounts.logInThroughBrowser(
          server, selection.app, presenter, options, type, makesCurrent: makesCurrent)
        apps.didLogIn(withOverride: selection.override)
        return account
      }
    }
  }
}

extension UserAccountManager {
  fileprivate func logInThroughBrowser(
    _ server: LoginServer, _ app: ConnectedApp, _ presenter: any LoginPresenter,
    _ options: LoginOptions, _ type: LoginType, makesCurrent: Bool
  ) async throws -> UserAccount {
    try checkInteraction()
    var server = server
    var loginHint = options.loginHint
    if server.isDiscovery {
      show(.discovery)
      guard let presenter = presenter as? any DiscoveryPresenter else {
        throw OAuthError(
          .invalidRequest,
          "\(server) finds the login server in a page that this presenter cannot show. Give the "
            + "org's own address.")
      }
      let found = try await presenter.discover(
        MyDomainDiscovery(server: server, clientId: app.clientId))
      (server, loginHint) = (found.server, found.loginHint)
    }
    var shares = options.sharesBrowserSession
    if shares == nil { shares = try await service.configuration(of: server)?.sharesBrowserSession }
    let attempt = AuthorizationSession(
      app: app, server: server, flow: options.flow, deviceId: oauth.deviceId,
      loginHint: loginHint, brand: options.brand, sharesBrowserSession: shares ?? false)
    return try await complete(attempt, presenter, type: type, makesCurrent: makesCurrent)
  }

  /// Shows the page of a login session, and stores the resulting account.
  ///
  /// - Parameter expected: The user who must log in; `nil` for any user.
  func complete(
    _ attempt: AuthorizationSession, _ presenter: any LoginPresenter, type: LoginType,
    makesCurrent: Bool, expected: UserAccountIdentity? = nil
  ) async throws -> UserAccount {
    try checkInteraction()
    show(.browserLogin)
    loginSource.send(LoginEvent(kind: .willShowPage, server: attempt.server, type: type))
    let redirect = try await presenter.redirect(of: attempt)
    let server = redirect.server ?? attempt.server
    if server != attempt.server { try self.options.managed?.current.check(type, at: server) }
    let response: TokenResponse
    switch attempt.verdict(on: redirect.address, redirectURI: redirect.redirectURI) {
    case .code(let code):
      let service = try service
      response = try await granted {
        try await service.redeem(
          code: code, attempt: attempt, redirectURI: redirect.redirectURI, at: server)
      }
    case .tokens(let tokens): response = tokens.response
    case .refused(let error), .foreign(let error): throw error
    }
    var app = attempt.app
    app.redirectURI = redirect.redirectURI
    return try await keep(
      response, app: app, server: server, makesCurrent: makesCurrent, expected: expected)
  }

  /// Returns a login session whose page opens with the session of `credentials`.
  func attempt(
    app: ConnectedApp, server: LoginServer, openedWith credentials: OAuthCredentials
  ) -> AuthorizationSession {
    let service = oauth
    // With `prompt=login` the existing session would be ignored.
    var attempt = AuthorizationSession(
      app: app, server: server, deviceId: service.deviceId, sharesBrowserSession: true)
    attempt.entrance = { page in
      let query = page.query(percentEncoded: true).map { "?\($0)" } ?? ""
      return try await service.oneTimeLoginURL(
        to: page.path(percentEncoded: true) + query, with: credentials)
    }
    return attempt
  }
}
