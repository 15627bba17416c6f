/// A formula of the platform, turned into SQL.
///
/// What the record's own columns determine becomes a column that SQLite computes; what needs parents or the
/// time is worked out by each query (``FormulaText``). What the org has no word for leaves the field empty:
/// a formula that is not known never hinders a schema from being loaded.
struct Formula {
  private let value: FormulaValue?

  /// - Parameter names: What the formula may name.
  init(_ text: String, names: FormulaNames, treatsNullAsZero: Bool = true) {
    var parser = FormulaParser(
      FormulaToken.all(in: text), names: names, treatsNullAsZero: treatsNullAsZero)
    value = parser.parse()
  }

  /// Whether every part of it is known.
  var isKnown: Bool { value != nil }

  /// The expression as the field keeps its value.
  func sql(for field: FieldSchema) -> String {
    guard let value else { return "NULL" }
    switch field.type {
    case .int, .long: return "CAST(ROUND(\(value.sql)) AS INTEGER)"
    case .double, .currency, .percent:
      // A formula gives 0.25 for what a percent field calls 25.
      let number = field.type == .percent ? "(\(value.sql) * 100.0)" : value.sql
      return field.precision > 0 ? "ROUND(\(number), \(field.scale))" : number
    case .boolean: return "IFNULL(\(value.sql), 0)"
    default:
      // An empty text is no value.
      return value.kind == .text ? "NULLIF(\(value.sql), '')" : value.sql
    }
  }

  /// The fields of an object, those marked whose formulas the table cannot work out.
  static func markingComputed(_ fields: [FieldSchema]) -> [FieldSchema] {
    var fields = fields
    for index in fields.indices { fields[index].isComputed = fields[index].formula != nil }
    var isStable = false
    // What names only columns is one. The rest names what is none, or, in a circle, itself.
    while !isStable {
      isStable = true
      for index in fields.indices where fields[index].isComputed {
        guard let text = fields[index].formula,
          Formula(text, names: FormulaNames(fields: fields)).isKnown
        else { continue }
        fields[index].isComputed = false
        isStable = false
      }
    }
    return fields
  }
}

/// A formula that reaches beyond its record, as an expression of any statement that reads the record.
struct FormulaText: Sendable {
  /// Stands for what the statement calls the record's table; no SQL contains it.
  private static let placeholder = "\0"
  /// Longer expressions give nothing: the platform's limit is below that too.
  private static let maxLength = 100_000

  private let template: String

  /// The formulas of an object that no column holds, by field.
  static func all(of object: ObjectSchema, in schema: OrgSchema) -> [String: FormulaText] {
    let org = FormulaNames.Org(schema: schema, object: object, alias: placeholder, depth: 0)
    var all: [String: FormulaText] = [:]
    for field in object.fields where field.isComputed {
      let sql = org.expression(of: field)
      all[field.name] = FormulaText(template: sql.utf8.count > maxLength ? "NULL" : "(\(sql))")
    }
    return all
  }

  /// The expression for a record of a table that the statement calls `alias`.
  func sql(as alias: String) -> String { template.replacing(Self.placeholder, with: alias) }
}

/// A piece of a formula as SQL.
struct FormulaValue {
  enum Kind {
    case text, number, boolean, date, dateTime, time, null
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
  ///
  /// - Parameter sql: What reads it.
  static func field(_ field: FieldSchema, _ sql: String, treatsNullAsZero: Bool) -> FormulaValue? {
    switch field.type {
    case .boolean: return FormulaValue("IFNULL(\(sql), 0)", .boolean)
    case .int, .long, .double, .currency:
      return FormulaValue(treatsNullAsZero ? "IFNULL(\(sql), 0)" : sql, .number)
    // A formula sees 25 percent as 0.25.
    case .percent:
      return FormulaValue("(\(treatsNullAsZero ? "IFNULL(\(sql), 0)" : sql) / 100.0)", .number)
    case .date: return FormulaValue(sql, .date)
    case .datetime: return FormulaValue(sql, .dateTime)
    case .time: return FormulaValue(sql, .time)
    case .address, .location, .base64, .complexvalue, .anyType, .datacategorygroupreference:
      return nil
    case .string, .textarea, .phone, .url, .email, .combobox, .encryptedstring, .picklist,
      .multipicklist, .id, .reference:
      return FormulaValue(sql, .text)
    }
  }
}
