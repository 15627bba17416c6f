extension SOQLQuery {
  /// Parses a query, checks it against the schema and compiles it to SQL.
  ///
  /// Values of the query become arguments of the statement, never a part of its text.
  ///
  /// - Throws: ``ServerError`` with the platform's code and message: `MALFORMED_QUERY` where the text
  ///   does not follow the grammar, `INVALID_TYPE` and `INVALID_FIELD` where it names what the schema
  ///   does not have, `INVALID_QUERY_FILTER_OPERATOR` where an operator or id does not suit a field,
  ///   `NUMBER_OUTSIDE_VALID_RANGE` for an offset beyond 2,000, `QUERY_TOO_COMPLICATED` for more than
  ///   one statement can do.
  init(
    compiling text: String, schema: OrgSchema, options: SOQLOptions
  ) throws(ServerError) {
    let source = SOQLSource(text)
    let statement = try SOQLParser.parse(
      source, allowsApexSyntax: options.allowsApexSyntax)
    let object = try SOQLCompiler.object(of: statement, source: source, schema: schema)
    try self.init(statement, object: object, source: source, schema: schema, options: options)
  }

  /// Compiles a query of some fields of an object and of its parents, without conditions.
  ///
  /// - Parameter fields: Paths such as `Account.Owner.Name`; nothing else of the language.
  /// - Throws: ``ServerError`` `INVALID_FIELD`.
  init(
    fields: [String], of object: ObjectSchema, schema: OrgSchema, options: SOQLOptions
  ) throws(ServerError) {
    let source = SOQLSource(fields.joined(separator: ","))
    var select: [SOQLSelectItem] = []
    var offset = 0
    for field in fields {
      let names = field.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isPartOfName) }) else {
        throw .unknownField(field, of: object.name)
      }
      select.append(.operand(.field(SOQLPath(names: names, offset: offset)), alias: nil))
      offset += field.utf8.count + 1
    }
    try self.init(
      SOQLStatement(select: select, object: SOQLName(text: object.name, offset: 0)),
      object: object, source: source, schema: schema, options: options)
  }

  private static func isPartOfName(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == 0x5F
  }

  private init(
    _ statement: SOQLStatement, object: ObjectSchema, source: SOQLSource, schema: OrgSchema,
    options: SOQLOptions
  ) throws(ServerError) {
    var compiler = try SOQLCompiler(
      statement, object: object, source: source, schema: schema, options: options)
    if compiler.isCount {
      self = try compiler.count()
    } else if compiler.isGrouped {
      self = try compiler.groups()
    } else {
      self = try compiler.records()
    }
  }
}
