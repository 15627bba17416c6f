import SalesforceSDKCommon
import Synchronization

/// The handlers of failed logins and refreshes, tried in order until one decides (CO-41, BX-111).
///
/// ```swift
/// let handlers = AuthenticationErrorHandlers()
/// handlers.add("offline") { failure in
///   guard await network.comesBack() else { return .next }
///   return .retry
/// }
/// var options = UserAccountManager.Options()
/// options.errorHandlers = handlers
/// ```
public final class AuthenticationErrorHandlers: Sendable {
  /// A failed login or refresh. A cancellation of the task is not a failure.
  public struct Failure: Sendable {
    /// The cause; mostly an ``OAuthError``, whose ``OAuthError/Code/effect`` says what usually comes next.
    public let error: any Error
    /// The login server.
    public let server: LoginServer
    /// The kind of the login; nil for a refresh.
    public let login: LoginType?
    /// The account whose tokens were to be refreshed; nil for a login.
    public let account: UserAccountIdentity?
    /// The number of this attempt, from 1.
    public let attempt: Int
  }

  /// The decision of a handler.
  public struct Outcome: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case next, retry, logOut, propagate }
    private let kind: Kind
    /// The next handler decides; after the last one, the caller receives the error.
    public static let next = Outcome(kind: .next)
    /// The login or refresh is tried again, at most ``AuthenticationErrorHandlers/maxRetries`` times.
    public static let retry = Outcome(kind: .retry)
    /// The account is logged out before the requests fail. If it has unsynced entries, it stays. For
    /// a login this is the same as ``propagate``.
    public static let logOut = Outcome(kind: .logOut)
    /// The caller receives the error; no other handler is called.
    public static let propagate = Outcome(kind: .propagate)

    public var description: String { kind.rawValue }
  }

  /// A function that decides about a failure. It must not send requests of the account, because a
  /// refresh and its requests wait for it.
  public typealias Handler = @Sendable (Failure) async -> Outcome

  /// The maximum number of retries of one login or refresh.
  public static let maxRetries = 3

  private let handlers = Mutex<[(name: String, handle: Handler)]>([])

  /// Creates an empty list: the caller receives every error.
  public init() {}

  /// The names of the handlers, in order.
  public var names: [String] { handlers.withLock { $0.map(\.name) } }

  /// Adds a handler, or replaces the handler of that name in its position.
  ///
  /// - Parameter other: The name of the handler before which it is tried. Default: it is the last one.
  public func add(_ name: String, before other: String? = nil, _ handler: @escaping Handler) {
    handlers.withLock { handlers in
      if let index = handlers.firstIndex(where: { $0.name == name }) {
        handlers[index].handle = handler
      } else {
        let index = handlers.firstIndex { $0.name == other } ?? handlers.endIndex
        handlers.insert((name, handler), at: index)
      }
    }
  }

  /// Removes a handler. Returns whether there was a handler of that name.
  @discardableResult
  public func remove(_ name: String) -> Bool {
    handlers.withLock { handlers in
      guard let index = handlers.firstIndex(where: { $0.name == name }) else { return false }
      handlers.remove(at: index)
      return true
    }
  }

  /// The decision of the first handler that has one.
  func outcome(of failure: Failure) async -> Outcome {
    for (_, handle) in handlers.withLock({ $0 }) {
      let outcome = await handle(failure)
      if outcome != .next { return outcome }
    }
    return .propagate
  }
}

extension UserAccountManager {
  /// A refresh failed, and a handler wants the account to be logged out when it has ended.
  struct LogoutDemand: Error {
    let cause: any Error
  }

  /// Runs a login or a refresh as often as the handlers want.
  ///
  /// - Throws: ``LogoutDemand``; what `body` throws last.
  func handlingErrors<Value: Sendable>(
    at server: LoginServer, login: LoginType? = nil, account: UserAccountIdentity? = nil,
    _ body: () async throws -> Value
  ) async throws -> Value {
    var attempt = 1
    while true {
      do {
        return try await body()
      } catch {
        guard let handlers = options.errorHandlers, !(error is CancellationError) else {
          throw error
        }
        let failure = AuthenticationErrorHandlers.Failure(
          error: error, server: server, login: login, account: account, attempt: attempt)
        switch await handlers.outcome(of: failure) {
        case .retry where attempt <= AuthenticationErrorHandlers.maxRetries: attempt += 1
        case .logOut where account != nil: throw LogoutDemand(cause: error)
        default: throw error
        }
        try Task.checkCancellation()
      }
    }
  }

  /// Logs an account out because a handler of failed refreshes wants it, unless it is already gone or has unsynced entries.
  func logOut(_ identity: UserAccountIdentity, after demand: LogoutDemand) async {
    guard machine.account(identity) != nil, !machine.isLeaving(identity) else { return }
    do {
      try await logOut(identity, reason: .refreshTokenExpired)
    } catch {
      CoreLogger.log.warning("account \(identity) was not logged out", error: error)
    }
  }
}
