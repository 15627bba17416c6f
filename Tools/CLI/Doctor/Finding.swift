import SalesforceSDKCommon

/// The result of one check of `fieldforce doctor`.
struct Finding {
  enum Status: String {
    case fine = "ok"
    /// Commands work, but the user should know about it.
    case warning
    /// Commands fail because of it.
    case failed

    fileprivate var style: Terminal.Style {
      switch self {
      case .fine: .success
      case .warning: .warning
      case .failed: .failure
      }
    }

    fileprivate var mark: String {
      switch self {
      case .fine: "ok  "
      case .warning: "note"
      case .failed: "FAIL"
      }
    }
  }

  /// The subject of the check, such as `server`.
  let subject: String
  let status: Status
  let message: String
  /// The remedy; `nil` if none is needed.
  let remedy: String?

  init(_ subject: String, _ status: Status, _ message: String, remedy: String? = nil) {
    self.subject = subject
    self.status = status
    self.message = message
    self.remedy = remedy
  }

  /// A failure whose message ends with the remedy.
  init(_ subject: String, _ error: any Error, remedy: String? = nil) {
    self.init(subject, .failed, CommandFailure(error).message, remedy: remedy)
  }

  var document: JSONValue {
    [
      "subject": .string(subject), "status": .string(status.rawValue), "message": .string(message),
      "remedy": remedy.map { .string($0) } ?? .null,
    ]
  }

  /// The lines for a stream.
  func lines(for terminal: Terminal) -> [String] {
    func safe(_ text: String) -> String { TerminalText.escaped(text, keepsLines: false) }
    let mark = terminal.styled(status.mark, status.style)
    return ["\(mark)  \(safe(subject)): \(safe(message))"]
      + (remedy.map { ["      \(safe($0))"] } ?? [])
  }
}
