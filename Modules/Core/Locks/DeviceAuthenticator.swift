import Synchronization

/// A way to authenticate the owner of the device (CO-156): a passcode, the system's login,
/// biometrics.
///
/// | conformance | proves | use it |
/// | --- | --- | --- |
/// | ``PasscodeAuthenticator`` | a passcode of this app's own | where the system has nothing to offer |
/// | ``ScriptedDeviceAuthenticator`` | nothing | in tests |
public protocol DeviceAuthenticator: Sendable {
  /// Whether authentication is possible, if necessary after a setup during the first
  /// authentication. If false, logins of users whose org requires a lock are refused.
  var isAvailable: Bool { get async }

  /// Authenticates the owner, and returns on success.
  ///
  /// - Parameter policy: The combined policy of all users.
  /// - Throws: ``LockError`` `unavailable`, `refused`, `cancelled`, `tooManyFailures`, `tooEarly`, `storageFailed`;
  ///   `CancellationError`.
  func authenticate(for policy: LockPolicy) async throws

  /// Removes the stored passcode, which the user may have forgotten. It is called after a login as
  /// the only user whose org requires a lock.
  ///
  /// - Throws: ``LockError`` `storageFailed`.
  func reset() async throws(LockError)
}

extension DeviceAuthenticator {
  /// Does nothing: credentials of the system cannot be reset here.
  public func reset() async throws(LockError) {}
}

/// An authenticator for tests, which returns predefined results.
public final class ScriptedDeviceAuthenticator: DeviceAuthenticator {
  private struct State {
    var results: [Result<Void, LockError>]
    var policies: [LockPolicy] = []
    var resets = 0
  }
  private let state: Mutex<State>
  private let body: @Sendable () async throws -> Void

  /// Creates an authenticator with these results, in order; further authentications are `refused`.
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
