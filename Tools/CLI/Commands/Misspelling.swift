/// A word of the command line that names no command or option, with the most similar name.
struct Misspelling {
  /// The error and its remedy.
  let message: String

  /// Finds the first unknown command or option; `nil` if the error is another one.
  init?(in command: CalledCommand) {
    let names = command.subcommands
    if !names.isEmpty, let word = command.rest.first, !word.hasPrefix("-") {
      let called = (command.path.dropFirst() + [word]).joined(separator: " ")
      let meant = Self.closest(to: word, among: names).map {
        "Did you mean '\(command.words) \($0)'?"
      }
      message =
        "Unknown command '\(called)'. " + (meant ?? "'\(command.words) --help' lists the commands.")
      return
    }
    let options = command.rest.prefix { $0 != "--" }.filter { $0.hasPrefix("--") }
      .map { String($0.prefix { $0 != "=" }) }
    guard !options.isEmpty, let described = try? command.described() else { return nil }
    let known = described.arguments.flatMap(\.names) + ["--help"]
    // Of every command, and hidden.
    let hidden = described.hiddenNames + ["--help-hidden", "--experimental-dump-help"]
    guard let unknown = options.first(where: { !known.contains($0) && !hidden.contains($0) })
    else { return nil }
    let meant = Self.closest(to: unknown, among: known.filter { $0.hasPrefix("--") })
    message =
      "Unknown option '\(unknown)'. "
      + (meant.map { "Did you mean '\($0)'?" } ?? "'\(command.words) --help' lists the options.")
  }

  /// The first of the names that are most similar to `word`; nil if none is similar enough.
  static func closest(to word: String, among names: [String]) -> String? {
    let most = max(1, word.count { $0 != "-" } / 3 + (word.count > 4 ? 1 : 0))
    let distances = names.map { (name: $0, distance: distance(from: word.lowercased(), to: $0)) }
    guard let best = distances.min(by: { $0.distance < $1.distance }) else { return nil }
    if best.distance <= most { return best.name }
    // The word may be the beginning of a name.
    let begun = names.filter { word.count >= 2 && $0.hasPrefix(word.lowercased()) }
    return begun.count == 1 ? begun[0] : nil
  }

  /// The number of characters to insert, delete, replace, or swap with their neighbour.
  static func distance(from a: String, to b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var cost = min(row[j] + 1, rows[i][j + 1] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
          cost = min(cost, rows[i - 1][j - 1] + 1)
        }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
