/// The OAuth flow of a login through the browser (CO-13, CO-26).
public struct AuthorizationFlow: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case webServer, userAgent }
  private let kind: Kind

  /// The redirect brings a code, which is exchanged for tokens with a proof of possession (PKCE).
  /// Default.
  public static let webServer = AuthorizationFlow(kind: .webServer)
  /// The redirect has the tokens in its URL's fragment. Only for orgs that still require it: the browser's
  /// history and extensions can read the tokens, and a server issues no refresh token to a redirect that is a
  /// page.
  public static let userAgent = AuthorizationFlow(kind: .userAgent)

  public var description: String { kind.rawValue }
}

/// The tokens in the redirect of the user-agent flow. Only a login reads them.
public struct RedirectTokens: Sendable {
  let response: TokenResponse
}

/// The names of what came, never the values.
extension RedirectTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { response.description }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
