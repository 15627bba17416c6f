/// The names of a statement's result columns, for headers.
enum SelectList {
  /// - Parameters:
  ///   - smartSQL: The statement; `nil` for a query spec.
  ///   - count: The number of columns of the results.
  /// - Returns: As many names as columns: numbers if the statement does not name them, as with `SELECT *`.
  static func names(of smartSQL: String?, spec: String?, count: Int) -> [String] {
    let names = smartSQL.map(columns) ?? (count == 1 ? ["ENTRY"] : [])
    return names.count == count ? names : (0..<count).map { "COLUMN \($0 + 1)" }
  }

  /// The columns between SELECT and the FROM that belongs to it: the alias, the path of a `{soup:path}`, or the
  /// expression itself.
  private static func columns(of smartSQL: String) -> [String] {
    var columns: [String] = []
    var current = ""
    var depth = 0
    var quote: Character?
    var word = ""
    var isInList = false
    for character in smartSQL + " " {
      if let open = quote {
        if character == open { quote = nil }
      } else if "'\"`".contains(character) {
        quote = character
      } else if "({[".contains(character) {
        depth += 1
      } else if ")}]".contains(character) {
        depth -= 1
      }
      let isWord = quote == nil && depth == 0 && (character.isLetter || character == "_")
      if isWord { word.append(character) }
      if isInList, quote == nil, depth == 0, character == "," {
        columns.append(current)
        current = ""
        continue
      }
      current.append(character)
      guard !isWord, !word.isEmpty else { continue }
      switch word.uppercased() {
      case "SELECT" where !isInList:
        isInList = true
        current = ""
      case "DISTINCT" where isInList && columns.isEmpty && current.trimmedBlanks.count == 8:
        current = ""
      case "FROM" where isInList:
        columns.append(String(current.dropLast(5)))
        return columns.map(name)
      default: break
      }
      word = ""
    }
    return isInList ? (columns + [current]).map(name) : []
  }

  private static func name(of column: String) -> String {
    let text = column.trimmedBlanks
    let words = text.split(separator: " ")
    if words.count >= 3, words[words.count - 2].lowercased() == "as" {
      return String(words[words.count - 1]).trimmedQuotes
    }
    if text.hasPrefix("{"), text.hasSuffix("}"), let colon = text.lastIndex(of: ":") {
      return String(text[text.index(after: colon)...].dropLast())
    }
    return text
  }
}

extension String {
  fileprivate var trimmedBlanks: String { trimming { $0.isWhitespace } }
  fileprivate var trimmedQuotes: String { trimming { "'\"`".contains($0) } }

  private func trimming(_ isTrimmed: (Character) -> Bool) -> String {
    let start = drop(while: isTrimmed)
    return String(start.reversed().drop(while: isTrimmed).reversed())
  }
}
