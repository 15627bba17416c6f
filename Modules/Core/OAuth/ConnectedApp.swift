import SalesforceSDKCommon

/// The connected app with which a user logs in.
public struct ConnectedApp: Sendable, Hashable {
  /// The consumer key.
  public var clientId: String
  /// The URL to which the server redirects the browser after the login; it is registered with the connected
  /// app.
  ///
  /// `http://127.0.0.1:0/...` lets the listener take any free port.
  public var redirectURI: String
  /// The requested scopes; empty for the default of the connected app.
  public var scopes: Set<String>
  /// Whether tokens for web content are requested too (CO-33). The connected app must allow it.
  public var usesHybridGrants: Bool

  /// Creates the description of a connected app.
  public init(
    clientId: String, redirectURI: String, scopes: Set<String> = [], usesHybridGrants: Bool = true
  ) {
    self.clientId = clientId
    self.redirectURI = redirectURI
    self.scopes = scopes
    self.usesHybridGrants = usesHybridGrants
  }

  /// The `scope` parameter: the trimmed scopes and `refresh_token`, sorted; `nil` if none is
  /// requested (CO-39).
  public var scopeParameter: String? {
    let asked = Set(
      scopes.map { $0.trimmed }.filter { !$0.isEmpty && $0 != Scope.refreshToken })
    guard !asked.isEmpty else { return nil }
    return (asked.union([Scope.refreshToken])).sorted().joined(separator: " ")
  }
}

/// The scopes that this package evaluates; any other is passed on unchanged.
enum Scope {
  static let refreshToken = "refresh_token"
  static let id = "id"
  static let full = "full"

  /// Whether a token with these granted scopes may request its user. True if the scopes are
  /// unknown.
  static func allowsIdentity(_ granted: [String]) -> Bool {
    granted.isEmpty || granted.contains(id) || granted.contains(full)
  }
}
