public import SalesforceSDKCommon

/// An error of a page's call, with the value that its error callback receives.
///
/// A plug-in throws it to choose that value. Any other error reaches the page as its message.
public struct HybridError: FieldforceError {
  /// The kind of failure. Kinds may be added; compare, do not enumerate.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidFrame, invalidAction, invalidArguments, notAuthenticated, notAvailable, failed
      case userChanged, tooLarge, duplicateService, closed
    }
    private let kind: Kind

    /// A frame is not a call and has no id to respond to. The connection is no longer usable.
    public static let invalidFrame = Code(kind: .invalidFrame)
    /// No plug-in has this service, or the service has no such action. Correct the call.
    public static let invalidAction = Code(kind: .invalidAction)
    /// An argument is missing or has the wrong type. Correct the call.
    public static let invalidArguments = Code(kind: .invalidArguments)
    /// The call needs a user and there is none. Log in first.
    public static let notAuthenticated = Code(kind: .notAuthenticated)
    /// The current user changed before the call was carried out. Nothing was done; call again.
    public static let userChanged = Code(kind: .userChanged)
    /// This host does not offer what the call needs.
    public static let notAvailable = Code(kind: .notAvailable)
    /// The call failed; the message has the reason.
    public static let failed = Code(kind: .failed)
    /// A frame or a response is longer than the limits allow. Send or request less at once.
    public static let tooLarge = Code(kind: .tooLarge)
    /// Two plug-ins have the same service name. Rename one of them.
    public static let duplicateService = Code(kind: .duplicateService)
    /// The session or the bridge was closed. Connect again.
    public static let closed = Code(kind: .closed)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its subject and the remedy; without record data and tokens.
  public let message: String
  /// The value that the page's error callback receives. Default: the message.
  public let value: JSONValue
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error; the compiler fills in the last two arguments.
  public init(
    _ code: Code, _ message: String, value: JSONValue? = nil, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.value = value ?? .string(message)
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
