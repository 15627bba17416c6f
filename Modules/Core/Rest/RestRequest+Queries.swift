import HTTPTypes

// The factories of CO-131 that find records.
extension RestRequest {
  /// Runs a SOQL query and returns its first page.
  ///
  /// - Parameter batchSize: The number of records per page, clamped to 200...2000; the server may
  ///   return fewer or more. Default: 2000, as on the server.
  public static func query(
    _ soql: String, batchSize: Int = maxBatchSize, apiVersion: String? = nil
  ) -> RestRequest {
    query(resource: "query", soql, batchSize, apiVersion)
  }

  /// Runs a SOQL query that includes deleted and archived records.
  ///
  /// - Parameter batchSize: As in ``query(_:batchSize:apiVersion:)``.
  public static func queryAll(
    _ soql: String, batchSize: Int = maxBatchSize, apiVersion: String? = nil
  ) -> RestRequest {
    query(resource: "queryAll", soql, batchSize, apiVersion)
  }

  /// The next page of a query.
  ///
  /// - Parameter nextRecordsURL: The `nextRecordsUrl` of the page before: a path or an address.
  public static func queryMore(nextRecordsURL: String) -> RestRequest {
    RestRequest(path: nextRecordsURL)
  }

  /// Runs a SOSL search.
  public static func search(_ sosl: String, apiVersion: String? = nil) -> RestRequest {
    RestRequest(path: "\(root(apiVersion))/search", query: [RestQueryItem("q", sosl)])
  }

  /// The maximum number of records on a page of a query.
  public static let maxBatchSize = 2000
  /// The smallest number that can be requested.
  public static let minBatchSize = 200

  private static func query(
    resource: String, _ soql: String, _ batchSize: Int, _ apiVersion: String?
  ) -> RestRequest {
    var request = RestRequest(
      path: "\(root(apiVersion))/\(resource)", query: [RestQueryItem("q", soql)])
    let size = min(max(batchSize, minBatchSize), maxBatchSize)
    if size != maxBatchSize { request.headers[.queryOptions] = "batchSize=\(size)" }
    return request
  }
}

extension HTTPField.Name {
  /// Wishes about a query's pages.
  static var queryOptions: HTTPField.Name { .platform("Sforce-Query-Options") }

  /// A header field whose name is written in this module.
  static func platform(_ name: String) -> HTTPField.Name {
    guard let field = HTTPField.Name(name) else {
      preconditionFailure("\(name) is no name of a header field")
    }
    return field
  }
}
