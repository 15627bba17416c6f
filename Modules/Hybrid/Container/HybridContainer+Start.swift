import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore
import Synchronization

/// The page with which an app starts.
extension HybridContainer {
  func start(_ call: HybridCall) async throws -> JSONObject {
    let (url, account) = await firstPage(call)
    let identity = account?.identity
    return [
      "url": .string(url.absoluteString),
      "cookies": cookies(account),
      "userAgent": .string(host.userAgent.text(qualifier: app.isLocal ? "Local" : "Remote")),
      "profile": .string(Self.profile(of: identity)),
    ]
  }

  /// The name of the folder for what the engine keeps for a user. No user's pages see that of another.
  private static func profile(of identity: UserAccountIdentity?) -> String {
    identity.map { "\($0.organizationId)-\($0.userId)" } ?? "no-user"
  }

  /// The profile of a user who has logged out; nil if the account is still there.
  func removedProfile(of identity: UserAccountIdentity?) async -> String? {
    guard let identity, await host.accounts.account(for: identity) == nil else { return nil }
    return Self.profile(of: identity)
  }

  /// The page to start with, by the state of the login (HT-2).
  func firstPage(_ call: HybridCall) async -> (URL, UserAccount?) {
    if let problem = app.problem { return (errorPage(problem), nil) }
    var account = await host.accounts.current
    if account?.loginState != .loggedIn, app.logsInAtStart || account != nil {
      guard let logIn = host.logIn else {
        return (errorPage("Not authenticated: this host cannot log in."), nil)
      }
      do {
        account = try await call.changingUser(of: host, reloadsPages: { _ in false }) {
          try await logIn()
        }
      } catch {
        return (errorPage(HybridError(error).message), nil)
      }
    }
    guard let account else {
      use(nil)
      if app.isLocal { return (localPage(app.startPage), nil) }
      return (app.unauthenticatedStartPage ?? errorPage("Not authenticated"), nil)
    }
    use(account)
    guard !app.isLocal else { return (localPage(app.startPage), account) }
    switch await renewed(account) {
    case .done(let account): return (remotePage(account), account)
    case .unreachable(let message):
      // Another user may have had another server, and another program may have changed the file.
      let servers = state.withLock { $0.servers }
      if app.attemptsOfflineLoad, let home = homeURL, servers.admits(home) {
        return (home, account)
      }
      return (errorPage(message), account)
    case .ended(let message): return (errorPage(message), nil)
    }
  }

  /// Shows the pages of an account's servers, and resolves relative addresses against them.
  private func use(_ account: UserAccount?) {
    let credentials = account?.credentials
    var servers = origins
    let own = [credentials?.instanceURL, credentials?.communityURL, app.unauthenticatedStartPage]
    for server in own {
      if let text = server?.origin { servers.add(text) }
    }
    let base = credentials?.communityURL ?? credentials?.instanceURL
    state.withLock { state in
      state.servers = servers
      state.base = base
      state.renewals = [:]
      state.loginPages = nil
    }
  }

  func localPage(_ path: String) -> URL {
    URL(string: "https://localhost/" + path.drop { $0 == "/" })
      ?? errorPage("The start page \(path) is no path.")
  }

  /// The start page on the server. A server in front of the path is discarded (HT-22).
  func remotePage(_ account: UserAccount) -> URL {
    let base = account.credentials.communityURL ?? account.credentials.instanceURL
    var path = Substring(app.startPage)
    if let scheme = path.range(of: "://") {
      path = path[scheme.upperBound...].drop { $0 != "/" }
    }
    let folder = base.map { $0.absoluteString.hasSuffix("/") ? $0 : $0.appending(path: "") }
    return URL(string: String(path.drop { $0 == "/" }), relativeTo: folder)?.absoluteURL
      ?? errorPage("The start page \(app.startPage) is no path.")
  }

  func errorPage(_ reason: String) -> URL {
    let text = reason.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    let page = app.errorPage.flatMap { $0.isEmpty ? nil : "https://localhost/\($0)" }
    return URL(string: "\(page ?? Self.errorAddress)#\(text)")
      ?? URL(filePath: "/")
  }
}
