public import SalesforceSDKCommon
import GRDB

/// The org's records for the program that embeds it: changes by other users of the server.
///
/// The same rules hold as for clients, and the acting user is the org's own; nothing is logged and no
/// fault acts.
extension MockOrg {
  /// Creates a record and returns its id.
  ///
  /// - Throws: ``MockOrgError`` `refused`, its message beginning with the platform's code.
  @discardableResult
  public func create(_ object: String, _ fields: JSONValue) async throws(MockOrgError) -> String {
    try await change { transaction in
      let writer = RecordWriter(
        transaction: transaction, object: try transaction.object(named: object))
      return try writer.create(JSONSlice(parsing: fields.text))
    }
  }

  /// Changes a record.
  ///
  /// - Throws: ``MockOrgError`` `refused`.
  public func update(
    _ object: String, id: String, _ fields: JSONValue
  ) async throws(MockOrgError) {
    try await change { transaction in
      let writer = RecordWriter(
        transaction: transaction, object: try transaction.object(named: object))
      guard let id = RecordID.normalized(id) else { throw ServerError.malformedID(id) }
      try writer.update(id: id, JSONSlice(parsing: fields.text))
    }
  }

  /// Moves a record to the recycle bin.
  ///
  /// - Throws: ``MockOrgError`` `refused`.
  public func delete(_ object: String, id: String) async throws(MockOrgError) {
    try await change { transaction in
      let writer = RecordWriter(
        transaction: transaction, object: try transaction.object(named: object))
      guard let id = RecordID.normalized(id) else { throw ServerError.malformedID(id) }
      try writer.delete(id: id)
    }
  }

  /// Takes a record out of the recycle bin; those that went there with it stay.
  ///
  /// - Throws: ``MockOrgError`` `refused`.
  public func undelete(_ object: String, id: String) async throws(MockOrgError) {
    try await change { transaction in
      let writer = RecordWriter(
        transaction: transaction, object: try transaction.object(named: object))
      guard let id = RecordID.normalized(id) else { throw ServerError.malformedID(id) }
      try writer.undelete(id: id)
    }
  }

  /// The records that a SOQL query finds, all pages at once, each with its `attributes`.
  ///
  /// The query may use what the platform takes in Apex code alone, such as `ALL ROWS`.
  ///
  /// - Parameter includingDeleted: Also those in the recycle bin, as `queryAll` gives them.
  /// - Throws: ``MockOrgError`` `refused`.
  public func query(
    _ soql: String, includingDeleted: Bool = false
  ) async throws(MockOrgError) -> [JSONSlice] {
    let bytes = try await change { transaction in
      var options = try transaction.soqlOptions(includeDeleted: includingDeleted)
      options.allowsApexSyntax = true
      let query = try SOQLQuery(compiling: soql, schema: transaction.schema, options: options)
      return try QueryRunner(transaction: transaction, cursors: QueryCursors())
        .firstPage(of: query, batchSize: .max)
    }
    do {
      return try JSONSlice(parsing: bytes)["records"].map { Array($0.elements) } ?? []
    } catch {
      throw MockOrgError(.storage, "The org wrote a response that is not valid JSON.", cause: error)
    }
  }

  /// The number that `SELECT COUNT() FROM ...` gives.
  ///
  /// - Throws: ``MockOrgError`` `refused`.
  public func count(_ object: String) async throws(MockOrgError) -> Int {
    try await change { transaction in
      let table = try transaction.object(named: object).table.name
      return try Int.fetchOne(
        transaction.database, sql: "SELECT COUNT(*) FROM \(table) WHERE \"IsDeleted\" = 0") ?? 0
    }
  }

  /// The API names of all objects, sorted.
  public var objectNames: [String] { schema.objects.map(\.name) }

  private func change<T: Sendable>(
    _ body: @Sendable (OrgTransaction) throws -> T
  ) async throws(MockOrgError) -> T {
    do {
      return try await database.write { [self] database in
        try body(transaction(database, userID: userID))
      }
    } catch let error as ServerError {
      throw MockOrgError(.refused, "\(error.code): \(error.message)")
    } catch {
      throw MockOrgError(.storage, "The org's database failed.", cause: error)
    }
  }
}
