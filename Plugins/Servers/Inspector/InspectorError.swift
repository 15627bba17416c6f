public import SalesforceSDKCommon

/// An error at the start of an inspector.
public struct InspectorError: FieldforceError {
  /// The kind of failure. Kinds may be added; compare, do not enumerate.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case notEnabled, cannotListen, noPage }
    private let kind: Kind
    /// Developer support is off, as in release builds unless it is switched on. Enable it in
    /// ``InspectedApp/isDeveloperSupportEnabled``.
    public static let notEnabled = Code(kind: .notEnabled)
    /// The port cannot be used, for example because another program has it. Choose another port.
    public static let cannotListen = Code(kind: .cannotListen)
    /// The page's files are not next to the program. Install the program again.
    public static let noPage = Code(kind: .noPage)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure, its subject and the remedy.
  public let message: String
  /// The underlying error, if there is one.
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
