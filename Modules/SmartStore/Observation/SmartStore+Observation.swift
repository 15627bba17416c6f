public import SalesforceSDKCommon

/// Live queries: sequences of results that follow what is committed to this store.
///
/// All of them give the first result at once and the next one after a commit that changed it; a
/// commit that leaves the result as it was gives nothing. Each result is read from one snapshot, with
/// all transactions committed when it was requested and no part of another. A slow reader
/// misses intermediate results, never the newest. An observation does not keep writers waiting.
///
/// It ends when its task is cancelled or the store is closed, and with an error if the query
/// fails, as when its soup is removed. What another process writes is not noticed.
extension SmartStore {
  /// Follows one page of a query's results: entries, or rows as arrays.
  ///
  /// ```swift
  /// for try await open in store.observe(spec) { show(open) }
  /// ```
  ///
  /// See ``StoreReading/query(using:startingFromPageIndex:whereArgs:)`` for the parameters and for what it
  /// throws. A smart query may join several soups; a change to any of them causes a new result.
  public func observe(
    _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) -> some AsyncSequence<[JSONValue], any Error> & Sendable {
    observe { reader in
      try reader.query(
        using: querySpec, startingFromPageIndex: pageIndex, whereArgs: whereArgs)
    }
  }

  /// Follows one page of a query's results, decoded as `type`.
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

  /// Follows one page of entries as they are stored.
  ///
  /// See ``StoreReading/queryEntries(using:startingFromPageIndex:)``.
  public func observeEntries(
    _ querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0
  ) -> some AsyncSequence<[JSONSlice], any Error> & Sendable {
    observe { reader in
      try reader.queryEntries(using: querySpec, startingFromPageIndex: pageIndex)
    }
  }

  /// Follows the result of `body`, such as a count, an entry, or several queries on one snapshot.
  ///
  /// - Parameter body: Called off the caller's thread, again after each commit to a soup that it
  ///   read from, until the observation ends. It must depend on nothing but the store.
  public func observe<T: Equatable & Sendable>(
    _ body: @escaping @Sendable (borrowing StoreReader) throws -> T
  ) -> some AsyncSequence<T, any Error> & Sendable {
    StoreObservation(store: self, snapshot: body, element: { $0 })
  }
}
