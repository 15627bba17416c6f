public import IdentityProviderURLs
public import SalesforceSDKCore
import Foundation
import SalesforceSDKCommon
import Synchronization

/// An app that logs in through another one, its identity provider, and gets tokens of its own (CO-160 to CO-163).
///
/// ```swift
/// let provider = ServiceProvider(
///   accounts: accounts, app: app, providerScheme: "acmeidp",
///   carrier: try IdentitySocket(app: "acmeidp"), fallback: LoopbackLoginPresenter())
/// let account = try await provider.logIn(to: .production)
/// ```
///
/// It keeps the verifier: a code that another process reads is of no use to it.
public final class ServiceProvider: Sendable {
  let accounts: UserAccountManager
  let app: ConnectedApp
  let appName: String?
  let providerScheme: String
  let carrier: any IdentityCarrier
  let fallback: (any LoginPresenter)?
  let delegate: (any ServiceProviderDelegate)?
  let providerExecutables: Set<String>
  let timeLimit: Duration
  let clock: any Clock<Duration>
  let source = EventSource<IdentityEvent>()
  let waiting = Mutex(Waiting())

  /// The login that waits for its response.
  struct Waiting: Sendable {
    var machine = ServiceProviderMachine()
    var outcome: SharedOutcome<IdentityCommand>?
  }

  /// Makes a service provider.
  ///
  /// - Parameters:
  ///   - app: The connected app of this program, which differs from the provider's.
  ///   - appName: What the user reads there.
  ///   - providerScheme: The URL scheme of the provider's app.
  ///   - carrier: The way to the provider.
  ///   - fallback: Logs in if the provider is absent or refuses. Default: nothing; then the login fails.
  ///   - delegate: Confirms logins that the provider starts, and opens their pages. Default: such logins are refused.
  ///   - providerExecutables: The provider's programs, whose logins need no confirmation.
  ///   - timeLimit: How long the provider and its user may take. Default: 5 minutes.
  ///   - clock: Measures the time limit.
  public init(
    accounts: UserAccountManager, app: ConnectedApp, appName: String? = nil,
    providerScheme: String, carrier: any IdentityCarrier,
    fallback: (any LoginPresenter)? = nil, delegate: (any ServiceProviderDelegate)? = nil,
    providerExecutables: Set<String> = [], timeLimit: Duration = .seconds(300),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.accounts = accounts
    self.app = app
    self.appName = appName
    self.providerScheme = providerScheme
    self.carrier = carrier
    self.fallback = fallback
    self.delegate = delegate
    self.providerExecutables = providerExecutables
    self.timeLimit = timeLimit
    self.clock = clock
  }

  /// The requests and responses from now on (CO-165). Each call returns a separate stream.
  public func events() -> some AsyncSequence<IdentityEvent, Never> & Sendable { source.stream() }

  /// Logs a user in through the provider.
  ///
  /// - Parameter server: Whose users the provider offers. Default: those of any server.
  /// - Parameter user: The user to log in. Default: the user chooses in the provider.
  /// - Parameter makesCurrent: Whether the account becomes the current user. Default: true.
  /// - Throws: ``IdentityLoginError``; `OAuthError` `cancelled` if the user cancelled there, `timedOut`; as every login.
  @discardableResult
  public func logIn(
    to server: LoginServer? = nil, user: IdentityUser? = nil,
    options: LoginOptions = LoginOptions(), makesCurrent: Bool = true
  ) async throws -> UserAccount {
    accounts.show(.serviceProvider)
    let presenter = IdentityProviderPresenter(
      provider: self, user: user, namesServer: server != nil)
    let account = try await accounts.logIn(
      .browser(to: server ?? .production, app: app, presenter: presenter, options: options))
    if let user, account.identity != UserAccountIdentity(user) {
      throw IdentityLoginError(
        .unknownUser, "Account \(account.identity) logged in instead of \(user). Switch or log out."
      )
    }
    return account
  }

  /// Takes a URL of this app's scheme, if it is the provider's: the response to a login, or the start of one.
  ///
  /// A login that the provider starts runs until it ends. Add both to ``URLHandlers`` with ``add(to:)``.
  ///
  /// - Returns: Whether it took the URL.
  /// - Throws: ``IdentityLoginError`` `evicted` for a response that no login waits for, `malformed`; as ``logIn(to:user:options:makesCurrent:)``.
  @discardableResult
  public func handle(_ url: String) async throws -> Bool {
    guard let url = try IdentityURL.command(in: url) else { return false }
    switch url.command {
    case .authRequest: return false
    case .authResponse, .failure: try receive(url)
    case .login, .loginWithCode:
      do {
        try await begin(url, from: nil)
      } catch let refusal as IdentityRefusal {
        throw IdentityLoginError(refusal)
      }
    }
    return true
  }

  /// Adds this app's handlers at their places of the platform's order.
  public func add(to handlers: URLHandlers) {
    for kind in [URLHandlers.Kind.authResponse, .login, .loginWithCode, .failure] {
      handlers.add(kind) { [self] text in
        guard let url = try IdentityURL.command(in: text), url.command.kind == kind else {
          return false
        }
        return try await handle(text)
      }
    }
  }

  /// Listens for logins that the provider starts (CO-163).
  ///
  /// - Parameter allowsRoot: Whether to serve in a process of root's. Default: false.
  /// - Throws: ``IdentityLoginError`` `root`, `notListening`.
  public func listen(
    on socket: IdentitySocket, allowsRoot: Bool = false
  ) async throws(IdentityLoginError) -> IdentityListener {
    try await IdentityListener.start(socket, allowsRoot: allowsRoot) { [self] url, peer in
      do {
        try await begin(url, from: peer)
        return nil
      } catch let refusal as IdentityRefusal {
        return response(refusal)
      } catch let error as OAuthError where error.code == .cancelled {
        return response(.cancelled)
      } catch {
        return response(.failed)
      }
    }
  }

  private func response(_ refusal: IdentityRefusal) -> IdentityURL {
    let url = IdentityURL(scheme: providerScheme, command: refusal.command(state: nil))
    source.send(IdentityEvent(.willSendResponse, url))
    return url
  }

  // MARK: The request

  /// Requests a code and waits for it.
  func code(
    for attempt: AuthorizationSession, user: IdentityUser?, namesServer: Bool
  ) async throws -> IdentityCommand.AuthResponse {
    let page = QueryItems(attempt.authorizationURL().absoluteString)
    guard let challenge = page["code_challenge"] else {
      throw OAuthError(
        .invalidRequest, "A login through an identity provider needs the web-server flow. Use it.")
    }
    let request = IdentityURL(
      scheme: providerScheme,
      command: .authRequest(
        .init(
          clientId: attempt.app.clientId, redirectURI: attempt.app.redirectURI,
          codeChallenge: challenge, scopes: attempt.app.scopes, user: user,
          loginHost: namesServer ? attempt.server.hostText : nil, state: attempt.state,
          appName: appName)))
    let outcome = SharedOutcome<IdentityCommand>()
    let isFree = waiting.withLock { waiting in
      guard waiting.machine.start(state: attempt.state) == .send else { return false }
      waiting.outcome = outcome
      return true
    }
    guard isFree else {
      throw AccountError(.illegalState, "A login is already at work. Finish or cancel it first.")
    }
    defer { waiting.withLock { _ = $0.machine.stop(state: attempt.state) } }
    source.send(IdentityEvent(.willSendRequest, request))
    let command: IdentityCommand
    do {
      command = try await response(to: request, outcome)
    } catch {
      source.send(IdentityEvent(.didFail, error: error))
      throw error
    }
    switch command {
    case .authResponse(let response): return response
    case .failure(let failure):
      let error = Self.error(failure)
      source.send(IdentityEvent(.didFail, error: error))
      throw error
    default: preconditionFailure("a request ends with a code or a failure")
    }
  }

  private func response(
    to request: IdentityURL, _ outcome: SharedOutcome<IdentityCommand>
  ) async throws -> IdentityCommand {
    try await withThrowingTaskGroup(of: IdentityCommand?.self) { group in
      defer { group.cancelAll() }
      group.addTask { [self] in
        try await clock.sleep(for: timeLimit)
        throw OAuthError(
          .timedOut,
          "The identity provider sent no code within \(timeLimit). Start the login again.")
      }
      group.addTask { [self] in
        // A socket brings the response itself, a URL comes to `handle`.
        if let response = try await carrier.send(request) { try receive(response) }
        return nil
      }
      group.addTask { try await outcome.value() }
      for try await command in group {
        if let command { return command }
      }
      throw CancellationError()
    }
  }

  /// Takes what the provider sent.
  private func receive(_ url: IdentityURL) throws(IdentityLoginError) {
    source.send(IdentityEvent(.didReceiveResponse, url))
    let (action, outcome) = waiting.withLock { ($0.machine.receive(url.command), $0.outcome) }
    guard action != .evict else {
      throw IdentityLoginError(
        .evicted,
        "The login that the response belongs to has ended, or was never started here. Try again.")
    }
    outcome?.resolve(.success(url.command))
  }

  private static func error(_ failure: IdentityCommand.Failure) -> any Error {
    switch failure.code {
    case IdentityRefusal.Code.cancelled:
      OAuthError(.cancelled, "The user cancelled the login in the identity provider.")
    case IdentityRefusal.Code.timedOut:
      OAuthError(.timedOut, "The identity provider's user took too long. Start the login again.")
    default:
      IdentityLoginError(
        .refused,
        "The identity provider refused the login with \(failure.code.filter { !$0.isNewline }): "
          + failure.description, reason: failure.code)
    }
  }
}

/// Shows no page: the provider returns what the redirect of one would bring.
struct IdentityProviderPresenter: LoginPresenter {
  let provider: ServiceProvider
  let user: IdentityUser?
  let namesServer: Bool

  var loginType: LoginType? { .identityProvider }

  func redirect(of attempt: AuthorizationSession) async throws -> LoginRedirect {
    do {
      let response = try await provider.code(
        for: attempt, user: user, namesServer: namesServer)
      let uri = attempt.app.redirectURI
      let query = PercentEncoding.form([
        (name: "code", value: response.code), (name: "state", value: attempt.state),
      ])
      return LoginRedirect(
        address: "\(uri)\(uri.contains("?") ? "&" : "?")\(query)", redirectURI: uri,
        server: try LoginServer(response.loginHost))
    } catch let error as IdentityLoginError {
      guard let fallback = provider.fallback else { throw error }
      return try await fallback.redirect(of: attempt)
    }
  }
}
