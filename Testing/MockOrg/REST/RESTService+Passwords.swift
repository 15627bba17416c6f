import SalesforceSDKCommon
import Synchronization

/// The passwords that were set since the org was made, by user.
final class Passwords: Sendable {
  private let state = Mutex<[String: String]>([:])

  subscript(userID: String) -> String? {
    get { state.withLock { $0[userID] } }
    set { state.withLock { $0[userID] = newValue } }
  }
}

/// `/sobjects/User/ID/password`.
extension RESTService {
  func password(_ request: OrgRequest, userID text: String) throws -> OrgResponse {
    let users = try transaction.object(named: "User")
    let id = try recordID(text, of: users)
    try RecordWriter(transaction: transaction, object: users).existing(id)
    guard id == transaction.userID || transaction.schema.access == nil else {
      throw ServerError(
        status: 403, "INSUFFICIENT_ACCESS", "You do not have permission to view this record.")
    }
    switch request.method {
    case "GET", "HEAD":
      return .json { writer in
        writer.beginObject()
        writer.key("isExpired")
        writer.bool(false)
        writer.endObject()
      }
    case "POST":
      let password = try request.object()["NewPassword"]?.string ?? ""
      guard password.count >= 8 else {
        throw ServerError(
          "INVALID_NEW_PASSWORD", "Your password must be at least 8 characters long.")
      }
      guard password.contains(where: \.isLetter), password.contains(where: \.isNumber) else {
        throw ServerError(
          "INVALID_NEW_PASSWORD", "Your password must have a mix of letters and numbers.")
      }
      org.passwords[id] = password
      return .empty()
    case "DELETE":
      let password = Sessions.randomText(8) + "7"
      org.passwords[id] = password
      return .json { writer in
        writer.beginObject()
        writer.key("NewPassword")
        writer.string(password)
        writer.endObject()
      }
    default: throw ServerError.methodNotAllowed(request.method, allowed: "DELETE,GET,HEAD,POST")
    }
  }
}
