public import SalesforceSDKCommon

/// One user of one org, with the credentials to act for them.
///
/// A plain value: it shows the account as it was when it was asked for. Clients and stores made for
/// it go on belonging to the same ``identity`` whatever happens to the current user.
public struct UserAccount: Sendable, Equatable, Identifiable {
  /// Whether the account can be used.
  public enum LoginState: String, Sendable {
    /// There is no session; can become ``loggedIn`` by a login.
    case notLoggedIn
    /// There is a session; can become ``notLoggedIn`` when the server refuses its refresh token, and
    /// ``loggingOut``.
    case loggedIn
    /// A logout is at work; becomes ``notLoggedIn``.
    case loggingOut

    /// Whether the account may go over to `next` (CO-78).
    func allows(_ next: LoginState) -> Bool {
      switch (self, next) {
      case (.notLoggedIn, .loggedIn), (.loggedIn, .loggedIn), (.loggedIn, .loggingOut),
        (.notLoggedIn, .loggingOut), (.notLoggedIn, .notLoggedIn), (.loggedIn, .notLoggedIn),
        (.loggingOut, .notLoggedIn):
        true
      default: false
      }
    }
  }

  /// Who it is.
  public let identity: UserAccountIdentity
  /// Servers and tokens.
  public var credentials: OAuthCredentials
  /// What the org says about the user.
  public var profile: UserProfile
  /// Whether there is a session.
  public internal(set) var loginState: LoginState

  /// Makes an account; it is logged in if there is an access or refresh token.
  public init(
    identity: UserAccountIdentity, credentials: OAuthCredentials, profile: UserProfile
  ) {
    self.identity = identity
    self.credentials = credentials
    self.profile = profile
    self.loginState =
      credentials.accessToken == nil && credentials.refreshToken == nil ? .notLoggedIn : .loggedIn
  }

  public var id: UserAccountIdentity { identity }
  /// The user name, such as `jane@example.com`.
  public var username: String { profile.username }
  /// The user's id.
  public var userId: String { identity.userId }
  /// The org's id.
  public var organizationId: String { identity.organizationId }
}

/// User name and ids, never a token.
extension UserAccount: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "account \(identity)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror {
    Mirror(self, children: ["identity": identity, "loginState": loginState])
  }
}

/// What the identity service says about a user (CO-72).
public struct UserProfile: Sendable, Equatable {
  /// The user name.
  public var username: String
  /// The name to show.
  public var displayName: String?
  /// The mail address.
  public var email: String?
  /// The whole answer, for what has no property here; an empty object if there was none.
  public var raw: JSONObject

  /// Makes a profile.
  public init(
    username: String, displayName: String? = nil, email: String? = nil, raw: JSONObject = [:]
  ) {
    self.username = username
    self.displayName = displayName
    self.email = email
    self.raw = raw
  }

  /// Reads an answer of the identity service or of the userinfo endpoint, which name some members
  /// differently.
  init(answer json: JSONSlice) {
    var raw = JSONObject()
    for (key, value) in json.members { raw[key] = value.value }
    self.init(
      username: json["username"]?.string ?? json["preferred_username"]?.string ?? "",
      displayName: json["display_name"]?.string ?? json["name"]?.string,
      email: json["email"]?.string, raw: raw)
  }
}

/// Nothing: the profile is personal data.
extension UserProfile: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "profile" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
