/// The options of a login through the browser.
public struct LoginOptions: Sendable {
  /// The OAuth flow. Default: the web-server flow.
  public var flow: AuthorizationFlow
  /// The user name that the login page shows.
  public var loginHint: String?
  /// A branded login page, such as `sales` (CO-48).
  public var brand: String?
  /// Whether an existing session of the browser may be used without the password. Default: `nil`,
  /// which uses the org's authentication configuration, or false without one.
  public var sharesBrowserSession: Bool?

  /// Creates options.
  public init(
    flow: AuthorizationFlow = .webServer, loginHint: String? = nil, brand: String? = nil,
    sharesBrowserSession: Bool? = nil
  ) {
    self.flow = flow
    self.loginHint = loginHint
    self.brand = brand
    self.sharesBrowserSession = sharesBrowserSession
  }
}

/// The kind of a login (CO-25).
public struct LoginType: Sendable, Hashable, CustomStringConvertible {
  /// The platform's name of the kind.
  public let rawValue: String

  /// A login through the browser, with a code.
  public static let webServer = LoginType(rawValue: "WebServer")
  /// A login through the browser, with the tokens in the redirect.
  public static let userAgent = LoginType(rawValue: "UserAgent")
  /// A login with an assertion.
  public static let jwtTokenExchange = LoginType(rawValue: "JwtTokenExchange")
  /// A login without a page: password, one-time code, registration.
  public static let native = LoginType(rawValue: "Native")
  /// A login of another connected app, with the session of the first one.
  public static let refreshTokenMigration = LoginType(rawValue: "RefreshTokenMigration")
  /// Through another app that is logged in.
  public static let identityProvider = LoginType(rawValue: "IDP")
  /// With tokens from elsewhere, a device code or a program's own secret.
  public static let unknown = LoginType(rawValue: "Unknown")

  public var description: String { rawValue }
}
