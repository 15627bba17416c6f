extension StoreReading where Self: ~Copyable {
  /// Whether a soup of this name is registered.
  public borrowing func soupExists(forName soupName: String) -> Bool {
    access.catalog.soup(named: soupName) != nil
  }

  /// The names of all soups, in the ascending order of their UTF-8, by which a store tells them apart.
  public borrowing func allSoupNames() -> [String] {
    access.catalog.soups.values.map(\.name).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The index specs of a soup in the order in which they were registered, with their columns.
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
