public import SalesforceSDKCommon

/// An error while creating, starting or running a sync.
///
/// A record that the server rejects is not an error of the run but an outcome of that record. A
/// failed run is stored with its sync as ``stored``.
public struct SyncError: FieldforceError {
  /// The kind of failure.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: String {
      case managerStopped, cannotRestart, alreadyRunning, doesNotExist, ghostsNeedSyncDown,
        nameInUse
      case unknownTarget, invalidTarget, invalidOptions, duplicateTarget, invalidState, noFields,
        noRestClient
      case server, transport, store, storeInUse, unexpectedResponse, invalidRequest
      case recordWithoutId, conflictChanged, invalidResolution
      case recordNotFound, invalidEdit, cannotUndo
      case stopped, failed, closed
    }
    private let kind: Kind

    /// The manager is stopping or stopped. Restart it, then call again.
    public static let managerStopped = Code(kind: .managerStopped)
    /// The manager accepts syncs, so there is nothing to restart.
    public static let cannotRestart = Code(kind: .cannotRestart)
    /// The sync is queued or running. Wait for its end, then call again.
    public static let alreadyRunning = Code(kind: .alreadyRunning)
    /// No sync has this id or name.
    public static let doesNotExist = Code(kind: .doesNotExist)
    /// Only a sync down can have ghosts.
    public static let ghostsNeedSyncDown = Code(kind: .ghostsNeedSyncDown)
    /// Another sync of the store has this name. Choose another, or delete that sync.
    public static let nameInUse = Code(kind: .nameInUse)
    /// No registered target has this type or implementation name. Register its plugin first.
    public static let unknownTarget = Code(kind: .unknownTarget)
    /// The target cannot work as configured; the message names the key. Correct it first.
    public static let invalidTarget = Code(kind: .invalidTarget)
    /// The options cannot be read as they are written; the message names the value. Correct it first.
    public static let invalidOptions = Code(kind: .invalidOptions)
    /// Another target is registered under one of these names.
    public static let duplicateTarget = Code(kind: .duplicateTarget)
    /// A stored sync cannot be read. Delete it and create it again.
    public static let invalidState = Code(kind: .invalidState)
    /// Neither the target nor the options have a list of fields to upload. Pass a field list.
    public static let noFields = Code(kind: .noFields)
    /// There is no authenticated user for the requests. Log in first.
    public static let noRestClient = Code(kind: .noRestClient)
    /// The server responded with an error; see ``SyncError/status`` and ``SyncError/body``. A retry
    /// helps if the server was busy (429, 503) or the session has been renewed (401).
    public static let server = Code(kind: .server)
    /// The server did not respond. A retry may help.
    public static let transport = Code(kind: .transport)
    /// The store refused to read or write; see the cause.
    public static let store = Code(kind: .store)
    /// The store has a sync manager already. Use that one, or close it first.
    public static let storeInUse = Code(kind: .storeInUse)
    /// The server's response is not the JSON that this request returns, or is longer than the
    /// request allows.
    public static let unexpectedResponse = Code(kind: .unexpectedResponse)
    /// A request is invalid: its address or its content is not allowed. Nothing was sent. Correct
    /// the target or the account's server first.
    public static let invalidRequest = Code(kind: .invalidRequest)
    /// A downloaded record has no id, so it cannot be matched to a soup entry.
    public static let recordWithoutId = Code(kind: .recordWithoutId)
    /// A conflict has ended or changed since it was listed. List the conflicts again.
    public static let conflictChanged = Code(kind: .conflictChanged)
    /// The resolution does not fit the conflict's kind; the message names those that do.
    public static let invalidResolution = Code(kind: .invalidResolution)
    /// No entry of the soup has this id. Query the soup again.
    public static let recordNotFound = Code(kind: .recordNotFound)
    /// A local change is refused because it could never be uploaded; the message has the reason.
    public static let invalidEdit = Code(kind: .invalidEdit)
    /// A local change cannot be undone; the message says why and what can be done.
    public static let cannotUndo = Code(kind: .cannotUndo)
    /// The manager was stopped before the operation ended. Restart it, then run the sync again.
    public static let stopped = Code(kind: .stopped)
    /// The run ended as failed; ``SyncError/state`` is its last state and the cause the reason.
    public static let failed = Code(kind: .failed)
    /// The manager was closed or removed before the operation ended. Get a new manager.
    public static let closed = Code(kind: .closed)

    /// The name of the code.
    public var description: String { kind.rawValue }

    /// The number that the platform's manager errors have.
    fileprivate var number: Int? {
      switch kind {
      case .managerStopped: 900
      case .cannotRestart: 901
      case .alreadyRunning: 902
      case .doesNotExist: 903
      case .ghostsNeedSyncDown: 904
      default: nil
      }
    }

    /// The text that the platform's manager errors have under the key "error".
    fileprivate var text: String? {
      switch kind {
      case .managerStopped: "SyncManagerStoppedError"
      case .cannotRestart: "SyncManagerCannotRestartError"
      case .alreadyRunning: "SyncAlreadyRunningError"
      case .doesNotExist: "SyncNotExistError"
      case .ghostsNeedSyncDown: "SyncManagerCanOnlyRunCleanGhostsForSyncDown"
      default: nil
      }
    }
  }

  /// The domain of the platform's manager errors.
  public static let domain = "com.salesforce.MobileSync.ErrorDomain"

  /// The kind of failure.
  public let code: Code
  /// The failure, its subject and the remedy, without record data.
  public let message: String
  /// The HTTP status, if the server responded.
  public let status: Int?
  /// The first part of the server's response, without the secrets that it repeats. It may contain record data: do not
  /// log it.
  public let body: String?
  /// The state in which the run ended, for ``Code/failed`` and ``Code/stopped``.
  public let state: SyncState?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The line that noticed the failure.
  public let location: SourceLocation

  /// Creates an error. The last two arguments have the caller's source location by default.
  public init(
    _ code: Code, _ message: String, status: Int? = nil, body: String? = nil,
    state: SyncState? = nil, cause: (any Error)? = nil, fileID: String = #fileID, line: Int = #line
  ) {
    self.code = code
    self.message = Redaction.redact(message)
    self.status = status
    self.body = body.map(Redaction.redact)
    self.state = state
    self.cause = cause
    self.location = SourceLocation(fileID: fileID, line: line)
  }

  /// Whether a retry may succeed, as stated by the cause.
  public var isRetryable: Bool {
    switch code {
    case .transport: true
    case .server: status.map([429, 502, 503, 504].contains) ?? false
    default: (cause as? any FieldforceError)?.isRetryable ?? false
    }
  }

  /// Whether the server no longer has the pages of a query, which may be sent again: it keeps them for a limited time,
  /// and fewer than a user can request at once.
  var isOfDroppedPages: Bool {
    guard code == .server, let body, let json = try? JSONSlice(parsing: body) else { return false }
    return (json[0] ?? json)["errorCode"]?.string == "INVALID_QUERY_LOCATOR"
  }

  /// The number under ``domain``, for the five errors that have one: 900 to 904.
  public var number: Int? { code.number }

  /// The text that belongs to ``number``, such as `SyncNotExistError`.
  public var text: String? { code.text }

  /// The stored form of the error of a failed run:
  /// `{"code":<status or 0>,"message":"…","body":<JSON or null>}`.
  public var stored: String {
    let body: JSONValue
    if let text = self.body {
      body = (try? JSONSlice(parsing: text))?.value ?? .string(text)
    } else {
      body = .null
    }
    let object: JSONObject = [
      "code": .integer(Int64(status ?? 0)), "message": .string(message), "body": body,
    ]
    return JSONValue.object(object).text
  }
}
