/// The features of accounts and logins in the user agent, by the platform's codes (CO-183).
package enum AccountFeature: String, Sendable, CaseIterable {
  /// A user has logged in.
  case userAuthentication = "UA"
  /// There is more than one user.
  case severalUsers = "MU"
  /// A login without a page.
  case headlessLogin = "NL"
  /// A page finds the login server.
  case discovery = "WD"
  /// A login in the browser.
  case browserLogin = "BW"
  /// A login that began with a scanned address.
  case scannedLogin = "QR"
  /// The app locks itself, as an org demands.
  case screenLock = "SL"
  /// The app asks for biometric authentication, as an org demands.
  case biometricLock = "BA"
  /// The app vouches for the logins of others.
  case identityProvider = "IP"
  /// The app logs in through an identity provider.
  case serviceProvider = "SP"
}

extension UserAccountManager {
  /// Shows in the user agent that a feature is in use.
  package nonisolated func show(_ feature: AccountFeature) {
    options.markers.register(feature.rawValue)
  }

  /// Shows in the user agent whether there are several users, and which locks their orgs demand of this app.
  func showUsers() {
    let hasLock = options.screenLock != nil || options.enforcesScreenLockItself
    let policies = hasLock ? Array(lockPolicies.values) : []
    for (feature, isInUse) in [
      (AccountFeature.severalUsers, machine.accounts.count > 1),
      (.screenLock, policies.contains { !$0.isBiometric }),
      (.biometricLock, policies.contains(where: \.isBiometric)),
    ] {
      if isInUse { show(feature) } else { options.markers.unregister(feature.rawValue) }
    }
  }
}
