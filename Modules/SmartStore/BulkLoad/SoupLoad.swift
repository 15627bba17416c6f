import GRDB
public import SalesforceSDKCommon

/// A bulk load, which adds entries to a soup and builds its indexes afterwards.
///
/// Given to the closure of ``SmartStore/bulkLoad(intoSoupNamed:keepingIndexesOn:cacheBytes:_:)`` and
/// meant for use there; what is appended later is stored as well, with the indexes kept up.
public struct SoupLoad: Sendable {
  /// Enough for 100,000 elements of usual size.
  public static let defaultCacheBytes = 128 << 20

  private let store: SmartStore
  private let operation: BulkLoadOperation
  private var soupName: String { operation.soupName }

  init(store: SmartStore, operation: BulkLoadOperation) {
    self.store = store
    self.operation = operation
  }

  /// Inserts elements under new ids, in order, in one transaction: on return all are stored, on error
  /// none is. They are on disk for certain when the load ends; if the power fails before, the last
  /// appends may be missing, each as a whole.
  ///
  /// The stored text is the given one with the members of `setting` and the store's own set, and
  /// those of `removing` taken out.
  ///
  /// - Parameter durability: ``Durability/full`` to have these elements on disk on return.
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

  /// Builds the indexes now, before the closure ends: for a caller that writes the rest better with
  /// the indexes kept up. Doing so twice is harmless.
  ///
  /// - Throws: ``SmartStoreError`` `diskFull`, `io`, as
  ///   ``SmartStore/bulkLoad(intoSoupNamed:keepingIndexesOn:cacheBytes:_:)``.
  public func buildIndexes() async throws { try await store.end(operation) }
}

extension SmartStore {
  /// Fills a soup quickly: its indexes are dropped, `body` appends elements, and the indexes are
  /// built from the finished rows, which costs a sort for each index instead of a search for each
  /// element.
  ///
  /// It pays if more is appended than the soup holds already, best for an empty soup. Each append
  /// is a transaction of its own; what it stored stays, also if `body` throws. On return everything
  /// is on disk: the disk is waited for once, and not for each append. Until then the soup can be used
  /// as ever, but its queries are slow. After a crash the indexes are built when the store is opened
  /// next, before anybody uses it.
  ///
  /// ```swift
  /// try await store.bulkLoad(intoSoupNamed: "accounts") { load in
  ///   for page in pages { try await load.append(page) }
  /// }
  /// ```
  ///
  /// - Parameter keptPaths: Paths whose indexes stay. Keeping an index up costs less than building it where
  ///   all elements have the same value, or come in the order of their values. Default: none.
  /// - Parameter cacheBytes: The memory for what was written or read last. Each index is built by a walk
  ///   through all elements. They are read from the disk each time unless all have room here, which takes
  ///   longer, so that a cache that is a little too small is of no use: 8 MB do as well then. What is
  ///   below 0 counts as 0. Default: ``SoupLoad/defaultCacheBytes``.
  /// - Throws: What `body` throws, unchanged; ``SmartStoreError`` `unknownSoup`, with nothing begun;
  ///   `diskFull`, `io` if the indexes could not be built: the elements are stored, and
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
      // The first failure is the one to tell. Ending twice is harmless.
      try? await end(operation)
      throw error
    }
  }

  /// Gives the writing connection the memory for a load that has begun: the statement that does so
  /// would outlive a transaction that is rolled back.
  private func beginCaching(_ operation: BulkLoadOperation) async throws {
    try await onWriter { try operation.beginCaching($0) }
  }

  /// Builds the indexes, even if the task was cancelled.
  fileprivate func end(_ operation: BulkLoadOperation) async throws {
    try await onWriter { database in
      try self.setDurability(.full, database)
      try self.finish(operation, on: database)
    }
  }

  /// Runs `work` on the writing connection, even if the task was cancelled.
  private func onWriter(_ work: @escaping @Sendable (Database) throws -> Void) async throws {
    try checkOpen()
    let result = await StoreQueue.run { [database] in
      Result { try database.writer.writeWithoutTransaction(work) }
    }
    try await delivering { try result.get() }
  }
}
