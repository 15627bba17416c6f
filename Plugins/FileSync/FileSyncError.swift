public import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// An error of work on the files of synced records.
public struct FileSyncError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case unknownFile, notDownloaded, quotaExceeded, verificationFailed, goneOnServer
      case server, transport, unexpectedResponse, store, damagedContent, diskFull, inputOutput
      case inUse, closed, invalidUpload, unreadableSource
    }
    private let kind: Kind

    /// No listed file has this id. Call ``FileSyncManager/refresh()``, then list the files again.
    public static let unknownFile = Code(kind: .unknownFile)
    /// The content is on the server only. Download it first.
    public static let notDownloaded = Code(kind: .notDownloaded)
    /// The content and what may not be evicted do not both fit into the quota. Raise the quota, or evict files.
    public static let quotaExceeded = Code(kind: .quotaExceeded)
    /// The bytes that the server sent do not have the checksum or the size that it announced. Nothing was kept.
    /// Retrying may help.
    public static let verificationFailed = Code(kind: .verificationFailed)
    /// The server has the file no more, or no more for this user. ``FileSyncManager/refresh()`` removes it.
    public static let goneOnServer = Code(kind: .goneOnServer)
    /// The server refused the request; the cause says why.
    public static let server = Code(kind: .server)
    /// The server did not respond, or the connection ended. The next download resumes. Retrying may help.
    public static let transport = Code(kind: .transport)
    /// The server's response has another form than this request returns.
    public static let unexpectedResponse = Code(kind: .unexpectedResponse)
    /// The store refused to read or write; see the cause.
    public static let store = Code(kind: .store)
    /// The stored bytes were changed outside of the SDK, or are cut. Evict the file, then download it again.
    public static let damagedContent = Code(kind: .damagedContent)
    /// The disk is full. Free space, then retry.
    public static let diskFull = Code(kind: .diskFull)
    /// The system refused to read or write a file; the message has its reason.
    public static let inputOutput = Code(kind: .inputOutput)
    /// Another manager, in this process or another, works with the files of this store. Close it first.
    public static let inUse = Code(kind: .inUse)
    /// The manager was closed. Open another.
    public static let closed = Code(kind: .closed)

    /// A file cannot be queued, or a queued one cannot be resolved, in this way; the message has the reason.
    public static let invalidUpload = Code(kind: .invalidUpload)
    /// The file that was to be queued cannot be read. Nothing was queued.
    public static let unreadableSource = Code(kind: .unreadableSource)

    /// The name of the code.
    public var description: String { kind.rawValue }
  }

  /// The kind of failure.
  public let code: Code
  /// What failed, on what, and the remedy; never a file's name or content.
  public let message: String
  /// The error underneath, where there was one.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error.
  public init(
    _ code: Code, _ message: String, cause: (any Error)? = nil, fileID: String = #fileID,
    line: Int = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether the same call may succeed later.
  public var isRetryable: Bool {
    switch code {
    case .transport, .verificationFailed: true
    case .server: (cause as? RestError)?.isRetryable ?? false
    case .store: (cause as? SmartStoreError)?.isRetryable ?? false
    default: false
    }
  }
}

extension FileSyncError {
  /// What a refused step of work on a file means.
  init(_ failure: FileFailure, fileID: String = #fileID, line: Int = #line) {
    self.init(
      failure.isDiskFull ? .diskFull : .inputOutput, "\(failure).", cause: failure, fileID: fileID,
      line: line)
  }

  /// What an error of the client means for the file `id`; other errors pass as they are.
  static func sending(
    _ error: any Error, of what: String, fileID: String = #fileID, line: Int = #line
  ) -> any Error {
    guard let error = error as? RestError else { return error }
    let code: Code =
      switch error.code {
      case .notFound: .goneOnServer
      case .malformedResponse, .emptyResponse, .tooLarge: .unexpectedResponse
      case .unwritableFile: .inputOutput
      default: error.code.isNetworkFailure ? .transport : .server
      }
    return FileSyncError(
      code, "Cannot request \(what): \(error.message)", cause: error, fileID: fileID, line: line)
  }
}
