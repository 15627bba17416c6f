import SalesforceSDKCommon

extension ManagedConfiguration {
  /// Returns the connected app with the required consumer key and callback.
  public func applied(to app: ConnectedApp) -> ConnectedApp {
    var app = app
    if let clientId { app.clientId = clientId }
    if let redirectURI { app.redirectURI = redirectURI }
    return app
  }

  /// Returns the list of login servers: the managed ones after the others, or only the managed
  /// ones.
  ///
  /// - Parameters:
  ///   - declared: The app's own.
  ///   - showsBuiltIn: Whether production and sandbox are offered. Default: true.
  /// - Throws: ``OAuthError`` `badManagedConfiguration` (681) if only managed servers are allowed
  ///   and there are none.
  public func hostList(
    declared: [LoginHost] = [], showsBuiltIn: Bool = true
  ) throws(OAuthError) -> LoginHostList {
    try checkHosts()
    return LoginHostList(
      declared: declared, showsBuiltIn: showsBuiltIn, managed: hosts,
      onlyManaged: allowsOnlyItsHosts)
  }

  /// Refuses a login that the configuration does not allow.
  ///
  /// - Throws: ``OAuthError`` `badManagedConfiguration` (681).
  func check(_ type: LoginType, at server: LoginServer) throws(OAuthError) {
    try checkHosts()
    guard !allowsOnlyItsHosts || hosts.contains(where: { $0.server == server }) else {
      throw OAuthError(
        .badManagedConfiguration,
        "The organisation that manages this device does not allow a login at \(server). Log in at "
          + hosts.map(\.server.domain).joined(separator: " or ") + ".")
    }
    guard !requiresCertificate || type != .native else {
      throw OAuthError(
        .badManagedConfiguration,
        "The organisation that manages this device demands a certificate. Log in with the browser.")
    }
  }

  private func checkHosts() throws(OAuthError) {
    guard !allowsOnlyItsHosts || !hosts.isEmpty else {
      throw OAuthError(
        .badManagedConfiguration,
        "The managed configuration allows a login at its own servers alone, and AppServiceHosts names none that can be "
          + "used. Correct it.")
    }
  }

  /// Shows in the user agent whether the device is managed, and whether a certificate is demanded.
  func register(in markers: FeatureMarkers) {
    for (marker, isOn) in [("MM", isManaged), ("CT", requiresCertificate)] {
      if isOn { markers.register(marker) } else { markers.unregister(marker) }
    }
  }
}
