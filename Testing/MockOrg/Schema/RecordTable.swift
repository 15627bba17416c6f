/// The SQLite table of one object: its columns and the statements that the org uses again and again.
struct RecordTable: Sendable {
  /// The quoted name.
  let name: String
  /// The fields that have a column, by their index in ``ObjectSchema/fields``; the place in this list
  /// is the place of the column in `insert`.
  let columns: [Int]
  /// The place of a field's column in `columns`, by the field's index; nil for a compound field.
  let positions: [Int?]
  /// Every column's name and definition.
  let definitions: [(column: String, sql: String)]
  /// `CREATE TABLE` and `CREATE INDEX` statements.
  let create: [String]
  /// `INSERT` of all columns.
  let insert: String
  /// What a row gets by itself.
  let plan: RowPlan

  /// Columns that every table has, whether or not the object shows them as fields.
  private static let systemColumns = ["IsDeleted", "SystemModstamp"]

  init(object: String, fields: [FieldSchema]) {
    name = Self.quoted(object)
    var columns: [Int] = []
    var positions: [Int?] = []
    var definitions: [(column: String, sql: String)] = []
    var indexed: [String] = []
    for (index, field) in fields.enumerated() {
      guard field.hasColumn else {
        positions.append(nil)
        continue
      }
      definitions.append((field.name, Self.definition(of: field, fields)))
      // What SQLite works out cannot be written.
      guard !field.isGenerated else {
        positions.append(nil)
        continue
      }
      positions.append(columns.count)
      columns.append(index)
      if Self.isIndexed(field) { indexed.append(field.name) }
    }
    for system in Self.systemColumns where !fields.contains(where: { $0.name == system }) {
      definitions.append(
        (
          system,
          system == "IsDeleted" ? "\"IsDeleted\" INTEGER NOT NULL DEFAULT 0" : "\"\(system)\" TEXT"
        ))
    }
    self.columns = columns
    self.positions = positions
    self.definitions = definitions
    plan = RowPlan(object: object, fields: fields, columns: columns)
    let table = name
    create =
      ["CREATE TABLE IF NOT EXISTS \(table) (\(definitions.map(\.sql).joined(separator: ", ")))"]
      + indexed.map {
        "CREATE INDEX IF NOT EXISTS \(Self.quoted("\(object) \($0)")) ON \(table) (\(Self.quoted($0)))"
      }
    insert = """
      INSERT INTO \(table) (\(columns.map { Self.quoted(fields[$0].name) }.joined(separator: ", "))) \
      VALUES (\(repeatElement("?", count: columns.count).joined(separator: ", ")))
      """
  }

  /// A name as SQL takes it whatever it contains.
  static func quoted(_ name: String) -> String {
    "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
      + "\""
  }

  private static func definition(of field: FieldSchema, _ fields: [FieldSchema]) -> String {
    let name = quoted(field.name)
    if let formula = field.formula {
      let sql = Formula(
        formula, names: FormulaNames(fields: fields),
        treatsNullAsZero: field.formulaTreatsNullAsZero
      ).sql(for: field)
      return "\(name) \(typeName(of: field)) GENERATED ALWAYS AS (\(sql)) VIRTUAL"
    }
    if field.type == .id { return "\(name) TEXT NOT NULL UNIQUE" }
    if field.name == "IsDeleted" { return "\(name) INTEGER NOT NULL DEFAULT 0" }
    // Rows that a user wrote who may not see the field, and those older than it.
    if field.type == .boolean {
      return "\(name) INTEGER DEFAULT \(field.defaultValue == .boolean(true) ? 1 : 0)"
    }
    return "\(name) \(typeName(of: field))"
  }

  private static func typeName(of field: FieldSchema) -> String {
    switch field.type.storage {
    case .text: field.caseSensitive ? "TEXT" : "TEXT COLLATE NOCASE"
    case .exact: "TEXT"
    case .integer: "INTEGER"
    case .real, .compound: "REAL"
    }
  }

  /// External ids are looked up, references are followed from the parent, stamps order a sync.
  private static func isIndexed(_ field: FieldSchema) -> Bool {
    if field.externalId || field.unique || field.name == "SystemModstamp" { return true }
    return field.type == .reference
      && field.referenceTo.contains { !["User", "Group", "RecordType", "Profile"].contains($0) }
  }
}
