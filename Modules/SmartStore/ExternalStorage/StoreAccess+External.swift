import GRDB
import SalesforceSDKCommon

extension StoreAccess {
  /// Returns the soup whose entries are stored in the files of `table`.
  func externalSoup(inTable table: String) -> Soup? {
    catalog.soups.values.first { $0.isExternal && $0.table == table }
  }

  /// Returns the text of an externally stored entry.
  ///
  /// - Throws: ``SmartStoreError`` `externalFileUnreadable`.
  func externalText(of entryId: Int64, in soup: Soup) throws(SmartStoreError) -> [UInt8] {
    do {
      switch externalChanges.place(table: soup.table, entryId: entryId) {
      case .staged(let name):
        return try files.readStaged(name, table: soup.table, entryId: entryId)
      case .nowhere:
        throw FileTree.missing(ExternalFiles.fileName(entryId))
      case .unchanged:
        return try files.read(
          table: soup.table, entryId: entryId, at: try externalSequence())
      }
    } catch let error as SmartStoreError {
      throw error
    } catch {
      throw SmartStoreError(
        .externalFileUnreadable,
        "com.salesforce.smartstore.LoadExternalSoupError: the file of element \(entryId) of soup "
          + "\(soup.name) is missing or cannot be read. Restore it from a backup.", cause: error)
    }
  }

  /// Stages an entry's text until this transaction commits.
  func writeExternal(
    _ text: [UInt8], entryId: Int64, table: String
  ) throws(SmartStoreError) {
    do {
      let staged = try files.stage(text, table: table, entryId: entryId)
      externalChanges.write(staged, table: table, entryId: entryId)
    } catch {
      throw SmartStoreError(storage: error, at: files.stagingFolder)
    }
  }

  /// Returns the number of the last commit in this snapshot that changed files; 0 if there was
  /// none.
  func externalSequence() throws(SmartStoreError) -> Int64 {
    if let knownExternalSequence { return knownExternalSequence }
    let sequence = try StoreAccess.externalSequence(database)
    knownExternalSequence = sequence
    return sequence
  }

  static func externalSequence(_ database: Database) throws(SmartStoreError) -> Int64 {
    let table = try StoreStatement(
      database, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?")
    table.bind(MetaTable.externalChanges, at: 1)
    guard try table.step() else { return 0 }
    let statement = try StoreStatement(
      database, "SELECT max(sequence) FROM \(MetaTable.externalChanges)")
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Takes the number of the coming commit, if it changes files.
  ///
  /// - Returns: Nil if it does not.
  func takeExternalSequence() throws(SmartStoreError) -> Int64? {
    guard !externalChanges.isEmpty else { return nil }
    let next = try externalSequence() + 1
    try createExternalChanges()
    try execute(
      "INSERT OR REPLACE INTO \(MetaTable.externalChanges) (id, sequence) VALUES (1, \(next))")
    return next
  }

  /// Creates the table for the number of the last commit that changed files, if it does not exist.
  func createExternalChanges() throws(SmartStoreError) {
    try execute(
      """
      CREATE TABLE IF NOT EXISTS \(MetaTable.externalChanges) \
      (id INTEGER PRIMARY KEY CHECK (id = 1), sequence INTEGER)
      """)
  }
}
