import SalesforceSDKCommon

extension SmartStore {
  /// Registers a soup with features. If the soup exists, it stays unchanged.
  ///
  /// A soup with ``SoupSpec/featureExternalStorage`` stores each entry in a file of its own. It
  /// accepts no json1 indexes, and Smart SQL cannot read its paths without an index.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName`, `noIndexSpecs`, `invalidIndexSpec`.
  public func registerSoup(
    withSpec spec: SoupSpec, withIndices indexSpecs: [SoupIndex]
  ) async throws {
    try await write { transaction in
      try transaction.registerSoup(withSpec: spec, withIndices: indexSpecs)
    }
  }

  /// Returns a soup's name and features.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public func soupSpec(forSoupNamed soupName: String) async throws -> SoupSpec {
    try await read { try $0.soupSpec(forSoupNamed: soupName) }
  }

  /// Returns the total size of a soup's entry files in bytes; 0 for a soup without external
  /// storage.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `io`.
  public func externalFileStorageSize(forSoupNamed soupName: String) async throws -> UInt64 {
    try await externalUsage(ofSoupNamed: soupName).bytes
  }

  /// Returns the number of entry files of a soup; 0 for a soup without external storage.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `io`.
  public func externalFilesCount(forSoupNamed soupName: String) async throws -> Int {
    try await externalUsage(ofSoupNamed: soupName).count
  }

  private func externalUsage(ofSoupNamed soupName: String) async throws -> ExternalUsage {
    try await read { reader in
      let soup = try reader.access.soup(named: soupName)
      return soup.isExternal ? try self.externalUsage(of: soup.table) : ExternalUsage()
    }
  }

  /// Returns the number and the total size of the entry files of a table, or of all tables.
  func externalUsage(of table: String? = nil) throws(SmartStoreError) -> ExternalUsage {
    do {
      return try files.usage(of: table)
    } catch {
      throw SmartStoreError(storage: error, at: files.root)
    }
  }
}

extension StoreReading where Self: ~Copyable {
  /// Returns a soup's name and features.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func soupSpec(
    forSoupNamed soupName: String
  ) throws(SmartStoreError) -> SoupSpec {
    try access.soup(named: soupName).spec
  }
}
