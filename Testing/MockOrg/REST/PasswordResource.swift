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
struct PasswordResource: Resource {
  let call: RESTCall

  func state() throws -> OrgResponse {
    _ = try user()
    return .json(["isExpired": false])
  }

  func set() throws -> OrgResponse {
    let id = try user()
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
  }

  func reset() throws -> OrgResponse {
    let id = try user()
    let password = Sessions.randomText(8) + "7"
    org.passwords[id] = password
    return .json(["NewPassword": .string(password)])
  }

  /// The user whom the path names, if the request's user may change their password.
  private func user() throws -> String {
    let users = try transaction.object(named: "User")
    guard try object.name == users.name else { throw ServerError.notFound() }
    let id = try users.recordID(call["record"])
    try RecordWriter(transaction: transaction, object: users).existing(id)
    guard id == transaction.userID || transaction.schema.access == nil else {
      throw ServerError(
        status: 403, "INSUFFICIENT_ACCESS", "You do not have permission to view this record.")
    }
    return id
  }
}
