public import SalesforceSDKCommon

extension StoreReading where Self: ~Copyable {
  /// Returns the entries with these ids, each once. Ignores ids without an entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`; `corrupt` if a stored entry is not JSON.
  public borrowing func retrieve(
    usingSoupEntryIds entryIds: [Int64], fromSoupNamed soupName: String
  ) throws(SmartStoreError) -> [JSONSlice] {
    try access.checkUsable()
    let soup = try access.soup(named: soupName)
    let statement = try access.reading(
      "SELECT \(soup.elementColumns) FROM \(soup.table) WHERE id = ?")
    let row = ResultRow(statement, on: access, method: #function)
    var elements: [JSONSlice] = []
    var seen: Set<Int64> = []
    for id in entryIds where seen.insert(id).inserted {
      if let element = try row.element(boundTo: id) { elements.append(element) }
    }
    return elements
  }

  /// Returns the id of the only entry whose value at `fieldPath` is `fieldValue`, compared in the
  /// form that its index stores. Null finds an entry without a value. Returns nil if there is no
  /// such entry.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notIndexed`, `ambiguousMatch`.
  public borrowing func lookupSoupEntryId(
    soupNamed soupName: String, fieldPath: String, fieldValue: JSONValue?
  ) throws(SmartStoreError) -> Int64? {
    try access.checkUsable()
    let soup = try access.soup(named: soupName)
    let isReserved = Soup.reservedColumn(fieldPath) != nil
    guard isReserved || soup.index(forPath: fieldPath) != nil else {
      throw .notIndexed(fieldPath, soup)
    }
    try soup.checkReadable(fieldPath)
    let comparison = soup.comparison(of: fieldPath, .equal, fieldValue ?? .null)
    let isNull = comparison.bindings == [.null]
    let condition =
      isNull ? "\(soup.expression(forPath: fieldPath)) IS NULL" : comparison.sql
    let sql = "SELECT id FROM \(soup.table) WHERE \(condition) LIMIT 2"
    let statement = try access.reading(sql, cached: sql.isCacheableStatement)
    if !isNull { statement.bind(comparison.bindings) }
    guard try statement.step() else { return nil }
    let id = statement.int64(0)
    if try statement.step() {
      throw .ambiguousMatch(
        (fieldValue?.string ?? fieldValue?.text) ?? "null", path: fieldPath)
    }
    return id
  }
}
