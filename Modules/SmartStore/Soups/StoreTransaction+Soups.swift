import GRDB
import SalesforceAnalytics

extension StoreTransaction {
  /// Registers a soup. If the soup exists, it keeps its index specs, and the given ones are
  /// ignored.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName`, `noIndexSpecs`, `invalidIndexSpec`,
  ///   `unfinishedOperation`.
  public borrowing func registerSoup(
    withName soupName: String, withIndices indexSpecs: [SoupIndex]
  ) throws(SmartStoreError) {
    try registerSoup(withSpec: SoupSpec(name: soupName), withIndices: indexSpecs)
  }

  /// Registers a soup with features. If the soup exists, it stays unchanged.
  ///
  /// A store with a soup whose entries are files is open for writing in one process at a time.
  ///
  /// - Throws: ``SmartStoreError`` `invalidSoupName`, `noIndexSpecs`, `invalidIndexSpec`,
  ///   `unfinishedOperation`; `busyOtherProcess` for such a soup while another process has the store open.
  public borrowing func registerSoup(
    withSpec spec: SoupSpec, withIndices indexSpecs: [SoupIndex]
  ) throws(SmartStoreError) {
    guard !spec.name.isEmpty else {
      throw SmartStoreError(.invalidSoupName, "Bogus soup name: it is empty. Choose a name.")
    }
    try access.check(indexSpecs, for: spec)
    try access.checkFinished(spec.name)
    guard !soupExists(forName: spec.name) else { return }
    if spec.isExternal { try access.files.willUse() }
    try access.atomically { () throws(SmartStoreError) in
      try access.checkExtractable(indexSpecs)
      let statement = try StoreStatement(
        access.database, "INSERT INTO soup_attrs (soupName, externalStorage) VALUES (?, ?)")
      statement.bind(spec.name, at: 1)
      statement.bind(Int64(spec.isExternal ? 1 : 0), at: 2)
      try statement.run()
      let soup = Soup(
        name: spec.name, number: access.database.lastInsertedRowID,
        indexes: indexSpecs.map { SoupIndex(path: $0.path, type: $0.type) },
        isExternal: spec.isExternal)
      try access.createTables(of: soup)
      try access.createIndexes(of: soup)
      try access.recordIndexSpecs(of: soup)
      if soup.isExternal { access.externalChanges.create(table: soup.table) }
      access.setSoup(soup, named: spec.name)
      access.didHappen(.registerSoup(soup, at: access.now()))
    }
  }

  /// Removes a soup with all its entries. Does nothing if the soup does not exist.
  ///
  /// - Throws: ``SmartStoreError`` `unfinishedOperation`.
  public borrowing func removeSoup(_ soupName: String) throws(SmartStoreError) {
    try access.checkUsable()
    try access.checkFinished(soupName)
    guard let soup = access.catalog.soup(named: soupName) else { return }
    try access.atomically { () throws(SmartStoreError) in
      if soup.hasFullText { try access.execute("DROP TABLE \(soup.fullTextTable)") }
      try access.execute("DROP TABLE \(soup.table)")
      for table in [MetaTable.indexMap, MetaTable.attributes] {
        let statement = try StoreStatement(
          access.database, "DELETE FROM \(table) WHERE soupName = ?")
        statement.bind(soupName, at: 1)
        try statement.run()
      }
      if soup.isExternal { access.externalChanges.clear(table: soup.table, keepsFolder: false) }
      access.setSoup(nil, named: soupName)
    }
  }

  /// Removes all soups, or none.
  ///
  /// - Throws: ``SmartStoreError`` `unfinishedOperation`.
  public borrowing func removeAllSoups() throws(SmartStoreError) {
    try access.atomically { () throws(SmartStoreError) in
      for name in access.catalog.unfinished { try access.checkFinished(name) }
      for name in allSoupNames() { try removeSoup(name) }
    }
  }

  /// Removes all entries of a soup. Entry ids are not reused: the next entry gets the next id.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`.
  public borrowing func clearSoup(_ soupName: String) throws(SmartStoreError) {
    let soup = try access.soup(named: soupName)
    try access.atomically { () throws(SmartStoreError) in
      if soup.hasFullText { try access.execute("DELETE FROM \(soup.fullTextTable)") }
      try access.execute("DELETE FROM \(soup.table)")
      if soup.isExternal { access.externalChanges.clear(table: soup.table, keepsFolder: true) }
      access.didChange(soup)
    }
  }
}
