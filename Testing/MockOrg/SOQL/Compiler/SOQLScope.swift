/// The names that one SELECT can use: its object, the parents that its paths lead to, and the tables
/// that are joined for them.
struct SOQLScope {
  /// The most relationships from a child to its parent that a query can use.
  private static let maxJoins = 55
  /// The most relationships in one path.
  private static let maxPathLength = 5

  let object: ObjectSchema
  private let source: SOQLSource
  private let schema: OrgSchema
  private let aliasPrefix: String
  /// The path that an alias stands for, by lower-case alias.
  private var aliases: [String: [String]] = [:]
  private var entities: [String: SOQLEntity]
  private var joins: [String] = []

  /// - Parameter aliasPrefix: Begins the name of every table, so that an inner SELECT cannot mean a
  ///   table of an outer one.
  init(
    _ statement: SOQLStatement, object: ObjectSchema, source: SOQLSource, schema: OrgSchema,
    aliasPrefix: String
  ) throws(ServerError) {
    self.object = object
    self.source = source
    self.schema = schema
    self.aliasPrefix = aliasPrefix
    entities = ["": SOQLEntity(targets: [(object, aliasPrefix + "0")], isPolymorphic: false)]
    if let alias = statement.alias { aliases[alias.lowercased()] = [] }
    for related in statement.relatedAliases {
      let names = names(of: related.path)
      try check(names, related.path)
      aliases[related.alias.lowercased()] = names
    }
  }

  /// What an alias stands for leads to parents and, at its end, perhaps to children.
  private func check(_ names: [String], _ path: SOQLPath) throws(ServerError) {
    var object: ObjectSchema? = object
    for (index, name) in names.enumerated() {
      if let field = object?.parentField(relationshipName: name) {
        object = field.referenceTo.lazy.compactMap { schema.object(named: $0) }.first
      } else if index < names.count - 1 || object?.childRelationship(named: name) == nil {
        throw source.error(
          "INVALID_TYPE", at: path.offset,
          """
          Didn't understand relationship '\(name)' in FROM part of query call. If you are attempting \
          to use a custom relationship, be sure to append the '__r' after the custom relationship \
          name. Please reference your WSDL or the describe call for the appropriate names.
          """)
      }
    }
  }

  /// The relationship to children that a name behind FROM stands for: `c` of `FROM Account a, a.Contacts
  /// c`, or the name itself.
  func childRelationship(_ name: String) -> ChildRelationship? {
    let path = aliases[name.lowercased()] ?? [name]
    return path.count == 1 ? object.childRelationship(named: path[0]) : nil
  }

  var rootAlias: String { aliasPrefix + "0" }

  /// All that stands behind FROM, once every path is resolved.
  var from: String {
    ([RecordTable.quoted(object.name) + " AS " + rootAlias] + joins).joined(separator: " ")
  }

  /// The names of a path from the object of FROM on: aliases replaced, the object's own name removed.
  private func names(of path: SOQLPath) -> [String] {
    guard let first = path.names.first, path.names.count > 1 else { return path.names }
    if let prefix = aliases[first.lowercased()] { return prefix + path.names.dropFirst() }
    if first.lowercased() == object.name.lowercased(),
      object.parentField(relationshipName: first) == nil
    {
      return Array(path.names.dropFirst())
    }
    return path.names
  }

  /// The field at the end of a path; joins the parents on the way.
  mutating func field(_ path: SOQLPath) throws(ServerError) -> SOQLField {
    try field(names(of: path)[...], from: root, path)
  }

  /// A field of an object that a polymorphic relationship may lead to.
  mutating func field(
    _ path: SOQLPath, of target: Relationship
  ) throws(ServerError) -> SOQLField {
    try field(path.names[...], from: target, path)
  }

  /// The parents at the end of a path that has no field behind it.
  mutating func relationship(_ path: SOQLPath) throws(ServerError) -> Relationship {
    try relationship(names(of: path)[...], from: root, path)
  }

  private mutating func field(
    _ names: ArraySlice<String>, from start: Relationship, _ path: SOQLPath
  ) throws(ServerError) -> SOQLField {
    let end = try relationship(names.dropLast(), from: start, path)
    let name = names.last ?? ""
    guard let (schema, sql) = end.entity.field(named: name) else {
      throw source.error(
        "INVALID_FIELD", at: path.offset,
        """
        No such column '\(name)' on entity '\(end.entity.name)'. If you are attempting to use a \
        custom field, be sure to append the '__c' after the custom field name. Please reference \
        your WSDL or the describe call for the appropriate names.
        """)
    }
    return SOQLField(
      steps: end.steps, entity: end.entity, schema: schema, sql: sql.text, isColumn: sql.isColumn,
      offset: path.offset)
  }

  /// Where a chain of relationships ends.
  struct Relationship {
    var steps: [SOQLField.Step] = []
    var entity: SOQLEntity
    /// Tells its tables from those of other ways to the same objects.
    fileprivate var key = ""

    /// The object `name` alone, nil if it is none of the targets.
    func narrowed(to name: String) -> Relationship? {
      guard let target = entity.targets.first(where: { $0.object.name == name }) else {
        return nil
      }
      return Relationship(
        entity: SOQLEntity(targets: [target], isPolymorphic: false),
        key: key + "\(name.lowercased()):")
    }
  }

  private var root: Relationship {
    Relationship(entity: entities[""] ?? SOQLEntity(targets: [], isPolymorphic: false))
  }

  private mutating func relationship(
    _ names: ArraySlice<String>, from start: Relationship, _ path: SOQLPath
  ) throws(ServerError) -> Relationship {
    guard names.count <= Self.maxPathLength else {
      throw source.error(
        "MALFORMED_QUERY", at: path.offset,
        "a field path has at most \(Self.maxPathLength) relationships: '\(path.text)'")
    }
    var end = start
    for name in names {
      end.key += name.lowercased() + "."
      guard let (parent, schemaName) = try parent(name, of: end.entity, key: end.key) else {
        throw source.error(
          "INVALID_FIELD", at: path.offset,
          """
          Didn't understand relationship '\(name)' in field path. If you are attempting to use a \
          custom relationship, be sure to append the '__r' after the custom relationship name. \
          Please reference your WSDL or the describe call for the appropriate names.
          """)
      }
      end.entity = parent
      end.steps.append(SOQLField.Step(key: schemaName, entity: parent))
    }
    return end
  }

  /// The parents that `entity` calls `name`, and the relationship's name in the schema.
  private mutating func parent(
    _ name: String, of entity: SOQLEntity, key: String
  ) throws(ServerError) -> (SOQLEntity, String)? {
    for (object, alias) in entity.targets {
      guard let field = object.parentField(relationshipName: name),
        let relationship = field.relationshipName
      else { continue }
      if let known = entities[key] { return (known, relationship) }
      let parents = field.referenceTo.compactMap { schema.object(named: $0) }
      guard !parents.isEmpty else { return nil }
      var targets: [(ObjectSchema, String)] = []
      for parent in parents {
        guard joins.count < Self.maxJoins else { throw .queryTooComplicated }
        let parentAlias = aliasPrefix + String(joins.count + 1)
        joins.append(
          "LEFT JOIN \(RecordTable.quoted(parent.name)) AS \(parentAlias)"
            + " ON \(parentAlias).\"Id\" = \(alias).\(RecordTable.quoted(field.name))"
            + schema.andCondition(.read, on: parent, as: parentAlias))
        targets.append((parent, parentAlias))
      }
      let parent = SOQLEntity(targets: targets, isPolymorphic: field.referenceTo.count > 1)
      entities[key] = parent
      return (parent, relationship)
    }
    return nil
  }
}

/// What a path leads to: one object, or the several that a polymorphic reference may name.
struct SOQLEntity {
  /// The fields that every polymorphic parent shows: those of the platform's object `Name`.
  private static let sharedFields: Set<String> = [
    "alias", "email", "firstname", "id", "isactive", "lastname", "middlename", "name",
    "nameoralias", "phone", "profileid", "recordtypeid", "suffix", "title", "type", "userroleid",
    "username",
  ]

  /// The objects and the aliases of their tables.
  var targets: [(object: ObjectSchema, alias: String)]
  var isPolymorphic: Bool

  /// What errors call it.
  var name: String { isPolymorphic ? "Name" : targets.first?.object.name ?? "Name" }

  /// The id of whichever object it is.
  var id: String {
    Self.firstNonNull(of: targets.map { "\($0.alias).\"Id\"" })
  }

  /// A field and its SQL; whether that is a plain column, which brings its collation along.
  func field(named name: String) -> (FieldSchema, sql: (text: String, isColumn: Bool))? {
    if isPolymorphic {
      guard Self.sharedFields.contains(name.lowercased()) else { return nil }
      if name.lowercased() == "type" { return (Self.typeField, (typeName, false)) }
    }
    let found = targets.compactMap { target in
      target.object.field(named: name).map {
        (schema: $0, sql: target.object.sql(of: $0, as: target.alias))
      }
    }
    guard let first = found.first else { return nil }
    let columns = found.filter { !$0.schema.isCompound }
    let isColumn = columns.count == 1 && columns[0].schema.hasColumn
    return (first.schema, (Self.firstNonNull(of: columns.map(\.sql)), isColumn))
  }

  /// `Owner.Type` is the name of the object, whatever fields that has.
  private static let typeField = FieldSchema(name: "Type", label: "Type", type: .string, length: 40)

  private var typeName: String {
    "CASE"
      + targets.map { target in
        " WHEN \(target.alias).\"Id\" IS NOT NULL THEN "
          + SOQLFragment.quoted(target.object.name)
      }.joined() + " END"
  }

  private static func firstNonNull(of columns: [String]) -> String {
    switch columns.count {
    case 0: "NULL"
    case 1: columns[0]
    default: "COALESCE(" + columns.joined(separator: ", ") + ")"
    }
  }
}

/// A field that a path names.
struct SOQLField {
  /// A relationship on the way to the field.
  struct Step {
    /// Its name in the schema's case.
    var key: String
    var entity: SOQLEntity
  }

  var steps: [Step]
  /// The object that has the field.
  var entity: SOQLEntity
  var schema: FieldSchema
  /// `NULL` for a compound field.
  var sql: String
  /// Whether `sql` is a column, with the collation of its type.
  var isColumn: Bool
  var offset: Int

  /// The path in the schema's case.
  var canonicalPath: String { (steps.map(\.key) + [schema.name]).joined(separator: ".") }
}

extension FieldSchema {
  /// A text too long to compare: the platform keeps it where no query can look for it.
  var isLongText: Bool { type == .textarea && length > 255 }

  /// Whether WHERE can name the field.
  var isFilterable: Bool {
    switch type {
    case .address, .location, .base64, .encryptedstring, .complexvalue: false
    default: !isLongText
    }
  }

  /// Whether ORDER BY can name the field.
  var isSortable: Bool { isFilterable && type != .multipicklist }

  /// Whether GROUP BY can name the field.
  var isGroupable: Bool {
    switch type {
    case .datetime, .time, .double, .currency, .percent, .long, .multipicklist: false
    default: isFilterable
    }
  }

  /// Whether an aggregate function takes the field.
  func supports(_ aggregate: SOQLAggregate) -> Bool {
    switch aggregate {
    case .count: isFilterable
    case .countDistinct: isFilterable && type != .multipicklist
    case .sum, .avg: [.int, .long, .double, .currency, .percent].contains(type)
    case .min, .max: isSortable && type != .boolean
    }
  }
}

/// A function over the rows of a group.
enum SOQLAggregate: String {
  case count = "COUNT"
  case countDistinct = "COUNT_DISTINCT"
  case sum = "SUM"
  case avg = "AVG"
  case min = "MIN"
  case max = "MAX"
}
