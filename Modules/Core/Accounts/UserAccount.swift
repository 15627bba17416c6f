public import Foundation
public import SalesforceSDKCommon

/// One user of one org, with their credentials.
///
/// A value with the account's state at the time when it was read. Clients and stores for it keep
/// their ``identity`` when the current user changes.
public struct UserAccount: Sendable, Equatable, Identifiable {
  /// The state of the account's session.
  public enum LoginState: String, Sendable {
    /// No session. A login changes it to ``loggedIn``.
    case notLoggedIn
    /// A session. Changes to ``notLoggedIn`` if the server refuses its refresh token, and to
    /// ``loggingOut``.
    case loggedIn
    /// A logout is in progress, or was when its process ended. The account is removed when it
    /// finishes.
    case loggingOut

    /// Whether the state may change to `next` (CO-78).
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

  /// The ids of user and org.
  public let identity: UserAccountIdentity
  /// Servers and tokens.
  public var credentials: OAuthCredentials
  /// The org's information about the user.
  public var profile: UserProfile
  /// The program's own values for the account (CO-91); ``UserAccountManager/setCustomData(_:forKey:of:)``
  /// changes it.
  public internal(set) var customData: JSONObject = [:]
  /// The lock that the org requires of the app, as of the user's last login (CO-154); nil if it
  /// requires none.
  public internal(set) var lockPolicy: LockPolicy?
  /// The names of the keepers with data of the account, see ``AccountDataKeeper/keeperName``. A
  /// logout requires all of them.
  package internal(set) var dataKeepers: Set<String> = []
  /// Whether there is a session.
  public internal(set) var loginState: LoginState

  /// Creates an account; it is logged in if there is an access or refresh token.
  public init(
    identity: UserAccountIdentity, credentials: OAuthCredentials, profile: UserProfile
  ) {
    self.identity = identity
    self.credentials = credentials
    self.profile = profile
    self.loginState =
      credentials.accessToken == nil && credentials.refreshToken == nil ? .notLoggedIn : .loggedIn
  }

  /// Creates the account of a login, with the org's requirements.
  init(
    identity: UserAccountIdentity, credentials: OAuthCredentials, profile: UserProfile,
    lockPolicy: LockPolicy?
  ) {
    self.init(identity: identity, credentials: credentials, profile: profile)
    self.lockPolicy = lockPolicy
  }

  public var id: UserAccountIdentity { identity }
  /// The user name, such as `jane@example.com`.
  public var username: String { profile.username }
  /// The user's id.
  public var userId: String { identity.userId }
  /// The org's id.
  public var organizationId: String { identity.organizationId }
  /// The community that the user logged in to; `nil` for internal users.
  public var communityId: String? {
    credentials.communityId.flatMap { UserFolders.community($0) == nil ? nil : $0 }
  }
  /// The server for REST requests: the community's, else the instance.
  public var apiURL: URL? { credentials.apiURL }
  /// The granted scopes of the tokens; empty if the server did not send them.
  public var accessScopes: Set<String> { Set(credentials.scopes) }
  /// Whether there are an access token and a profile.
  public var isSessionValid: Bool {
    loginState == .loggedIn && credentials.accessToken != nil && !profile.raw.isEmpty
  }
}

/// User name and ids, never a token.
extension UserAccount: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "account \(identity)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror {
    Mirror(self, children: ["identity": identity, "loginState": loginState])
  }
}
