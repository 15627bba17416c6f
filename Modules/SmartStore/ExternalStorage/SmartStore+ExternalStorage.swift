import SalesforceSDKCommon

extension SmartStore {
  /// Registers a soup with features. A soup that exists already stays as it is.
  ///
  /// A soup with ``SoupSpec/featureExternalStorage`` keeps each entry in a file of its own. It accepts no
  /// json1 indexes, and Smart SQL cannot read its paths that have no index.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName`, `noIndexSpecs`, `invalidIndexSpec`.
  public func registerSoup(
    withSpec spec: SoupSpec, withIndices indexSpecs: [SoupIndex]
  ) async throws {
    try await write { transaction in
      try transaction.registerSoup(withSpec: spec, withIndices: indexSpecs)
    }
  }

  /// A soup's name and features.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public func soupSpec(forSoupNamed soupName: String) async throws -> SoupSpec {
    try await read { try $0.soupSpec(forSoupNamed: soupName) }
  }

  /// The bytes of all entry files of a soup; 0 for a soup without external storage.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `io`.
  public func externalFileStorageSize(forSoupNamed soupName: String) async throws -> UInt64 {
    try await externalUsage(ofSoupNamed: soupName).bytes
  }

  /// The number of entry files of a soup; 0 for a soup without external storage.
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

  /// The number and the bytes of the entry files of a table, or of all.
  func externalUsage(of table: String? = nil) throws(SmartStoreError) -> ExternalUsage {
    do {
      return try files.usage(of: table)
    } catch {
      throw SmartStoreError(storage: error, at: files.root)
    }
  }
}

extension StoreReading where Self: ~Copyable {
  /// A soup's name and features.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func soupSpec(
    forSoupNamed soupName: String
  ) throws(SmartStoreError) -> SoupSpec {
    try access.soup(named: soupName).spec
  }
}
