public import SalesforceSDKCommon

/// An error of a call over D-Bus.
public struct DBusError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String { case noBus, refused, timedOut, broken, malformed }
    private let kind: Kind
    /// There is no bus, or it belongs to another user. Run the program in a desktop session.
    public static let noBus = Code(kind: .noBus)
    /// The service, or the bus on its behalf, returned an error; see ``DBusError/name``.
    public static let refused = Code(kind: .refused)
    /// The service did not respond in time. Retrying may help.
    public static let timedOut = Code(kind: .timedOut)
    /// The connection broke. Retrying may help.
    public static let broken = Code(kind: .broken)
    /// The received data is not a message of the expected form.
    public static let malformed = Code(kind: .malformed)

    /// The name of the code, such as `noBus`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// The failure and the remedy.
  public let message: String
  /// The name of a returned error, such as `org.freedesktop.DBus.Error.ServiceUnknown`; nil for other codes.
  public let name: String?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error; the compiler fills in the last two arguments.
  public init(
    _ code: Code, _ message: String, name: String? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.name = name
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether a retry may succeed.
  public var isRetryable: Bool { code == .timedOut || code == .broken }
}
