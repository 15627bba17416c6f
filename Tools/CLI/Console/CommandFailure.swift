import FieldforceInspector
import FileSync
import Foundation
import HybridServer
import MobileSync
import PushRelay
import SalesforceMockOrg
import SalesforcePush
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// An error of a command, as text or JSON.
///
/// JSON: `{"error": {"code": "unknownSoup", "number": 999, "message": "…"}}`. The code is always a name. The number
/// is the one that the platform's libraries report, where they have one, or the status of an HTTP response.
struct CommandFailure: Error {
  let code: String
  let number: Int?
  let message: String
  /// The status with which the process ends.
  let status: ExitStatus

  /// A failure of the command itself.
  init(_ code: String, _ message: String, status: ExitStatus = .failed) {
    self.code = code
    number = nil
    self.message = message
    self.status = status
  }

  /// The end of work that Ctrl-C cancelled.
  static let interrupted = CommandFailure(
    "cancelled", "Interrupted. Finished work is kept, and no change is incomplete.",
    status: .interrupted)

  /// A failure of the command itself that the store has a code for.
  init(_ code: SmartStoreError.Code, _ message: String) {
    self.init(number: code.number, name: "\(code)", message: message)
  }

  /// A response that is not a success.
  init(status: Int, _ message: String) {
    self.init(number: status, name: "server", message: message)
  }

  /// An error that a library threw.
  init(_ error: any Error) {
    switch error {
    case let error as CommandFailure:
      self = error
    case let error as SmartStoreError:
      // The person who gave the value may see it.
      self.init(
        number: error.number, name: "\(error.code)", message: error.detail ?? error.message)
    case let error as SyncError:
      // The cause of a failed run is below it, and may be an error of the store.
      let reason = error.cause as? SyncError ?? error
      if let cause = reason.cause as? SmartStoreError {
        self.init(number: cause.number, name: "\(cause.code)", message: error.message)
      } else {
        self.init(
          number: error.number ?? reason.number, name: "\(error.code)",
          message: error.message + Self.words(inBody: error.body))
      }
    case let error as AccountError where error.code == .unsyncedRecords:
      let lost =
        error.unsyncedRecords.map { counted($0, "unsynced record") }
        ?? "records that cannot be counted and may be unsynced"
      self.init(
        "\(error.code)",
        "Cannot log out: the account has \(lost). Sync them up, save them with 'fieldforce rescue export', or "
          + "log out with --force and lose them."
      )
    case let error as AccountError:
      self.init(number: error.number, name: "\(error.code)", message: error.message)
    case let error as OAuthError:
      self.init(number: error.number, name: "\(error.code)", message: error.message)
    case let error as LockError:
      self.init("\(error.code)", error.message)
    case let error as RestError:
      self.init(
        number: error.status, name: error.status == nil ? "\(error.code)" : "server",
        message: error.message + Self.words(error.serverErrors.map(\.message)))
    case let error as RescueError:
      self.init("\(error.code)", error.message)
    case let error as FileSyncError:
      let server = (error.cause as? RestError)?.serverErrors ?? []
      self.init(
        number: (error.cause as? RestError)?.status, name: "\(error.code)",
        message: error.message + Self.words(server.map(\.message)))
    case let error as HybridServerError:
      self.init("\(error.code)", error.message)
    case let error as InspectorError:
      self.init("\(error.code)", error.message)
    case let error as TransportError:
      self.init("\(error.code)", error.message)
    case let error as PushError:
      self.init(number: error.code.number, name: "\(error.code)", message: error.message)
    case let error as PushRelayError:
      self.init("\(error.code)", error.message)
    case let error as SecretStoreError:
      self.init("\(error.code)", error.message)
    case let error as JSONError:
      self.init("\(error.code)", error.message)
    case let error as MockOrgError:
      // Foundation's text for an unreadable file does not help; the message names the file.
      self.init(
        "mockOrg", error.cause is CocoaError ? "\(error.message) Does it exist?" : error.message)
    case is CancellationError:
      self = .interrupted
    case let error as CocoaError:
      let place = error.filePath ?? error.url?.path ?? "a file"
      self.init(
        "file", "\(place): \(error.localizedDescription) Check that it may be read and written.")
    default:
      self.init("failed", "\(error)")
    }
  }

  private init(number: Int?, name: String, message: String) {
    code = name
    self.number = number
    self.message = LibraryWords.replaced(in: message)
    status = .failed
  }

  /// The server's message for a refused request. The libraries keep it out of their messages, which may go to
  /// a log; the user of a command needs it.
  private static func words(_ messages: [String]) -> String {
    // On lines of their own, since a caret below a query points to a column of it.
    messages.isEmpty ? "" : "\nThe server says:\n" + messages.joined(separator: "\n").trimmedLines
  }

  private static func words(inBody body: String?) -> String {
    guard let body, let json = try? JSONSlice(parsing: body), json.kind == .array else { return "" }
    return words(json.elements.compactMap { $0["message"]?.string })
  }

  /// The failure in the requested form.
  func text(asJSON: Bool) -> String {
    guard asJSON else { return "error: \(message)" }
    var error: JSONObject = ["code": .string(code)]
    if let number { error["number"] = .integer(Int64(number)) }
    error["message"] = .string(message)
    return JSONValue.object(["error": .object(error)]).text
  }

  /// Prints the failure on standard error.
  func say(asJSON: Bool) {
    if asJSON { Console.say(text(asJSON: true)) } else { Console.say("error:", .failure, message) }
  }
}
