import GRDB
public import SalesforceSDKCommon

/// A bulk load, which adds entries to a soup and builds its indexes afterwards.
///
/// ``SmartStore/bulkLoad(intoSoupNamed:keepingIndexesOn:cacheBytes:_:)`` passes it to its closure.
/// Use it only there: entries that are appended later are stored too, but update the indexes one by
/// one.
public struct SoupLoad: Sendable {
  /// The default size of the page cache, enough for 100,000 entries of usual size.
  public static let defaultCacheBytes = 128 << 20

  private let store: SmartStore
  private let operation: BulkLoadOperation
  private var soupName: String { operation.soupName }

  init(store: SmartStore, operation: BulkLoadOperation) {
    self.store = store
    self.operation = operation
  }

  /// Inserts entries under new ids, in order, in one transaction: on return all are stored, on
  /// error none. They are on disk when the load ends. If the power fails earlier, the last appends
  /// may be missing, but no append is partly stored.
  ///
  /// The stored text is that of the slice, with the members of `setting` and the store's own
  /// members set, and those of `removing` removed.
  ///
  /// - Parameter durability: ``Durability/full`` to have these entries on disk on return.
  /// - Returns: The entry ids, in the order of `slices`.
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `invalidEntry`, `diskFull`, `io`.
  @discardableResult
  public func append(
    _ slices: [JSONSlice], setting: [(key: String, value: JSONValue)] = [],
    removing: [String] = [], durability: Durability = .normal
  ) async throws -> [Int64] {
    try await store.write(durability) { [soupName] transaction in
      let soup = try transaction.access.soup(named: soupName)
      return try transaction.access.atomically { () throws(SmartStoreError) in
        var writer = try EntryWriter(
          soup, setting: setting, removing: removing, on: transaction.access)
        let ids = try writer.insert(slices[...])
        transaction.access.didChange(soup)
        return ids
      }
    }
  }

  /// Builds the indexes before the closure ends, for a caller whose further writes need them. A second call
  /// does nothing.
  ///
  /// - Throws: ``SmartStoreError`` `diskFull`, `io`, as
  ///   ``SmartStore/bulkLoad(intoSoupNamed:keepingIndexesOn:cacheBytes:_:)``.
  public func buildIndexes() async throws { try await store.end(operation) }
}

extension SmartStore {
  /// Fills a soup quickly. The soup's indexes are dropped, `body` appends entries, and then each
  /// index is built with one sort of the finished rows instead of one search per entry.
  ///
  /// It is faster if the call appends more entries than the soup already has, and fastest for an
  /// empty soup. Each append is a separate transaction, and its entries stay even if `body` throws.
  /// The call waits for the disk once, not for each append: on return everything is on disk. During
  /// the load the soup can be used as usual, but queries are slow. After a crash the indexes are
  /// built when the store is opened next, before its first use.
  ///
  /// ```swift
  /// try await store.bulkLoad(intoSoupNamed: "accounts") { load in
  ///   for page in pages { try await load.append(page) }
  /// }
  /// ```
  ///
  /// - Parameter keptPaths: Paths whose indexes stay. Updating an index costs less than building it
  ///   if all entries have the same value, or arrive in the order of their values. Default: none.
  /// - Parameter cacheBytes: The size of the cache for recently written and read pages. Each index
  ///   is built in one pass over all entries. If they do not all fit into the cache, each pass
  ///   reads them from the disk, so a cache that is slightly too small is no better than one of 8
  ///   MB. Negative values count as 0. Default: ``SoupLoad/defaultCacheBytes``.
  /// - Throws: The error of `body`, unchanged; ``SmartStoreError`` `unknownSoup`, before anything
  ///   changes; `diskFull`, `io` if the indexes could not be built: the entries are stored, and
  ///   ``resumeLongOperations()`` builds the indexes.
  @discardableResult
  public func bulkLoad<T: Sendable>(
    intoSoupNamed soupName: String, keepingIndexesOn keptPaths: Set<String> = [],
    cacheBytes: Int = SoupLoad.defaultCacheBytes, _ body: (SoupLoad) async throws -> T
  ) async throws -> T {
    let operation = try await write { transaction in
      let access = transaction.access
      return try BulkLoadOperation(
        try access.soup(named: soupName), keepingIndexesOn: keptPaths, cacheBytes: cacheBytes,
        on: access)
    }
    do {
      try await beginCaching(operation)
      let value = try await body(SoupLoad(store: self, operation: operation))
      try await end(operation)
      return value
    } catch {
      // The first failure is the one to report. Ending twice is harmless.
      try? await end(operation)
      throw error
    }
  }

  /// Sets the page cache of the writing connection for a load that has begun. It runs outside the
  /// transaction, because a rollback does not restore the cache size.
  private func beginCaching(_ operation: BulkLoadOperation) async throws {
    try await onWriterThread { try operation.beginCaching($0) }
  }

  /// Builds the indexes, even if the task was cancelled.
  fileprivate func end(_ operation: BulkLoadOperation) async throws {
    try await onWriterThread { database in
      try self.setDurability(.full, database)
      try self.finish(operation, on: database)
    }
  }

  /// Runs `work` on the writing connection, even if the task was cancelled.
  private func onWriterThread(_ work: @escaping @Sendable (Database) throws -> Void) async throws {
    try checkOpen()
    let result = await StoreQueue.run { Result { try self.onWriter(work) } }
    try await delivering { _ in try result.get() }
  }
}
