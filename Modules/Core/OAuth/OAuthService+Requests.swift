import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// The other requests of a login.
extension OAuthService {
  /// The maximum time for which a login waits for the org's configuration.
  private static let configurationTimeout: Duration = .seconds(5)

  /// Requests tokens with a program's own grant.
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func tokens(by grant: ServerGrant, at server: LoginServer) async throws -> TokenResponse {
    let request = try await request(for: grant, at: server)
    return try tokens(in: try await fetchResponse(to: request, during: grant.what), by: grant)
  }

  /// Requests new tokens with a program's own grant.
  ///
  /// - Throws: ``OAuthError``.
  func renewedTokens(by grant: ServerGrant, at server: LoginServer) async throws -> TokenResponse {
    let request = try await request(for: grant, at: server)
    // The platform's code for an assertion belongs to a login; here there is a session that may be kept.
    return try TokenResponse(
      try await refreshAnswer(to: request, during: grant.what), during: grant.what)
  }

  private func request(
    for grant: ServerGrant, at server: LoginServer
  ) async throws -> TransportRequest {
    OAuthRequests.post(
      server.url.appending(rawPath: OAuthPath.token),
      PercentEncoding.form(try await grant.form(server) + deviceItems), userAgent.text())
  }

  /// Returns the tokens in the response to a grant. The platform has a separate code for an
  /// exchange of an assertion whose response is not a JSON object (CO-34).
  private func tokens(
    in response: RestResponse, by grant: ServerGrant
  ) throws(OAuthError) -> TokenResponse {
    try TokenResponse(
      response, during: grant.what,
      codeWithoutObject: grant.loginType == .jwtTokenExchange
        ? .jwtLaunchFailed : .malformedResponse)
  }

  /// Requests a code that the user enters on another device.
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func deviceCode(for app: ConnectedApp, at server: LoginServer) async throws -> DeviceCode {
    let what = "the request for a device code"
    var items = [(name: "response_type", value: "device_code"), ("client_id", app.clientId)]
    items += deviceItems
    if let scope = app.scopeParameter { items.append(("scope", scope)) }
    let response = try await fetchResponse(
      to: OAuthRequests.post(
        server.url.appending(rawPath: OAuthPath.token), PercentEncoding.form(items),
        userAgent.text()), during: what)
    return try DeviceCode(try Self.object(response, during: what))
  }

  /// Requests the tokens once. They are returned only if the user has entered the code.
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func tokens(
    for code: DeviceCode, of app: ConnectedApp, at server: LoginServer
  ) async throws -> TokenResponse {
    let what = "the login with a device code"
    let items =
      [
        (name: "grant_type", value: "device"), ("client_id", app.clientId),
        ("code", code.deviceCode),
      ] + deviceItems
    let response = try await fetchResponse(
      to: OAuthRequests.post(
        server.url.appending(rawPath: OAuthPath.token), PercentEncoding.form(items),
        userAgent.text()), during: what)
    return try TokenResponse(response, during: what)
  }

  /// Returns the org's authentication configuration; `nil` if it cannot be read for any reason
  /// (CO-43).
  ///
  /// - Throws: `CancellationError`.
  func configuration(of server: LoginServer) async throws -> OrgAuthConfiguration? {
    guard OrgAuthConfiguration.isKept(by: server) else { return nil }
    let request = TransportRequest(
      method: .get, url: server.url.appending(rawPath: OAuthPath.authConfiguration),
      headers: [.accept: "application/json", .userAgent: userAgent.text()],
      timeout: Self.configurationTimeout, maxResponseBytes: OAuthRequests.maxResponseBytes)
    do {
      let response = try await fetchResponse(to: request, during: "the org's configuration")
      guard (200...299).contains(response.status) else { return nil }
      return try OrgAuthConfiguration(parsing: response.body)
    } catch {
      if Task.isCancelled { throw CancellationError() }
      CoreLogger.log.info("\(server) tells no authentication configuration", error: error)
      return nil
    }
  }

  /// Returns a one-time address that opens `target` with the session of `credentials` (CO-42).
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func oneTimeLoginURL(to target: String, with credentials: OAuthCredentials) async throws -> URL {
    let what = "the request for a single access address"
    guard let base = credentials.apiURL, let token = credentials.accessToken else {
      throw OAuthError(
        .invalidCredentials, "There is no session to open a page with. Log in again.")
    }
    var request = OAuthRequests.post(
      base.appending(rawPath: OAuthPath.singleAccess),
      PercentEncoding.form([(name: "redirect_uri", value: target)]), userAgent.text())
    request.headers[.authorization] = "Bearer \(token)"
    let json = try Self.object(try await fetchResponse(to: request, during: what), during: what)
    guard let url = json["frontdoor_uri"]?.string.flatMap({ URL(string: $0) }),
      url.isAllowedForTransport
    else { throw OAuthError(.malformedResponse, "The response to \(what) holds no address.") }
    return url
  }

  /// Whether the tokens belong to a user for integrations only (CO-53).
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func isIntegrationUser(_ credentials: OAuthCredentials) async throws -> Bool {
    let what = "the userinfo call"
    guard let base = credentials.apiURL, let token = credentials.accessToken else {
      throw OAuthError(.invalidCredentials, "There is no session to ask about.")
    }
    let response = try await fetchResponse(
      to: OAuthRequests.get(
        base.appending(rawPath: OAuthPath.userInfo), token: token, userAgent: userAgent.text()),
      during: what)
    return try Self.identityAnswer(response, during: what)["is_salesforce_integration_user"]?.bool
      == true
  }
}
