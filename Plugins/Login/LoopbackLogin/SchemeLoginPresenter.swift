#if os(Linux)
  public import Foundation
  import PeerSocket
  public import SalesforceSDKCore
  import SalesforceSDKCommon

  /// Logs a user in through the system's browser, for a redirect URI with a scheme of the app's own, such as
  /// `acme:///done` (CO-44, HT-74).
  ///
  /// For the time of the login it makes this program the desktop's handler of the scheme: a `.desktop` file, which is removed
  /// afterwards. The browser starts the handler, a process of its own, which passes the URL on with ``SchemeRedirect``.
  ///
  /// The redirect stands in the arguments of the handler, which every user of the machine can read. That is why the flow must be
  /// the web-server flow: its code is of use only with the verifier in this process.
  ///
  /// ```swift
  /// let presenter = SchemeLoginPresenter(handler: ["/usr/bin/acme", "login-redirect"])
  /// ```
  public struct SchemeLoginPresenter: LoginPresenter {
    private let handler: [String]
    private let open: LoopbackLoginPresenter.Opener
    private let timeLimit: Duration
    private let clock: any Clock<Duration>
    private let desktop: DesktopSchemes

    /// Makes a presenter.
    ///
    /// - Parameters:
    ///   - handler: The path of the program that the desktop starts, and its first arguments. Behind them it gets the folder of
    ///     the login and the URL, and calls ``SchemeRedirect/deliver(_:folder:)``.
    ///   - timeLimit: How long the user may take. Default: 5 minutes.
    ///   - clock: Measures the time limit.
    ///   - environment: Where the desktop's files are. Default: that of this process.
    ///   - open: Shows the login page. Default: the system's browser.
    public init(
      handler: [String], timeLimit: Duration = .seconds(300),
      clock: any Clock<Duration> = ContinuousClock(),
      environment: [String: String] = ProcessInfo.processInfo.environment,
      open: @escaping LoopbackLoginPresenter.Opener = SystemBrowser.open
    ) {
      self.handler = handler
      self.open = open
      self.timeLimit = timeLimit
      self.clock = clock
      desktop = DesktopSchemes(environment: environment)
    }

    /// Shows the login page and waits for its redirect.
    ///
    /// - Throws: `OAuthError` `invalidRequest` if the app's redirect URI has no scheme of its own or the flow is the user-agent
    ///   flow, `browserLaunchFailed` if the scheme cannot be registered or the browser cannot be opened, `timedOut`.
    public func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
      let scheme = try Self.scheme(of: attempt)
      let redirect = Once<LoginRedirect>()
      let room = try RedirectRoom()
      defer { room.remove() }
      let listener = try await room.listen { address in
        if case .foreign = attempt.verdict(on: address) { return false }
        redirect.set(LoginRedirect(address: address, redirectURI: attempt.app.redirectURI))
        return true
      }
      let outcome: Result<LoginRedirect, any Error>
      do {
        let registration = try await desktop.register(
          scheme, handler: handler + [room.folder.path])
        do {
          outcome = .success(try await wait(for: redirect, of: attempt))
        } catch {
          outcome = .failure(error)
        }
        await desktop.remove(registration)
      } catch {
        await listener.stop()
        throw error
      }
      await listener.stop()
      return try outcome.get()
    }

    private static func scheme(of attempt: AuthorizationSession) throws(OAuthError) -> String {
      let uri = attempt.app.redirectURI
      let scheme = uri.prefix { $0 != ":" }.lowercased()
      let isScheme =
        uri.contains(":") && scheme.first?.isLetter == true
        && scheme.utf8.allSatisfy {
          (97...122).contains($0) || (48...57).contains($0) || "+-.".utf8.contains($0)
        }
      // A handler of these would take over the whole browser.
      guard isScheme, !["http", "https", "file", "ftp", "mailto", "about", "data"].contains(scheme)
      else {
        throw OAuthError(
          .invalidRequest, "\(uri) has no scheme of an app. Use a redirect URI like acme:///done.")
      }
      guard attempt.flow == .webServer else {
        throw OAuthError(
          .invalidRequest,
          "The user-agent flow would show its tokens to other users of the machine. Use the web-server flow."
        )
      }
      return scheme
    }

    private func wait(
      for redirect: Once<LoginRedirect>, of attempt: AuthorizationSession
    ) async throws -> LoginRedirect {
      let page = try await attempt.loginPage()
      return try await withThrowingTaskGroup(of: LoginRedirect?.self) { group in
        defer { group.cancelAll() }
        group.addTask {
          try await clock.sleep(for: timeLimit)
          throw OAuthError(
            .timedOut, "No user logged in within \(timeLimit). Start the login again.")
        }
        group.addTask {
          try await LoopbackLoginPresenter.show(page, with: open)
          return nil
        }
        group.addTask { try await redirect.value() }
        for try await redirect in group {
          if let redirect { return redirect }
        }
        throw CancellationError()
      }
    }
  }
#endif
