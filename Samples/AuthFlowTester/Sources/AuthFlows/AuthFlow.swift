/// A kind of login.
public enum AuthFlow: String, CaseIterable, Sendable {
  /// The browser returns a code, which is exchanged with a proof of possession (PKCE).
  case webServer = "web-server"
  /// The same, with tokens for web content.
  case hybrid = "hybrid"
  /// The browser returns the tokens themselves.
  case userAgent = "user-agent"
  /// The browser is on another machine, and its last address is pasted.
  case pasted = "pasted"
  /// A code is entered in a browser on another device.
  case device = "device"
  /// An assertion that is signed with the key of the connected app.
  case jwt = "jwt"
  /// An assertion that opens the authorization page, which gives a refresh token.
  case jwtSession = "jwt-session"
  /// The secret of the connected app.
  case clientCredentials = "client-credentials"
  /// Tokens from elsewhere.
  case tokens = "tokens"
  /// User name and password without a page, which only sites of Experience Cloud accept.
  case password = "password"
}
