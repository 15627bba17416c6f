import SalesforceSDKCore
import Synchronization

/// Decides about each request to the listener: which is the redirect, which comes too late, which
/// is not meant.
final class Callback: Sendable {
  /// What a caller receives.
  enum Reply: Equatable {
    /// The login goes on, or ends with what the server said.
    case accepted(isRefusal: Bool)
    /// A redirect was accepted before.
    case alreadyUsed
    /// It does not belong to this login.
    case foreign
    /// There is nothing at this path.
    case notFound
    /// Only GET leads here.
    case methodNotAllowed
    /// The browser keeps the tokens of the user-agent flow to itself; the page has to send them.
    case relay
  }

  /// The redirect, once its page was sent.
  let accepted = Once<LoginRedirect>()

  private let attempt: AuthorizationSession
  private let taken = Mutex<LoginRedirect?>(nil)
  private let boundPort = Mutex(0)

  init(_ attempt: AuthorizationSession) {
    self.attempt = attempt
  }

  /// The port that the listener took; 0 before that.
  var listeningPort: Int { boundPort.withLock { $0 } }

  /// Notes that the listener took a port.
  func didListen(on number: Int) {
    boundPort.withLock { $0 = number }
  }

  /// Whether a page may send what stood behind the redirect's `#`.
  var takesFragments: Bool { attempt.flow == .userAgent }

  /// Judges a request. The first redirect of the login is taken, whatever comes after it is not.
  ///
  /// - Parameter fragment: What the page of the redirect sent, in the user-agent flow.
  func judge(
    isGet: Bool, path: String, query: String, fragment: String? = nil, redirectURI: String,
    expected: String
  ) -> Reply {
    guard path == expected else { return .notFound }
    guard isGet || (fragment != nil && takesFragments) else { return .methodNotAllowed }
    if isGet, query.isEmpty, takesFragments { return .relay }
    let address = fragment.map { "\(redirectURI)#\($0)" } ?? "\(redirectURI)?\(query)"
    let isRefusal: Bool
    switch attempt.verdict(on: address, redirectURI: redirectURI) {
    case .code, .tokens: isRefusal = false
    case .refused: isRefusal = true
    case .foreign: return .foreign
    }
    let isFirst = taken.withLock { taken in
      guard taken == nil else { return false }
      taken = LoginRedirect(address: address, redirectURI: redirectURI)
      return true
    }
    return isFirst ? .accepted(isRefusal: isRefusal) : .alreadyUsed
  }

  /// Ends the login: the page that says so has been sent, or cannot be. Once is enough.
  func pageSent() {
    if let redirect = taken.withLock({ $0 }) { accepted.set(redirect) }
  }
}

/// A value that comes once and is awaited by one task.
struct Once<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
  }

  /// Sets the value; later calls change nothing.
  func set(_ value: Value) {
    continuation.yield(value)
    continuation.finish()
  }

  /// The value, as soon as it is known.
  ///
  /// - Throws: `CancellationError` if the task is cancelled first.
  func value() async throws -> Value {
    for await value in stream { return value }
    throw CancellationError()
  }
}
