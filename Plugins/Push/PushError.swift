public import SalesforceSDKCommon

/// An error of a registration for push notifications or of a payload. It never contains a token,
/// key or content.
public struct PushError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case noSecret, noContent, noAlertTitle, noAlertBody, noAPS, noAlert, malformedSecret
      case noPrivateKey, undecryptableSecret, malformedContent, undecryptableContent,
        contentNotObject
      case noToken, notEnabled, rejected, keyUnavailable, storageFailed, noTypes
    }
    private let kind: Kind
    /// An encrypted payload has no `secret` (-1001).
    public static let noSecret = Code(kind: .noSecret)
    /// An encrypted payload has no `content` (-1002).
    public static let noContent = Code(kind: .noContent)
    /// The alert of a payload in Apple's form has no title (-1003).
    public static let noAlertTitle = Code(kind: .noAlertTitle)
    /// The alert of a payload in Apple's form has no body (-1004).
    public static let noAlertBody = Code(kind: .noAlertBody)
    /// A payload in Apple's form has no `aps` (-1005).
    public static let noAPS = Code(kind: .noAPS)
    /// The `aps` of a payload in Apple's form has no alert (-1006).
    public static let noAlert = Code(kind: .noAlert)
    /// The secret is not base64 (-1007).
    public static let malformedSecret = Code(kind: .malformedSecret)
    /// This installation has no private key: it never registered (-1008).
    public static let noPrivateKey = Code(kind: .noPrivateKey)
    /// The private key does not decrypt the secret (-1009). Register again: the server has an older key.
    public static let undecryptableSecret = Code(kind: .undecryptableSecret)
    /// The content is not base64 (-1010).
    public static let malformedContent = Code(kind: .malformedContent)
    /// The secret does not decrypt the content (-1011).
    public static let undecryptableContent = Code(kind: .undecryptableContent)
    /// The decrypted content is not a JSON object (-1012).
    public static let contentNotObject = Code(kind: .contentNotObject)
    /// There is no device token. Get one first.
    public static let noToken = Code(kind: .noToken)
    /// The org or the connected app does not have push notifications (404). Enable them there, then register.
    public static let notEnabled = Code(kind: .notEnabled)
    /// The server refused the registration, or was not reached; see the cause.
    public static let rejected = Code(kind: .rejected)
    /// The secret store cannot return the key pair; see the cause. No new key pair was created.
    public static let keyUnavailable = Code(kind: .keyUnavailable)
    /// The registration cannot be read or stored; see the cause.
    public static let storageFailed = Code(kind: .storageFailed)
    /// The types of notifications were never fetched, and cannot be fetched now.
    public static let noTypes = Code(kind: .noTypes)

    /// The name of the code, such as `noSecret`.
    public var description: String { kind.rawValue }

    /// The number that the platform's libraries give it; nil for codes of this package.
    public var number: Int? {
      switch kind {
      case .noSecret: -1001
      case .noContent: -1002
      case .noAlertTitle: -1003
      case .noAlertBody: -1004
      case .noAPS: -1005
      case .noAlert: -1006
      case .malformedSecret: -1007
      case .noPrivateKey: -1008
      case .undecryptableSecret: -1009
      case .malformedContent: -1010
      case .undecryptableContent: -1011
      case .contentNotObject: -1012
      default: nil
      }
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and the remedy.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error; the compiler fills in the last two arguments.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the cause is a failure that may pass, such as an unreachable server.
  public var isRetryable: Bool { (cause as? any FieldforceError)?.isRetryable ?? false }
}
