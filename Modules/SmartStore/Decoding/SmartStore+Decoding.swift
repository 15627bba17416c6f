public import SalesforceSDKCommon

extension SmartStore {
  /// Returns one page of a query's results, decoded as a type of the caller.
  ///
  /// ```swift
  /// let open = try await store.query(using: spec, as: Account.self)
  /// ```
  ///
  /// See ``StoreReading/query(using:startingFromPageIndex:whereArgs:as:dates:)``.
  public func query<T: Decodable & Sendable>(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil, as type: T.Type, dates: JSONDates = .salesforce
  ) async throws -> [T] {
    try await read {
      try $0.query(
        using: querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs, as: type,
        dates: dates)
    }
  }

  /// Returns the entries with these ids, each once, decoded as a type of the caller. Ignores ids
  /// without an entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notDecodable`.
  public func retrieve<T: Decodable & Sendable>(
    usingSoupEntryIds entryIds: [Int64], fromSoupNamed soupName: String, as type: T.Type,
    dates: JSONDates = .salesforce
  ) async throws -> [T] {
    try await read {
      try $0.retrieve(
        usingSoupEntryIds: entryIds, fromSoupNamed: soupName, as: type, dates: dates)
    }
  }
}
