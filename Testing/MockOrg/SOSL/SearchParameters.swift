import SalesforceSDKCommon

/// A search without SOSL: a search term, and for each object what to show of it.
struct SearchParameters {
  /// One object to look through.
  private struct Target {
    var name: String
    var fields: [String] = []
    var condition: String?
    var order: String?
    var limit: Int?
    var offset: Int?
  }

  private var term = ""
  private var fields: [String] = []
  private var targets: [Target] = []
  private var group = SOSLFieldGroup.all
  private var overallLimit: Int?
  private var defaultLimit: Int?
  private var showsLabels = false

  /// Reads `?q=Acme&sobject=Account&Account.fields=Id,Name&Account.limit=5`.
  ///
  /// - Throws: ``ServerError`` `INVALID_SEARCH` for a number or group that is none.
  init(_ query: [(name: String, value: String)]) throws(ServerError) {
    for (name, value) in query where name.lowercased() == "sobject" {
      targets += Self.list(value).map { Target(name: $0) }
    }
    for (name, value) in query {
      let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        try set(name, value)
        continue
      }
      guard
        let index = targets.firstIndex(where: { $0.name.lowercased() == parts[0].lowercased() })
      else { continue }
      switch parts[1].lowercased() {
      case "fields": targets[index].fields = Self.list(value)
      case "where": targets[index].condition = value
      case "orderby": targets[index].order = value
      case "limit": targets[index].limit = try Self.number(name, value)
      case "offset": targets[index].offset = try Self.number(name, value)
      default: continue
      }
    }
  }

  private mutating func set(_ name: String, _ value: String) throws(ServerError) {
    switch name.lowercased() {
    case "q": term = value
    case "fields": fields = Self.list(value)
    case "in": group = try Self.group(value)
    case "overalllimit": overallLimit = try Self.number(name, value)
    case "defaultlimit": defaultLimit = try Self.number(name, value)
    case "metadata": showsLabels = value.uppercased() == "LABELS"
    default: return
    }
  }

  /// Reads `{"q": "Acme", "sobjects": [{"name": "Account", "fields": ["Id"], "limit": 5}]}`.
  ///
  /// - Throws: ``ServerError`` `INVALID_SEARCH` for a number or group that is none.
  init(body: JSONSlice) throws(ServerError) {
    term = body["q"]?.string ?? ""
    fields = Self.strings(body["fields"])
    if let name = body["in"]?.string { group = try Self.group(name) }
    overallLimit = try Self.number("overallLimit", body["overallLimit"])
    defaultLimit = try Self.number("defaultLimit", body["defaultLimit"])
    showsLabels = body["metadata"]?.string?.uppercased() == "LABELS"
    guard let objects = body["sobjects"], objects.kind == .array else { return }
    for object in objects.elements {
      guard let name = object["name"]?.string else {
        throw ServerError("INVALID_SEARCH", "every sobject needs a name")
      }
      targets.append(
        Target(
          name: name, fields: Self.strings(object["fields"]), condition: object["where"]?.string,
          order: object["orderBy"]?.string, limit: try Self.number("limit", object["limit"]),
          offset: try Self.number("offset", object["offset"])))
    }
  }

  /// The search that the parameters stand for.
  func statement() throws(ServerError) -> SOSLStatement {
    guard !term.trimmingBlanks().isEmpty else {
      throw .malformedSearch("A search string has to be specified")
    }
    let expression = try SOSLExpressionParser.parse(term, at: 0, in: SOQLSource(term))
    var statement = SOSLStatement(expression: expression, group: group)
    statement.limit = overallLimit
    statement.defaultLimit = defaultLimit
    statement.showsLabels = showsLabels
    for target in targets {
      let names = target.fields.isEmpty ? fields : target.fields
      var text = names.isEmpty ? "Id" : names.joined(separator: ", ")
      if let condition = target.condition { text += " WHERE " + condition }
      if let order = target.order { text += " ORDER BY " + order }
      var returned = try SOSLParser.returned(object: target.name, text)
      returned.limit = target.limit ?? returned.limit
      returned.offset = target.offset ?? returned.offset
      statement.returning.append(returned)
    }
    return statement
  }

  // MARK: Values

  private static func list(_ text: String) -> [String] {
    text.split(separator: ",").map { String($0).trimmingBlanks() }.filter { !$0.isEmpty }
  }

  private static func strings(_ array: JSONSlice?) -> [String] {
    guard let array, array.kind == .array else { return [] }
    return array.elements.compactMap(\.string)
  }

  private static func group(_ name: String) throws(ServerError) -> SOSLFieldGroup {
    guard let group = SOSLFieldGroup(rawValue: name.uppercased()) else {
      throw ServerError("INVALID_SEARCH", "'in' has to be ALL, NAME, EMAIL, PHONE or SIDEBAR")
    }
    return group
  }

  private static func number(_ name: String, _ text: String) throws(ServerError) -> Int {
    guard let number = Int(text), number >= 0 else {
      throw ServerError("INVALID_SEARCH", "\(name) has to be a number: \(text)")
    }
    return min(number, Int(Int32.max))
  }

  private static func number(_ name: String, _ value: JSONSlice?) throws(ServerError) -> Int? {
    guard let value, !value.isNull else { return nil }
    return try number(name, value.int64.map(String.init) ?? value.string ?? "")
  }
}
