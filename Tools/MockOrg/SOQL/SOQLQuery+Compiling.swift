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
