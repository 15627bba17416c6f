import SalesforceSDKCommon

extension LoginMethod {
  /// Logs a user in on a device without browser and keyboard: the user enters a shown code on another device.
  ///
  /// The login throws ``OAuthError`` `accessDenied` if the user refused, `timedOut` if the code expired before it
  /// was entered, and the error of `show`.
  ///
  /// - Parameter server: Default: ``LoginServer/production``.
  /// - Parameter show: Shows the code and the address to the user; called once for each login.
  public static func device(
    to server: LoginServer = .production, app: ConnectedApp,
    showing show: @escaping @Sendable (DeviceCode) async throws -> Void
  ) -> LoginMethod {
    LoginMethod(.unknown, to: server) { accounts, makesCurrent in
      try accounts.checkInteraction()
      let code = try await accounts.service.deviceCode(for: app, at: server)
      try await show(code)
      let response = try await accounts.tokens(for: code, app, server)
      return try await accounts.keep(
        response, app: app, server: server, makesCurrent: makesCurrent)
    }
  }
}

extension UserAccountManager {
  /// Requests the tokens as often as the server allows until the code was entered.
  fileprivate func tokens(
    for code: DeviceCode, _ app: ConnectedApp, _ server: LoginServer
  ) async throws -> TokenResponse {
    var pause = code.interval
    var waited: Duration = .zero
    while waited < code.lifetime {
      try await clock.sleep(for: pause)
      waited += pause
      do {
        let service = try service
        return try await granted { try await service.tokens(for: code, of: app, at: server) }
      } catch let error as OAuthError where error.serverError == "authorization_pending" {
        continue
      } catch let error as OAuthError where error.serverError == "slow_down" {
        pause += code.interval
      } catch let error as TransportError where error.code.isRetryable {
        // The user may still be entering the code while the network is interrupted.
        CoreLogger.log.info("the login server was not reached", error: error)
      } catch let error as OAuthError where error.code.isRetryable {
        // The server may also be slow, busy or down for a moment.
        CoreLogger.log.info("the login server does not respond now", error: error)
      }
    }
    throw OAuthError(
      .timedOut, "The code was not entered within \(code.lifetime). Start the login again.")
  }
}
