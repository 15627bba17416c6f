import SalesforceSDKCommon

/// One thing that `fieldforce doctor` looked at.
struct Finding {
  enum Status: String {
    case fine = "ok"
    /// Work goes on, but the user should know.
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

  /// What was looked at, such as `server`.
  let subject: String
  let status: Status
  let message: String
  /// What to do; `nil` if there is nothing.
  let remedy: String?

  init(_ subject: String, _ status: Status, _ message: String, remedy: String? = nil) {
    self.subject = subject
    self.status = status
    self.message = message
    self.remedy = remedy
  }

  /// A failure, whose message ends with what to do.
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
