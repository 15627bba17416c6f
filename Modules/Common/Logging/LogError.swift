/// An error while setting up logs. Writing a record never throws.
public struct LogError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case inputOutput, damaged }
    private let kind: Kind
    /// The system refused to read or write; the message has its reason. Retrying may help.
    public static let inputOutput = Code(kind: .inputOutput)
    /// The content of the file is invalid. Correct or remove it.
    public static let damaged = Code(kind: .damaged)

    /// The name of the code, such as `damaged`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its file and the remedy.
  public let message: String
  /// The underlying error.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }
}
