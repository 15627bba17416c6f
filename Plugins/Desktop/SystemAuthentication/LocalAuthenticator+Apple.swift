#if canImport(LocalAuthentication)
  import LocalAuthentication
  public import SalesforceSDKCore

  /// Authenticates the owner of an Apple device by its biometrics or passcode (CO-156).
  ///
  /// If the org requires biometric authentication and the device has it, the device's passcode is accepted only
  /// as the system's own fallback.
  public struct LocalAuthenticator: DeviceAuthenticator {
    private let reason: String

    /// Creates an authenticator.
    ///
    /// - Parameter reason: The text of the system's dialog, such as `Unlock the orders`.
    public init(reason: String) { self.reason = reason }

    /// Whether the device has a passcode, or biometrics.
    public var isAvailable: Bool {
      LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: nil)
    }

    /// Shows the system's dialog, and returns when the owner has authenticated.
    ///
    /// - Throws: ``LockError`` `unavailable`, `refused`, `cancelled`; `CancellationError`.
    public func authenticate(for policy: LockPolicy) async throws {
      let context = LAContext()
      do {
        guard
          try await context.evaluatePolicy(.deviceOwnerAuthentication, localizedReason: reason)
        else { throw Self.refused(nil) }
      } catch let error as LAError {
        try Task.checkCancellation()
        switch error.code {
        case .userCancel, .appCancel, .systemCancel:
          throw LockError(
            .cancelled, "The authentication was cancelled. The app stays locked.", cause: error)
        case .passcodeNotSet:
          throw LockError(
            .unavailable, "The device has no passcode. Set one in its settings.", cause: error)
        default: throw Self.refused(error)
        }
      }
    }

    private static func refused(_ cause: (any Error)?) -> LockError {
      LockError(.refused, "The device did not authenticate its owner. Try again.", cause: cause)
    }
  }
#endif
