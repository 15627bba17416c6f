import GRDB
import SalesforceSDKCommon

/// What accompanies a search: which objects it looks at, how its results are laid out, and what it
/// suggests while the user still types.
extension RESTService {
  /// `/search/scopeOrder`, `/search/layout` and `/search/suggestions`.
  func searchResource(_ request: OrgRequest, _ name: String) throws -> OrgResponse {
    switch name {
    case "scopeOrder": return try searchScope()
    case "layout": return try searchLayouts(request)
    case "suggestions": return try suggestions(request)
    default: throw ServerError.notFound()
    }
  }

  /// The objects that a search looks at first: those that the user has had to do with, then the usual
  /// ones.
  private func searchScope() throws -> OrgResponse {
    let usual = ["Account", "Contact", "Opportunity", "Lead", "Case", "Campaign", "Task", "Event"]
    let recent = org.recents.items(of: transaction.userID).compactMap {
      transaction.schema.object(keyPrefix: $0.prefix(3))?.name
    }
    var seen: Set<String> = []
    let objects = (recent + usual).filter { seen.insert($0).inserted }.compactMap {
      transaction.schema.object(named: $0)
    }.filter(\.searchable)
    return .json { writer in
      writer.beginArray()
      for object in objects {
        writer.beginObject()
        writer.key("type")
        writer.string(object.name)
        writer.key("url")
        writer.string("\(transaction.versionPath)/sobjects/\(object.name)/describe")
        writer.endObject()
      }
      writer.endArray()
    }
  }

  private func searchLayouts(_ request: OrgRequest) throws -> OrgResponse {
    let names = (request[query: "q"] ?? "").split(separator: ",").map {
      String($0).trimmingBlanks()
    }
    guard !names.isEmpty else {
      throw ServerError("MISSING_ARGUMENT", "The q parameter has to name objects.")
    }
    let objects = try names.map { try transaction.object(named: $0) }
    return .json { writer in
      writer.beginArray()
      for object in objects {
        writer.beginObject()
        writer.key("errorMsg")
        writer.null()
        writer.key("label")
        writer.string("Search Results")
        writer.key("limitRows")
        writer.integer(25)
        writer.key("objectType")
        writer.string(object.name)
        writer.key("searchColumns")
        writer.beginArray()
        for field in LayoutPlan(object).compactFields {
          writer.beginObject()
          writer.key("field")
          writer.string("\(object.name).\(field.name)")
          writer.key("format")
          writer.string(orNull: field.type.storage == .exact ? field.type.rawValue : nil)
          writer.key("label")
          writer.string(field.label)
          writer.key("name")
          writer.string(field.name)
          writer.endObject()
        }
        writer.endArray()
        writer.endObject()
      }
      writer.endArray()
    }
  }

  /// `?q=TEXT&sobject=A,B&limit=N`: records whose name has a word that begins so.
  private func suggestions(_ request: OrgRequest) throws -> OrgResponse {
    let text = (request[query: "q"] ?? "").trimmingBlanks()
    guard text.count >= 2 else {
      throw ServerError("MISSING_ARGUMENT", "The q parameter needs two characters or more.")
    }
    let names = (request[query: "sobject"] ?? "").split(separator: ",").map(String.init)
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
    return .json { writer in
      writer.beginObject()
      writer.key("autoSuggestResults")
      writer.beginArray()
      for record in found { writeRecent(record, idKey: "Id", to: &writer) }
      writer.endArray()
      writer.key("hasMoreResults")
      writer.bool(hasMore)
      writer.endObject()
    }
  }
}
