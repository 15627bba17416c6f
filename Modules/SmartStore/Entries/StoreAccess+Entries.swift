extension StoreAccess {
  /// Removes entries with their full-text rows and files; returns the number of removed entries.
  @discardableResult
  func remove(_ entryIds: [Int64], from soup: Soup) throws(SmartStoreError) -> Int {
    guard !entryIds.isEmpty else { return 0 }
    if soup.hasFullText {
      let fullText = try StoreStatement(
        database, "DELETE FROM \(soup.fullTextTable) WHERE rowid = ?")
      for id in entryIds {
        fullText.bind(id, at: 1)
        try fullText.run()
      }
    }
    let statement = try StoreStatement(database, "DELETE FROM \(soup.table) WHERE id = ?")
    var removed = 0
    for id in entryIds {
      statement.bind(id, at: 1)
      try statement.run()
      removed += statement.changes
      if soup.isExternal, statement.changes > 0 {
        externalChanges.remove(table: soup.table, entryId: id)
      }
    }
    didChange(soup)
    return removed
  }
}
