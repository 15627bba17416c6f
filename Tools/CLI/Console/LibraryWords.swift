/// Messages of the libraries in the terms of the command line.
///
/// Messages of the libraries name Swift calls as remedies; users of the command line need commands.
enum LibraryWords {
  /// `message` with commands and options in place of calls, parameters and objects of the libraries.
  static func replaced(in message: String) -> String {
    words.reduce(message) { $0.replacing($1.library, with: $1.command) }
  }

  /// Order matters: a phrase comes before its parts.
  private static let words: [(library: String, command: String)] = [
    (
      "if the plaintext database is yours, call StoreMaintenance.acceptRestoredFiles(_:) and encrypt it",
      "if the plaintext database is yours, run 'fieldforce store accept-restored'"
    ),
    ("call StoreMaintenance.acceptRestoredFiles(_:)", "run 'fieldforce store accept-restored'"),
    ("StoreMaintenance.acceptLostLog(_:) or 'fieldforce", "'fieldforce"),
    ("Close the store and call reencrypt(from:to:)", "Run 'fieldforce store reencrypt'"),
    (
      "Finish it with resumeLongOperations(), or open the store again",
      "'fieldforce soup list' opens the store again, which finishes it"
    ),
    (
      "with resumeLongOperations(), or when the store is opened next",
      "when a command opens the store next"
    ),
    (
      "confirm it with confirmMove(of:to:) and log in again",
      "log in with --move-account and the name of that account"
    ),
    (
      "Change it with changeSyncDown(forId:to:)",
      "Change it with --query or --target of 'fieldforce sync change'"
    ),
    ("with undoEdit first", "with 'fieldforce store undo' first"),
    (
      "whereArgs can only be provided for smart queries",
      "--arg is only for a Smart SQL statement. Leave it out"
    ),
    ("No indexSpecs specified for soup:", "No indexes specified for soup"),
    ("Name at least one path", "Give --index PATH:TYPE at least once"),
    (
      "Resolve the conflict with detach, recreateParent or theirs",
      "Resolve the conflict with --detach, --recreate-parent or --theirs"
    ),
    (
      "Resolve the conflict with recreateParent or theirs",
      "Resolve the conflict with --recreate-parent or --theirs"
    ),
    ("Resolve it with record(_:) or create", "Resolve it with --record ID or --create"),
    (
      "Resolve it with mine, theirs or values(_:)",
      "Resolve it with --mine, --theirs or --set FIELD=VALUE"
    ),
    ("Restart the manager, then run it again", "'fieldforce sync run' resumes it"),
    ("Restart the manager first", "Run the command again"),
    ("Wait for its end, then call again", "Wait for its end, then run the command again"),
    ("Register it before using it", "'fieldforce soup register' registers it"),
    (
      "Close it there, or open it read-only",
      "Wait until that process ends; commands that only read work at any time"
    ),
    ("Ask the store manager for", "Run the command again to use"),
    ("The sync manager was closed", "The run was ended"),
    ("Get a new one", "Run the command again"),
    ("Correct its requests(for:)", "That is a fault of the target"),
    ("Let its entry(for:replacing:inSoup:) only add members", "That is a fault of the target"),
  ]
}
