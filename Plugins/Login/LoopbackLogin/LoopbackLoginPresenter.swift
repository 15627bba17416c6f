public import Foundation
import LocalServer
public import SalesforceSDKCore

/// Logs a user in through the system's browser: it shows the login page there and hears the
/// redirect on a port of this machine (CO-44).
///
/// The listener lives for one login. It serves one redirect, refuses whatever does not belong to
/// the login, and is closed when the login ends, fails, is cancelled or takes too long.
///
/// ```swift
/// let app = ConnectedApp(clientId: "...", redirectURI: "http://127.0.0.1:0/callback")
/// let account = try await accounts.logIn(.browser(app: app, presenter: LoopbackLoginPresenter()))
/// ```
public struct LoopbackLoginPresenter: LoginPresenter {
  /// Shows an address to the user; it is called once a login and may return at any time.
  public typealias Opener = @Sendable (URL) async throws -> Void

  private let open: Opener
  private let timeLimit: Duration
  private let clock: any Clock<Duration>

  /// Makes a presenter.
  ///
  /// - Parameter timeLimit: How long the user may take. Default: 5 minutes.
  /// - Parameter clock: Measures the time limit.
  /// - Parameter open: Shows the login page. Default: the system's browser.
  public init(
    timeLimit: Duration = .seconds(300), clock: any Clock<Duration> = ContinuousClock(),
    open: @escaping Opener = SystemBrowser.open
  ) {
    self.timeLimit = timeLimit
    self.clock = clock
    self.open = open
  }

  /// Shows the login page and waits for its redirect.
  ///
  /// - Throws: `OAuthError` `invalidRequest` if the app's redirect URI is not http on this machine,
  ///   `browserLaunchFailed` if the port is taken or the browser cannot be opened, `timedOut`.
  public func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
    let place = try RedirectEndpoint(attempt.app.redirectURI)
    let callback = Callback(attempt)
    let listener = try await listen(at: place, callback)
    let outcome: Result<LoginRedirect, any Error>
    do {
      let page = try await attempt.loginPage(
        redirectURI: place.redirectURI(port: listener.port))
      outcome = .success(try await wait(for: callback, showing: page))
    } catch {
      outcome = .failure(error)
    }
    await listener.stop()
    return try outcome.get()
  }

  /// Opens the listener, which serves until it is stopped.
  private func listen(
    at place: RedirectEndpoint, _ callback: Callback
  ) async throws(OAuthError) -> LocalServerGroup {
    do {
      return try await LocalServerGroup.start(
        CallbackResponder(callback: callback, place: place), hosts: place.bindAddresses,
        port: place.port, onListening: { callback.didListen(on: $0) })
    } catch {
      throw OAuthError(
        .browserLaunchFailed,
        "No listener could be opened at \(place.host) port \(place.port). Free the port, "
          + "or let the connected app use port 0.", cause: error)
    }
  }

  /// Shows the page; the first to bring a redirect or an error decides.
  private func wait(for callback: Callback, showing page: URL) async throws -> LoginRedirect {
    try await withThrowingTaskGroup(of: LoginRedirect?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await self.clock.sleep(for: self.timeLimit)
        throw OAuthError(
          .timedOut, "No user logged in within \(self.timeLimit). Start the login again.")
      }
      group.addTask {
        try await Self.show(page, with: self.open)
        return nil
      }
      group.addTask {
        try await callback.accepted.value()
      }
      for try await redirect in group {
        if let redirect { return redirect }
      }
      throw CancellationError()
    }
  }

  /// Opens the login page.
  static func show(_ url: URL, with open: Opener) async throws {
    do {
      try await open(url)
    } catch is CancellationError {
      throw CancellationError()
    } catch let error as OAuthError {
      throw error
    } catch {
      throw OAuthError(
        .browserLaunchFailed, "The browser could not be opened. Open the login page yourself.",
        cause: error)
    }
  }
}
