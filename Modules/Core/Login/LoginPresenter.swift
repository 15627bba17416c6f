/// A presenter of the login page, which returns the redirect that ends the login.
///
/// A program on a machine with a browser uses the listener of the `LoopbackLogin` product. A custom
/// screen, or a user who pastes the address, works as well. ``ScriptedLoginPresenter`` acts as the
/// user in tests.
public protocol LoginPresenter: Sendable {
  /// Shows the page of the login session `attempt` and waits for its redirect.
  ///
  /// An implementation decides on the redirect URI, opens
  /// ``AuthorizationSession/loginPage(redirectURI:)`` and returns the first address whose verdict
  /// is not `foreign`. Cancelling the task closes everything that was opened.
  ///
  /// - Throws: ``OAuthError`` `cancelled` if the user cancels, `timedOut` after the time limit,
  ///   `browserLaunchFailed` if the page could not be shown. `CancellationError`.
  func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect

  /// The kind of its logins; nil for that of the flow. Default: nil.
  var loginType: LoginType? { get }
}

extension LoginPresenter {
  public var loginType: LoginType? { nil }
}

/// The redirect that ended a login.
public struct LoginRedirect: Sendable {
  /// The whole address of the redirect.
  public let address: String
  /// The redirect URI of the login page.
  public let redirectURI: String
  /// The server that exchanges the code; nil: the one where the login began. An identity provider's user may have another login server.
  public let server: LoginServer?

  /// Makes a redirect.
  public init(address: String, redirectURI: String, server: LoginServer? = nil) {
    self.address = address
    self.redirectURI = redirectURI
    self.server = server
  }
}

/// A presenter for tests, with a closure that acts as browser and user.
public struct ScriptedLoginPresenter: LoginPresenter {
  private let script: @Sendable (AuthorizationSession) async throws -> String

  /// Creates a presenter that returns the address of `script`, with the app's redirect URI.
  public init(_ script: @escaping @Sendable (AuthorizationSession) async throws -> String) {
    self.script = script
  }

  public func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
    LoginRedirect(address: try await script(attempt), redirectURI: attempt.app.redirectURI)
  }
}

/// The description omits the address, because it contains the code.
extension LoginRedirect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "redirect to \(redirectURI)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["redirectURI": redirectURI]) }
}
