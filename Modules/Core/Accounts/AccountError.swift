public import SalesforceSDKCommon

/// An error while finding, storing, reading or logging out an account.
public struct AccountError: FieldforceError {
  /// The kind of the error, to switch on.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unknownAccount, notLoggedIn, illegalState, keyUnavailable, keyMissing, wrongKey
      case damagedFile, readFailed, writeFailed, unsyncedRecords, observerTimedOut, closed
      case busy, foreignServer, replacedFile
    }
    private let kind: Kind

    /// The account does not exist on this device. Log in.
    public static let unknownAccount = Code(kind: .unknownAccount)
    /// The account has no session. Log in.
    public static let notLoggedIn = Code(kind: .notLoggedIn)
    /// The account is being logged out, or another login is in progress.
    public static let illegalState = Code(kind: .illegalState)
    /// The secret store cannot provide the key now, for instance because it is locked. Retrying may
    /// help. No file was changed.
    public static let keyUnavailable = Code(kind: .keyUnavailable)
    /// There are account files, but the secret store has no key. Restore the key. No file was
    /// changed.
    public static let keyMissing = Code(kind: .keyMissing)
    /// The account file was written with another key. Restore that key, or log in again.
    public static let wrongKey = Code(kind: .wrongKey)
    /// The account file is damaged. It was renamed and kept; log in again.
    public static let damagedFile = Code(kind: .damagedFile)
    /// The account file is missing, or another one is in its place, such as an older copy. The file in
    /// its place was renamed and kept; log in again.
    public static let replacedFile = Code(kind: .replacedFile)
    /// A file could not be read.
    public static let readFailed = Code(kind: .readFailed)
    /// A file could not be written; the previous file is intact.
    public static let writeFailed = Code(kind: .writeFailed)
    /// The account has records that exist only on this device. Sync them up, or force the logout,
    /// which loses them.
    public static let unsyncedRecords = Code(kind: .unsyncedRecords)
    /// A logout observer did not finish within its time limit.
    public static let observerTimedOut = Code(kind: .observerTimedOut)
    /// The account manager was closed.
    public static let closed = Code(kind: .closed)
    /// Another process has held a lock for longer than its work takes; it may be suspended. Retry
    /// after it has ended.
    public static let busy = Code(kind: .busy)

    /// The tokens of a login come from a server that the account of the same user does not know.
    /// The account did not change. Confirm the move, or do not use that server.
    public static let foreignServer = Code(kind: .foreignServer)

    public var description: String { kind.rawValue }

    /// Whether the same call may succeed later.
    public var isRetryable: Bool { kind == .keyUnavailable || kind == .busy }

    /// The number of the error in CO-94, if it has one.
    public var number: Int? {
      switch kind {
      case .illegalState: 1005
      case .damagedFile, .replacedFile: 10001
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
  /// The failure, its object and the remedy.
  public let message: String
  /// For `unsyncedRecords`, their number; `nil` if they could not be counted.
  public let unsyncedRecords: Int?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The source location where the error was created.
  public let location: SourceLocation

  /// Whether the same call may succeed later, according to the code.
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
  /// The number in that domain, if the specification defines one.
  public var number: Int? { code.number }
}
