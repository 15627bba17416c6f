import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// Speaks to the OAuth and identity endpoints. It keeps nothing.
///
/// No redirect is followed: these requests hold codes and tokens in their bodies.
struct OAuthService: Sendable {
  let transport: any HTTPTransport
  let userAgent: UserAgent

  /// The installation's name, or `nil` for none.
  var deviceId: String? { userAgent.installationId.isEmpty ? nil : userAgent.installationId }

  /// Redeems a code.
  ///
  /// - Throws: ``OAuthError``; ``TransportError`` if the server was not reached.
  func redeem(
    code: String, attempt: AuthorizationAttempt, redirectURI: String
  ) async throws -> TokenResponse {
    let what = "the exchange of the code"
    let request = OAuthRequests.exchange(
      code: code, attempt: attempt, redirectURI: redirectURI, userAgent: userAgent.text())
    return try TokenResponse(try await answer(to: request, during: what), during: what)
  }

  /// Gets new tokens.
  ///
  /// - Throws: ``OAuthError``.
  func refresh(_ credentials: OAuthCredentials) async throws -> TokenResponse {
    let what = "the refresh"
    let request = try OAuthRequests.refresh(
      credentials, deviceId: deviceId, userAgent: userAgent.text())
    let response: TransportResponse
    do {
      response = try await answer(to: request, during: what)
    } catch let error as TransportError {
      throw OAuthError(
        .refreshFailed, "the token could not be refreshed: \(error.message)", cause: error.cause)
    }
    return try TokenResponse(response, during: what)
  }

  /// Ends a refresh token; whether the server did.
  func revoke(_ credentials: OAuthCredentials, reason: LogoutReason) async throws -> Bool {
    guard
      let request = OAuthRequests.revoke(credentials, reason: reason, userAgent: userAgent.text())
    else { return false }
    return try await answer(to: request, during: "the revocation").status == 200
  }

  /// Asks the identity service who the user is (CO-68 to CO-70).
  ///
  /// The instance is asked first, since it knows the token for certain; the address as the server
  /// gave it is asked if there is no such page there.
  ///
  /// - Throws: ``OAuthError`` `identityUnavailable`; ``TransportError``.
  func identity(
    of credentials: OAuthCredentials
  ) async throws -> (UserAccountIdentity, UserProfile) {
    guard let token = credentials.accessToken, let url = credentials.identityURL,
      let identity = UserAccountIdentity(identityURL: url.absoluteString)
    else {
      throw OAuthError(
        .identityUnavailable, "the token response lacks an access token or an identity URL")
    }
    guard Scope.allowsIdentity(credentials.scopes) else {
      throw OAuthError(
        .identityUnavailable,
        "the granted scopes (\(credentials.scopes.joined(separator: " "))) do not allow to ask who "
          + "the user is; add the scope id to the connected app")
    }
    let what = "the identity call"
    var addresses = [url]
    if let base = credentials.apiURL, base.origin != url.origin {
      addresses.insert(base.appending(rawPath: url.path(percentEncoded: true)), at: 0)
    }
    var response = TransportResponse(status: 404)
    for address in addresses where response.status == 404 {
      response = try await answer(
        to: OAuthRequests.get(address, token: token, userAgent: userAgent.text()), during: what)
    }
    return (identity, UserProfile(answer: try Self.json(response, during: what)))
  }

  /// Asks the userinfo endpoint whose the tokens are.
  ///
  /// - Throws: ``OAuthError`` `accessDenied` if the token is refused, `identityUnavailable`;
  ///   ``TransportError``.
  func userInfo(
    of credentials: OAuthCredentials
  ) async throws -> (UserAccountIdentity, URL?, UserProfile) {
    let what = "the userinfo call"
    let url = credentials.oauthBase.appending(rawPath: OAuthPath.userInfo)
    guard let token = credentials.accessToken, !token.isEmpty else {
      throw OAuthError(.invalidCredentials, "there is no access token to log in with")
    }
    let response = try await answer(
      to: OAuthRequests.get(url, token: token, userAgent: userAgent.text()), during: what)
    let json = try Self.json(response, during: what)
    guard let user = json["user_id"]?.string, let org = json["organization_id"]?.string,
      !user.isEmpty, !org.isEmpty
    else {
      throw OAuthError(
        .identityUnavailable, "the answer to \(what) does not name user and organization")
    }
    let identityURL = json["sub"]?.string.flatMap { URL(string: $0) }
    return (
      UserAccountIdentity(userId: user, organizationId: org),
      identityURL.flatMap { $0.isAllowedForTransport ? $0 : nil }, UserProfile(answer: json)
    )
  }

  /// The answer, with a timeout told as the specification asks.
  private func answer(
    to request: TransportRequest, during what: String
  ) async throws -> TransportResponse {
    guard request.url.isAllowedForTransport else {
      throw TransportError(
        .insecureURL,
        "\(request.url.withoutQuery) is not https; plain http is for this machine alone")
    }
    do {
      return try await transport.send(request)
    } catch let error as TransportError where error.code == .timedOut {
      throw OAuthError(.timedOut, "\(what) got no answer in time", cause: error.cause)
    }
  }

  private static func json(
    _ response: TransportResponse, during what: String
  ) throws(OAuthError) -> JSONSlice {
    if let error = OAuthError(unavailable: response.status, during: what) { throw error }
    switch response.status {
    case 200: break
    case 401, 403:
      throw OAuthError(
        .accessDenied,
        "the server refused the access token in \(what) (\(response.status)); it has expired, was "
          + "revoked or belongs to another server: log in through the browser, or with a new token")
    default:
      throw OAuthError(.identityUnavailable, "\(what) was answered with \(response.status)")
    }
    guard let json = try? JSONSlice(parsing: response.body), json.kind == .object else {
      throw OAuthError(.malformedResponse, "the answer to \(what) is no JSON object")
    }
    return json
  }
}
