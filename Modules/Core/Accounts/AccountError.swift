public import SalesforceSDKCommon

/// An error while finding, storing, reading or logging out an account.
public struct AccountError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unknownAccount, notLoggedIn, illegalState, keyUnavailable, keyMissing, wrongKey
      case damagedFile, readFailed, writeFailed, unsyncedRecords, observerTimedOut, closed
      case busy, foreignServer
    }
    private let kind: Kind

    /// There is no such account here. Log in.
    public static let unknownAccount = Code(kind: .unknownAccount)
    /// The account has no session. Log in.
    public static let notLoggedIn = Code(kind: .notLoggedIn)
    /// The account is being logged out, or another login is at work.
    public static let illegalState = Code(kind: .illegalState)
    /// The secret store cannot provide the key now, for instance because it is locked. Retrying may help. No
    /// file was touched.
    public static let keyUnavailable = Code(kind: .keyUnavailable)
    /// There are account files, and the secret store has no key. Restore the key. No file was
    /// touched.
    public static let keyMissing = Code(kind: .keyMissing)
    /// The account file was written with another key. Restore that key, or log in again.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The account file is damaged. It is kept under another name; log in again.
    public static let damagedFile = Code(kind: .damagedFile)
    /// A file could not be read.
    public static let readFailed = Code(kind: .readFailed)
    /// A file could not be written; the previous file is intact.
    public static let writeFailed = Code(kind: .writeFailed)
    /// The account has records that exist only here. Sync them up, or force the logout, which
    /// loses them.
    public static let unsyncedRecords = Code(kind: .unsyncedRecords)
    /// A logout observer did not end in the time allowed.
    public static let observerTimedOut = Code(kind: .observerTimedOut)
    /// The account manager was closed.
    public static let closed = Code(kind: .closed)
    /// Another process has held a lock for longer than its work takes; it may have stopped. Retry after it
    /// has ended.
    public static let busy = Code(kind: .busy)

    /// The tokens of a login come from a server that the account of the same user does not know. The
    /// account is as it was. Confirm the move, or do not use that server.
    public static let foreignServer = Code(kind: .foreignServer)

    public var description: String { kind.rawValue }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { kind == .keyUnavailable || kind == .busy }

    /// The number of CO-94, where it has one.
    public var number: Int? {
      switch kind {
      case .illegalState: 1005
      case .damagedFile: 10001
      case .keyUnavailable, .keyMissing, .wrongKey, .readFailed: 10003
      case .writeFailed: 10004
      case .unknownAccount, .notLoggedIn, .unsyncedRecords, .observerTimedOut, .closed, .busy,
        .foreignServer:
        nil
      }
    }
  }

  /// The kind of the error.
  public let code: Code
  /// What failed, on what, and the remedy.
  public let message: String
  /// For `unsyncedRecords`, their number; `nil` if they could not be counted.
  public let unsyncedRecords: Int?
  /// The error below, where there was one.
  public let cause: (any Error)?
  /// Where it was made.
  public let location: SourceLocation

  /// Whether the same call may succeed later, by the code.
  public var isRetryable: Bool { code.isRetryable }

  /// Creates an error, for an ``AccountPersister`` of your own.
  public init(
    _ code: Code, _ message: String, unsyncedRecords: Int? = nil, cause: (any Error)? = nil,
    fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.unsyncedRecords = unsyncedRecords
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// The domain of such errors in the platform's libraries (CO-94).
  public static let domain = "SFUserAccountManager"
  /// The number in that domain, where the specification fixes one.
  public var number: Int? { code.number }
}
