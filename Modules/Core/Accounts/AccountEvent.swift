import SalesforceSDKCommon

/// A change of an account (CO-110).
public struct AccountEvent: Sendable {
  /// The kind of an account event.
  public enum Kind: Sendable {
    /// A user logged in, for the first time or again.
    case didLogIn
    /// The tokens were refreshed and are on disk.
    case didRefreshToken
    /// The account moved to another host, which the caller had confirmed. Later requests use that
    /// host.
    case didChangeInstance
    /// The server refused the refresh token. The data is kept; the user must log in again.
    case sessionDidEnd(LogoutReason)
    /// A logout begins; its observers run now.
    case willLogOut(LogoutReason)
    /// A logout ended; the account is removed.
    case didLogOut(LogoutReason)
    /// The last account of the org was logged out.
    case didLogOutOrganization
    /// The profile was fetched again, or a value that the program stores with it was changed.
    case didChangeProfile
    /// The account is about to become the current user, by a call or a login.
    case willBecomeCurrent(previous: UserAccountIdentity?)
    /// It became the current user.
    case didBecomeCurrent(previous: UserAccountIdentity?)
    /// There is no longer a current user.
    case didResignCurrent
  }

  /// The kind of the event.
  public let kind: Kind
  /// The account after the event.
  public let account: UserAccount
  /// The changed parts of the account's data.
  public let changes: AccountChanges

  init(kind: Kind, account: UserAccount, changes: AccountChanges = []) {
    self.kind = kind
    self.account = account
    self.changes = changes
  }
}

/// The changed parts of an account, with the platform's numbers (CO-111).
public struct AccountChanges: OptionSet, Sendable, Hashable {
  public let rawValue: Int

  /// Creates a set from the platform's number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The account has another community.
  public static let communityId = AccountChanges(rawValue: 2)
  /// The account has another response of the identity service.
  public static let profile = AccountChanges(rawValue: 4)
  /// The account has another server for its data.
  public static let instanceURL = AccountChanges(rawValue: 8)
  /// The account has another access token.
  public static let accessToken = AccountChanges(rawValue: 16)

  /// Compares two values of an account. Without a former value the account is new, and the set is
  /// empty.
  init(from former: UserAccount?, to account: UserAccount) {
    guard let former else {
      self = []
      return
    }
    var changes: AccountChanges = []
    let old = former.credentials, new = account.credentials
    if UserFolders.community(old.communityId) != UserFolders.community(new.communityId)
      || old.communityURL != new.communityURL
    {
      changes.insert(.communityId)
    }
    if former.profile != account.profile { changes.insert(.profile) }
    if old.instanceURL != new.instanceURL || old.apiInstanceURL != new.apiInstanceURL {
      changes.insert(.instanceURL)
    }
    if old.accessToken != new.accessToken { changes.insert(.accessToken) }
    self = changes
  }
}

/// An event in the progress of a login, before there is an account (CO-57, CO-110).
public struct LoginEvent: Sendable {
  /// The kind of a login event.
  public enum Kind: Sendable {
    /// A login begins.
    case willLogIn
    /// The login page is about to be shown.
    case willShowPage
    /// The login succeeded; the account is on disk.
    case didLogIn(UserAccount)
    /// The user or the program cancelled the login.
    case didCancel
    /// The login failed.
    case didFail(any Error)
  }

  /// The kind of the event.
  public let kind: Kind
  /// The login server.
  public let server: LoginServer
  /// The type of the login.
  public let type: LoginType
}

extension EventSource<AccountEvent> {
  /// Sends an account's event to all subscribers.
  func send(
    _ kind: AccountEvent.Kind, _ account: UserAccount, changes: AccountChanges = []
  ) {
    send(AccountEvent(kind: kind, account: account, changes: changes))
  }
}
