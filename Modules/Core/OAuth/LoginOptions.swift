/// The options of one login.
public struct LoginOptions: Sendable {
  /// How the tokens come home. Default: the web-server flow.
  public var flow: AuthorizationFlow
  /// The user name to offer.
  public var loginHint: String?
  /// A branded login page, such as `sales` (CO-48).
  public var brand: String?
  /// Whether an existing session of the browser may be used without the password; `nil`: as the org's
  /// authentication configuration says, otherwise false.
  public var sharesBrowserSession: Bool?
  /// Whether the account becomes the current user. Default: true.
  public var makesCurrent: Bool

  /// Makes options.
  public init(
    flow: AuthorizationFlow = .webServer, loginHint: String? = nil, brand: String? = nil,
    sharesBrowserSession: Bool? = nil, makesCurrent: Bool = true
  ) {
    self.flow = flow
    self.loginHint = loginHint
    self.brand = brand
    self.sharesBrowserSession = sharesBrowserSession
    self.makesCurrent = makesCurrent
  }
}

/// The kind of a login (CO-25).
public struct LoginType: Sendable, Hashable, CustomStringConvertible {
  /// The platform's word.
  public let rawValue: String

  /// Through the browser, with a code.
  public static let webServer = LoginType(rawValue: "WebServer")
  /// Through the browser, with the tokens in the redirect.
  public static let userAgent = LoginType(rawValue: "UserAgent")
  /// By an assertion.
  public static let jwtTokenExchange = LoginType(rawValue: "JwtTokenExchange")
  /// Without a page: password, one-time code, registration.
  public static let native = LoginType(rawValue: "Native")
  /// To another connected app, with the session of the first.
  public static let refreshTokenMigration = LoginType(rawValue: "RefreshTokenMigration")
  /// With tokens from elsewhere, a device code or a program's own secret.
  public static let unknown = LoginType(rawValue: "Unknown")

  public var description: String { rawValue }
}
