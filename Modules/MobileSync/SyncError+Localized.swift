public import Foundation
import SalesforceSDKCore

extension SyncError {
  /// The message, and a line such as `INVALID_FIELD: No such column 'Nmae' on entity 'Account'` for each
  /// error that the server names. It may quote values of a record: show it to the user, do not log it.
  public var errorDescription: String? {
    ([message] + serverLines).joined(separator: "\n")
  }

  /// The server's lines in the body of this error or of a cause.
  private var serverLines: [String] {
    if let body {
      let lines = RestError.ServerError.all(in: Array(body.utf8)).map(\.line)
      if !lines.isEmpty { return lines }
    }
    switch cause {
    case let cause as SyncError: return cause.serverLines
    case let cause as RestError: return cause.serverErrors.map(\.line)
    default: return []
    }
  }
}

extension SyncsConfigProblem: LocalizedError {
  /// Line and column of the file and the message, as a compiler writes them.
  public var errorDescription: String? { description }
}
