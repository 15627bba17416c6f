import SalesforceSDKCommon

/// A change of an account (CO-110).
public struct AccountEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// A user logged in, for the first time or again.
    case didLogIn
    /// The tokens were refreshed and are on disk.
    case didRefreshToken
    /// The account moved to another host, which the caller had confirmed; requests go there from now on.
    case didChangeInstance
    /// The server refused the refresh token. Data is kept; the user must log in again.
    case sessionDidEnd(LogoutReason)
    /// A logout begins; its observers run now.
    case willLogOut(LogoutReason)
    /// A logout ended; the account is gone.
    case didLogOut(LogoutReason)
    /// No account of that org is left.
    case didLogOutOrganization
    /// Its profile was fetched again, or what the program keeps with it was changed.
    case didChangeProfile
    /// The account is about to become the current user, by a call of the program or a login.
    case willBecomeCurrent(previous: UserAccountIdentity?)
    /// It became the current user.
    case didBecomeCurrent(previous: UserAccountIdentity?)
    /// There is no current user any more.
    case didResignCurrent
  }

  /// What happened.
  public let kind: Kind
  /// The account as it is after it.
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

  /// Takes the platform's number.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Another community.
  public static let communityId = AccountChanges(rawValue: 2)
  /// Another response of the identity service.
  public static let profile = AccountChanges(rawValue: 4)
  /// Another server for its data.
  public static let instanceURL = AccountChanges(rawValue: 8)
  /// Another access token.
  public static let accessToken = AccountChanges(rawValue: 16)

  /// What differs between two values of an account; without a former one it is new, and nothing of
  /// it changed.
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

/// The progress of a login, before there is an account (CO-57, CO-110).
public struct LoginEvent: Sendable {
  /// What happened.
  public enum Kind: Sendable {
    /// A login begins.
    case willLogIn
    /// The login page is about to be shown.
    case willShowPage
    /// The account is on disk.
    case didLogIn(UserAccount)
    /// The user or the program cancelled.
    case didCancel
    /// It failed.
    case didFail(any Error)
  }

  /// What happened.
  public let kind: Kind
  /// Where the user logs in.
  public let server: LoginServer
  /// How.
  public let type: LoginType
}

extension EventSource<AccountEvent> {
  /// Tells all subscribers of an account's event.
  func send(
    _ kind: AccountEvent.Kind, _ account: UserAccount, changes: AccountChanges = []
  ) {
    send(AccountEvent(kind: kind, account: account, changes: changes))
  }
}
