import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// The login that a page requests: through the system's browser, as `fieldforce login --browser` does it.
struct PageLogin: Sendable {
  private let server: LoginServer
  private let app: ConnectedApp
  private let managed: ManagedConfigurationFile

  /// - Parameters:
  ///   - url: The login server. Default: that of `account`, else production.
  ///   - boot: The app's boot configuration, which may name its connected app.
  ///   - managed: The managed configuration, which is read again at each login.
  ///   - usesHybridGrants: Whether the login requests sessions for web pages too.
  init(
    url: String?, account: UserAccount?, boot: JSONObject, managed: ManagedConfigurationFile,
    usesHybridGrants: Bool = false
  ) throws {
    server = try url.map { try LoginServer($0) } ?? account?.credentials.loginServer ?? .production
    app = Self.app(boot, usesHybridGrants)
    self.managed = managed
  }

  func run(_ accounts: UserAccountManager) async throws -> UserAccount {
    managed.reload()
    let app = try managed.current.applied(to: app)
    return try await accounts.logIn(
      .browser(to: server, app: app, presenter: BrowserLogin.presenter(for: app)))
  }

  /// The connected app of the boot configuration if its login can end on this machine, else that of
  /// `fieldforce login`.
  private static func app(_ boot: JSONObject, _ usesHybridGrants: Bool) -> ConnectedApp {
    if let app = try? BootConfiguration(boot).app {
      if URL(string: app.redirectURI)?.isLoopbackCallback == true {
        return ConnectedApp(
          clientId: app.clientId, redirectURI: app.redirectURI, scopes: scopes(app.scopes),
          usesHybridGrants: usesHybridGrants)
      }
      Console.say(
        "the oauthRedirectURI of bootconfig.json is not http on this machine: pages log in as 'fieldforce login' does"
      )
    }
    return ConnectedApp(
      clientId: LoginCommand.defaultClientId, redirectURI: LoginCommand.defaultRedirectURI,
      usesHybridGrants: usesHybridGrants)
  }
}

extension PageLogin {
  /// The scopes of a boot configuration, and the scope that every account needs: apps name only `web` and
  /// `api`.
  private static func scopes(_ named: Set<String>) -> Set<String> {
    named.isEmpty || named.contains("full") ? named : named.union(["id"])
  }
}

extension URL {
  /// Whether a browser that is sent here reaches this machine.
  fileprivate var isLoopbackCallback: Bool {
    scheme?.lowercased() == "http"
      && ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host()?.lowercased() ?? "")
  }
}
