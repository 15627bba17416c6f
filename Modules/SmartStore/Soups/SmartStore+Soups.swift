extension SmartStore {
  /// Registers a soup. If the soup exists, it keeps its index specs, and the given ones are
  /// ignored.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName`, `noIndexSpecs`, `invalidIndexSpec`,
  ///   `unfinishedOperation`; as every write `closed`, `readOnly`, `diskFull`, `io`.
  public func registerSoup(
    withName soupName: String, withIndices indexSpecs: [SoupIndex]
  ) async throws {
    try await write { transaction in
      try transaction.registerSoup(withName: soupName, withIndices: indexSpecs)
    }
  }

  /// Registers a soup with json1 indexes on the given paths.
  ///
  /// - Throws: ``SmartStoreError`` as ``registerSoup(withName:withIndices:)``.
  public func registerSoup(
    withName soupName: String, withIndexPaths indexPaths: [String]
  ) async throws {
    try await registerSoup(
      withName: soupName, withIndices: indexPaths.map { SoupIndex(path: $0, type: .json1) })
  }

  /// Whether a soup of this name is registered.
  ///
  /// - Throws: ``SmartStoreError`` as ``read(_:)``.
  public func soupExists(forName soupName: String) async throws -> Bool {
    try await read { $0.soupExists(forName: soupName) }
  }

  /// Returns the names of all soups, in ascending order.
  ///
  /// - Throws: ``SmartStoreError`` as ``read(_:)``.
  public func allSoupNames() async throws -> [String] {
    try await read { $0.allSoupNames() }
  }

  /// Returns the index specs of a soup in the order in which they were registered, with their
  /// columns.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public func indices(forSoupNamed soupName: String) async throws -> [SoupIndex] {
    try await read { try $0.indices(forSoupNamed: soupName) }
  }

  /// Whether a soup has an index on exactly this path.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public func hasIndex(forPath path: String, inSoupNamed soupName: String) async throws -> Bool {
    try await read { try $0.hasIndex(forPath: path, inSoupNamed: soupName) }
  }

  /// Removes a soup with all its entries. Does nothing if the soup does not exist.
  ///
  /// - Throws: ``SmartStoreError`` `unfinishedOperation`, `closed`, `readOnly`, `diskFull`, `io`.
  public func removeSoup(_ soupName: String) async throws {
    try await write { try $0.removeSoup(soupName) }
  }

  /// Removes all soups, or none.
  ///
  /// - Throws: ``SmartStoreError`` as ``removeSoup(_:)``.
  public func removeAllSoups() async throws {
    try await write(isSingleCall: false) { try $0.removeAllSoups() }
  }

  /// Removes all entries of a soup. Entry ids are not reused: the next entry gets the next id.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `unfinishedOperation`, `closed`, `readOnly`,
  ///   `diskFull`, `io`.
  public func clearSoup(_ soupName: String) async throws {
    try await write { try $0.clearSoup(soupName) }
  }
}
