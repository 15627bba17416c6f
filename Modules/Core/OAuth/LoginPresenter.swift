/// A presenter, which shows the login page to the user and returns the redirect that ends the login.
///
/// A program on a machine with a browser uses the listener of the `LoopbackLogin` product. A screen of the
/// program's own, or a user who pastes the address, works as well. ``ScriptedLoginPresenter`` acts as the
/// user in tests.
public protocol LoginPresenter: Sendable {
  /// Shows the page of `attempt` and waits for its redirect.
  ///
  /// An implementation decides on the redirect URI, opens ``AuthorizationSession/loginPage(redirectURI:)``
  /// and returns the first address that the attempt does not call foreign. Cancelling the task
  /// closes whatever was opened.
  ///
  /// - Throws: ``OAuthError`` `cancelled` if the user cancels, `timedOut` after the time limit,
  ///   `browserLaunchFailed` if nothing could be shown. `CancellationError`.
  func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect
}

/// The redirect that ended a login.
public struct LoginRedirect: Sendable {
  /// The address called, whole.
  public let address: String
  /// The redirect URI of the login page.
  public let redirectURI: String

  /// Makes a redirect.
  public init(address: String, redirectURI: String) {
    self.address = address
    self.redirectURI = redirectURI
  }
}

/// A presenter for tests: a closure acts as browser and user.
public struct ScriptedLoginPresenter: LoginPresenter {
  private let script: @Sendable (AuthorizationSession) async throws -> String

  /// Returns the address that `script` makes; the redirect URI is the app's.
  public init(_ script: @escaping @Sendable (AuthorizationSession) async throws -> String) {
    self.script = script
  }

  public func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
    LoginRedirect(address: try await script(attempt), redirectURI: attempt.app.redirectURI)
  }
}

/// The address holds the code, so it is not shown.
extension LoginRedirect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "redirect to \(redirectURI)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["redirectURI": redirectURI]) }
}
