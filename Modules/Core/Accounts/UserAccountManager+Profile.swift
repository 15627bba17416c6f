public import SalesforceSDKCommon

/// The profile and the stored values of an account.
extension UserAccountManager {
  /// Fetches the user's profile from the server again and stores it (CO-73). A login does the same, a refresh
  /// of tokens does not.
  ///
  /// - Throws: ``OAuthError`` `identityUnavailable`, `malformedResponse`, `serverUnavailable`, or
  ///   the errors of a refresh; ``TransportError`` if the server was not reached; ``AccountError``
  ///   `unknownAccount`, `notLoggedIn`, `closed`, `writeFailed`, `busy`.
  @discardableResult
  public func refreshProfile(of identity: UserAccountIdentity) async throws -> UserAccount {
    let profile = try await withFreshSession(of: identity) { account in
      try await self.service.identity(of: account.credentials).1
    }
    return try await change(identity) { $0.profile = profile }
  }

  /// Stores a value with the account, and replaces the value with the same key; `nil` removes it (CO-91). It
  /// is on disk on return, and is removed at the account's logout.
  ///
  /// - Throws: ``AccountError``; `CancellationError` while another process changes the account.
  @discardableResult
  public func setCustomData(
    _ value: JSONValue?, forKey key: String, of identity: UserAccountIdentity
  ) async throws -> UserAccount {
    try await change(identity) { $0.customData[key] = value }
  }

  /// Sets an attribute of the connected app in the stored profile, until the next fetch (CO-74).
  ///
  /// - Throws: ``AccountError``; `CancellationError` while another process changes the account.
  @discardableResult
  public func setCustomAttribute(
    _ value: JSONValue?, forKey key: String, of identity: UserAccountIdentity
  ) async throws -> UserAccount {
    try await change(identity) { account in
      var attributes = account.profile.customAttributes ?? [:]
      attributes[key] = value
      account.profile.customAttributes = attributes
    }
  }

  /// Sets a permission of the connected app in the stored profile, until the next fetch (CO-74).
  ///
  /// - Throws: ``AccountError``; `CancellationError` while another process changes the account.
  @discardableResult
  public func setCustomPermission(
    _ value: JSONValue?, forKey key: String, of identity: UserAccountIdentity
  ) async throws -> UserAccount {
    try await change(identity) { account in
      var permissions = account.profile.customPermissions ?? [:]
      permissions[key] = value
      account.profile.customPermissions = permissions
    }
  }

  /// Returns the OpenID token of an account, from a refresh whose new tokens are stored as well
  /// (CO-55).
  ///
  /// - Returns: `nil` if the connected app does not have the scope `openid`. The token is not
  ///   stored, and its signature is not checked.
  /// - Throws: The errors of a refresh.
  public func openIDToken(of identity: UserAccountIdentity) async throws -> String? {
    let account = try active(identity)
    machine[identity].openIDToken = nil
    // A refresh that is already running also returns one.
    _ = try await refreshedSession(of: identity, replacing: account.credentials.accessToken)
    defer { machine[identity].openIDToken = nil }
    return machine[identity].openIDToken
  }

  /// Applies a change to the account that is on disk now, and stores it.
  ///
  /// - Parameter announces: Whether the change sends an event.
  @discardableResult
  func change(
    _ identity: UserAccountIdentity, announces: Bool = true,
    _ apply: @escaping @Sendable (inout UserAccount) -> Void
  ) async throws -> UserAccount {
    guard machine.account(identity) != nil else {
      throw AccountError(.unknownAccount, "There is no account \(identity). Log in.")
    }
    return try await persister.withExclusiveAccess(to: identity) {
      try await self.applyChange(identity, announces, apply)
    }
  }

  private func applyChange(
    _ identity: UserAccountIdentity, _ announces: Bool,
    _ apply: @Sendable (inout UserAccount) -> Void
  ) async throws(AccountError) -> UserAccount {
    try await saveUnsaved(identity)
    // Another process may have refreshed or logged out in the meantime.
    guard let now = try await takeOver(identity), now.loginState != .loggingOut else {
      throw AccountError(.unknownAccount, "Account \(identity) was logged out. Log in.")
    }
    let change = machine.unsavedChange(of: identity)
    var account = now
    apply(&account)
    guard account != now else { return account }
    do throws(AccountError) {
      try await save(account)
    } catch {
      if machine.account(identity) == account {
        machine.restore(now, change, insteadOf: identity)
      }
      throw error
    }
    if announces {
      eventSource.send(
        .didChangeProfile, account, changes: AccountChanges(from: now, to: account))
    }
    return account
  }
}
