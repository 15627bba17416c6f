import SalesforceSDKCommon

/// `/query` and `/queryAll`.
struct QueryResource: Resource {
  let call: RESTCall

  func query() throws -> OrgResponse { try query(includeDeleted: false) }

  func queryAll() throws -> OrgResponse { try query(includeDeleted: true) }

  private func query(includeDeleted: Bool) throws -> OrgResponse {
    if let text = request[query: "explain"] {
      return try QueryPlanResource(call: call).explain(text)
    }
    guard let text = request[query: "q"], !text.trimmingBlanks().isEmpty else {
      throw ServerError("MALFORMED_QUERY", "SOQL statements cannot be empty or null")
    }
    let query = try SOQLQuery(
      compiling: text, schema: transaction.schema,
      options: try transaction.soqlOptions(includeDeleted: includeDeleted))
    let runner = QueryRunner(transaction: transaction, cursors: org.cursors)
    return OrgResponse(status: 200, body: try runner.firstPage(of: query, batchSize: batchSize))
  }

  /// A later page of a result.
  func page() throws -> OrgResponse {
    let runner = QueryRunner(transaction: transaction, cursors: org.cursors)
    return OrgResponse(status: 200, body: try runner.page(locator: call["locator"]))
  }

  /// The page size that `Sforce-Query-Options: batchSize=N` requests, within 200 to 2,000.
  private var batchSize: Int {
    let options = (request.headers["sforce-query-options"] ?? "").split(separator: ",")
    let sizes = options.compactMap { option -> Int? in
      let parts = option.split(separator: "=")
      guard parts.count == 2, String(parts[0]).trimmingBlanks().lowercased() == "batchsize" else {
        return nil
      }
      return Int(String(parts[1]).trimmingBlanks())
    }
    return sizes.first.map { min(max($0, 200), 2000) } ?? 2000
  }
}
