public import SalesforceSDKCommon

/// A rescue bundle that could not be written or used. Nothing was changed.
public struct RescueError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case damaged, unsupportedVersion, wrongKey, foreignUser, invalidKey, missingIndex
    }
    private let kind: Kind

    /// The bytes are not a bundle, or not a complete one. Use another copy.
    public static let damaged = Code(kind: .damaged)
    /// A later version of the package wrote the bundle. Update this program.
    public static let unsupportedVersion = Code(kind: .unsupportedVersion)
    /// The passphrase or the private key does not open the bundle.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The bundle has the records of another user. Log in as that user.
    public static let foreignUser = Code(kind: .foreignUser)
    /// A passphrase is too short, or a text is not a key.
    public static let invalidKey = Code(kind: .invalidKey)
    /// A soup of the store lacks an index that the import needs; the message names both. Alter the soup.
    public static let missingIndex = Code(kind: .missingIndex)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its subject and the remedy, without record data.
  public let message: String
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(_ code: Code, _ message: String, fileID: String = #fileID, line: Int = #line) {
    self.code = code
    self.message = message
    location = SourceLocation(fileID: fileID, line: line)
  }

  static func damaged(_ reason: String) -> RescueError {
    RescueError(
      .damaged, "The rescue bundle is damaged: \(reason). Use another copy of the file.")
  }
}
