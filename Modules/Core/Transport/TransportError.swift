public import SalesforceSDKCommon

/// A request without a complete response.
public struct TransportError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unreachable, timedOut, truncated, tooLarge, insecureURL, malformed, unreadableBody
      case noRoom, untrustedServer
    }
    private let kind: Kind

    /// The server was not reached, or the connection broke before a response began.
    /// Trying again may help.
    public static let unreachable = Code(kind: .unreachable)
    /// No data arrived within the timeout. Trying again may help.
    public static let timedOut = Code(kind: .timedOut)
    /// The connection ended inside the response. Trying again may help.
    public static let truncated = Code(kind: .truncated)
    /// The response is longer than the request allows. Request less, or allow more.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The address is neither https nor on this machine. Correct it.
    public static let insecureURL = Code(kind: .insecureURL)
    /// The response is not HTTP. Trying again seldom helps.
    public static let malformed = Code(kind: .malformed)

    /// A file that belongs to the request's body cannot be read, or became shorter while it was sent.
    public static let unreadableBody = Code(kind: .unreadableBody)

    /// The response could not be buffered in a temporary file for a slow reader. Free space
    /// there, or read faster; then trying again helps.
    public static let noRoom = Code(kind: .noRoom)

    /// The server's certificate is not trusted: nothing was sent. Check the address and the system's
    /// certificate authorities.
    public static let untrustedServer = Code(kind: .untrustedServer)

    public var description: String { kind.rawValue }

    /// Whether the same request may succeed later.
    public var isRetryable: Bool {
      switch kind {
      case .unreachable, .timedOut, .truncated: true
      case .tooLarge, .insecureURL, .malformed, .unreadableBody, .noRoom, .untrustedServer:
        false
      }
    }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its subject and the remedy; without query, token or record data.
  public let message: String
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that detected the failure.
  public let location: SourceLocation

  /// Whether the same call may succeed later, by the code.
  public var isRetryable: Bool { code.isRetryable }

  /// Creates an error, for your own transport.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = Redaction.redact(message)
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
