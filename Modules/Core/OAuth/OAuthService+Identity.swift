import Foundation
import SalesforceSDKCommon

/// The identity service (CO-68 to CO-72).
extension OAuthService {
  /// The number of an identity failure in `com.salesforce.Identity.ErrorDomain` (CO-70).
  enum IdentityNumber {
    static let noData = 767
    static let malformed = 768
    static let badStatus = 769
    static let missingParameters = 770
  }

  /// Requests the user of the tokens from the identity service.
  ///
  /// The request is sent to the instance first, which certainly knows the token. If the page does
  /// not exist there, the request is sent to the address that the server returned.
  ///
  /// - Throws: ``OAuthError`` `identityUnavailable`, which lists all missing members;
  ///   `accessDenied` if the token is refused; ``TransportError``.
  func identity(
    of credentials: OAuthCredentials
  ) async throws -> (UserAccountIdentity, UserProfile) {
    var missing: [String] = []
    if credentials.accessToken?.isEmpty ?? true { missing.append("an access token") }
    let url = credentials.identityURL
    let identity = url.flatMap { UserAccountIdentity(identityURL: $0.absoluteString) }
    if identity == nil { missing.append("an identity URL with two ids") }
    if !Scope.allowsIdentity(credentials.scopes) {
      missing.append(
        "the scope id or full (granted: \(credentials.scopes.joined(separator: " ")))")
    }
    guard let token = credentials.accessToken, let url, let identity, missing.isEmpty else {
      throw OAuthError(
        .identityUnavailable,
        "The user's identity cannot be requested without \(missing.joined(separator: ", ")).",
        identityNumber: IdentityNumber.missingParameters)
    }
    let what = "the identity call"
    var addresses = [url]
    if let base = credentials.apiURL, base.origin != url.origin {
      addresses.insert(base.appending(rawPath: url.path(percentEncoded: true)), at: 0)
    }
    var response = RestResponse(status: 404)
    for address in addresses where response.status == 404 {
      response = try await fetchResponse(
        to: OAuthRequests.get(address, token: token, userAgent: userAgent.text()), during: what)
    }
    let json = try Self.identityAnswer(response, during: what)
    try Self.check(json, isAbout: identity, during: what)
    return (identity, UserProfile(response: json))
  }

  /// Checks that a response is about the user of a login.
  ///
  /// - Throws: ``OAuthError`` `identityMismatch` if an id in `json` is not the one of `identity`.
  static func check(
    _ json: JSONSlice, isAbout identity: UserAccountIdentity, during what: String
  ) throws(OAuthError) {
    let named = UserAccountIdentity(
      userId: json["user_id"]?.string ?? identity.userId,
      organizationId: json["organization_id"]?.string ?? identity.organizationId)
    guard named == identity else {
      throw OAuthError(
        .identityMismatch,
        "The response to \(what) is about \(named), and its address about \(identity). "
          + "Do not use this server.")
    }
  }

  /// Returns the object of a successful response. An error contains the server's cause, a word in
  /// plain text.
  static func identityAnswer(
    _ response: RestResponse, during what: String
  ) throws(OAuthError) -> JSONSlice {
    if let error = OAuthError(unavailable: response.status, during: what) { throw error }
    let cause = response.status == 200 ? nil : word(in: response.body)
    switch response.status {
    case 200: break
    case 401, 403:
      throw OAuthError(
        .accessDenied,
        "The server refused the access token in \(what) (\(response.status)). It has expired, was "
          + "revoked or belongs to another server: log in through the browser, or with a new token.",
        serverError: cause, identityNumber: IdentityNumber.badStatus)
    default:
      throw OAuthError(
        .identityUnavailable, "The response to \(what) has status \(response.status).",
        serverError: cause,
        identityNumber: IdentityNumber.badStatus)
    }
    guard !response.body.isEmpty else {
      throw OAuthError(
        .identityUnavailable, "The response to \(what) is empty.",
        identityNumber: IdentityNumber.noData)
    }
    guard let json = try? JSONSlice(parsing: response.body), json.kind == .object else {
      throw OAuthError(
        .malformedResponse, "The response to \(what) is not a JSON object.",
        identityNumber: IdentityNumber.malformed)
    }
    return json
  }

  /// Returns a short word such as `Bad_OAuth_Token`; nil for a page.
  private static func word(in body: [UInt8]) -> String? {
    let text = String(decoding: body.prefix(64), as: UTF8.self).trimmed
    let isWord = !text.isEmpty && text.allSatisfy { $0.isLetter || $0 == "_" || $0 == " " }
    return isWord && body.count <= 64 ? text : nil
  }
}
