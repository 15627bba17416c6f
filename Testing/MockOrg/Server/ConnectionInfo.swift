import SalesforceSDKCommon

/// The addresses and credentials of a running org.
public struct ConnectionInfo: Sendable, Hashable, Codable {
  /// Where the org listens, for the login.
  public let url: String
  /// Where its API is: the same address, or the one of ``MockOrgOptions/instanceURL``.
  public let instanceUrl: String
  /// The newest version it speaks, such as `66.0`.
  public let apiVersion: String
  /// An access token that is good already.
  public let accessToken: String
  /// A refresh token that is good already.
  public let refreshToken: String
  public let username: String
  public let password: String
  public let clientId: String
  public let clientSecret: String
  public let redirectUri: String
  public let userId: String
  public let organizationId: String
  /// The address of the page that shows the org in a browser. Its key opens the control endpoint; keep it
  /// from other users of the machine.
  public let pageUrl: String

  /// The members in one line of JSON, in the order in which they stand here.
  public var json: String {
    let json: ResponseJSON = [
      "url": .string(url), "instanceUrl": .string(instanceUrl), "apiVersion": .string(apiVersion),
      "accessToken": .string(accessToken), "refreshToken": .string(refreshToken),
      "username": .string(username), "password": .string(password), "clientId": .string(clientId),
      "clientSecret": .string(clientSecret), "redirectUri": .string(redirectUri),
      "userId": .string(userId), "organizationId": .string(organizationId),
      "pageUrl": .string(pageUrl),
    ]
    return String(decoding: json.bytes, as: UTF8.self)
  }
}
