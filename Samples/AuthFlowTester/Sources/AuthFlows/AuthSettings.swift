public import Foundation
public import SalesforceSDKCore

/// What the logins need. A flow whose part is nil is skipped, with the reason.
public struct AuthSettings: Sendable {
  /// The login server.
  public var server: LoginServer
  /// The connected app.
  public var app: ConnectedApp
  /// A second connected app, to which a session is migrated.
  public var otherApp: ConnectedApp?
  /// The secret of the connected app.
  public var clientSecret: String?
  /// The private RSA key (PEM) of the connected app.
  public var signingKey: String?
  /// The user of assertions and of the login with a password.
  public var username: String?
  /// The password of a user of an Experience Cloud site.
  public var password: String?
  /// Tokens from elsewhere, with their instance.
  public var tokens: (access: String, refresh: String?, instance: LoginServer)?
  /// The presenter of a login page, for each flow that has one.
  public var presenter: @Sendable (AuthFlow) -> any LoginPresenter
  /// Shows a device code to the user.
  public var showDeviceCode: @Sendable (DeviceCode) async throws -> Void

  /// Creates settings; everything that is not an argument is nil.
  public init(
    server: LoginServer, app: ConnectedApp,
    presenter: @escaping @Sendable (AuthFlow) -> any LoginPresenter,
    showDeviceCode: @escaping @Sendable (DeviceCode) async throws -> Void
  ) {
    self.server = server
    self.app = app
    self.presenter = presenter
    self.showDeviceCode = showDeviceCode
  }
}
