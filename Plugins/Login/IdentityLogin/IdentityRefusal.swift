import IdentityProviderURLs

/// Why one app refuses another; it travels as the command `error`. The codes are those of OAuth where it has one.
struct IdentityRefusal: Error, Equatable {
  let code: String
  let description: String
  var reason = ""

  /// The user chose no account, or did not confirm.
  static let cancelled = IdentityRefusal(
    code: Code.cancelled, description: "The user cancelled the login.")
  /// The app is not among those that the provider vouches for, or its redirect URI is another.
  static let unknownApp = IdentityRefusal(
    code: "unauthorized_client",
    description: "The identity provider does not know this app with this redirect URI.")
  /// Another process than that of the app.
  static let foreignProgram = IdentityRefusal(
    code: Code.denied, description: "The program that sent the request is not allowed.")
  /// The same request came before.
  static let replayed = IdentityRefusal(
    code: "invalid_request", description: "The request was received before. Start the login again.")
  /// Too many requests are in progress.
  static let busy = IdentityRefusal(
    code: "temporarily_unavailable", description: "Too many logins are in progress.")
  /// No user is logged in that could be vouched for.
  static let noUser = IdentityRefusal(
    code: "login_required", description: "The identity provider has no such user logged in.")
  /// The choice or the server took too long.
  static let timedOut = IdentityRefusal(
    code: Code.timedOut, description: "The login was not finished in time.")
  /// The app may not request one of the scopes.
  static let scope = IdentityRefusal(
    code: "invalid_scope", description: "The app may not request these scopes.")
  /// A URL that cannot be used, or a command that this app does not carry out.
  static let malformed = IdentityRefusal(
    code: "invalid_request", description: "The command cannot be used.")
  /// The login of the app failed.
  static let failed = IdentityRefusal(
    code: "server_error", description: "The login failed.")

  /// Codes that both sides compare.
  enum Code {
    static let cancelled = "user_cancelled"
    static let denied = "access_denied"
    static let timedOut = "auth_timeout"
  }

  func command(state: String?) -> IdentityCommand {
    .failure(.init(code: code, description: description, reason: reason, state: state))
  }
}
