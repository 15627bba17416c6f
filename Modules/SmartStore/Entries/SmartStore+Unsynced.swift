import SalesforceSDKCommon

extension SmartStore {
  /// Counts the unsynced entries of each soup: those in which any of the flags `__local__`,
  /// `__locally_created__`, `__locally_updated__` and `__locally_deleted__` is set. Soups without
  /// such entries are omitted.
  ///
  /// A soup with an index on `__local__` is counted in that index; in any other soup, every entry is read.
  ///
  /// - Throws: ``SmartStoreError`` `closed`, `corrupt`, `unfinishedOperation`, `io`.
  public func unsyncedEntries() async throws -> [String: Int] {
    try await read { reader in
      let access = reader.access
      for soup in access.catalog.unfinished { try access.checkFinished(soup) }
      var counts: [String: Int] = [:]
      for soup in access.catalog.soups.values {
        let count = try access.unsyncedEntries(of: soup)
        if count > 0 { counts[soup.name] = count }
      }
      return counts
    }
  }
}

extension StoreAccess {
  func unsyncedEntries(of soup: Soup) throws(SmartStoreError) -> Int {
    if soup.index(forPath: LocalFlags.local) != nil {
      let rows = try reading(
        "SELECT count(*) FROM \(soup.table) "
          + "WHERE \(soup.expression(forPath: LocalFlags.local)) IN ('1', 1, 'true')")
      return try rows.step() ? Int(rows.int64(0)) : 0
    }
    let rows = try reading("SELECT \(soup.isExternal ? "id" : "id, soup") FROM \(soup.table)")
    var count = 0
    while try rows.step() {
      let text = soup.isExternal ? try externalText(of: rows.int64(0), in: soup) : rows.bytes(1)
      guard text.withUnsafeBytes({ EntrySplicer.mayHoldUnderscoreKey($0) }) else { continue }
      do throws(JSONError) {
        if LocalFlags.isUnsynced(try JSONSlice(parsing: text, limits: .stored)) { count += 1 }
      } catch {
        throw SmartStoreError(
          .corrupt, "An entry of soup \(soup.name) is no JSON, so its flags are unknown.",
          cause: error)
      }
    }
    return count
  }
}
