/// Reads a formula from left to right and writes the SQL of what it has read.
struct FormulaParser {
  private let tokens: [FormulaToken]
  private let fields: [FieldSchema]
  private let treatsNullAsZero: Bool
  private var position = 0

  init(_ tokens: [FormulaToken], fields: [FieldSchema], treatsNullAsZero: Bool) {
    self.tokens = tokens
    self.fields = fields
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
    guard var left = operand() else { return nil }
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
    case "+" where left.kind == .date, "-" where left.kind == .date && right.kind == .number:
      return FormulaValue(
        "date(\(left.sql), CAST(CAST(\(sign)(\(right.sql)) AS INTEGER) AS TEXT) || ' days')", .date)
    case "-" where left.kind == .date && right.kind == .date:
      return FormulaValue("(julianday(\(left.sql)) - julianday(\(right.sql)))", .number)
    case "+", "-", "*":
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("(\(left.sql) \(sign) \(right.sql))", .number)
    case "/":
      guard left.kind == .number, right.kind == .number else { return nil }
      return FormulaValue("(\(left.sql) * 1.0 / NULLIF(\(right.sql), 0))", .number)
    default: return nil
    }
  }

  private mutating func operand() -> FormulaValue? {
    guard position < tokens.count else { return nil }
    let token = tokens[position]
    position += 1
    switch token {
    case .number(let text): return Double(text).map { FormulaValue("\($0)", .number) }
    case .text(let text): return FormulaValue(Self.quoted(text), .text)
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
      guard let field = fields.first(where: { $0.name.lowercased() == name.lowercased() }) else {
        return nil
      }
      return .field(field, treatsNullAsZero: treatsNullAsZero)
    }
  }

  private mutating func take(_ sign: String) -> Bool {
    guard position < tokens.count, tokens[position] == .sign(sign) else { return false }
    position += 1
    return true
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: "''") + "'"
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
    return Self.result(of: name, arguments)
  }

  private static func result(of name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    switch (name, values.count) {
    case ("IF", 3):
      return FormulaValue(
        "CASE WHEN \(sql[0]) THEN \(sql[1]) ELSE \(sql[2]) END",
        values[1].kind == .null ? values[2].kind : values[1].kind)
    case ("CASE", 4...) where values.count.isMultiple(of: 2):
      var text = "CASE"
      for index in stride(from: 1, to: values.count - 1, by: 2) {
        text += " WHEN \(values[0].filled) IS \(values[index].filled) THEN \(sql[index + 1])"
      }
      return FormulaValue("\(text) ELSE \(sql[values.count - 1]) END", values[2].kind)
    case ("AND", 1...): return FormulaValue("(\(sql.joined(separator: " AND ")))", .boolean)
    case ("OR", 1...): return FormulaValue("(\(sql.joined(separator: " OR ")))", .boolean)
    case ("NOT", 1): return FormulaValue("(NOT \(sql[0]))", .boolean)
    case ("ISBLANK", 1), ("ISNULL", 1): return FormulaValue("(\(sql[0]) IS NULL)", .boolean)
    case ("BLANKVALUE", 2), ("NULLVALUE", 2):
      return FormulaValue("IFNULL(\(sql[0]), \(sql[1]))", values[0].kind)
    case ("ISPICKVAL", 2):
      return FormulaValue("(\(values[0].filled) IS \(values[1].filled))", .boolean)
    case ("INCLUDES", 2):
      return FormulaValue(
        "(INSTR(';' || \(values[0].filled) || ';', ';' || \(values[1].filled) || ';') > 0)",
        .boolean)
    case ("CONTAINS", 2):
      return FormulaValue("(INSTR(\(values[0].filled), \(values[1].filled)) > 0)", .boolean)
    case ("BEGINS", 2):
      return FormulaValue("(INSTR(\(values[0].filled), \(values[1].filled)) = 1)", .boolean)
    default: return texts(name, values) ?? numbers(name, values)
    }
  }

  private static func texts(_ name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    let first = values.first?.filled ?? ""
    switch (name, values.count) {
    case ("TEXT", 1):
      guard values[0].kind == .number else { return FormulaValue(first, .text) }
      // A whole number is shown without a point.
      return FormulaValue(
        "CASE WHEN \(sql[0]) = CAST(\(sql[0]) AS INTEGER) "
          + "THEN CAST(CAST(\(sql[0]) AS INTEGER) AS TEXT) ELSE CAST(\(sql[0]) AS TEXT) END", .text)
    case ("LEN", 1): return FormulaValue("LENGTH(\(first))", .number)
    case ("UPPER", 1): return FormulaValue("UPPER(\(first))", .text)
    case ("LOWER", 1): return FormulaValue("LOWER(\(first))", .text)
    case ("TRIM", 1): return FormulaValue("TRIM(\(first))", .text)
    case ("LEFT", 2): return FormulaValue("SUBSTR(\(first), 1, \(sql[1]))", .text)
    case ("RIGHT", 2): return FormulaValue("SUBSTR(\(first), -(\(sql[1])))", .text)
    case ("MID", 3): return FormulaValue("SUBSTR(\(first), \(sql[1]), \(sql[2]))", .text)
    case ("SUBSTITUTE", 3):
      return FormulaValue("REPLACE(\(first), \(values[1].filled), \(values[2].filled))", .text)
    case ("FIND", 2): return FormulaValue("INSTR(\(values[1].filled), \(first))", .number)
    case ("VALUE", 1): return FormulaValue("CAST(\(sql[0]) AS REAL)", .number)
    case ("BR", 0): return FormulaValue("CHAR(10)", .text)
    case ("HYPERLINK", 2...3):
      let text =
        "'<a href=\"' || \(first) || '\" target=\"_blank\">' || \(values[1].filled) || '</a>'"
      return FormulaValue("(\(text))", .text)
    default: return nil
    }
  }

  private static func numbers(_ name: String, _ values: [FormulaValue]) -> FormulaValue? {
    let sql = values.map(\.sql)
    switch (name, values.count) {
    case ("ROUND", 2): return FormulaValue("ROUND(\(sql[0]), \(sql[1]))", .number)
    case ("ABS", 1): return FormulaValue("ABS(\(sql[0]))", .number)
    case ("FLOOR", 1):
      return FormulaValue(
        "(CAST(\(sql[0]) AS INTEGER) - (\(sql[0]) < CAST(\(sql[0]) AS INTEGER)))", .number)
    case ("CEILING", 1):
      return FormulaValue(
        "(CAST(\(sql[0]) AS INTEGER) + (\(sql[0]) > CAST(\(sql[0]) AS INTEGER)))", .number)
    case ("MOD", 2):
      return FormulaValue("(\(sql[0]) % NULLIF(\(sql[1]), 0))", .number)
    // With one argument SQLite's functions of these names would be aggregates.
    case ("MAX", 2...), ("MIN", 2...):
      return FormulaValue("\(name)(\(sql.joined(separator: ", ")))", .number)
    case ("YEAR", 1): return FormulaValue("CAST(SUBSTR(\(sql[0]), 1, 4) AS INTEGER)", .number)
    case ("MONTH", 1): return FormulaValue("CAST(SUBSTR(\(sql[0]), 6, 2) AS INTEGER)", .number)
    case ("DAY", 1): return FormulaValue("CAST(SUBSTR(\(sql[0]), 9, 2) AS INTEGER)", .number)
    case ("DATE", 3):
      return FormulaValue(
        "printf('%04d-%02d-%02d', \(sql.joined(separator: ", ")))", .date)
    case ("DATEVALUE", 1): return FormulaValue("SUBSTR(\(sql[0]), 1, 10)", .date)
    default: return nil
    }
  }
}
