public import SalesforceSDKCommon
import Synchronization

extension SmartStore {
  /// Returns one page of a query's results: entries, or rows as arrays.
  ///
  /// See ``StoreReading/query(using:startingFromPageIndex:whereArgs:)``.
  public func query(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) async throws -> [JSONValue] {
    try await read(querySpec) {
      try $0.query(
        using: querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs)
    }
  }

  /// Returns the rows of a Smart SQL statement, at most 65,536.
  public func query(_ smartSql: String) async throws -> [JSONValue] {
    try await query(using: .buildSmartQuerySpec(smartSql: smartSql, pageSize: 65_536))
  }

  /// Returns one page of entries in their stored text.
  ///
  /// See ``StoreReading/queryEntries(using:startingFromPageIndex:)``.
  public func queryEntries(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0
  ) async throws -> [JSONSlice] {
    try await read(querySpec) {
      try $0.queryEntries(using: querySpec, startingFromPageIndex: pageIndex)
    }
  }

  /// Returns one page of results as JSON text, with entries in their stored text.
  public func queryAsString(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) async throws -> String {
    try await read(querySpec) {
      try $0.queryAsString(
        using: querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs)
    }
  }

  /// Counts the results of a query in all pages.
  public func count(
    using querySpec: QuerySpec, whereArgs: [JSONValue]? = nil
  ) async throws -> Int64 {
    try await read(querySpec) { try $0.count(using: querySpec, whereArgs: whereArgs) }
  }

  /// Runs one query: on the caller's thread if the last query of its shape was short, else on one
  /// of the store's own threads.
  private func read<T: Sendable>(
    _ spec: QuerySpec, _ body: @Sendable (borrowing StoreReader) throws -> T
  ) async throws -> T {
    // Reading files is not interrupted by the budget, which counts SQLite's instructions.
    guard spec.soupName != nil, let catalog = catalogs.known,
      let statements = catalog.statements.withLock({ $0[QueryShape(spec)] }),
      statements.soup?.isExternal == false
    else { return try await read(body) }
    if !statements.isLong.load(ordering: .relaxed),
      let result = try await readBriefly(statements, of: catalog, body)
    {
      return result
    }
    return try await read { reader in
      let start = ContinuousClock.now
      defer {
        let isLong = ContinuousClock.now - start > ReadBudget.limit
        statements.isLong.store(isLong, ordering: .relaxed)
      }
      return try body(reader)
    }
  }
}
