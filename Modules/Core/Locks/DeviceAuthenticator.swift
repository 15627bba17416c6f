import Synchronization

/// A way to prove that the person at the device is its owner (CO-156): a passcode, the system's own login, biometrics.
///
/// | conformance | proves | use it |
/// | --- | --- | --- |
/// | ``PasscodeAuthenticator`` | a passcode of this app's own | where the system has nothing to offer |
/// | ``ScriptedDeviceAuthenticator`` | nothing | in tests |
public protocol DeviceAuthenticator: Sendable {
  /// Whether it can authenticate, or can be prepared to during the first authentication. Logins of users whose org
  /// demands a lock are refused without it.
  var isAvailable: Bool { get async }

  /// Returns when the person has proved to be the owner.
  ///
  /// - Parameter policy: What the orgs of all users demand together.
  /// - Throws: ``LockError`` `unavailable`, `refused`, `cancelled`, `tooManyFailures`, `tooEarly`, `storageFailed`;
  ///   `CancellationError`.
  func authenticate(for policy: LockPolicy) async throws

  /// Forgets what the person may have forgotten. The person has logged in as the only user whose org demands a lock.
  ///
  /// - Throws: ``LockError`` `storageFailed`.
  func reset() async throws(LockError)
}

extension DeviceAuthenticator {
  /// Does nothing: what the system knows is not ours to forget.
  public func reset() async throws(LockError) {}
}

/// An authenticator for tests, which returns what it was given.
public final class ScriptedDeviceAuthenticator: DeviceAuthenticator {
  private struct State {
    var results: [Result<Void, LockError>]
    var policies: [LockPolicy] = []
    var resets = 0
  }
  private let state: Mutex<State>
  private let body: @Sendable () async throws -> Void

  /// Makes one whose authentications have these results, in order; further ones are `refused`.
  ///
  /// - Parameter body: Runs before each result.
  public init(
    _ results: [Result<Void, LockError>] = [],
    _ body: @escaping @Sendable () async throws -> Void = {}
  ) {
    state = Mutex(State(results: results))
    self.body = body
  }

  /// True.
  public var isAvailable: Bool { true }
  /// The policies of the authentications so far.
  public var policies: [LockPolicy] { state.withLock { $0.policies } }
  /// The number of calls of ``reset()``.
  public var resets: Int { state.withLock { $0.resets } }

  /// Adds a result.
  public func add(_ result: Result<Void, LockError>) {
    state.withLock { $0.results.append(result) }
  }

  public func authenticate(for policy: LockPolicy) async throws {
    try await body()
    let result = state.withLock { state in
      state.policies.append(policy)
      return state.results.isEmpty ? nil : state.results.removeFirst()
    }
    guard let result else { throw LockError(.refused, "The script has no result left.") }
    try result.get()
  }

  public func reset() async throws(LockError) { state.withLock { $0.resets += 1 } }
}
