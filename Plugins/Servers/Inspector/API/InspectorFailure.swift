import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// A failure as the page shows it.
struct InspectorFailure: Error {
  let name: String
  /// The number that the specification fixes, else the name.
  let code: JSONValue
  let message: String
  /// The remedy for the reader of the page; nil if the message has it.
  let remedy: String?
  let status: Int
  var headers: [(String, String)] = []
  private var details: JSONObject?

  /// A failure of a request itself.
  init(
    _ name: String, _ message: String, remedy: String? = nil, status: Int? = nil,
    headers: [(String, String)] = [], details: JSONObject? = nil
  ) {
    self.init(name: name, number: nil, message, remedy: remedy, status: status)
    self.headers = headers
    self.details = details
  }

  private init(
    name: String, number: Int?, _ message: String, remedy: String? = nil, status: Int? = nil
  ) {
    self.name = name
    code = number.map { .integer(Int64($0)) } ?? .string(name)
    self.message = message
    self.remedy = remedy ?? Self.remedies[name]
    self.status = status ?? Self.statuses[name] ?? 500
  }

  /// The failure for an error of a library.
  init(_ error: any Error) {
    switch error {
    case let error as InspectorFailure: self = error
    case let error as SmartStoreError:
      // The reader of the page wrote what the detail quotes.
      self.init(
        name: "\(error.code)", number: error.number, error.detail ?? error.message)
    case let error as SyncError:
      let reason = error.cause as? SyncError ?? error
      if let cause = reason.cause as? SmartStoreError {
        self.init(name: "\(cause.code)", number: cause.number, error.message)
      } else {
        self.init(
          name: "\(error.code)", number: error.number ?? reason.number,
          error.message, status: Self.statuses["\(error.code)"] ?? 422)
      }
    case let error as AccountError where error.code == .unsyncedRecords:
      let count = error.unsyncedRecords
      self.init(
        name: "\(error.code)", number: error.number,
        count.map { "Cannot log out: the account has \($0) unsynced records." }
          ?? "Cannot log out: the account has records that cannot be counted and may be unsynced.",
        remedy: "Sync them up, or log out and lose them.")
      details = count.map { ["unsyncedRecords": .integer(Int64($0))] }
    case let error as AccountError:
      self.init(name: "\(error.code)", number: error.number, error.message)
    case let error as OAuthError:
      self.init(name: "\(error.code)", number: error.number, error.message)
    case let error as RestError:
      self.init(name: "\(error.code)", number: error.status, error.message)
    case let error as EncryptionError:
      self.init(name: "\(error.code)", number: nil, error.message)
    case let error as JSONError:
      self.init(name: "invalidRequest", number: nil, error.message)
    case is CancellationError:
      self.init(name: "interrupted", number: nil, "The work was interrupted.")
    default:
      self.init(name: "failed", number: nil, "\(error)")
    }
  }

  /// The failure as a document of the interface.
  var document: JSONValue {
    var members: JSONObject = [
      "code": code, "name": .string(name), "message": .string(message),
      "remedy": remedy.map { .string($0) } ?? .null,
    ]
    if let details { members["details"] = .object(details) }
    return .object(members)
  }

  /// The HTTP status of each name; 500 for the others.
  private static let statuses: [String: Int] = [
    "invalidRequest": 400, "invalidCursor": 400, "notFound": 404, "unknownSoup": 404,
    "noSuchEntry": 404, "doesNotExist": 404, "unknownAccount": 404, "recordNotFound": 404,
    "readOnly": 409, "busyOtherProcess": 409, "conflictChanged": 409, "alreadyRunning": 409,
    "managerStopped": 409, "cannotRestart": 409, "unsyncedRecords": 409, "storeInUse": 409,
    "sql": 422, "refusedStatement": 422, "limitExceeded": 422, "invalidReference": 422,
    "bindArgumentCount": 422,
    "notIndexed": 422, "notListed": 422, "invalidResolution": 422, "invalidEdit": 422,
    "cannotUndo": 422, "ghostsNeedSyncDown": 422, "invalidQuerySpec": 422, "notLoggedIn": 422,
    "keyLocked": 423, "keyMissing": 423, "wrongKey": 423, "corruptKeyFile": 423,
    "foreignStore": 423, "busy": 503, "tooManyStreams": 503, "interrupted": 504,
  ]

  /// The remedy if the library's message has none, or has one for programmers.
  private static let remedies: [String: String] = [
    "keyLocked": "Unlock the secret store, then reload this page. The data is unharmed.",
    "keyMissing":
      "Restore the key from a backup of the secret store. Without it nothing opens this store, and nothing was deleted.",
    "wrongKey": "Restore the key that the store was written with. Nothing was deleted.",
    "corruptKeyFile": "Restore the store's folder from a backup. Nothing was deleted.",
    "foreignStore": "Put the files of this store back into its folder. Nothing was deleted.",
    "corrupt":
      "Run 'fieldforce store verify' for the details, then restore the store from a backup. Nothing was deleted.",
    "corruptLog":
      "Restore all files of the store from one backup, or accept the loss with 'fieldforce store accept-loss'.",
    "notADatabase": "Restore the store's folder from a backup. The file was left as it is.",
    "databaseMissing": "Restore the store's folder, or remove the store to start over.",
    "busyOtherProcess":
      "Wait until that process has ended, or change the store there. Reading works.",
    "io": "Check the disk and the folder's permissions, then reload this page.",
    "diskFull": "Free space, then try again.",
    "unfinishedOperation": "Open the store once for writing: that completes the work.",
    "interrupted": "Add an index, or a condition that an index serves.",
    "tooManyStreams": "Close another tab of this page.",
  ]
}
