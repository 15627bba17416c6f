import Foundation
import SalesforceSDKCommon

// An account consists of a user's ids and the servers that have confirmed them. The ids are not
// secret, and any server can claim them. So only a server of the account may give it new tokens or
// new servers.

extension OAuthCredentials {
  /// Every server that these credentials send tokens or data to.
  var servers: [URL] {
    [instanceURL, apiInstanceURL, communityURL, identityURL, loginServer.url].compactMap(\.self)
  }

  /// Whether `url` is on one of this account's own servers.
  func owns(_ url: URL) -> Bool { servers.contains { $0.origin == url.origin } }

  /// Returns the first server of these credentials that is neither one of `former` nor a login host
  /// of the platform; `nil` if there is none.
  func foreignServer(besides former: OAuthCredentials, confirmed: Set<String>) -> URL? {
    // After its session was removed, an account has only the login server, whose response is as
    // trustworthy as at a first login.
    if former.instanceURL == nil, former.loginServer.url.origin == loginServer.url.origin {
      return nil
    }
    return servers.first { server in
      !former.owns(server) && !Self.platformOrigins.contains(server.origin)
        && !confirmed.contains(server.origin)
    }
  }

  /// Replaces the servers with those of `former`, and keeps the tokens.
  mutating func keepServers(of former: OAuthCredentials) {
    instanceURL = former.instanceURL
    apiInstanceURL = former.apiInstanceURL
    communityId = former.communityId
    communityURL = former.communityURL
    identityURL = former.identityURL
    loginServer = former.loginServer
  }

  /// Hosts that serve every org of the platform, and only those.
  private static let platformOrigins: Set<String> = [
    "https://login.salesforce.com:443", "https://test.salesforce.com:443",
    "https://api.salesforce.com:443",
  ]
}

extension UserAccountManager {
  /// Confirms that an account has moved to `server`, for instance because its org has a new My Domain.
  ///
  /// Without this call, a login at a server that the account does not know is refused with
  /// `foreignServer`, and a refresh whose response contains such a server does not move the
  /// account. After it, the next login or refresh may return `server`, and the account moves there
  /// with its data. Confirm only an address that comes from the user or an administrator, never one
  /// from a server's response. The confirmation is kept in memory and ends once an account is saved
  /// with that server.
  ///
  /// - Throws: ``AccountError`` `unknownAccount`.
  public func confirmMove(
    of identity: UserAccountIdentity, to server: LoginServer
  ) throws(AccountError) {
    guard machine.account(identity) != nil else {
      throw AccountError(
        .unknownAccount, "Cannot move account \(identity): there is none. Log in.")
    }
    machine[identity].confirmedServers.insert(server.url.origin)
  }

  /// Checks the servers of a login.
  ///
  /// - Throws: ``AccountError`` `foreignServer` if a login has a server that the account it would
  ///   replace does not know.
  func checkServers(
    of entering: UserAccount, replacing former: UserAccount
  ) throws(AccountError) {
    guard
      let server = entering.credentials.foreignServer(
        besides: former.credentials, confirmed: machine[entering.identity].confirmedServers)
    else { return }
    throw AccountError(
      .foreignServer,
      "\(server.origin) claims to be the server of \(former), which logged in elsewhere. The account is "
        + "as it was. If the org has moved there, confirm it with confirmMove(of:to:) and log in again."
    )
  }

  /// Returns the account after a refresh: with its new tokens, and with new servers only if they
  /// were confirmed.
  ///
  /// - Throws: ``OAuthError`` `identityMismatch` if the response is about another user.
  func account(_ stored: UserAccount, after response: TokenResponse) throws(OAuthError)
    -> UserAccount
  {
    var account = stored
    account.credentials = stored.credentials.merging(
      response, keeping: options.additionalTokenFields)
    if let named = response.url("id"),
      UserAccountIdentity(identityURL: named.absoluteString) != stored.identity
    {
      throw OAuthError(
        .identityMismatch, "The response to the refresh of \(stored) is about another user.")
    }
    if let server = account.credentials.foreignServer(
      besides: stored.credentials, confirmed: machine[stored.identity].confirmedServers)
    {
      CoreLogger.log.warning(
        "a refresh of \(stored) named \(server.origin), which it does not know; the account stays at its "
          + "servers until confirmMove(of:to:)")
      account.credentials.keepServers(of: stored.credentials)
    }
    return account
  }

  /// Removes the confirmations that a saved account has used.
  func didMove(_ account: UserAccount) {
    for server in account.credentials.servers {
      machine[account.identity].confirmedServers.remove(server.origin)
    }
  }
}
