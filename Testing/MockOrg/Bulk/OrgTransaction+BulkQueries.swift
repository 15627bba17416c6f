import SalesforceSDKCommon

extension OrgTransaction {
  /// A query that both versions of the Bulk API take: records of one object, no lists inside them.
  func bulkQuery(_ text: String, includeDeleted: Bool) throws -> SOQLQuery {
    let query = try SOQLQuery(
      compiling: text, schema: schema,
      options: soqlOptions(includeDeleted: includeDeleted))
    guard case .records = query.kind else {
      throw ServerError(
        "FEATURENOTENABLED", "Aggregate Relationships not supported in Bulk Query")
    }
    try Self.checkBulkMembers(of: query.record)
    return query
  }

  /// What stands in a file is plain values: no lists, and no objects but parents.
  private static func checkBulkMembers(of shape: SOQLRecordShape) throws(ServerError) {
    for member in shape.members {
      switch member {
      case .children: throw ServerError("INVALIDBATCH", "Nested Query not supported in Bulk API")
      case .compound:
        throw ServerError(
          "FEATURENOTENABLED", "Selecting compound data not supported in Bulk Query")
      case .variants:
        throw ServerError("FEATURENOTENABLED", "TYPEOF is not supported in Bulk Query")
      case .parent(_, let parent): try checkBulkMembers(of: parent)
      case .field, .formatted: break
      }
    }
  }

  /// All records of a query.
  func allRecords(of query: SOQLQuery) throws -> JSONElements {
    let bytes = try QueryRunner(transaction: self, cursors: QueryCursors())
      .firstPage(of: query, batchSize: .max)
    guard let records = try JSONSlice(parsing: bytes)["records"] else {
      throw ServerError(status: 500, "UNKNOWN_EXCEPTION", "The query has no result.")
    }
    return records.elements
  }
}

extension SOQLRecordShape {
  /// The columns of a result, each by the way to it through the parents.
  var columns: [[String]] {
    members.flatMap { member -> [[String]] in
      if case .field(let key, _, _) = member { return [[key]] }
      if case .parent(let key, let parent) = member { return parent.columns.map { [key] + $0 } }
      return []
    }
  }
}

extension JSONSlice {
  /// The text of a value as a file shows it; a missing one is empty.
  func text(at path: [String]) -> String {
    var value = self
    for key in path {
      guard let inner = value[key] else { return "" }
      value = inner
    }
    return value.isNull ? "" : value.string ?? value.description
  }
}
