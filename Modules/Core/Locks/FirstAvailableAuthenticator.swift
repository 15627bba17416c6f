/// Authenticates by the first of several ways that the device offers, for instance the system's, else a passcode.
///
/// ```swift
/// let authenticator = FirstAvailableAuthenticator([
///   PAMAuthenticator(prompt: terminal), PasscodeAuthenticator(secrets: secrets, prompt: page),
/// ])
/// ```
///
/// A refused or cancelled authentication does not lead to the next way.
public struct FirstAvailableAuthenticator: DeviceAuthenticator {
  private let authenticators: [any DeviceAuthenticator]

  /// Creates an authenticator.
  ///
  /// - Parameter authenticators: The ways, in order of preference.
  public init(_ authenticators: [any DeviceAuthenticator]) {
    self.authenticators = authenticators
  }

  /// Whether one of the ways is available.
  public var isAvailable: Bool {
    get async { await firstAvailable != nil }
  }

  public func authenticate(for policy: LockPolicy) async throws {
    guard let first = await firstAvailable else {
      throw LockError(
        .unavailable,
        "None of the \(authenticators.count) ways to authenticate the owner of this device is available."
      )
    }
    try await first.authenticate(for: policy)
  }

  /// Resets all ways.
  public func reset() async throws(LockError) {
    for authenticator in authenticators { try await authenticator.reset() }
  }

  private var firstAvailable: (any DeviceAuthenticator)? {
    get async {
      for authenticator in authenticators where await authenticator.isAvailable {
        return authenticator
      }
      return nil
    }
  }
}
