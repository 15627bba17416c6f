extension AlterOperation {
  /// Brings back the soup as it was, in one transaction. Possible until the old table is dropped.
  ///
  /// Files that the new soup has got are removed afterwards, with ``removeFiles(_:)``: to change files with
  /// the transaction takes folders, which a full disk has no room for.
  func undo(on access: StoreAccess) throws(SmartStoreError) {
    if completed >= .registerSoupUsingTableName {
      try access.execute("DROP TABLE IF EXISTS \(new.fullTextTable)")
      try access.execute("DROP TABLE IF EXISTS \(new.table)")
      try access.setExternal(old)
    }
    if completed >= .renameOldSoupTable {
      try access.execute("ALTER TABLE \(oldTable) RENAME TO \(old.table)")
      if try access.hasTable(oldFullTextTable) {
        try access.execute("ALTER TABLE \(oldFullTextTable) RENAME TO \(old.fullTextTable)")
      }
      // Renaming put the table's name in quotes, in the text of its indexes too.
      try access.dropIndexes(ofTable: old.table)
      try access.createIndexes(of: old)
    }
    if completed >= .dropOldIndexes {
      try access.forgetIndexSpecs(of: old)
      try access.recordIndexSpecs(of: old)
    }
    try access.deleteOperation(id)
  }
}

extension AlterOperation {
  /// Removes the files of the entries that an undone alter moved out of rows. What stays is removed when
  /// the store is opened next.
  func removeFiles(_ files: ExternalFiles) {
    guard new.isExternal, !old.isExternal else { return }
    try? FileTree.remove(files.folder(of: new.table))
  }
}

extension StoreAccess {
  /// Deletes the rows that say which path is where.
  func forgetIndexSpecs(of soup: Soup) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database, "DELETE FROM \(MetaTable.indexMap) WHERE soupName = ?")
    statement.bind(soup.name, at: 1)
    try statement.run()
  }

  /// Records whether a soup keeps its entries in files.
  func setExternal(_ soup: Soup) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database, "UPDATE \(MetaTable.attributes) SET externalStorage = ? WHERE id = ?")
    statement.bind(Int64(soup.isExternal ? 1 : 0), at: 1)
    statement.bind(soup.number, at: 2)
    try statement.run()
  }

  /// Lets the ids of a table go on where those of another stopped, which deleted entries make
  /// higher than any id there is.
  func continueSequence(of oldTable: String, in table: String) throws(SmartStoreError) {
    try execute(
      """
      DELETE FROM sqlite_sequence WHERE name = '\(table)';
      INSERT INTO sqlite_sequence (name, seq) \
      SELECT '\(table)', seq FROM sqlite_sequence WHERE name = '\(oldTable)';
      """)
  }
}
