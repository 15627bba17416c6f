import Foundation
import SalesforceSDKCommon

/// Credentials of a program without a user: a signed assertion, or its own secret.
///
/// The server issues no refresh token for these. The account manager keeps the grant while the
/// process runs, and uses it again when the access token has expired.
public struct ServerGrant: Sendable {
  /// The consumer key of the connected app.
  public let clientId: String
  /// The requested object, in the words of an error message.
  let what: String
  /// The kind of a login with this grant.
  let loginType: LoginType
  /// A function that returns the form of one request to the token endpoint of a server.
  let form: @Sendable (LoginServer) async throws -> [(name: String, value: String)]

  /// Returns credentials for the user in an assertion that `make` signs outside this package
  /// (CO-34).
  ///
  /// - Parameter make: Called for each request, because an assertion is valid only for minutes. The
  ///   grant retains it.
  public static func assertion(
    clientId: String, _ make: @escaping @Sendable (LoginServer) async throws -> String
  ) -> ServerGrant {
    ServerGrant(
      clientId: clientId, what: "the exchange of the signed token", loginType: .jwtTokenExchange
    ) { server in
      let assertion = try await make(server)
      guard !assertion.isEmpty else {
        throw OAuthError(.jwtLaunchFailed, "The signed token is empty. Make one first.")
      }
      return [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"), ("assertion", assertion),
      ]
    }
  }

  /// Returns credentials for `username`: assertions that are signed with `key`.
  ///
  /// The connected app must have the key's certificate, and the user must be approved in advance.
  ///
  /// - Parameter audience: The audience of the assertions. Default: the login server's address.
  public static func jwtBearer(
    clientId: String, username: String, key: JWTSigningKey, audience: String? = nil
  ) -> ServerGrant {
    assertion(clientId: clientId) { server in
      try key.assertion(
        clientId: clientId, username: username, audience: audience ?? server.url.absoluteString)
    }
  }

  /// Returns credentials with the app's secret, for the user that the connected app runs as.
  ///
  /// The login server must be the org's own domain.
  ///
  /// - Parameter scopes: The requested scopes. The server drops those that this grant does not have: `full`,
  ///   `refresh_token` and `offline_access`. Default: none, for which the server grants the connected app's.
  public static func clientCredentials(
    clientId: String, clientSecret: String, scopes: [String] = []
  ) -> ServerGrant {
    ServerGrant(clientId: clientId, what: "the client credentials", loginType: .unknown) { _ in
      let scope = scopes.isEmpty ? [] : [("scope", scopes.joined(separator: " "))]
      return [
        ("grant_type", "client_credentials"), ("client_id", clientId),
        ("client_secret", clientSecret),
      ] + scope
    }
  }
}

/// The description contains only the consumer key.
extension ServerGrant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "grant of client \(clientId)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["clientId": clientId]) }
}
