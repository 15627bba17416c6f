public import SalesforceSDKCommon

/// Live queries: sequences of results that are updated after commits to this store.
///
/// Each sequence returns the first result at once, and the next one after a commit that changed it.
/// A commit that does not change the result returns nothing. Each result is read from one snapshot,
/// which contains all transactions that were committed when the result was requested. A slow reader
/// misses intermediate results, but never the newest. An observation does not block writers.
///
/// A sequence ends when its task is cancelled or the store is closed. It throws if the query fails,
/// for example because its soup was removed. Writes of another process are not noticed.
extension SmartStore {
  /// Observes one page of a query's results: entries, or rows as arrays.
  ///
  /// ```swift
  /// for try await open in store.observe(spec) { show(open) }
  /// ```
  ///
  /// See ``StoreReading/query(using:startingFromPageIndex:whereArgs:)`` for the parameters and
  /// errors. A smart query may join several soups; a change to any of them causes a new result.
  public func observe(
    _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) -> some AsyncSequence<[JSONValue], any Error> & Sendable {
    observe { reader in
      try reader.query(
        using: querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs)
    }
  }

  /// Observes one page of a query's results, decoded as `type`.
  ///
  /// See ``StoreReading/query(using:startingFromPageIndex:whereArgs:as:dates:)``. Only results that
  /// changed are decoded.
  public func observe<T: Decodable & Sendable>(
    _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil, as type: T.Type, dates: JSONDates = .salesforce
  ) -> some AsyncSequence<[T], any Error> & Sendable {
    StoreObservation(store: self) { reader in
      try reader.access.slices(querySpec, pageIndex: pageIndex, whereArgs: whereArgs)
    } element: { slices in
      try slices.map { slice throws(SmartStoreError) in
        try slice.decoded(as: type, dates: dates)
      }
    }
  }

  /// Observes one page of entries in their stored text.
  ///
  /// See ``StoreReading/queryEntries(using:startingFromPageIndex:)``.
  public func observeEntries(
    _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0
  ) -> some AsyncSequence<[JSONSlice], any Error> & Sendable {
    observe { reader in
      try reader.queryEntries(using: querySpec, startingFromPageIndex: pageIndex)
    }
  }

  /// Observes the result of `body`, such as a count, an entry, or several queries on one snapshot.
  ///
  /// - Parameter body: Called off the caller's thread, first at once and then after each commit to
  ///   a soup that it read from, until the observation ends. Its result must depend only on the
  ///   store.
  public func observe<T: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing StoreReader) throws -> T
  ) -> some AsyncSequence<T, any Error> & Sendable {
    StoreObservation(store: self, snapshot: body, element: { $0 })
  }
}
