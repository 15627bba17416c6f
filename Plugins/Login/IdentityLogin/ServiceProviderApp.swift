/// An app that an identity provider vouches for (CO-160).
public struct ServiceProviderApp: Sendable, Hashable {
  /// The consumer key of its connected app.
  public var clientId: String
  /// Where its codes go. A request with another redirect URI is refused.
  public var redirectURI: String
  /// The URL scheme of its commands. Responses to URLs go there, whatever the request says.
  public var scheme: String
  /// What it is called where a user chooses an account.
  public var name: String
  /// The scopes that it may request; nil for any. `refresh_token` is always allowed.
  public var scopes: Set<String>?
  /// The paths of its programs. A request from one of them over a socket needs no confirmation (HT-82); others do.
  public var executables: Set<String>

  /// Names an app.
  ///
  /// - Parameter scheme: Default: the scheme of the redirect URI.
  public init(
    clientId: String, redirectURI: String, scheme: String? = nil, name: String,
    scopes: Set<String>? = nil, executables: Set<String> = []
  ) {
    self.clientId = clientId
    self.redirectURI = redirectURI
    self.scheme = scheme ?? String(redirectURI.prefix { $0 != ":" })
    self.name = name
    self.scopes = scopes
    self.executables = executables
  }
}

/// A request of an app, as the identity provider's user is shown it.
public struct IdentityRequest: Sendable {
  /// The app, as it was allowed.
  public let app: ServiceProviderApp
  /// The process that sent the request; nil for a URL, which every program can open.
  public let peer: IdentityPeer?
  /// What the app calls itself; a program that is not the app can send any name.
  public let claimedName: String?
}
