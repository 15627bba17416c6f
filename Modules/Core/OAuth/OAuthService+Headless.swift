import Foundation
import HTTPTypes
import SalesforceSDKCommon

/// The requests of a login without a page (CO-50).
extension OAuthService {
  /// The credentials with which a code is requested.
  struct HeadlessCredentials: Sendable {
    /// The header `Auth-Request-Type`.
    let type: String
    /// The header `Auth-Verification-Type`, for one-time codes.
    var method: VerificationMethod?
    /// The user name or identifier, and the password or one-time code.
    let pair: (String, String)
  }

  /// Requests a code with credentials, and redeems it.
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  func tokens(
    with proof: HeadlessCredentials, attempt: AuthorizationSession
  ) async throws -> TokenResponse {
    let what = "the login"
    var request = OAuthRequests.post(
      attempt.server.url.appending(rawPath: OAuthPath.authorize),
      PercentEncoding.form(
        [
          (name: "response_type", value: "code_credentials"), ("client_id", attempt.app.clientId),
          ("redirect_uri", attempt.app.redirectURI), ("code_challenge", attempt.pkce.challenge),
        ] + deviceItems), userAgent.text())
    request.headers[.authRequestType] = proof.type
    request.headers[.authVerificationType] = proof.method?.rawValue
    request.headers[.authorization] =
      "Basic " + Base64URL.encode("\(proof.pair.0):\(proof.pair.1)".utf8)
    let json = try Self.object(try await fetchResponse(to: request, during: what), during: what)
    guard let code = json["code"]?.string, !code.isEmpty else {
      throw OAuthError(.malformedResponse, "The response to \(what) holds no code.")
    }
    var server = attempt.server
    if let community = json["sfdc_community_url"]?.string, !community.isEmpty {
      server = try LoginServer(community)
    }
    // This code is not encoded, because it was not part of an address.
    return try await redeem(
      code: PercentEncoding.encode(code), attempt: attempt, redirectURI: attempt.app.redirectURI,
      at: server)
  }

  /// Sends a JSON object to one of the headless endpoints.
  ///
  /// - Throws: ``OAuthError``; ``TransportError``.
  @discardableResult
  func headless(
    _ path: String, _ members: JSONObject, captcha: CaptchaResponse?, at server: LoginServer,
    during what: String
  ) async throws -> JSONSlice? {
    var members = members
    if let captcha { members[captcha.member.name] = captcha.member.value }
    let request = TransportRequest(
      method: .post, url: server.url.appending(rawPath: OAuthPath.headless + path),
      headers: [
        .contentType: "application/json", .accept: "application/json",
        .userAgent: userAgent.text(),
      ],
      body: try JSONValue.object(members).serialized(), timeout: OAuthRequests.timeout,
      maxResponseBytes: OAuthRequests.maxResponseBytes)
    let response = try await fetchResponse(to: request, during: what)
    if (200...299).contains(response.status), response.body.isEmpty { return nil }
    return try Self.object(response, during: what)
  }

  /// Returns the object of a successful response.
  ///
  /// - Throws: ``OAuthError`` with the server's error code, or the code for its status.
  static func object(
    _ response: RestResponse, during what: String
  ) throws(OAuthError) -> JSONSlice {
    let json = try? JSONSlice(parsing: response.body)
    if let json, json.kind == .object, let error = json["error"]?.string {
      throw OAuthError(
        serverError: error, description: json["error_description"]?.string, during: what)
    }
    if let error = OAuthError(unavailable: response.status, during: what) { throw error }
    guard (200...299).contains(response.status) else {
      // REST endpoints return their errors in a list. With any error code, a 401 refuses the token.
      if let fault = json?[0], let word = fault["errorCode"]?.string {
        throw OAuthError(
          serverError: word, code: response.status == 401 ? .accessDenied : nil,
          description: fault["message"]?.string, during: what)
      }
      throw OAuthError(
        response.status == 401 || response.status == 403 ? .accessDenied : .malformedResponse,
        "The server refused \(what) (status \(response.status)) without a reason.")
    }
    guard let json, json.kind == .object else {
      throw OAuthError(.malformedResponse, "The response to \(what) is not a JSON object.")
    }
    return json
  }
}

extension HTTPField.Name {
  fileprivate static let authRequestType = known("Auth-Request-Type")
  fileprivate static let authVerificationType = known("Auth-Verification-Type")

  private static func known(_ name: String) -> HTTPField.Name {
    guard let name = HTTPField.Name(name) else { preconditionFailure("\(name) is no field name") }
    return name
  }
}
