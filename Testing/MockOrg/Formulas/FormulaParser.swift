/// Reads a formula from left to right and writes the SQL of what it has read.
struct FormulaParser {
  private let tokens: [FormulaToken]
  private let names: FormulaNames
  private let treatsNullAsZero: Bool
  private var position = 0
  private var depth = 0

  /// Parentheses deeper than this make no formula: SQLite's parser has its limits too.
  private static let maxDepth = 30

  init(_ tokens: [FormulaToken], names: FormulaNames, treatsNullAsZero: Bool) {
    self.tokens = tokens
    self.names = names
    self.treatsNullAsZero = treatsNullAsZero
  }

  /// The whole formula, or nil if it has a part that the org cannot work out.
  mutating func parse() -> FormulaValue? {
    guard let value = expression(0), position == tokens.count else { return nil }
    return value
  }

  // MARK: Operators

  /// How strongly an operator binds; the weakest first.
  private static let strengths: [String: Int] = [
    "||": 1, "&&": 2, "=": 3, "==": 3, "<>": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "&": 5,
    "+": 6, "-": 6, "*": 7, "/": 7, "^": 8,
  ]

  private mutating func expression(_ least: Int) -> FormulaValue? {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maxDepth, var left = operand() else { return nil }
    while position < tokens.count, case .sign(let sign) = tokens[position],
      let strength = Self.strengths[sign], strength >= least
    {
      position += 1
      guard let right = expression(strength + 1), let joined = Self.join(left, sign, right) else {
        return nil
      }
      left = joined
    }
    return left
  }

  private static func join(
    _ left: FormulaValue, _ sign: String, _ right: FormulaValue
  ) -> FormulaValue? {
    switch sign {
    case "||": return FormulaValue("(\(left.sql) OR \(right.sql))", .boolean)
    case "&&": return FormulaValue("(\(left.sql) AND \(right.sql))", .boolean)
    case "=", "==": return FormulaValue("(\(left.filled) IS \(right.filled))", .boolean)
    case "<>", "!=": return FormulaValue("(\(left.filled) IS NOT \(right.filled))", .boolean)
    case "<", "<=", ">", ">=":
      return FormulaValue("IFNULL(\(left.sql) \(sign) \(right.sql), 0)", .boolean)
    case "&": return FormulaValue("(\(left.filled) || \(right.filled))", .text)
    case "+" where left.kind == .text || right.kind == .text:
      return FormulaValue("(\(left.filled) || \(right.filled))", .text)
    case "+", "-":
      if let moved = FormulaDates.moved(left, sign, right) { return moved }
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("(\(left.sql) \(sign) \(right.sql))", .number)
    case "*":
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("(\(left.sql) * \(right.sql))", .number)
    case "/":
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("(\(left.sql) * 1.0 / NULLIF(\(right.sql), 0))", .number)
    case "^":
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("\(FormulaDatabase.power)(\(left.sql), \(right.sql))", .number)
    default: return nil
    }
  }

  private mutating func operand() -> FormulaValue? {
    guard position < tokens.count else { return nil }
    let token = tokens[position]
    position += 1
    switch token {
    case .number(let text): return Double(text).map { FormulaValue("\($0)", .number) }
    case .text(let text): return FormulaValue(SOQLFragment.quoted(text), .text)
    case .sign("("):
      guard let inner = expression(0), take(")") else { return nil }
      return FormulaValue("(\(inner.sql))", inner.kind)
    case .sign("-"):
      return expression(8).map { FormulaValue("(-\($0.sql))", .number) }
    case .sign("+"): return expression(8)
    case .sign("!"):
      return expression(8).map { FormulaValue("(NOT \($0.sql))", .boolean) }
    case .sign: return nil
    case .name(let name):
      if take("(") { return call(name.uppercased()) }
      switch name.uppercased() {
      case "TRUE": return FormulaValue("1", .boolean)
      case "FALSE": return FormulaValue("0", .boolean)
      case "NULL": return FormulaValue("NULL", .null)
      default: break
      }
      return names.value(of: name, treatsNullAsZero: treatsNullAsZero)
    }
  }

  private mutating func take(_ sign: String) -> Bool {
    guard position < tokens.count, tokens[position] == .sign(sign) else { return false }
    position += 1
    return true
  }

  // MARK: Functions

  private mutating func call(_ name: String) -> FormulaValue? {
    var arguments: [FormulaValue] = []
    if !take(")") {
      repeat {
        guard let argument = expression(0) else { return nil }
        arguments.append(argument)
      } while take(",")
      guard take(")") else { return nil }
    }
    return FormulaLogic.result(of: name, arguments)
      ?? FormulaTexts.result(of: name, arguments)
      ?? FormulaNumbers.result(of: name, arguments)
      ?? FormulaDates.result(of: name, arguments, knowsTime: names.org != nil)
  }
}
