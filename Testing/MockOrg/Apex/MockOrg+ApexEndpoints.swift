public import SalesforceSDKCommon
import Synchronization

/// A request to an endpoint under `/services/apexrest`.
public struct MockOrgApexRequest: Sendable {
  /// The HTTP method, in capitals.
  public let method: String
  /// The path's segments behind the endpoint's own, percent-decoded.
  public let path: [String]
  /// The query's parts, decoded.
  public let query: [(name: String, value: String)]
  /// Header values by lower-case name.
  public let headers: [String: String]
  /// The body as it came.
  public let body: [UInt8]

  /// The value of a query parameter.
  public subscript(query name: String) -> String? { query.first { $0.name == name }?.value }

  /// The body as JSON.
  ///
  /// - Throws: ``MockOrgError`` `refused` if it is none; the client gets that error.
  public func json() throws(MockOrgError) -> JSONSlice {
    do {
      return try JSONSlice(parsing: body)
    } catch {
      throw MockOrgError(.refused, "JSON_PARSER_ERROR: \(error.message)")
    }
  }
}

/// The response of an endpoint under `/services/apexrest`.
public struct MockOrgApexResponse: Sendable {
  /// The HTTP status.
  public var status: Int
  /// The body; nil for none.
  public var json: JSONValue?

  /// Makes a response.
  public init(status: Int = 200, json: JSONValue? = nil) {
    self.status = status
    self.json = json
  }
}

extension MockOrg {
  /// Handles the requests under `/services/apexrest/<name>`, as a class in Apex would.
  ///
  /// Requests need a session, are logged and suffer faults like all others. An endpoint that is there
  /// already is replaced.
  ///
  /// ```swift
  /// org.setApexEndpoint("Visits") { request, org in
  ///   let records = try await org.query("SELECT Id, Name FROM Visit__c")
  ///   return MockOrgApexResponse(json: .array(records.map(\.value)))
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - name: The first segment behind `apexrest`; compared without case.
  ///   - respond: Returns the response; it works with the records of the org that it is given. A
  ///     ``MockOrgError`` `refused` that it throws becomes a 400 with the platform's code, every other
  ///     error a 500.
  public func setApexEndpoint(
    _ name: String,
    _ respond: @escaping @Sendable (MockOrgApexRequest, MockOrg) async throws -> MockOrgApexResponse
  ) {
    apexEndpoints.set(name, respond)
  }
}

/// The endpoints of one org.
final class ApexEndpoints: Sendable {
  typealias Endpoint =
    @Sendable (MockOrgApexRequest, MockOrg) async throws -> MockOrgApexResponse

  private let endpoints = Mutex<[String: Endpoint]>([:])

  func set(_ name: String, _ endpoint: @escaping Endpoint) {
    endpoints.withLock { $0[name.lowercased()] = endpoint }
  }

  /// Handles a request of a session.
  ///
  /// - Parameter path: The segments behind `/services/apexrest`.
  func respond(to request: OrgRequest, path: [String], _ org: MockOrg) async -> OrgResponse {
    guard let name = path.first?.lowercased(),
      let endpoint = endpoints.withLock({ $0[name] })
    else {
      return OrgResponse(
        ServerError(
          status: 404, "NOT_FOUND", "Could not find a match for URL /\(path.joined(separator: "/"))"
        ))
    }
    do {
      let response = try await endpoint(
        MockOrgApexRequest(
          method: request.method, path: Array(path.dropFirst()), query: request.query,
          headers: request.headers, body: request.body), org)
      guard let json = response.json else { return .empty(response.status) }
      return OrgResponse(status: response.status, body: Array(json.text.utf8))
    } catch let error as MockOrgError where error.code == .refused {
      let parts = error.message.split(separator: ":", maxSplits: 1).map(String.init)
      return OrgResponse(
        ServerError(
          status: 400, parts.count > 1 ? parts[0] : "APEX_ERROR",
          (parts.last ?? "").trimmingBlanks()))
    } catch {
      return OrgResponse(
        ServerError(status: 500, "APEX_ERROR", "System.UnexpectedException: \(type(of: error))"))
    }
  }
}
