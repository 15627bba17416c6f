/// The OAuth flow of a login through the browser (CO-13, CO-26).
public struct AuthorizationFlow: Sendable, Hashable, CustomStringConvertible {
  private enum Kind: String { case webServer, userAgent }
  private let kind: Kind

  /// The redirect has a code, which is exchanged for tokens with a proof of possession (PKCE). The
  /// default.
  public static let webServer = AuthorizationFlow(kind: .webServer)
  /// The redirect has the tokens in its URL's fragment. Only for orgs that still require it: the
  /// browser's history and extensions can read the tokens, and a server issues no refresh token if
  /// the redirect is a web page.
  public static let userAgent = AuthorizationFlow(kind: .userAgent)

  public var description: String { kind.rawValue }
}

/// The tokens in the redirect of the user-agent flow. Only a login can read them.
public struct RedirectTokens: Sendable {
  let response: TokenResponse
}

/// The description contains the names of the members, never the values.
extension RedirectTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { response.description }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
