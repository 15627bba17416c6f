public import Foundation
import SalesforceSDKCommon

// The text that `localizedDescription` returns, for alerts: the message and, where a server caused the error, the
// server's line. That line may quote values of a record, so no log holds it: `description` leaves it out.

extension JWTAccessToken.Failure: LocalizedError {
  /// The reason why the token is invalid.
  public var errorDescription: String? {
    switch self {
    case .invalidFormat: "The access token is not a JSON Web Token. Use it without reading it."
    case .invalidBase64:
      "A part of the access token is not base64url. Use the token without reading it."
    }
  }
}

extension OAuthError {
  /// The message, and the server's message on a separate line.
  public var errorDescription: String? {
    guard let serverDescription, !message.contains(serverDescription) else { return message }
    return "\(message)\n\(serverDescription)"
  }
}

extension RestError {
  /// The message, and a line such as `INVALID_FIELD: No such column 'Nmae' on entity 'Account'` for each
  /// error that the server names.
  public var errorDescription: String? {
    ([message] + serverErrors.map(\.line)).joined(separator: "\n")
  }
}

extension RestError.ServerError {
  /// Code and sentence. A sentence of several lines begins on its own line, since a caret in it points to a
  /// column of the line above.
  package var line: String {
    let sentence = message.trimmedLines
    if errorCode.isEmpty { return sentence }
    if sentence.isEmpty { return errorCode }
    return "\(errorCode):\(sentence.contains(where: \.isNewline) ? "\n" : " ")\(sentence)"
  }
}
