/// A formula of the platform, turned into SQL that SQLite works out from the record's other columns.
///
/// What a record's own columns cannot answer (`TODAY()`, fields of a parent) and what SQLite has no word
/// for leaves the field empty: a formula that is not known never hinders a schema from being loaded.
struct Formula {
  private let value: FormulaValue?

  /// - Parameter fields: The fields of the object, which the formula may name.
  init(_ text: String, fields: [FieldSchema], treatsNullAsZero: Bool = true) {
    var parser = FormulaParser(
      FormulaToken.all(in: text), fields: fields, treatsNullAsZero: treatsNullAsZero)
    value = parser.parse()
  }

  /// The expression as the field keeps its value.
  func sql(for field: FieldSchema) -> String {
    guard let value else { return "NULL" }
    switch field.type {
    case .int, .long: return "CAST(ROUND(\(value.sql)) AS INTEGER)"
    case .double, .currency, .percent:
      return field.precision > 0 ? "ROUND(\(value.sql), \(field.scale))" : value.sql
    case .boolean: return "IFNULL(\(value.sql), 0)"
    default:
      // An empty text is no value.
      return value.kind == .text ? "NULLIF(\(value.sql), '')" : value.sql
    }
  }
}

/// A piece of a formula as SQL.
struct FormulaValue {
  enum Kind {
    case text, number, boolean, date, dateTime, null
  }

  var sql: String
  var kind: Kind

  init(_ sql: String, _ kind: Kind) {
    self.sql = sql
    self.kind = kind
  }

  /// A text that is never null: the platform joins and measures missing texts as empty ones.
  var filled: String { kind == .text ? "IFNULL(\(sql), '')" : sql }

  /// What a field holds.
  static func field(_ field: FieldSchema, treatsNullAsZero: Bool) -> FormulaValue? {
    let name = RecordTable.quoted(field.name)
    switch field.type {
    case .boolean: return FormulaValue("IFNULL(\(name), 0)", .boolean)
    case .int, .long, .double, .currency:
      return FormulaValue(treatsNullAsZero ? "IFNULL(\(name), 0)" : name, .number)
    // A formula sees 25 percent as 0.25.
    case .percent:
      return FormulaValue(
        "(\(treatsNullAsZero ? "IFNULL(\(name), 0)" : name) / 100.0)", .number)
    case .date: return FormulaValue(name, .date)
    case .datetime: return FormulaValue(name, .dateTime)
    case .address, .location, .base64, .complexvalue, .anyType, .datacategorygroupreference:
      return nil
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist,
      .multipicklist, .id, .reference, .time:
      return FormulaValue(name, .text)
    }
  }
}

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
        let name = rest.prefix { $0.isLetter || $0.isNumber || "_.$".contains($0) }
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
