public import Foundation
import Hummingbird
import Logging
import NIOCore
public import SalesforceSDKCore

/// Logs a user in through the system's browser: it shows the login page there and hears the
/// redirect on a port of this machine (CO-44).
///
/// The listener lives for one login. It answers one redirect, refuses whatever does not belong to
/// the login, and is closed when the login ends, fails, is cancelled or takes too long.
///
/// ```swift
/// let app = ConnectedApp(clientId: "...", redirectURI: "http://127.0.0.1:0/callback")
/// let account = try await accounts.logIn(app: app, presenter: LoopbackLoginPresenter())
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
  public func redirect(of attempt: AuthorizationAttempt) async throws -> LoginRedirect {
    let place = try RedirectPlace(attempt.app.redirectURI)
    let callback = Callback(attempt)
    return try await withThrowingTaskGroup(of: LoginRedirect?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await self.listen(at: place, callback)
        return nil
      }
      group.addTask {
        try await self.clock.sleep(for: self.timeLimit)
        throw OAuthError(
          .timedOut, "nobody logged in within \(self.timeLimit); start the login again")
      }
      group.addTask {
        let redirectURI = place.redirectURI(port: try await callback.port.value())
        try Task.checkCancellation()
        try await self.show(attempt.authorizationURL(redirectURI: redirectURI))
        return nil
      }
      group.addTask {
        try await callback.accepted.value()
      }
      // The first to bring a redirect or an error decides.
      for try await redirect in group {
        if let redirect { return redirect }
        try Task.checkCancellation()
      }
      throw CancellationError()
    }
  }

  private func show(_ url: URL) async throws {
    do {
      try await open(url)
    } catch is CancellationError {
      throw CancellationError()
    } catch let error as OAuthError {
      throw error
    } catch {
      throw OAuthError(
        .browserLaunchFailed, "the browser could not be opened; open the login page yourself",
        cause: error)
    }
  }

  /// Answers requests until the task is cancelled.
  private func listen(at place: RedirectPlace, _ callback: Callback) async throws {
    var logger = Logger(label: "LoopbackLogin")
    // Its lines would hold the address called, and with it the code.
    logger.logLevel = .critical
    let listener = Application(
      responder: CallbackResponder(callback: callback, place: place),
      configuration: ApplicationConfiguration(
        address: .hostname(place.bindAddress, port: place.port), serverName: nil),
      onServerRunning: { channel in
        callback.didListen(on: channel.localAddress?.port ?? place.port)
      },
      logger: logger)
    do {
      try await listener.run()
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      throw OAuthError(
        .browserLaunchFailed,
        "no listener could be opened at \(place.bindAddress) port \(place.port); free the port, "
          + "or let the connected app use port 0", cause: error)
    }
  }
}
