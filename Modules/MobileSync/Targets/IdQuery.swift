public import SalesforceSDKCommon
public import SalesforceSDKCore

/// A query of records of one object by their ids.
///
/// Queries are part of the URL, which the server limits to 16 KB, so long lists are split.
public struct IdQuery: Sendable {
  /// The fields to select.
  public let fields: [String]
  /// The object.
  public let objectType: String
  /// The field that contains the ids.
  public let idField: String

  /// Describes a query.
  public init(fields: [String], objectType: String, idField: String) {
    self.fields = fields
    self.objectType = objectType
    self.idField = idField
  }

  /// Returns the query for one slice of ids: `select … from … where … IN ('…', '…')`.
  ///
  /// - Parameter condition: Appended to the list with `AND`; empty for none.
  public func soql(_ ids: some Sequence<String>, and condition: String = "") -> String {
    "select \(fields.joined(separator: ", ")) from \(objectType) "
      + "where \(idField) IN \(SOQLLiteral.list(ids))"
      + (condition.isEmpty ? "" : " AND \(condition)")
  }

  /// Returns the records with these ids that the server has, in slices of at most `count` ids.
  ///
  /// - Throws: As ``SyncContext/json(for:)``.
  public func records(
    _ ids: [String], atMost count: Int = SOQLLiteral.maxIds, in context: SyncContext
  ) async throws -> [JSONSlice] {
    var records: [JSONSlice] = []
    for slice in SOQLLiteral.slices(of: ids, atMost: count) {
      records += try await Self.allRecords(of: .query(soql(slice)), in: context)
    }
    return records
  }

  /// Returns which of these ids the server has, requested in slices of at most `count`. ``fields``
  /// are ignored.
  ///
  /// - Throws: As ``allIds(of:field:in:)``.
  public func existing(
    among ids: [String], atMost count: Int = SOQLLiteral.maxIds, in context: SyncContext
  ) async throws -> Set<String> {
    let query = IdQuery(fields: [idField], objectType: objectType, idField: idField)
    var existing: Set<String> = []
    for slice in SOQLLiteral.slices(of: ids, atMost: count) {
      existing.formUnion(
        try await Self.allIds(of: .query(query.soql(slice)), field: idField, in: context))
    }
    return existing
  }

  /// Returns the ids of the records of all pages of a query.
  ///
  /// - Throws: As ``SyncContext/json(for:)``; ``SyncError`` `unexpectedResponse` if a record has no
  ///   text in `field`.
  public static func allIds(
    of request: RestRequest, field: String, in context: SyncContext
  ) async throws -> Set<String> {
    try SyncContext.ids(
      of: try await allRecords(of: request, in: context), in: field, from: request)
  }

  /// Returns the records of all pages of a query. If the server drops the pages in between, it is sent once more.
  ///
  /// - Throws: As ``SyncContext/json(for:)``; ``SyncError`` `unexpectedResponse` if the pages do not
  ///   end, see ``PageTrail``.
  public static func allRecords(
    of request: RestRequest, in context: SyncContext
  ) async throws -> [JSONSlice] {
    try await allRecords(of: request, at: nil, in: context)
  }

  /// - Parameter level: That of the records in a query with sub-selects; nil for a query of its own.
  static func allRecords(
    of request: RestRequest, at level: ChildPages.Level?, in context: SyncContext
  ) async throws -> [JSONSlice] {
    do {
      return try await recordsOfPages(from: request, at: level, in: context)
    } catch let error as SyncError where error.isOfDroppedPages {
      return try await recordsOfPages(from: request, at: level, in: context)
    }
  }

  private static func recordsOfPages(
    from request: RestRequest, at level: ChildPages.Level?, in context: SyncContext
  ) async throws -> [JSONSlice] {
    var page = try await SyncPage(request, at: level, in: context)
    var records = page.records
    var trail = PageTrail<String>()
    while let cursor = page.next {
      try trail.follow(cursor, records: page.records, totalSize: page.totalSize)
      page = try await SyncPage(.queryMore(nextRecordsURL: cursor), at: level, in: context)
      records += page.records
    }
    return records
  }
}

extension SyncPage where Cursor == String {
  /// Sends a query and reads the page that it returns:
  /// `{"totalSize": n, "records": […], "nextRecordsUrl": "…" or null}`.
  ///
  /// Of a sub-select that the server returns in several pages, the rest is fetched too: the records have all their
  /// children.
  ///
  /// - Throws: As ``SyncContext/json(for:)``; ``SyncError`` `unexpectedResponse` if the response is not a
  ///   query result page, or its `nextRecordsUrl` is missing or points to itself.
  public init(_ request: RestRequest, in context: SyncContext) async throws {
    try await self.init(request, at: nil, in: context)
  }

  /// - Parameter level: That of the records in a query with sub-selects; nil for a page of a query of its own.
  init(
    _ request: RestRequest, at level: ChildPages.Level?, in context: SyncContext
  ) async throws {
    if let level, !level.allowsPage() {
      throw SyncError(
        .unexpectedResponse,
        "The server's pages of child records do not end, or are nested deeper than a query can be. Run the sync "
          + "again; if it fails again, the server's paging is at fault.")
    }
    let json = try await context.json(for: request)
    guard let records = json[SyncKeys.records], records.kind == .array else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "a page of a query's records")
    }
    let isDone = json[SyncKeys.done]?.bool
    let next = isDone == true ? nil : json[SyncKeys.nextRecordsURL]?.string
    if next == nil ? isDone == false : next == "" || next == request.path {
      throw SyncContext.unexpectedForm(
        json, of: request, expected: "a page that is the last or leads to another")
    }
    self.init(
      records: try await ChildPages.complete(
        records, of: request, at: level ?? ChildPages.Level(), in: context),
      totalSize: json[SyncKeys.totalSize]?.int64.map(Int.init(clamping:)), next: next)
  }
}
