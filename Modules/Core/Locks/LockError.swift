public import SalesforceSDKCommon

/// An error while unlocking an app.
public struct LockError: FieldforceError {
  /// What went wrong, in a form to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unavailable, refused, cancelled, tooManyFailures, tooEarly, storageFailed, locked
    }
    private let kind: Kind

    /// Nothing on this device can authenticate its owner. Give the manager a ``DeviceAuthenticator``.
    public static let unavailable = Code(kind: .unavailable)
    /// The person is not the owner of the device. Try again.
    public static let refused = Code(kind: .refused)
    /// The person ended the authentication. The app stays locked.
    public static let cancelled = Code(kind: .cancelled)
    /// The passcode was wrong too often. Only a login as the same user unlocks the app.
    public static let tooManyFailures = Code(kind: .tooManyFailures)
    /// The last wrong passcode was too short a time ago. Wait for ``LockError/retryAfter``.
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

  /// What went wrong.
  public let code: Code
  /// What failed, and the remedy; never a passcode.
  public let message: String
  /// For `tooEarly`: the time until the next attempt counts.
  public let retryAfter: Duration?
  /// The error below, where there was one.
  public let cause: (any Error)?
  /// Where it was made.
  public let location: SourceLocation

  /// Makes an error; a ``DeviceAuthenticator`` of your own throws these.
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
