import SalesforceSDKCommon

/// Logins to a community without any page, where the org allows it (CO-50). Names, codes and
/// passwords are in no error and no log.
extension UserAccountManager {
  /// Logs a user in with name and password.
  ///
  /// - Parameter server: The community's address.
  /// - Throws: ``OAuthError`` `invalidUsername` or `invalidPassword` before anything is sent; what the
  ///   server refused, in its own words; ``TransportError``, ``AccountError``.
  @discardableResult
  public func logIn(
    username: String, password: String, to server: LoginServer, app: ConnectedApp,
    makesCurrent: Bool = true
  ) async throws -> UserAccount {
    let proof = OAuthService.HeadlessCredentials(
      type: "Named-User",
      pair: (try HeadlessRules.username(username), try HeadlessRules.password(password)))
    return try await logIn(proof, server, app, makesCurrent)
  }

  /// Requests that the server sends a one-time code to a user, for a login without a password.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername`; what the server refused; ``TransportError``.
  public func requestOneTimeCode(
    for username: String, by method: VerificationMethod, at server: LoginServer,
    captcha: CaptchaResponse? = nil
  ) async throws -> PendingVerification {
    let what = "the request for a one-time code"
    let json = try await service.headless(
      "/init/passwordless/login",
      [
        "username": .string(try HeadlessRules.username(username)),
        "verificationmethod": .string(method.rawValue),
      ], captcha: captcha, at: server, during: what)
    return try Self.pending(json, .login, method, what)
  }

  /// Registers a new user, to whom the server sends a one-time code.
  ///
  /// - Throws: ``OAuthError`` `invalidEmail`, `invalidUsername` or `invalidPassword` before anything is
  ///   sent; what the server refused; ``TransportError``.
  public func register(
    _ person: UserRegistration, by method: VerificationMethod, at server: LoginServer,
    captcha: CaptchaResponse? = nil
  ) async throws -> PendingVerification {
    let what = "the registration"
    var data = person.additionalData
    data["email"] = .string(try HeadlessRules.email(person.email))
    data["username"] = .string(try HeadlessRules.username(person.username))
    data["firstName"] = .string(person.firstName.trimmed)
    data["lastName"] = .string(person.lastName.trimmed)
    let json = try await service.headless(
      "/init/registration",
      [
        "userdata": .object(data),
        "password": .string(try HeadlessRules.password(person.password)),
        "verificationmethod": .string(method.rawValue),
      ], captcha: captcha, at: server, during: what)
    return try Self.pending(json, .registration, method, what)
  }

  /// Completes a login or a registration with the one-time code that the user received.
  ///
  /// - Throws: What the server refused, as ``OAuthError``; ``TransportError``, ``AccountError``.
  @discardableResult
  public func logIn(
    oneTimeCode: String, for verification: PendingVerification, to server: LoginServer,
    app: ConnectedApp, makesCurrent: Bool = true
  ) async throws -> UserAccount {
    let proof = OAuthService.HeadlessCredentials(
      type: verification.purpose.rawValue, method: verification.method,
      pair: (verification.identifier, oneTimeCode.trimmed))
    return try await logIn(proof, server, app, makesCurrent)
  }

  /// Requests that the server sends a one-time code to a user who forgot the password.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername`; what the server refused; ``TransportError``.
  public func requestPasswordReset(
    for username: String, at server: LoginServer, captcha: CaptchaResponse? = nil
  ) async throws {
    try await service.headless(
      "/forgot_password", ["username": .string(try HeadlessRules.username(username))],
      captcha: captcha, at: server, during: "the request for a new password")
  }

  /// Sets a new password with the one-time code that the user received.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername` or `invalidPassword`; what the server refused;
  ///   ``TransportError``.
  public func resetPassword(
    of username: String, oneTimeCode: String, newPassword: String, at server: LoginServer
  ) async throws {
    try await service.headless(
      "/forgot_password",
      [
        "username": .string(try HeadlessRules.username(username)),
        "otp": .string(oneTimeCode.trimmed),
        "newpassword": .string(try HeadlessRules.password(newPassword)),
      ], captcha: nil, at: server, during: "the change of the password")
  }

  private func logIn(
    _ proof: OAuthService.HeadlessCredentials, _ server: LoginServer, _ app: ConnectedApp,
    _ makesCurrent: Bool
  ) async throws -> UserAccount {
    try await asLogin(.native, at: server) {
      let service = try await self.service
      let attempt = AuthorizationSession(app: app, server: server, deviceId: service.deviceId)
      let response = try await self.granted {
        try await service.tokens(with: proof, attempt: attempt)
      }
      return try await self.keep(
        response, app: app, server: server, makesCurrent: makesCurrent, choosesServer: false)
    }
  }

  private static func pending(
    _ json: JSONSlice?, _ purpose: PendingVerification.Purpose, _ method: VerificationMethod,
    _ what: String
  ) throws(OAuthError) -> PendingVerification {
    guard let identifier = json?["identifier"]?.string, !identifier.isEmpty else {
      throw OAuthError(.malformedResponse, "The response to \(what) holds no identifier.")
    }
    return PendingVerification(identifier: identifier, purpose: purpose, method: method)
  }
}
