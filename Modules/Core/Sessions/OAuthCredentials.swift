public import Foundation

/// The credentials of an account: servers, tokens, and the login that returned them (CO-60).
///
/// A plain value. ``UserAccountManager`` keeps the current one; a copy is not refreshed. Its
/// description shows addresses, never a token.
public struct OAuthCredentials: Sendable, Equatable {
  /// The name of this login's secrets in the secret store.
  public let identifier: String
  /// The consumer key of the login, which refreshes also use.
  public var clientId: String
  /// The redirect URI that the login used.
  public var redirectURI: String
  /// The server where the user logged in.
  public var loginServer: LoginServer
  /// Whether tokens for web content are requested too.
  public var usesHybridGrants: Bool
  /// The token that is sent with each request; `nil` until there is one.
  public var accessToken: String?
  /// The token that requests new access tokens; `nil` if the connected app grants none.
  public var refreshToken: String?
  /// The server that holds the org's data.
  public var instanceURL: URL?
  /// The server for the platform's own services, if the org has one.
  public var apiInstanceURL: URL?
  /// The community that the user logged in to.
  public var communityId: String?
  /// The community's address.
  public var communityURL: URL?
  /// The address of the identity service.
  public var identityURL: URL?
  /// The time at which the access token was issued, in milliseconds since 1970.
  public var issuedAtMilliseconds: Int64?
  /// The granted scopes; empty if the server did not list them.
  public var scopes: [String]
  /// `jwt`, or `nil` for opaque tokens.
  public var tokenFormat: String?
  /// Tokens and domains for web content, by their name on the wire; empty without hybrid grants.
  public var webSession: [String: String]
  /// Additional members of token responses, as the options request (CO-19); they are not treated as secrets.
  public var additionalFields: [String: String]

  /// Creates credentials.
  ///
  /// - Parameter identifier: Default: the consumer key and a random part.
  public init(
    identifier: String? = nil, clientId: String, redirectURI: String, loginServer: LoginServer,
    usesHybridGrants: Bool = true, accessToken: String? = nil, refreshToken: String? = nil,
    instanceURL: URL? = nil, identityURL: URL? = nil
  ) {
    self.identifier = identifier ?? "\(clientId)-\(UUID().uuidString)"
    self.clientId = clientId
    self.redirectURI = redirectURI
    self.loginServer = loginServer
    self.usesHybridGrants = usesHybridGrants
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.instanceURL = instanceURL
    self.identityURL = identityURL
    self.scopes = []
    self.webSession = [:]
    self.additionalFields = [:]
  }

  /// The server for REST calls: the community's, else the instance (CO-109).
  public var apiURL: URL? { communityURLInUse ?? instanceURL }

  /// The consumer key for refreshes: the one that the org issued to this login, if it did.
  var refreshClientId: String {
    webSession[OAuthKeys.beaconChildConsumerKey].flatMap { $0.isEmpty ? nil : $0 } ?? clientId
  }

  /// The token whose revocation ends the session: the refresh token, else the access token.
  var revocableToken: String? {
    [refreshToken, accessToken].lazy.compactMap(\.self).first { !$0.isEmpty }
  }

  /// The server for token calls: the community's, else where the user logged in.
  var oauthBase: URL { communityURLInUse ?? loginServer.url }

  /// The server that a request for `host` goes to.
  func base(for host: RestRequest.Host) -> URL? {
    switch host.kind {
    case .instance: apiURL
    case .login: oauthBase
    case .base(let url): url
    }
  }

  /// Drops the access token; a refresh gets another one (CO-64).
  public mutating func removeAccessToken() {
    accessToken = nil
  }

  /// Drops the tokens and all other values from the server. The values for a new login stay:
  /// consumer key, redirect URI and login server (CO-64).
  public mutating func removeSession() {
    self = OAuthCredentials(
      identifier: identifier, clientId: clientId, redirectURI: redirectURI,
      loginServer: loginServer, usesHybridGrants: usesHybridGrants)
  }

  /// The same credentials after a response of the token endpoint: only what it held is changed.
  ///
  /// - Parameter fields: Members to keep in ``additionalFields``; an empty name is ignored.
  func merging(_ response: TokenResponse, keeping fields: [String] = []) -> OAuthCredentials {
    var merged = self
    let values = response.values
    merged.accessToken = values["access_token"] ?? accessToken
    if let token = values["refresh_token"], !token.isEmpty { merged.refreshToken = token }
    merged.instanceURL = response.url("instance_url") ?? instanceURL
    merged.apiInstanceURL = response.url("api_instance_url") ?? apiInstanceURL
    merged.identityURL = response.url("id") ?? identityURL
    if let id = values["sfdc_community_id"] { merged.communityId = id }
    merged.communityURL = response.url("sfdc_community_url") ?? communityURL
    if let text = values["issued_at"] { merged.issuedAtMilliseconds = Int64(text) }
    if let text = values["scope"] { merged.scopes = text.split(separator: " ").map(String.init) }
    if let text = values["token_format"] { merged.tokenFormat = text.isEmpty ? nil : text }
    for key in OAuthKeys.webSession {
      if let value = values[key] { merged.webSession[key] = value }
    }
    for key in fields where !key.isEmpty {
      if let value = values[key] { merged.additionalFields[key] = value }
    }
    return merged
  }

  private var communityURLInUse: URL? {
    guard let communityId, !communityId.isEmpty else { return communityURL }
    return UserFolders.community(communityId) == nil ? nil : communityURL
  }
}

extension OAuthCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  public var description: String {
    "credentials for \(apiURL?.absoluteString ?? loginServer.description)"
  }
  public var debugDescription: String { description }
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "clientId": clientId, "loginServer": loginServer, "instanceURL": instanceURL as Any,
      ])
  }
}

/// Names on the wire and in the secret store.
enum OAuthKeys {
  /// The members of a token response for web content (CO-35).
  static let webSession = [
    "lightning_domain", "lightning_sid", "visualforce_domain", "visualforce_sid", "content_domain",
    "content_sid", "csrf_token", "cookie-clientSrc", "cookie-sid_Client", "sidCookieName",
    "parent_sid", beaconChildConsumerKey, "beacon_child_consumer_secret",
  ]
  /// Those of them that are secret, and the service under which each is kept (CO-61).
  static let webSessionServices = [
    "lightning_sid": service + "lightningSid", "visualforce_sid": service + "vfSid",
    "content_sid": service + "contentSid", "csrf_token": service + "csrf",
    "parent_sid": service + "parentSid", "cookie-clientSrc": service + "cookieClientSrc",
    "cookie-sid_Client": service + "cookieSidClient",
    beaconChildConsumerKey: service + "beaconChildConsumerKey",
    "beacon_child_consumer_secret": service + "beaconChildConsumerSecret",
  ]
  static let beaconChildConsumerKey = "beacon_child_consumer_key"
  static let accessService = service + "access"
  static let refreshService = service + "refresh"
  /// The key prefix of a user's id.
  static let userKeyPrefix = "005"
  /// The key prefix of an org's id.
  static let organizationKeyPrefix = "00D"
  /// The community id of users without a community.
  static let internalCommunityId = "000000000000000AAA"

  private static let service = "com.salesforce.mobilesdk.oauth."
}
