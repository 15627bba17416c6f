extension SOQLParser {
  /// One item of a SELECT list.
  mutating func selectItem(_ role: Role) throws(ServerError) -> SOQLSelectItem {
    if token.isSymbol("(") {
      guard role == .query || role == .children else { throw unexpectedToken() }
      advance()
      let children = try nested { (parser) throws(ServerError) in
        try parser.statement(.children)
      }
      try expectRightParenthesis()
      return .children(children)
    }
    if token.isKeyword("FROM"), !token(ahead: 1).isSymbol("."), !token(ahead: 1).isSymbol(",") {
      throw unexpectedToken()
    }
    if token.isKeyword("FIELDS"), token(ahead: 1).isSymbol("(") {
      let offset = token.offset
      advance()
      advance()
      guard let set = SOQLFieldSet(rawValue: token.text.uppercased()) else {
        throw unexpectedToken()
      }
      advance()
      try expectRightParenthesis()
      return .fields(set, offset: offset)
    }
    if token.isKeyword("TYPEOF"), token(ahead: 1).kind == .name, !token(ahead: 1).isKeyword("FROM")
    {
      return .typeOf(try typeOf())
    }
    let operand = try operand()
    return .operand(operand, alias: try alias())
  }

  /// A field or a function.
  mutating func operand() throws(ServerError) -> SOQLOperand {
    guard token(ahead: 1).isSymbol("(") else { return .field(try path()) }
    let function = try name()
    advance()
    if function.text.uppercased() == "DISTANCE" { return .distance(try distance(function)) }
    if take(symbol: ")") { return .function(function, nil) }
    let argument = try nested { (parser) throws(ServerError) in try parser.operand() }
    try expectRightParenthesis()
    return .function(function, argument)
  }

  // MARK: DISTANCE

  private mutating func distance(_ name: SOQLName) throws(ServerError) -> SOQLDistance {
    let from = try place()
    guard take(symbol: ",") else { throw unexpectedToken() }
    let to = try place()
    guard take(symbol: ","), case .string(let text) = token.kind,
      let unit = SOQLDistance.Unit(rawValue: text.text.lowercased())
    else { throw unexpectedToken() }
    advance()
    try expectRightParenthesis()
    return SOQLDistance(name: name, from: from, to: to, unit: unit)
  }

  /// A location field, or `GEOLOCATION(latitude, longitude)`.
  private mutating func place() throws(ServerError) -> SOQLDistance.Place {
    guard token.isKeyword("GEOLOCATION"), token(ahead: 1).isSymbol("(") else {
      return .field(try path())
    }
    advance()
    advance()
    let latitude = try degrees()
    guard take(symbol: ",") else { throw unexpectedToken() }
    let longitude = try degrees()
    try expectRightParenthesis()
    return .point(latitude: latitude, longitude: longitude)
  }

  private mutating func degrees() throws(ServerError) -> Double {
    if token.isSymbol(":") { throw bindVariable() }
    guard token.kind == .number, let number = Double(token.text), number.isFinite else {
      throw unexpectedToken()
    }
    advance()
    return number
  }

  // MARK: TYPEOF

  private mutating func typeOf() throws(ServerError) -> SOQLTypeOf {
    advance()
    var typeOf = SOQLTypeOf(relationship: try path(), branches: [])
    repeat {
      try expect("WHEN")
      let object = try name()
      if typeOf.branches.contains(where: { $0.object.text.lowercased() == object.text.lowercased() }
      ) {
        throw .malformedQuery("WHEN clause operand [\(object.text)] is not unique")
      }
      try expect("THEN")
      typeOf.branches.append(.init(object: object, fields: try typeOfFields()))
    } while token.isKeyword("WHEN")
    if take("ELSE") { typeOf.otherwise = try typeOfFields() }
    guard take("END") else {
      guard token.isKeyword("FROM") || token.isSymbol(",") else { throw unexpectedToken() }
      throw source.syntaxError(at: token.offset, "Missing 'END' at '\(token.text)'")
    }
    return typeOf
  }

  private mutating func typeOfFields() throws(ServerError) -> [SOQLPath] {
    var fields: [SOQLPath] = []
    repeat { fields.append(try path()) } while take(symbol: ",")
    return fields
  }
}
