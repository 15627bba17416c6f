extension AlterOperation {
  /// Restores the former soup in one transaction. Possible until the old table is dropped.
  ///
  /// The new soup's files are removed afterwards, with ``removeFiles(_:)``: changing files in the
  /// transaction would create folders, for which a full disk has no space.
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
      // Renaming has quoted the table's name, also in the text of its indexes.
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
  /// Removes the files of the entries that an undone alter moved out of rows. Files that cannot be
  /// removed are removed when the store is opened next.
  func removeFiles(_ files: ExternalFiles) {
    guard new.isExternal, !old.isExternal else { return }
    try? FileTree.remove(files.folder(of: new.table))
  }
}

extension StoreAccess {
  /// Deletes the rows that map paths to columns.
  func forgetIndexSpecs(of soup: Soup) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database, "DELETE FROM \(MetaTable.indexMap) WHERE soupName = ?")
    statement.bind(soup.name, at: 1)
    try statement.run()
  }

  /// Records whether a soup stores its entries in files.
  func setExternal(_ soup: Soup) throws(SmartStoreError) {
    let statement = try StoreStatement(
      database, "UPDATE \(MetaTable.attributes) SET externalStorage = ? WHERE id = ?")
    statement.bind(Int64(soup.isExternal ? 1 : 0), at: 1)
    statement.bind(soup.number, at: 2)
    try statement.run()
  }

  /// Makes the ids of a table continue after those of another, whose sequence may be higher than
  /// any existing id, because entries were deleted.
  func continueSequence(of oldTable: String, in table: String) throws(SmartStoreError) {
    try execute(
      """
      DELETE FROM sqlite_sequence WHERE name = '\(table)';
      INSERT INTO sqlite_sequence (name, seq) \
      SELECT '\(table)', seq FROM sqlite_sequence WHERE name = '\(oldTable)';
      """)
  }
}
