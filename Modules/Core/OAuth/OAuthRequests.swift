import SalesforceSDKCommon
import Foundation
import HTTPTypes

/// The requests to the OAuth endpoints, as pure functions from arguments to request. Each uses a
/// separate connection, so that data requests, which may wait for the tokens, never block it.
enum OAuthRequests {
  /// The maximum time for which an OAuth or identity call waits without receiving data (CO-59).
  static let timeout: Duration = .seconds(120)
  /// The maximum size of a response. These endpoints return a few kilobytes.
  static let maxResponseBytes = 1024 * 1024

  /// Returns the request that redeems a code for tokens (CO-30). `code` is sent as received,
  /// encoded.
  ///
  /// - Parameter server: The server with the token endpoint. Default: the login server.
  static func exchange(
    code: String, attempt: AuthorizationSession, redirectURI: String, at server: LoginServer? = nil,
    userAgent: String
  ) -> TransportRequest {
    var items = [(name: "format", value: "json"), ("redirect_uri", redirectURI)]
    items.append(("client_id", attempt.app.clientId))
    if let deviceId = attempt.deviceId, !deviceId.isEmpty { items.append(("device_id", deviceId)) }
    items.append(("code_verifier", attempt.pkce.verifier))
    items.append(
      ("grant_type", attempt.app.usesHybridGrants ? "hybrid_auth_code" : "authorization_code"))
    return post(
      (server ?? attempt.server).url.appending(rawPath: OAuthPath.token),
      PercentEncoding.form(items) + "&code=\(code)", userAgent)
  }

  /// Returns the request for a new access token (CO-31).
  ///
  /// - Throws: ``OAuthError`` `invalidCredentials` if the account lacks what a refresh needs.
  ///
  /// - Parameter parameters: Additional parameters; those with an empty name are omitted (CO-19).
  static func refresh(
    _ credentials: OAuthCredentials, deviceId: String?, parameters: [String: String] = [:],
    userAgent: String
  ) throws(OAuthError) -> TransportRequest {
    guard credentials.instanceURL != nil else {
      throw OAuthError(
        .invalidCredentials, "The account has no instance, so it cannot refresh. Log in again.")
    }
    let clientId = credentials.refreshClientId
    guard !clientId.isEmpty else {
      throw OAuthError(
        .invalidCredentials, "The account has no consumer key, so it cannot refresh. Log in again.")
    }
    guard let refreshToken = credentials.refreshToken, !refreshToken.isEmpty else {
      throw OAuthError(
        .invalidCredentials,
        "The session ended and the account has no refresh token. Log in again.")
    }
    var items = [(name: "format", value: "json"), ("redirect_uri", credentials.redirectURI)]
    items.append(("client_id", clientId))
    if let deviceId, !deviceId.isEmpty { items.append(("device_id", deviceId)) }
    items.append(
      ("grant_type", credentials.usesHybridGrants ? "hybrid_refresh" : "refresh_token"))
    items.append(("refresh_token", refreshToken))
    for (name, value) in parameters.sorted(by: { $0.key < $1.key }) where !name.isEmpty {
      items.append((name, value))
    }
    return post(
      credentials.oauthBase.appending(rawPath: OAuthPath.token), PercentEncoding.form(items),
      userAgent)
  }

  /// Returns the request that revokes a session on the server (CO-37): by the refresh token, or by
  /// the access token if there is no refresh token; `nil` if there is neither.
  static func revoke(
    _ credentials: OAuthCredentials, reason: LogoutReason, userAgent: String
  ) -> TransportRequest? {
    guard let token = credentials.revocableToken else { return nil }
    return post(
      credentials.oauthBase.appending(rawPath: OAuthPath.revoke),
      PercentEncoding.form([("token", token), ("revoke_reason", reason.rawValue)]), userAgent)
  }

  /// Returns the request for the user of a token.
  static func get(_ url: URL, token: String, userAgent: String) -> TransportRequest {
    var request = TransportRequest(
      method: .get, url: url,
      headers: [
        .authorization: "Bearer \(token)", .accept: "application/json", .userAgent: userAgent,
      ],
      timeout: timeout, maxResponseBytes: maxResponseBytes)
    request.usesOwnConnection = true
    return request
  }

  /// Returns the request that sends a form.
  static func post(_ url: URL, _ form: String, _ userAgent: String) -> TransportRequest {
    var request = TransportRequest(
      method: .post, url: url,
      headers: [
        .contentType: "application/x-www-form-urlencoded", .accept: "application/json",
        .userAgent: userAgent,
      ],
      body: Array(form.utf8), timeout: timeout, maxResponseBytes: maxResponseBytes)
    request.usesOwnConnection = true
    return request
  }
}
