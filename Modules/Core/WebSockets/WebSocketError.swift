public import SalesforceSDKCommon

/// A WebSocket that was not opened, or that ended early.
public struct WebSocketError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case refused, unreachable, closed, tooLarge, malformed }
    private let kind: Kind

    /// The server responded to the handshake without opening a WebSocket; ``WebSocketError/status`` has the status.
    public static let refused = Code(kind: .refused)
    /// The server was not reached, or is not trusted. Trying again may help.
    public static let unreachable = Code(kind: .unreachable)
    /// The connection ended, or the server closed it with ``WebSocketError/closeCode``. Open another one.
    public static let closed = Code(kind: .closed)
    /// A message is longer than the transport allows, or messages arrived faster than they were read.
    public static let tooLarge = Code(kind: .tooLarge)
    /// The server sent something that is no WebSocket.
    public static let malformed = Code(kind: .malformed)

    public var description: String { kind.rawValue }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { kind == .unreachable || kind == .closed }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure, its subject and the remedy; without query, token or content.
  public let message: String
  /// The HTTP status of a refused handshake.
  public let status: Int?
  /// The code with which the server closed the connection.
  public let closeCode: Int?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that detected the failure.
  public let location: SourceLocation

  /// Whether the same call may succeed later, by the code.
  public var isRetryable: Bool { code.isRetryable }

  /// Creates an error, for your own transport.
  public init(
    _ code: Code, _ message: String, status: Int? = nil, closeCode: Int? = nil,
    cause: (any Error)? = nil, fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.closeCode = closeCode
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
