public import Foundation
import SalesforceSDKCommon

extension DeveloperInfo {
  /// The parts of an app that Core reports on. Parts that are nil have no section.
  public struct Sources: Sendable {
    /// The accounts.
    public var accounts: UserAccountManager?
    /// The user agent of the app's requests.
    public var userAgent: String?
    /// The kind of the app. Default: `Native`.
    public var appType = "Native"
    /// The connected app of logins, and the one of the next login.
    public var loginApps: ConnectedAppSelector?
    /// The boot configuration.
    public var boot: BootConfiguration?
    /// The managed configuration.
    public var managed: ManagedConfiguration?
    /// The login servers to choose from.
    public var loginHosts: LoginHostStorage?
    /// The key-value stores.
    public var keyValueStores: KeyValueStores?

    /// Creates sources without parts.
    public init() {}
  }

  /// Creates the report of Core: SDK, app, users, boot configuration, policies, hosts and key-value stores. It opens and
  /// sends nothing.
  ///
  /// - Parameter name: The name of the app.
  /// - Parameter now: The time to which ages refer. Default: now.
  /// - Throws: ``EncryptionError`` `inputOutput` if the folders of key-value stores cannot be listed.
  public init(app name: String, _ sources: Sources, now: Date = Date()) async throws {
    self.init()
    let accounts = await sources.accounts?.accounts ?? []
    let unreadable = await sources.accounts?.unreadableAccounts ?? []
    let current = await sources.accounts?.current
    append(
      section: "Fieldforce",
      [
        ("SDK Version", SDKVersion.current), ("App", name), ("App Type", sources.appType),
        ("User Agent", sources.userAgent ?? ""), ("Current User", current?.username ?? ""),
        ("Authenticated Users", accounts.map(\.username).joined(separator: ", ")),
        ("Unreadable Accounts", "\(unreadable.count)"),
      ])
    if let boot = sources.boot { append(section: "Bootconfig", Self.rows(of: boot)) }
    if let apps = sources.loginApps {
      append(section: "Auth Config", Self.rows(of: apps.usual))
    }
    if let current { append(section: "Current User", Self.rows(of: current, now)) }
    for other in accounts where other.identity != current?.identity {
      append(section: "User \(other.username)", Self.rows(of: other, now))
    }
    if let managed = sources.managed { append(section: "Managed Pref", Self.rows(of: managed)) }
    if let list = sources.loginHosts?.list {
      append(
        section: "Login Hosts",
        [("Selected", "\(list.selected.server)")]
          + list.hosts.map { ($0.name, "\($0.server)") })
    }
    if let stores = sources.keyValueStores {
      let own = try current.map { try stores.storeNames(for: $0) } ?? []
      append(
        section: "Key Value Stores",
        [
          ("User Key Value Stores", own.joined(separator: ", ")),
          ("Global Key Value Stores", try stores.globalStoreNames().joined(separator: ", ")),
        ])
    }
  }

  // MARK: Rows

  private static func rows(of boot: BootConfiguration) -> [(name: String, value: String)] {
    [
      ("Consumer Key", boot.app.clientId), ("Redirect URI", boot.app.redirectURI),
      ("Scopes", boot.app.scopes.sorted().joined(separator: " ")),
      ("Should Authenticate", yes(boot.shouldAuthenticate)),
      ("Is Local", boot.isLocal.map(yes) ?? ""), ("Start Page", boot.startPage ?? ""),
      ("Unauthenticated Start Page", boot.unauthenticatedStartPage ?? ""),
      ("Error Page", boot.errorPage ?? ""),
      ("Attempt Offline Load", yes(boot.attemptsOfflineLoad)),
    ]
  }

  private static func rows(of app: ConnectedApp) -> [(name: String, value: String)] {
    [
      ("Consumer Key", app.clientId), ("Redirect URI", app.redirectURI),
      ("Scopes", app.scopes.sorted().joined(separator: " ")),
      ("Use Hybrid Authentication", yes(app.usesHybridGrants)),
    ]
  }

  private static func rows(
    of account: UserAccount, _ now: Date
  ) -> [(name: String, value: String)] {
    let credentials = account.credentials
    let policy = account.profile
    return [
      ("Username", account.username), ("Login State", account.loginState.rawValue),
      ("Consumer Key", credentials.clientId), ("Redirect URI", credentials.redirectURI),
      ("Scopes", credentials.scopes.joined(separator: " ")),
      ("Login Server", "\(credentials.loginServer)"),
      ("Instance URL", credentials.instanceURL?.absoluteString ?? ""),
      ("Community URL", credentials.communityURL?.absoluteString ?? ""),
      ("Use Hybrid Authentication", yes(credentials.usesHybridGrants)),
      ("Token format", credentials.tokenFormat ?? "opaque"),
      ("Access Token Issued", credentials.issuedAtMilliseconds.map { issued($0, now) } ?? ""),
      ("Access Token Expiration", expiration(of: credentials)),
      ("Refresh Token", yes(credentials.refreshToken != nil)),
      (
        "Screen Lock",
        policy.screenLockMinutes > 0 ? "after \(policy.screenLockMinutes) minutes" : "off"
      ),
      ("Passcode Length", policy.pinLength > 0 ? "\(policy.pinLength) digits" : ""),
    ]
  }

  private static func rows(of managed: ManagedConfiguration) -> [(name: String, value: String)] {
    [
      ("Managed", yes(managed.isManaged)), ("Keys", managed.keys.joined(separator: ", ")),
      ("Login Servers", managed.hosts.map { "\($0.server)" }.joined(separator: ", ")),
      ("Only Show Authorized Hosts", yes(managed.allowsOnlyItsHosts)),
      ("Require Cert Auth", yes(managed.requiresCertificate)),
      ("Problems", managed.problems.map(\.description).joined(separator: "; ")),
    ]
  }

  private static func yes(_ flag: Bool) -> String { flag ? "YES" : "NO" }

  /// The time of issue and the age in minutes.
  private static func issued(_ milliseconds: Int64, _ now: Date) -> String {
    let date = SalesforceDate(milliseconds: milliseconds).text
    // A clock that was set back has no ages.
    let minutes =
      max(0, Int64(clamping: Int(now.timeIntervalSince1970)) - milliseconds / 1_000) / 60
    return "\(date), \(minutes) min ago"
  }

  private static func expiration(of credentials: OAuthCredentials) -> String {
    guard credentials.tokenFormat == "jwt", let token = credentials.accessToken,
      let expires = (try? JWTAccessToken(token))?.expires,
      let milliseconds = Int64(exactly: (expires.timeIntervalSince1970 * 1_000).rounded())
    else { return "" }
    return SalesforceDate(milliseconds: milliseconds).text
  }
}
