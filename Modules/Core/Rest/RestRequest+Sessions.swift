import HTTPTypes
import SalesforceSDKCommon

/// The two objects whose records have a password.
public struct PasswordObject: Sendable, Hashable {
  let name: String
  /// A user of the org.
  public static let user = PasswordObject(name: "User")
  /// A user of its customer portal.
  public static let selfServiceUser = PasswordObject(name: "SelfServiceUser")
}

// Factories for sessions and passwords (CO-131, CO-42, BX-25, BX-54).
extension RestRequest {
  /// Requests a one-time URL that opens `page` in a browser with a session. The URL is `frontdoor_uri` of the
  /// response.
  ///
  /// - Parameter page: A path or an address.
  public static func singleAccess(page: String) -> RestRequest {
    RestRequest(method: .post, path: "/services/oauth2/singleaccess", endpoint: "")
      .with(form: [("redirect_uri", page)])
  }

  /// Ends an access token.
  ///
  /// - Returns: `nil` if there is no token to end.
  public static func revokeAccessToken(_ token: String?) -> RestRequest? {
    guard let token, !token.isEmpty else { return nil }
    return RestRequest(method: .post, path: "/services/oauth2/revoke", endpoint: "")
      .with(form: [("token", token)])
  }

  /// Requests whether a password has expired.
  public static func passwordStatus(
    of object: PasswordObject = .user, id: String, apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(path: password(object, id, apiVersion))
  }

  /// Sets a password.
  public static func setPassword(
    of object: PasswordObject = .user, id: String, to newPassword: String,
    apiVersion: String? = nil
  ) -> RestRequest {
    var body = JSONWriter()
    body.beginObject()
    body.text("NewPassword", newPassword)
    body.endObject()
    return RestRequest(method: .post, path: password(object, id, apiVersion))
      .with(json: body.bytes)
  }

  /// Makes the server create a new password and send it to the user.
  public static func resetPassword(
    of object: PasswordObject = .user, id: String, apiVersion: String? = nil
  ) -> RestRequest {
    RestRequest(method: .delete, path: password(object, id, apiVersion))
  }

  private static func password(
    _ object: PasswordObject, _ id: String, _ apiVersion: String?
  ) -> String {
    "\(sobject(object.name, apiVersion))/\(PercentEncoding.encode(id))/password"
  }
}
