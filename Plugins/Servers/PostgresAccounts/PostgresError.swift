public import SalesforceSDKCommon

/// An error of the database, as the cause of an `AccountError`.
public struct PostgresError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case unreachable, disconnected, refused }
    private let kind: Kind

    /// No connection can be made. Check the address, and that the server runs.
    public static let unreachable = Code(kind: .unreachable)
    /// The connection ended during a statement, whose outcome is unknown. Retrying helps.
    public static let disconnected = Code(kind: .disconnected)
    /// The server refused a statement; see ``PostgresError/sqlState``.
    public static let refused = Code(kind: .refused)

    /// The name of the code, such as `refused`.
    public var description: String { kind.rawValue }
  }

  /// The kind of the error.
  public let code: Code
  /// The failure and the remedy. It contains no password and no token.
  public let message: String
  /// For `refused`: PostgreSQL's code of five letters.
  public let sqlState: String?
  /// The line that detected the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, sqlState: String? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.sqlState = sqlState
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the same call may succeed later.
  public var isRetryable: Bool { code != .refused }
}
