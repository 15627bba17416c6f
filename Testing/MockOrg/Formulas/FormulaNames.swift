/// What a formula may name: the fields of its record, and those of its parents where the whole schema is
/// at hand.
struct FormulaNames {
  /// The schema beyond the record.
  struct Org {
    /// Formulas inside formulas, beyond which the innermost gives nothing.
    private static let maxDepth = 10

    let schema: OrgSchema
    let object: ObjectSchema
    /// What the statement calls the object's table.
    let alias: String
    /// How many formulas the one at hand stands inside of.
    let depth: Int

    /// The SQL of a field that no column holds.
    func expression(of field: FieldSchema) -> String {
      guard let text = field.formula, depth < Self.maxDepth else { return "NULL" }
      return Formula(
        text, names: FormulaNames(fields: object.fields, org: self),
        treatsNullAsZero: field.formulaTreatsNullAsZero
      ).sql(for: field)
    }

    /// The value of a field of the object.
    fileprivate func value(of field: FieldSchema, treatsNullAsZero: Bool) -> FormulaValue? {
      guard field.isComputed else {
        return .field(
          field, "\(alias).\(RecordTable.quoted(field.name))", treatsNullAsZero: treatsNullAsZero)
      }
      let inner = Org(schema: schema, object: object, alias: alias, depth: depth + 1)
      return .field(field, "(\(inner.expression(of: field)))", treatsNullAsZero: treatsNullAsZero)
    }

    /// The value at the end of a path such as `Account.Owner:User.Name`.
    fileprivate func value(
      of path: ArraySlice<Substring>, treatsNullAsZero: Bool
    ) -> FormulaValue? {
      guard let first = path.first else { return nil }
      if path.count == 1 {
        return object.field(named: String(first)).flatMap {
          value(of: $0, treatsNullAsZero: treatsNullAsZero)
        }
      }
      // `Owner:User` says which of several objects the parent has to be.
      let parts = first.split(separator: ":", maxSplits: 1)
      guard let name = parts.first, let field = object.parentField(relationshipName: String(name))
      else { return nil }
      let targets = parts.count > 1 ? [String(parts[1])] : field.referenceTo
      let values = targets.compactMap { target -> FormulaValue? in
        guard let parent = schema.object(named: target) else { return nil }
        let parentAlias = "\(alias)_"
        let inner = Org(schema: schema, object: parent, alias: parentAlias, depth: depth)
        return inner.value(of: path.dropFirst(), treatsNullAsZero: treatsNullAsZero).map { value in
          FormulaValue(
            "(SELECT \(value.sql) FROM \(parent.table.name) AS \(parentAlias)"
              + " WHERE \(parentAlias).\"Id\" = \(alias).\(RecordTable.quoted(field.name)))",
            value.kind)
        }
      }
      guard let value = values.first else { return nil }
      let sql =
        values.count == 1
        ? value.sql : "COALESCE(\(values.map(\.sql).joined(separator: ", ")))"
      switch value.kind {
      case .boolean: return FormulaValue("IFNULL(\(sql), 0)", .boolean)
      case .number where treatsNullAsZero: return FormulaValue("IFNULL(\(sql), 0)", .number)
      default: return FormulaValue(sql, value.kind)
      }
    }
  }

  /// The fields of the record's object.
  let fields: [FieldSchema]
  /// Nil where a table is defined: there a formula sees its own record and no time.
  var org: Org?

  /// The value that a name stands for; nil if it is not known.
  func value(of name: String, treatsNullAsZero: Bool) -> FormulaValue? {
    let path = name.split(separator: ".")
    if path.count == 1 {
      guard let field = fields.first(where: { $0.name.lowercased() == name.lowercased() }) else {
        return nil
      }
      if let org { return org.value(of: field, treatsNullAsZero: treatsNullAsZero) }
      return field.isComputed
        ? nil
        : .field(field, RecordTable.quoted(field.name), treatsNullAsZero: treatsNullAsZero)
    }
    guard let org, path.count > 1 else { return nil }
    if path[0].lowercased() == "$organization" {
      return organization(String(path[1]), org.schema, treatsNullAsZero: treatsNullAsZero)
    }
    return org.value(of: path[...], treatsNullAsZero: treatsNullAsZero)
  }

  /// `$Organization.Name`.
  private func organization(
    _ name: String, _ schema: OrgSchema, treatsNullAsZero: Bool
  ) -> FormulaValue? {
    guard let object = schema.object(named: "Organization"),
      let field = object.field(named: name), field.hasColumn
    else { return nil }
    let sql = "(SELECT \(RecordTable.quoted(field.name)) FROM \(object.table.name) LIMIT 1)"
    return .field(field, sql, treatsNullAsZero: treatsNullAsZero)
  }
}
