/// The statuses with which a command ends.
enum ExitStatus: Int32 {
  case success = 0
  /// The work failed.
  case failed = 1
  /// The command line is wrong.
  case usage = 2
  /// The work was done in part: some records were refused, are in conflict or wait.
  case partial = 3
  /// Ctrl-C ended the work early.
  case interrupted = 130

  /// The meaning of each status, for help and manual pages.
  static let meanings: [(ExitStatus, String)] = [
    (.success, "success"), (.failed, "the work failed"), (.usage, "wrong usage"),
    (.partial, "done in part (some records were refused, are in conflict or wait)"),
    (.interrupted, "interrupted"),
  ]

  /// The text about exit statuses in the program's help.
  static var help: String {
    "Exit status: " + meanings.map { "\($0.rawValue) \($1)" }.joined(separator: "; ") + "."
  }
}

/// The end of a command that did its work in part and has printed its results.
struct PartialSuccess: Error {
  /// The part that was not done, and the command that shows the details.
  let message: String
}

/// A number with its noun: `1 record`, `2 records`.
///
/// - Parameter plural: Default: the noun with an s.
func counted(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
  "\(count) \(count == 1 ? noun : plural ?? noun + "s")"
}
