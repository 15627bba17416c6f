import SalesforceSDKCommon

extension DeveloperAction {
  private static let noUser = "No user is logged in."

  /// The actions on the users of an app: `Logout`, `Switch User` and `Refresh Token`, and `Login Options` if the app lets
  /// developers choose the connected app of the next login (CO-187). Without a user, the first three say why they are not
  /// possible; `Switch User` is left out without accounts.
  public static func standard(
    for accounts: UserAccountManager?, loginApps: ConnectedAppSelector? = nil
  ) async -> [DeveloperAction] {
    var actions: [DeveloperAction] = []
    if let accounts {
      let all = await accounts.accounts
      let current = await accounts.current
      actions.append(await logout(current, accounts))
      if !all.isEmpty { actions.append(switchUser(current, all, accounts)) }
      actions.append(refresh(current, accounts))
    }
    if let loginApps { actions.append(loginOptions(loginApps)) }
    return actions
  }

  private static func logout(
    _ current: UserAccount?, _ accounts: UserAccountManager
  ) async -> DeveloperAction {
    var lost = ""
    if let current, let count = try? await accounts.unsyncedRecords(of: current.identity), count > 0
    {
      lost = " \(count) entries are not uploaded: the logout is refused."
    }
    return DeveloperAction(
      name: "Logout", unavailable: current == nil ? noUser : nil,
      confirmation: current.map { "Log out \($0.username)?\(lost)" }
    ) { _ in
      let identity = try loggedIn(current)
      let report = try await accounts.logOut(identity, reason: .userLogout)
      return "\(report.account.username) is logged out."
    }
  }

  private static func switchUser(
    _ current: UserAccount?, _ all: [UserAccount], _ accounts: UserAccountManager
  ) -> DeveloperAction {
    let selected = (current ?? all.first).map(id(of:)) ?? ""
    let choices = all.map { Field.Choice(value: id(of: $0), text: $0.username) }
    return DeveloperAction(
      name: "Switch User", unavailable: all.count < 2 ? "There is no other user." : nil,
      fields: [Field("account", label: "User", .choice(selected: selected, choices))]
    ) { values in
      guard let account = all.first(where: { id(of: $0) == values["account"]?.string }) else {
        throw AccountError(.unknownAccount, "There is no such account. List the accounts again.")
      }
      try await accounts.setCurrent(account.identity)
      return "\(account.username) is the current user."
    }
  }

  /// The value of an account in a choice.
  private static func id(of account: UserAccount) -> String {
    "\(account.organizationId)/\(account.userId)"
  }

  private static func refresh(
    _ current: UserAccount?, _ accounts: UserAccountManager
  ) -> DeveloperAction {
    DeveloperAction(name: "Refresh Token", unavailable: current == nil ? noUser : nil) { _ in
      let account = try await accounts.refresh(try loggedIn(current))
      return "\(account.username) has a new access token."
    }
  }

  private static func loginOptions(_ apps: ConnectedAppSelector) -> DeveloperAction {
    let usual = apps.usual
    return DeveloperAction(
      name: "Login Options",
      fields: [
        Field("consumerKey", label: "Consumer key", .text(usual.clientId)),
        Field("redirectURI", label: "Redirect URI", .text(usual.redirectURI)),
        Field("scopes", label: "Scopes", .text(usual.scopes.sorted().joined(separator: " "))),
        Field("hybrid", label: "Hybrid tokens", .flag(usual.usesHybridGrants)),
      ]
    ) { values in
      let key = values["consumerKey"]?.string?.trimmed ?? ""
      guard !key.isEmpty else {
        throw OAuthError(
          .invalidClientId, "The consumer key is empty. Enter that of a connected app.")
      }
      apps.setOverride(
        ConnectedApp(
          clientId: key, redirectURI: values["redirectURI"]?.string ?? "",
          scopes: Set((values["scopes"]?.string ?? "").split(separator: " ").map(String.init)),
          usesHybridGrants: values["hybrid"]?.bool ?? false))
      return "The next login uses this app; after it the usual one counts again."
    }
  }

  private static func loggedIn(_ account: UserAccount?) throws(AccountError) -> UserAccountIdentity
  {
    guard let account else { throw AccountError(.notLoggedIn, noUser) }
    return account.identity
  }
}
