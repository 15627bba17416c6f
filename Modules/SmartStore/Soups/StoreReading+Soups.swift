extension StoreReading where Self: ~Copyable {
  /// Whether a soup of this name is registered.
  public borrowing func soupExists(forName soupName: String) -> Bool {
    access.catalog.soup(named: soupName) != nil
  }

  /// Returns the number of a soup's registration; nil if there is no such soup. A soup that is removed and registered
  /// again has another number.
  package borrowing func registrationNumber(ofSoupNamed soupName: String) -> Int64? {
    access.catalog.soup(named: soupName)?.number
  }

  /// Returns the names of all soups, in ascending order of their UTF-8 bytes, by which a store
  /// compares them.
  public borrowing func allSoupNames() -> [String] {
    access.catalog.soups.values.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the index specs of a soup in the order in which they were registered, with their
  /// columns.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func indices(
    forSoupNamed soupName: String
  ) throws(SmartStoreError) -> [SoupIndex] {
    try access.soup(named: soupName).indexes
  }

  /// Whether a soup has an index on exactly this path.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func hasIndex(
    forPath path: String, inSoupNamed soupName: String
  ) throws(SmartStoreError) -> Bool {
    try access.soup(named: soupName).index(forPath: path) != nil
  }
}
