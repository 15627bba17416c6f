public import SalesforceSDKCommon

/// An error while unlocking an app.
public struct LockError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unavailable, refused, cancelled, tooManyFailures, tooEarly, storageFailed, locked
    }
    private let kind: Kind

    /// This device has no way to authenticate its owner. Pass a ``DeviceAuthenticator`` to the
    /// manager.
    public static let unavailable = Code(kind: .unavailable)
    /// The authentication failed. Try again.
    public static let refused = Code(kind: .refused)
    /// The user cancelled the authentication. The app stays locked.
    public static let cancelled = Code(kind: .cancelled)
    /// The passcode was wrong too often. Only a login as the same user unlocks the app.
    public static let tooManyFailures = Code(kind: .tooManyFailures)
    /// The waiting time after the last wrong passcode has not passed. Wait for
    /// ``LockError/retryAfter``.
    public static let tooEarly = Code(kind: .tooEarly)
    /// The passcode cannot be read or stored. Nothing was unlocked.
    public static let storageFailed = Code(kind: .storageFailed)
    /// The app was locked again during the authentication. Authenticate again.
    public static let locked = Code(kind: .locked)

    /// The name of the code, such as `refused`.
    public var description: String { kind.rawValue }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool {
      switch kind {
      case .refused, .cancelled, .tooEarly, .storageFailed, .locked: true
      case .unavailable, .tooManyFailures: false
      }
    }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure and the remedy; never a passcode.
  public let message: String
  /// For `tooEarly`: the time until the next attempt counts.
  public let retryAfter: Duration?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that detected the failure.
  public let location: SourceLocation

  /// Creates an error, for your own ``DeviceAuthenticator``.
  public init(
    _ code: Code, _ message: String, retryAfter: Duration? = nil, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.retryAfter = retryAfter
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the same call may succeed later.
  public var isRetryable: Bool { code.isRetryable }
}
