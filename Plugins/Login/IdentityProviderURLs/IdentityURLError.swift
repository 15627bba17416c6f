public import SalesforceSDKCommon

/// Why a URL of the grammar cannot be used. No value of it is part of the error.
public struct IdentityURLError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case missing, malformed, tooLong }
    private let kind: Kind
    /// The command lacks a parameter.
    public static let missing = Code(kind: .missing)
    /// A parameter occurs twice, is not percent-encoded UTF-8, holds control characters, or has the wrong form.
    public static let malformed = Code(kind: .malformed)
    /// The URL has more than ``IdentityURL/maxLength`` bytes.
    public static let tooLong = Code(kind: .tooLong)

    /// The name of the code, such as `missing`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The parameter that it is about; nil for the URL as a whole.
  public let parameter: String?
  /// What is wrong, and what to do.
  public let message: String
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, parameter: String? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.parameter = parameter
    self.message = message
    location = SourceLocation(fileID: fileID, line: line)
  }
}
