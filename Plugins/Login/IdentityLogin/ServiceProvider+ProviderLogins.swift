import IdentityProviderURLs
import SalesforceSDKCommon
public import SalesforceSDKCore

/// The part of an app in logins that its identity provider starts.
public protocol ServiceProviderDelegate: Sendable {
  /// Whether to log `user` in because the provider says so. It is not called for a program of the provider's that the app
  /// was given.
  ///
  /// - Parameter user: nil if the user is chosen in the provider.
  /// - Parameter peer: The process that sent the command; nil for a URL, which every program can open.
  func confirmLogin(of user: UserAccountIdentity?, from peer: IdentityPeer?) async -> Bool

  /// Opens a page of the app for the account, which is the current user. Check that it is a page of the app.
  func open(_ startURL: String, for account: UserAccount) async
}

extension ServiceProvider {
  /// Carries out the start of a login by the provider.
  func begin(_ url: IdentityURL, from peer: IdentityPeer?) async throws {
    source.send(IdentityEvent(.didReceiveRequest, url))
    do {
      // `idpauthcodeinit` needs a key chain that both apps share, which this system does not have.
      guard case .login(let login) = url.command else { throw IdentityRefusal.malformed }
      try await begin(login, from: peer)
    } catch {
      source.send(IdentityEvent(.didFail, url, error: error))
      throw error
    }
  }

  private func begin(_ login: IdentityCommand.Login, from peer: IdentityPeer?) async throws {
    let identity = login.user.map(UserAccountIdentity.init)
    let isAllowed = peer?.runs(oneOf: providerExecutables) ?? false
    if !isAllowed {
      guard let delegate else { throw IdentityRefusal.foreignProgram }
      guard await delegate.confirmLogin(of: identity, from: peer) else {
        throw IdentityRefusal.cancelled
      }
    }
    let account: UserAccount
    if let identity, let known = await accounts.account(for: identity), known.isLoggedIn {
      try await accounts.setCurrent(identity)
      account = known
    } else {
      let server = try login.loginHost.map { text throws(OAuthError) in try LoginServer(text) }
      account = try await logIn(to: server, user: login.user)
    }
    source.send(IdentityEvent(.didLogIn(account.identity)))
    if let startURL = login.startURL { await delegate?.open(startURL, for: account) }
  }
}

extension UserAccount {
  /// Whether it has a session.
  var isLoggedIn: Bool { loginState == .loggedIn }
}
