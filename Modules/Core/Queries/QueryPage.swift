import HTTPTypes
import SalesforceSDKCommon

/// One page of the records of a query or a search, as a type of the caller (CO-191).
public struct QueryPage<Record: Decodable & Sendable>: Sendable {
  /// The number of records that the query found; for a search, the number in the response.
  public let totalSize: Int
  /// Whether this is the last page.
  public let done: Bool
  /// The records of this page.
  public let records: [Record]
  /// The address of the next page; `nil` on the last.
  public let nextRecordsURL: String?
  /// The hash value of the first record.
  let firstHash: Int?
  /// The number of records by the response itself.
  let statedTotal: Int?

  /// Reads a response.
  ///
  /// - Throws: ``RestError`` `malformedResponse` if it is not a page, or a record is not a `Record`.
  public init(_ response: RestResponse) throws(RestError) {
    let json = try response.json()
    guard let list = json["records"] ?? json["searchRecords"], list.kind == .array else {
      throw RestError(
        .malformedResponse, "The response to a query has no records.", body: response.body)
    }
    var records: [Record] = []
    records.reserveCapacity(list.count)
    for item in list.elements {
      do throws(JSONError) {
        records.append(try item.decode(as: Record.self))
      } catch {
        throw RestError(
          .malformedResponse, "Record \(records.count) of a page is no \(Record.self).",
          body: response.body, cause: error)
      }
    }
    self.records = records
    firstHash = list.elements.first { _ in true }?.textHash
    statedTotal = json["totalSize"]?.int64.map { Int(clamping: $0) }
    totalSize = statedTotal ?? records.count
    nextRecordsURL = json["nextRecordsUrl"]?.string
    done = json["done"]?.bool ?? (nextRecordsURL == nil)
  }
}

extension RestClient {
  /// Runs a query or a search and returns the first page of its records as the caller's type.
  ///
  /// - Parameter request: Such as ``RestRequest/query(_:batchSize:apiVersion:)`` or
  ///   ``RestRequest/search(_:apiVersion:)``.
  /// - Throws: As ``send(_:)``; ``RestError`` `invalidRequest` if `request` is something else,
  ///   `malformedResponse` if the response has another form.
  public func fetchRecords<Record: Decodable & Sendable>(
    ofModelType type: Record.Type, for request: RestRequest
  ) async throws -> QueryPage<Record> {
    guard request.isQuery(apiVersion: apiVersion) else {
      throw RestError(.invalidRequest, "\(request) is neither a query nor a search.")
    }
    return try QueryPage(try await send(request))
  }

  /// Runs a query and returns the first page of its records as the caller's type.
  ///
  /// - Throws: As ``fetchRecords(ofModelType:for:)``.
  public func fetchRecords<Record: Decodable & Sendable>(
    ofModelType type: Record.Type, forQuery soql: String
  ) async throws -> QueryPage<Record> {
    try await fetchRecords(ofModelType: type, for: .query(soql))
  }

  /// Returns all pages of a query, each requested when it is needed.
  public func pages<Record: Decodable & Sendable>(
    ofModelType type: Record.Type, for request: RestRequest
  ) -> QueryPages<Record> {
    QueryPages(client: self, first: request)
  }
}

/// The pages of a query in order.
public struct QueryPages<Record: Decodable & Sendable>: AsyncSequence, Sendable {
  public typealias Element = QueryPage<Record>
  let client: RestClient
  let first: RestRequest

  /// Requests one page after the other.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let client: RestClient
    var request: RestRequest?
    private var bound = PageBound<String>()
    /// The reason why no further page is requested.
    private var fault: PageBound<String>.Fault?

    init(client: RestClient, request: RestRequest) {
      self.client = client
      self.request = request
    }

    /// Returns the next page; `nil` after the last.
    ///
    /// - Throws: As ``RestClient/fetchRecords(ofModelType:for:)``; ``RestError`` `malformedResponse` if the
    ///   pages do not end: they form a cycle, 1,000 pages in a row bring no new record, or they have clearly more
    ///   records than the first page's ``QueryPage/totalSize``.
    public mutating func next() async throws -> QueryPage<Record>? {
      guard let request else { return nil }
      if let fault {
        self.request = nil
        throw RestError(
          .malformedResponse,
          fault.reason
            + " Send the query again; if it fails again, the server's paging is at fault."
        )
      }
      let page = try await client.fetchRecords(ofModelType: Record.self, for: request)
      self.request = page.nextRecordsURL.map { .queryMore(nextRecordsURL: $0) }
      fault = page.nextRecordsURL.flatMap { next in
        bound.follow(
          next, count: page.records.count, first: page.firstHash, total: page.statedTotal)
      }
      return page
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(client: client, request: first) }
}

extension RestRequest {
  /// Whether this is a query, a further page of one, or a search.
  fileprivate func isQuery(apiVersion: String) -> Bool {
    let path = target(apiVersion: apiVersion).prefix { $0 != "?" }
    let parts = path.split(separator: "/").drop { APIVersion($0) == nil }.dropFirst()
    return method == .get && ["query", "queryAll", "search"].contains(parts.first ?? "")
  }
}
