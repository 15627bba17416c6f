import GRDB

/// What accompanies a search: which objects it looks at, how its results are laid out, and what it
/// suggests while the user still types.
struct SearchAidsResource: Resource {
  let call: RESTCall

  /// The objects that a search looks at first: those that the user has had to do with, then the usual
  /// ones.
  func scopeOrder() -> OrgResponse {
    let usual = ["Account", "Contact", "Opportunity", "Lead", "Case", "Campaign", "Task", "Event"]
    let recent = org.recents.items(of: transaction.userID).compactMap {
      transaction.schema.object(keyPrefix: $0.prefix(3))?.name
    }
    var seen: Set<String> = []
    let objects = (recent + usual).filter { seen.insert($0).inserted }.compactMap {
      transaction.schema.object(named: $0)
    }.filter(\.searchable)
    return .json(
      .array(objects) {
        ["type": .string($0.name), "url": .string(url("sobjects/\($0.name)/describe"))]
      })
  }

  /// `?q=A,B`: the columns of the results of each object.
  func layouts() throws -> OrgResponse {
    let objects = try request.objects(named: "q", in: transaction)
    return .json(
      .array(objects) { object in
        [
          "errorMsg": nil, "label": "Search Results", "limitRows": 25,
          "objectType": .string(object.name),
          "searchColumns": .array(LayoutPlan(object).compactFields) { column($0, of: object) },
        ]
      })
  }

  private func column(_ field: FieldSchema, of object: ObjectSchema) -> ResponseJSON {
    [
      "field": "\(object.name).\(field.name)",
      "format": .string(orNull: field.type.storage == .exact ? field.type.rawValue : nil),
      "label": .string(field.label), "name": .string(field.name),
    ]
  }

  /// `?q=TEXT&sobject=A,B&limit=N`: records whose name has a word that begins so.
  func suggestions() throws -> OrgResponse {
    let text = (request[query: "q"] ?? "").trimmingBlanks()
    guard text.count >= 2 else {
      throw ServerError("MISSING_ARGUMENT", "The q parameter needs two characters or more.")
    }
    let names = request.list("sobject")
    guard !names.isEmpty else {
      throw ServerError("MISSING_ARGUMENT", "The sobject parameter has to name objects.")
    }
    let limit = min(max(1, Int(request[query: "limit"] ?? "") ?? 5), 200)
    var found: [RecentRecord] = []
    var hasMore = false
    let pattern = text.replacing("\\", with: "\\\\").replacing("%", with: "\\%")
      .replacing("_", with: "\\_")
    for name in names {
      let object = try transaction.object(named: name)
      guard let field = object.nameField, field.hasColumn else { continue }
      let column = RecordTable.quoted(field.name)
      let statement = try transaction.database.cachedStatement(
        sql: """
          SELECT "Id", \(column) FROM \(object.table.name) AS t0 WHERE "IsDeleted" = 0\
          \(transaction.schema.andCondition(.read, on: object, as: "t0")) \
          AND (\(column) LIKE ?1 || '%' ESCAPE '\\' OR \(column) LIKE '% ' || ?1 || '%' ESCAPE '\\') \
          ORDER BY \(column) LIMIT ?2
          """)
      let rows = try Row.fetchAll(statement, arguments: [pattern, limit + 1])
      hasMore = hasMore || rows.count > limit
      found += rows.prefix(limit).map {
        RecentRecord(object: object, id: $0[0], nameField: field.name, name: $0[1])
      }
    }
    return .json([
      "autoSuggestResults": .array(found) { $0.json(transaction) },
      "hasMoreResults": .bool(hasMore),
    ])
  }
}

extension OrgRequest {
  /// The objects that a query parameter names.
  ///
  /// - Throws: ``ServerError`` if it names none, or one that the org does not know.
  func objects(
    named parameter: String, in transaction: OrgTransaction
  ) throws(ServerError) -> [ObjectSchema] {
    let names = list(parameter)
    guard !names.isEmpty else {
      throw ServerError("MISSING_ARGUMENT", "The \(parameter) parameter has to name objects.")
    }
    var objects: [ObjectSchema] = []
    for name in names { objects.append(try transaction.object(named: name)) }
    return objects
  }
}
