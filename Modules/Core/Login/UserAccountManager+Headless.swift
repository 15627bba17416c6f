import SalesforceSDKCommon

/// Steps before a login to a community without a page, and new passwords (CO-50). Names, codes and passwords never
/// appear in errors or logs.
extension UserAccountManager {
  /// Makes the server send a one-time code to a user, for a login without a password.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername`, or with the server's refusal; ``TransportError``.
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
  ///   sent, or with the server's refusal; ``TransportError``.
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

  /// Makes the server send a one-time code to a user who forgot the password.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername`, or with the server's refusal; ``TransportError``.
  public func requestPasswordReset(
    for username: String, at server: LoginServer, captcha: CaptchaResponse? = nil
  ) async throws {
    try await service.headless(
      "/forgot_password", ["username": .string(try HeadlessRules.username(username))],
      captcha: captcha, at: server, during: "the request for a new password")
  }

  /// Sets a new password with the one-time code that the user received.
  ///
  /// - Throws: ``OAuthError`` `invalidUsername` or `invalidPassword`, or with the server's refusal;
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
