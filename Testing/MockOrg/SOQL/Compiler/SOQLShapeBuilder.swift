extension SOQLFieldSet {
  func contains(_ field: FieldSchema) -> Bool {
    switch self {
    case .all: true
    case .standard: !field.custom
    case .custom: field.custom
    }
  }
}

extension SOQLOperand {
  /// What stands inside `FORMAT(...)`, or the operand itself.
  var withoutFormat: (operand: SOQLOperand, isFormatted: Bool) {
    guard case .function(let name, let inner?) = self, name.text.uppercased() == "FORMAT" else {
      return (self, false)
    }
    return (inner, true)
  }
}

/// The columns and members of a SELECT list, as far as it is read.
struct SOQLSelectList {
  var columns = SOQLColumns()
  var shape: SOQLShapeBuilder
  private var names: Set<String> = []
  private var parents: Set<String> = []
  private var unnamed = 0

  init(columns: SOQLColumns = SOQLColumns(), shape: SOQLShapeBuilder) {
    self.columns = columns
    self.shape = shape
  }

  /// Takes a name for itself.
  mutating func reserve(_ name: String) throws(ServerError) {
    guard names.insert(name.lowercased()).inserted else { throw Self.duplicate(name) }
  }

  /// `expr0`, `expr1`, ... for functions without an alias.
  mutating func nextUnnamedKey() -> String {
    defer { unnamed += 1 }
    return "expr\(unnamed)"
  }

  /// Adds a member to the record at the end of `steps`.
  ///
  /// - Parameter parent: The relationship that the member shows by itself, whose fields cannot stand in
  ///   the list otherwise.
  mutating func insert(
    _ member: SOQLRecordShape.Member, under steps: [SOQLField.Step], showing parent: String? = nil
  ) throws(ServerError) {
    var path = ""
    for step in steps {
      path += (path.isEmpty ? "" : ".") + step.key
      parents.insert(path.lowercased())
      if names.contains(path.lowercased()) { throw Self.duplicate(path) }
    }
    if let parent, parents.contains(parent.lowercased()) { throw Self.duplicate(parent) }
    let steps = steps.map { step in
      SOQLShapeBuilder.Step(
        key: step.key,
        type: step.entity.isPolymorphic ? .byKeyPrefix : .named(step.entity.name),
        id: columns.index(of: step.entity.id))
    }
    shape.insert(member, under: steps[...])
  }

  private static func duplicate(_ name: String) -> ServerError {
    ServerError("INVALID_FIELD", "duplicate field selected: \(name)")
  }
}

/// The columns of a result; one expression has one column.
struct SOQLColumns {
  private(set) var sql: [String] = []
  private var indexes: [String: Int] = [:]

  /// The column of an expression.
  mutating func index(of expression: String) -> Int {
    if let index = indexes[expression] { return index }
    sql.append(expression)
    indexes[expression] = sql.count - 1
    return sql.count - 1
  }
}

/// Gathers the fields of a result under their parents, in the order in which SELECT first names each.
struct SOQLShapeBuilder {
  /// A parent on the way to a field.
  struct Step {
    var key: String
    var type: SOQLRecordShape.TypeName
    var id: Int
  }

  var type: SOQLRecordShape.TypeName
  var id: Int?
  var members: [SOQLRecordShape.Member] = []
  private var parents: [String: (position: Int, builder: SOQLShapeBuilder)] = [:]

  init(type: SOQLRecordShape.TypeName, id: Int?) {
    self.type = type
    self.id = id
  }

  mutating func insert(_ member: SOQLRecordShape.Member, under steps: ArraySlice<Step>) {
    guard let step = steps.first else {
      members.append(member)
      return
    }
    var builder = SOQLShapeBuilder(type: step.type, id: step.id)
    var position = members.count
    if let known = parents[step.key] {
      (position, builder) = known
    } else {
      members.append(.parent(key: step.key, builder.shape))
    }
    builder.insert(member, under: steps.dropFirst())
    members[position] = .parent(key: step.key, builder.shape)
    parents[step.key] = (position, builder)
  }

  var shape: SOQLRecordShape { SOQLRecordShape(type: type, id: id, members: members) }
}
