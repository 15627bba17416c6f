import Foundation
import SalesforceSDKCommon

/// The response of the token endpoint (CO-35), with only the members that were present.
struct TokenResponse: Sendable {
  /// The members with a text, by their name in the response.
  let values: [String: String]

  /// Parses a response.
  ///
  /// - Throws: ``OAuthError``: `serverUnavailable` or `rateLimitExceeded` if the status says that, else what the
  ///   server named, whatever the status; `codeWithoutObject` if the response is not a JSON object;
  ///   `malformedResponse` if it has no access token, an address in it is not secure, or the id of a community is
  ///   none. ``OAuthError/isUnexpectedResponse`` is true if the response cannot be from a token endpoint.
  init(
    _ response: RestResponse, during what: String,
    codeWithoutObject: OAuthError.Code = .malformedResponse
  ) throws(OAuthError) {
    guard let json = try? JSONSlice(parsing: response.body), json.kind == .object else {
      if let error = OAuthError(unavailable: response.status, during: what) { throw error }
      throw OAuthError(
        codeWithoutObject,
        "The response to \(what) (status \(response.status)) is unexpected: it is no JSON object. "
          + "Look for a proxy or a captive portal, check the login server's address, and try again."
      ).unexpected
    }
    if let error = json["error"]?.string {
      throw OAuthWord.error(
        error, description: json["error_description"]?.string, status: response.status,
        during: what)
    }
    if let error = OAuthError(unavailable: response.status, during: what) { throw error }
    guard (200...299).contains(response.status),
      json["access_token"]?.string?.isEmpty == false
    else {
      throw OAuthError(
        .malformedResponse,
        "The response to \(what) (status \(response.status)) is unexpected: it has neither an access token nor an "
          + "OAuth error. Look for a proxy or a captive portal, check the login server's address, and try again."
      ).unexpected
    }
    let members = json.members.compactMap { key, value in
      (value.string ?? value.numberText).map { (name: key, value: $0) }
    }
    try self.init(members: members, during: what)
  }

  /// Creates a response from the members of a redirect.
  ///
  /// - Throws: ``OAuthError`` `malformedResponse` without an access token, or if an address among
  ///   them is not secure, or the id of a community is none.
  init(members: [(name: String, value: String)], during what: String) throws(OAuthError) {
    var values: [String: String] = [:]
    for (name, value) in members where values[name] == nil { values[name] = value }
    guard let token = values["access_token"], !token.isEmpty else {
      throw OAuthError(.malformedResponse, "The response to \(what) holds no access token.")
    }
    for key in ["instance_url", "sfdc_community_url", "api_instance_url", "id"] {
      guard let text = values[key], !text.isEmpty else { continue }
      guard let url = URL(string: text), url.isAllowedForTransport else {
        throw OAuthError(
          .malformedResponse, "The \(key) in the response to \(what) is not an https address.")
      }
    }
    // It names a folder.
    if let community = values["sfdc_community_id"], !community.isEmpty,
      SalesforceId(community) == nil
    {
      throw OAuthError(
        .malformedResponse,
        "The sfdc_community_id in the response to \(what) is not an id. Check the login server's address."
      )
    }
    self.values = values
  }

  /// Returns the address under `key`, which was checked when the response was parsed.
  func url(_ key: String) -> URL? {
    values[key].flatMap { $0.isEmpty ? nil : URL(string: $0) }
  }
}

/// The description contains the names of the members, never the values.
extension TokenResponse: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  var description: String { "tokens: \(values.keys.sorted().joined(separator: ", "))" }
  var debugDescription: String { description }
  var customMirror: Mirror { Mirror(self, children: [:]) }
}
