public import SalesforceSDKCommon

/// A login through another app that failed. Neither codes nor states are ever part of it.
public struct IdentityLoginError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case absent, foreignPeer, notListening, root, refused, evicted, interactionRequired
      case malformed, unknownUser
    }
    private let kind: Kind
    /// The other app does not run or cannot be reached. Start it, or log in without it.
    public static let absent = Code(kind: .absent)
    /// The process that listens is another user's, or its program is not among the allowed ones.
    public static let foreignPeer = Code(kind: .foreignPeer)
    /// The socket cannot be made, or another process listens there.
    public static let notListening = Code(kind: .notListening)
    /// The process is root's. Run it as another user, or allow it.
    public static let root = Code(kind: .root)
    /// The other app refused; ``IdentityLoginError/reason`` has its code.
    public static let refused = Code(kind: .refused)
    /// A response came for a login that has ended, or for none. Start the login again.
    public static let evicted = Code(kind: .evicted)
    /// The server shows a page instead of returning a code, so that a person has to act.
    public static let interactionRequired = Code(kind: .interactionRequired)
    /// What came from the other app or from the server cannot be used.
    public static let malformed = Code(kind: .malformed)
    /// Another user than the suggested one logged in.
    public static let unknownUser = Code(kind: .unknownUser)

    /// The name of the code, such as `refused`.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// What failed, and what to do.
  public let message: String
  /// The other app's or the server's code for it, such as `access_denied`.
  public let reason: String?
  /// The error underneath.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  init(
    _ code: Code, _ message: String, reason: String? = nil, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.reason = reason
    self.cause = cause
    location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the other app may be there, or the user may act, at the next call.
  public var isRetryable: Bool { code == .absent || code == .evicted }
}
