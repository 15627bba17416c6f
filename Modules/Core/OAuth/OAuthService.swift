import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// A client of the OAuth and identity endpoints, without state.
///
/// It follows no redirect, because the bodies of its requests contain codes and tokens.
struct OAuthService: Sendable {
  let transport: any HTTPTransport
  let userAgent: UserAgent
  /// Additional parameters of every refresh.
  var refreshParameters: [String: String] = [:]
  /// The clock for the duration of calls.
  var clock: any Clock<Duration> = ContinuousClock()

  /// The installation's id, or `nil` for none.
  var deviceId: String? { userAgent.installationId.isEmpty ? nil : userAgent.installationId }

  /// The installation's id as a parameter of a form; empty if there is none (CO-11).
  var deviceItems: [(name: String, value: String)] {
    deviceId.map { [(name: "device_id", value: $0)] } ?? []
  }

  /// Redeems a code.
  ///
  /// - Parameter server: The server with the token endpoint. Default: the login server.
  /// - Throws: ``OAuthError``; ``TransportError`` if the server was not reached.
  func redeem(
    code: String, attempt: AuthorizationSession, redirectURI: String, at server: LoginServer? = nil
  ) async throws -> TokenResponse {
    let what = "the exchange of the code"
    let request = OAuthRequests.exchange(
      code: code, attempt: attempt, redirectURI: redirectURI, at: server,
      userAgent: userAgent.text())
    return try TokenResponse(try await fetchResponse(to: request, during: what), during: what)
  }

  /// Refreshes the tokens.
  ///
  /// - Throws: ``OAuthError``.
  func refresh(_ credentials: OAuthCredentials) async throws -> TokenResponse {
    let what = "the refresh"
    let request = try OAuthRequests.refresh(
      credentials, deviceId: deviceId, parameters: refreshParameters, userAgent: userAgent.text())
    return try TokenResponse(try await refreshAnswer(to: request, during: what), during: what)
  }

  /// Returns the response to a refresh. If the server is not reached, throws the error that the
  /// specification requires.
  func refreshAnswer(
    to request: TransportRequest, during what: String
  ) async throws -> RestResponse {
    do {
      return try await fetchResponse(to: request, during: what)
    } catch let error as TransportError {
      throw OAuthError(
        .refreshFailed, "The token could not be refreshed: \(error.message)", cause: error.cause)
    }
  }

  /// Revokes a refresh token. Returns whether the server revoked it.
  func revoke(_ credentials: OAuthCredentials, reason: LogoutReason) async throws -> Bool {
    guard
      let request = OAuthRequests.revoke(credentials, reason: reason, userAgent: userAgent.text())
    else { return false }
    return try await fetchResponse(to: request, during: "the revocation").status == 200
  }

  /// Requests the user of the tokens from the userinfo endpoint.
  ///
  /// - Throws: ``OAuthError`` `accessDenied` if the token is refused, `identityUnavailable`,
  ///   `identityMismatch`; ``TransportError``.
  func userInfo(
    of credentials: OAuthCredentials
  ) async throws -> (UserAccountIdentity, URL?, UserProfile) {
    let what = "the userinfo call"
    let url = credentials.oauthBase.appending(rawPath: OAuthPath.userInfo)
    guard let token = credentials.accessToken, !token.isEmpty else {
      throw OAuthError(.invalidCredentials, "There is no access token to log in with.")
    }
    let response = try await fetchResponse(
      to: OAuthRequests.get(url, token: token, userAgent: userAgent.text()), during: what)
    let json = try Self.identityAnswer(response, during: what)
    guard let user = json["user_id"]?.string, let org = json["organization_id"]?.string,
      !user.isEmpty, !org.isEmpty
    else {
      throw OAuthError(
        .identityUnavailable, "The response to \(what) does not name user and organization.")
    }
    let identityURL = json["sub"]?.string.flatMap { URL(string: $0) }
    if let identityURL,
      let identity = UserAccountIdentity(identityURL: identityURL.absoluteString)
    {
      try Self.check(json, isAbout: identity, during: what)
    }
    return (
      UserAccountIdentity(userId: user, organizationId: org),
      identityURL.flatMap { $0.isAllowedForTransport ? $0 : nil }, UserProfile(response: json)
    )
  }

  /// Returns the response. After a timeout, throws the error that the specification requires. The
  /// limit also applies to a server that sends single bytes, because other calls wait for the
  /// tokens.
  func fetchResponse(
    to request: TransportRequest, during what: String
  ) async throws -> RestResponse {
    guard request.url.isAllowedForTransport else {
      throw TransportError(
        .insecureURL,
        "\(request.url.withoutQuery) is not https. Plain http is for this machine alone.")
    }
    request.noteSecrets()
    let start = ContinuousClock.now
    var response: RestResponse?
    defer {
      CoreLogger.log.debug("\(line(of: request, response, start.duration(to: .now)))")
    }
    do {
      let received = try await withThrowingTaskGroup(of: RestResponse?.self) { group in
        group.addTask { try await transport.send(request) }
        group.addTask {
          try await clock.sleep(for: request.timeout)
          return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let response = first else {
          throw TransportError(.timedOut, "The response took longer than \(request.timeout).")
        }
        return response
      }
      response = received
      return received
    } catch let error as TransportError where error.code == .timedOut {
      throw OAuthError(.timedOut, "\(what) got no response in time.", cause: error.cause)
    }
  }

  private func line(
    of request: TransportRequest, _ response: RestResponse?, _ duration: Duration
  ) -> RequestLine {
    RequestLine(
      method: request.method, path: RequestLine.safePath(request.url.absoluteString),
      status: response?.status, duration: duration, sentBytes: Int64(request.body?.count ?? 0),
      receivedBytes: Int64(response?.body.count ?? 0))
  }
}

extension TransportRequest {
  /// Makes the request's secrets known, so that no error and no log shows them if the server repeats one.
  fileprivate func noteSecrets() {
    SecretsInUse.note(authorization: headers[.authorization])
    if let value = headers[.authorization], value.hasPrefix("Basic "),
      let pair = Base64URL.decode(String(value.dropFirst("Basic ".count))),
      let password = String(decoding: pair, as: UTF8.self).split(separator: ":", maxSplits: 1).last
    {
      SecretsInUse.note(password)
    }
    guard let body else { return }
    if let json = try? JSONSlice(parsing: body), json.kind == .object {
      for (name, value) in json.members where Redaction.isSecret(name) {
        if let text = value.string { SecretsInUse.note(text) }
      }
      return
    }
    for (name, value) in PercentEncoding.pairs(ofForm: String(decoding: body, as: UTF8.self))
    where Redaction.isSecret(name) { SecretsInUse.note(value) }
  }
}
