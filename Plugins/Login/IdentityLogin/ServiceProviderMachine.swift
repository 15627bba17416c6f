import IdentityProviderURLs

/// The one login of an app that waits for its identity provider (CO-162).
struct ServiceProviderMachine: Sendable, Equatable {
  /// What to do after an event.
  enum Action: Equatable, Sendable {
    /// Send the request.
    case send
    /// Another login waits.
    case busy
    /// Exchange the code.
    case exchange(code: String, loginHost: String)
    /// The provider refused.
    case fail(IdentityCommand.Failure)
    /// What came belongs to no login that waits: it ended, took too long, or never was.
    case evict
  }

  /// The state of the request that waits.
  private var waiting: String?

  /// Whether a login waits.
  var isWaiting: Bool { waiting != nil }

  /// Begins a login. Each has a state of its own.
  mutating func start(state: String) -> Action {
    guard waiting == nil else { return .busy }
    waiting = state
    return .send
  }

  /// Takes what the provider sent.
  mutating func receive(_ command: IdentityCommand) -> Action {
    let (state, action): (String?, Action) =
      switch command {
      case .authResponse(let response):
        (response.state, .exchange(code: response.code, loginHost: response.loginHost))
      case .failure(let failure): (failure.state, .fail(failure))
      case .authRequest, .login, .loginWithCode: (nil, .evict)
      }
    guard let waiting, Self.isSame(state ?? "", waiting) else { return .evict }
    self.waiting = nil
    return action
  }

  /// Ends the login with that state, which was cancelled or has waited long enough; whether it still waited.
  @discardableResult
  mutating func stop(state: String) -> Bool {
    guard waiting == state else { return false }
    waiting = nil
    return true
  }

  /// Compares in a time that does not depend on where the texts differ.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let one = Array(one.utf8), other = Array(other.utf8)
    guard one.count == other.count, !one.isEmpty else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
