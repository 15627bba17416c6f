import SalesforceSDKCommon
import Synchronization

/// A receiver of the logins and refreshes of accounts for analytics: the manager of their events,
/// which registers itself when it is made.
package protocol AccountAnalyticsReporter: Sendable {
  /// A user logged in, for the first time or again; the account is on disk.
  ///
  /// - Parameters:
  ///   - users: The number of accounts that are here now.
  ///   - loginServers: The hosts that the program lists for logins.
  func didLogIn(_ account: UserAccount, users: Int, loginServers: [String]) async

  /// The account has a new access token, which is on disk.
  func didRefreshToken(of account: UserAccount) async
}

extension UserAccountManager {
  /// Reports logins and refreshes to `reporter` from now on. The manager keeps it alive.
  package nonisolated func register(_ reporter: some AccountAnalyticsReporter) {
    analyticsReporter.withLock { $0 = reporter }
  }

  nonisolated var analytics: (any AccountAnalyticsReporter)? { analyticsReporter.withLock { $0 } }

  func reportLogin(of account: UserAccount) async {
    guard let analytics else { return }
    let listed = loginHosts?.list.hosts.map(\.server.domain)
    let servers = listed ?? accounts.map(\.credentials.loginServer.domain)
    await analytics.didLogIn(
      account, users: accounts.count, loginServers: Array(Set(servers)).sorted())
  }
}
