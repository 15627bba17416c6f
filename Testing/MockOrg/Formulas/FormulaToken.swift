/// The words and signs of a formula.
enum FormulaToken: Equatable {
  case number(String)
  case text(String)
  case name(String)
  case sign(String)

  private static let longSigns = ["<>", "!=", "<=", ">=", "&&", "||", "=="]

  /// The tokens of a formula; a character that belongs to none becomes a sign of its own, which no rule
  /// of the grammar takes.
  static func all(in text: String) -> [FormulaToken] {
    var tokens: [FormulaToken] = []
    var rest = Substring(text)
    while let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
      } else if rest.hasPrefix("/*") {
        rest = rest.firstRange(of: "*/").map { rest[$0.upperBound...] } ?? ""
      } else if first.isNumber || first == "." {
        let digits = rest.prefix { $0.isNumber || $0 == "." }
        tokens.append(.number(String(digits)))
        rest = rest.dropFirst(digits.count)
      } else if first.isLetter || first == "_" || first == "$" {
        let name = rest.prefix { $0.isLetter || $0.isNumber || "_.$:".contains($0) }
        tokens.append(.name(String(name)))
        rest = rest.dropFirst(name.count)
      } else if first == "\"" || first == "'" {
        rest.removeFirst()
        var content = ""
        while let character = rest.popFirst(), character != first {
          content.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
        }
        tokens.append(.text(content))
      } else {
        let sign = longSigns.first { rest.hasPrefix($0) } ?? String(first)
        tokens.append(.sign(sign))
        rest = rest.dropFirst(sign.count)
      }
    }
    return tokens
  }
}
