import SalesforceSDKCommon
import HTTPTypes

// The factories of CO-131 that describe the org and its objects.
extension RestRequest {
  /// The API versions that the server offers. Needs no authentication.
  public static func versions() -> RestRequest {
    RestRequest(path: "/", requiresAuthentication: false)
  }

  /// The resources of an API version. This is the cheapest request.
  ///
  /// - Parameter version: Such as `"v66.0"`. Default: the client's.
  public static func resources(version: String? = nil) -> RestRequest {
    RestRequest(path: root(version))
  }

  /// All objects that the user may see.
  public static func describeGlobal(apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(root(apiVersion))/sobjects")
  }

  /// A short description of an object, with its recent records.
  public static func metadata(object: String, apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: sobject(object, apiVersion))
  }

  /// The full description of an object: its fields, types and permissions.
  public static func describe(object: String, apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(sobject(object, apiVersion))/describe")
  }

  /// The org's limits and the remaining amounts.
  public static func limits(apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(root(apiVersion))/limits")
  }

  /// The user of the token, from the login server.
  public static func userInfo() -> RestRequest {
    RestRequest(path: "/services/oauth2/userinfo", host: .login, endpoint: "")
  }

  /// `/{v}/sobjects/{object}`, the object's name encoded.
  static func sobject(_ object: String, _ apiVersion: String?) -> String {
    "\(root(apiVersion))/sobjects/\(PercentEncoding.encode(object))"
  }
}
