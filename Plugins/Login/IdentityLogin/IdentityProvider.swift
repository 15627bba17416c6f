import IdentityProviderURLs
public import SalesforceSDKCore
import SalesforceSDKCommon
import Synchronization

/// The person who uses an identity provider, and its login.
public protocol IdentityProviderDelegate: Sendable {
  /// Chooses the account to vouch for; nil cancels the login of the app.
  ///
  /// - Parameter accounts: At least one. If the app suggests a user, that user alone is vouched for, without this call.
  func chooseAccount(
    among accounts: [UserAccount], for request: IdentityRequest
  ) async throws -> UserAccount?

  /// Whether to carry out a request whose sender is not one of the app's programs.
  func confirm(_ request: IdentityRequest) async -> Bool

  /// Logs a user in, since no account fits; nil refuses. Default: nil.
  ///
  /// - Parameter user: The user that the app suggests.
  func logIn(
    _ user: UserAccountIdentity?, for request: IdentityRequest
  ) async throws -> UserAccount?
}

extension IdentityProviderDelegate {
  public func logIn(
    _ user: UserAccountIdentity?, for request: IdentityRequest
  ) async throws -> UserAccount? { nil }
}

/// An app with logged-in users that vouches for other apps: it exchanges its own session for a code that only the other app
/// can use (CO-160 to CO-163).
///
/// ```swift
/// let provider = IdentityProvider(accounts: accounts, apps: [orders], transport: transport, delegate: picker)
/// let listener = try await provider.listen(on: IdentitySocket(app: "acmeidp"))
/// ```
///
/// The app's tokens never pass through this process. Its connected app needs the scope `web`, and the other app must be approved
/// for its users in the org: a page that asks them cannot be shown here.
public final class IdentityProvider: Sendable {
  private let accounts: UserAccountManager
  private let apps: [ServiceProviderApp]
  private let delegate: any IdentityProviderDelegate
  private let codes: CodeRequest
  private let timeLimit: Duration
  private let clock: any Clock<Duration>
  private let start = ContinuousClock.now
  private let ledger = Mutex(RequestLedger())
  private let source = EventSource<IdentityEvent>()

  /// Makes an identity provider.
  ///
  /// - Parameters:
  ///   - apps: The apps to vouch for.
  ///   - transport: Carries the calls that lead from the session to the code.
  ///   - timeLimit: How long a request may take, with the user's choice. Default: 4 minutes, less than apps wait.
  ///   - clock: Measures the time limit.
  public init(
    accounts: UserAccountManager, apps: [ServiceProviderApp], transport: any HTTPTransport,
    delegate: any IdentityProviderDelegate, timeLimit: Duration = .seconds(240),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.accounts = accounts
    self.apps = apps
    self.delegate = delegate
    codes = CodeRequest(accounts: accounts, transport: transport)
    accounts.show(.identityProvider)
    self.timeLimit = timeLimit
    self.clock = clock
  }

  /// The requests and responses from now on (CO-165). Each call returns a separate stream.
  public func events() -> some AsyncSequence<IdentityEvent, Never> & Sendable { source.stream() }

  /// Listens for requests of apps (CO-162, CO-167).
  ///
  /// - Parameter allowsRoot: Whether to serve in a process of root's. Default: false.
  /// - Throws: ``IdentityLoginError`` `root`, `notListening`.
  public func listen(
    on socket: IdentitySocket, allowsRoot: Bool = false
  ) async throws(IdentityLoginError) -> IdentityListener {
    try await IdentityListener.start(socket, allowsRoot: allowsRoot) { [self] url, peer in
      guard case .authRequest(let request) = url.command else { return nil }
      return await response(to: request, url, from: peer)
    }
  }

  /// Takes a URL of this app's scheme if it is an app's request, and sends the response as a URL.
  ///
  /// - Parameter carrier: Opens URLs.
  /// - Returns: Whether it took the URL.
  /// - Throws: ``IdentityLoginError`` `malformed`, `absent`.
  @discardableResult
  public func handle(
    _ url: String, respondingWith carrier: SchemeURLs
  ) async throws -> Bool {
    guard let url = try IdentityURL.command(in: url), case .authRequest(let request) = url.command
    else { return false }
    guard let response = await response(to: request, url, from: nil) else { return true }
    _ = try await carrier.send(response)
    return true
  }

  /// Adds this app's handler at its place of the platform's order.
  public func add(to handlers: URLHandlers, respondingWith carrier: SchemeURLs) {
    handlers.add(.authRequest) { [self] in try await handle($0, respondingWith: carrier) }
  }

  /// Starts the login of an app (CO-163). The app asks for its code as in a login of its own.
  ///
  /// - Parameters:
  ///   - user: The account to log in there. Default: it is chosen when the app asks.
  ///   - startURL: The page to open afterwards.
  ///   - carrier: The way to the app. A socket returns when the login has ended, URLs when they are open.
  /// - Throws: ``IdentityLoginError`` `absent`, `foreignPeer`, `refused` with the app's reason.
  public func startLogin(
    of app: ServiceProviderApp, as user: UserAccountIdentity? = nil, startURL: String? = nil,
    through carrier: some IdentityCarrier
  ) async throws {
    let account = if let user { await accounts.account(for: user) } else { UserAccount?.none }
    let hint = user.flatMap {
      IdentityUser(organizationId: $0.organizationId, userId: $0.userId)
    }
    let url = IdentityURL(
      scheme: app.scheme,
      command: .login(
        .init(
          user: hint, loginHost: account?.credentials.loginServer.hostText, startURL: startURL)))
    source.send(IdentityEvent(.willSendRequest, url))
    do {
      guard let response = try await carrier.send(url) else { return }
      source.send(IdentityEvent(.didReceiveResponse, response))
      guard case .failure(let failure) = response.command else {
        throw IdentityLoginError(
          .malformed, "\(app.name) sent a response that is no end of a login.")
      }
      throw IdentityLoginError(
        .refused, "\(app.name) refused the login: \(failure.description)", reason: failure.code)
    } catch {
      source.send(IdentityEvent(.didFail, url, error: error))
      throw error
    }
  }

  // MARK: Requests

  /// The response to a request; nil if the app's address is not known, or the app has gone.
  private func response(
    to request: IdentityCommand.AuthRequest, _ url: IdentityURL, from peer: IdentityPeer?
  ) async -> IdentityURL? {
    source.send(IdentityEvent(.didReceiveRequest, url))
    let app = apps.first {
      $0.clientId == request.clientId && $0.redirectURI == request.redirectURI
    }
    // A response as a URL goes to an address that was allowed, never to one that a request names.
    if app == nil, peer == nil {
      source.send(
        IdentityEvent(.didFail, url, error: IdentityLoginError(IdentityRefusal.unknownApp)))
      return nil
    }
    let command: IdentityCommand
    do {
      guard let app else { throw IdentityRefusal.unknownApp }
      command = .authResponse(try await code(for: request, of: app, from: peer))
    } catch {
      let refusal = Self.refusal(error)
      source.send(
        IdentityEvent(
          .didFail, url, error: error is IdentityRefusal ? IdentityLoginError(refusal) : error))
      command = refusal.command(state: request.state)
    }
    let response = IdentityURL(scheme: app?.scheme ?? "app", command: command)
    source.send(IdentityEvent(.willSendResponse, response))
    return response
  }

  private static func refusal(_ error: any Error) -> IdentityRefusal {
    switch error {
    case let refusal as IdentityRefusal: refusal
    case is CancellationError: .cancelled
    case let error as IdentityLoginError:
      IdentityRefusal(
        code: error.reason ?? IdentityRefusal.failed.code, description: error.message,
        reason: "\(error.code)")
    case let error as OAuthError:
      IdentityRefusal(
        code: error.serverError ?? IdentityRefusal.failed.code,
        description: "The org gave no code.", reason: "\(error.code)")
    default: .failed
    }
  }

  /// A code for the app, within the time limit.
  private func code(
    for request: IdentityCommand.AuthRequest, of app: ServiceProviderApp, from peer: IdentityPeer?
  ) async throws -> IdentityCommand.AuthResponse {
    switch ledger.withLock({ $0.admit(request, at: start.duration(to: .now)) }) {
    case .admitted: break
    case .replayed: throw IdentityRefusal.replayed
    case .busy: throw IdentityRefusal.busy
    }
    defer { ledger.withLock { $0.finish() } }
    return try await withThrowingTaskGroup(of: IdentityCommand.AuthResponse.self) { group in
      defer { group.cancelAll() }
      group.addTask { [self] in
        try await clock.sleep(for: timeLimit)
        throw IdentityRefusal.timedOut
      }
      group.addTask { [self] in try await admittedCode(for: request, of: app, from: peer) }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }

  private func admittedCode(
    for request: IdentityCommand.AuthRequest, of app: ServiceProviderApp, from peer: IdentityPeer?
  ) async throws -> IdentityCommand.AuthResponse {
    if let allowed = app.scopes,
      !request.scopes.subtracting(["refresh_token"]).isSubset(of: allowed)
    {
      throw IdentityRefusal.scope
    }
    let shown = IdentityRequest(app: app, peer: peer, claimedName: request.appName)
    if peer?.runs(oneOf: app.executables) != true {
      guard await delegate.confirm(shown) else { throw IdentityRefusal.cancelled }
    }
    let account = try await account(for: request, shown)
    try Task.checkCancellation()
    let code = try await codes.code(for: request, of: account)
    return .init(
      code: code, loginHost: account.credentials.loginServer.hostText, state: request.state)
  }

  /// The account to vouch for: the suggested user, or the one that is chosen, or one that logs in.
  private func account(
    for request: IdentityCommand.AuthRequest, _ shown: IdentityRequest
  ) async throws -> UserAccount {
    if let user = request.user.map(UserAccountIdentity.init) {
      if let known = await accounts.account(for: user), known.isLoggedIn { return known }
      guard let made = try await delegate.logIn(user, for: shown), made.identity == user else {
        throw IdentityRefusal.noUser
      }
      return made
    }
    let server = try request.loginHost.map { text throws(OAuthError) in try LoginServer(text) }
    let known = await accounts.accounts.filter { account in
      account.isLoggedIn && (server == nil || account.credentials.loginServer == server)
    }
    guard !known.isEmpty else {
      guard let made = try await delegate.logIn(nil, for: shown) else {
        throw IdentityRefusal.noUser
      }
      return made
    }
    guard let chosen = try await delegate.chooseAccount(among: known, for: shown),
      known.contains(where: { $0.identity == chosen.identity })
    else { throw IdentityRefusal.cancelled }
    return chosen
  }
}
