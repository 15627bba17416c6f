public import SalesforceSDKCommon

/// An error for the program that embeds the org. A wrong request of a client is not an error here but a
/// response of the org.
public struct MockOrgError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case invalidSchema, invalidData, unreadable, storage, notListening, refused
    }
    private let kind: Kind
    /// A description of an object is not one. Correct the file.
    public static let invalidSchema = Code(kind: .invalidSchema)
    /// A plan or its records cannot be loaded. Correct the file; nothing of it was loaded.
    public static let invalidData = Code(kind: .invalidData)
    /// A file or folder cannot be read. Trying again helps once it is there.
    public static let unreadable = Code(kind: .unreadable)
    /// SQLite failed to open or write the org's database. The cause says more.
    public static let storage = Code(kind: .storage)
    /// The server could not listen, as when the port is taken. Another port helps.
    public static let notListening = Code(kind: .notListening)
    /// A rule of the org refuses a change; the message begins with the platform's code for it.
    public static let refused = Code(kind: .refused)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// What kind of failure this is.
  public let code: Code
  /// What failed, on what, and the remedy.
  public let message: String
  /// The error beneath, if there is one.
  public let cause: (any Error)?
  /// Where it was thrown.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// The message, followed by the cause.
  public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}

extension MockOrgError {
  /// The message and the cause.
  public var errorDescription: String? { description }
}
