import SalesforceSDKCommon

/// A look-up of the stored entry with the same external id as a given entry, by the index of the
/// path.
final class ExternalIdLookup {
  private let soup: Soup
  private let path: JSONPath
  private let type: SoupIndexType
  private let source: PathSource
  private let statement: StoreStatement

  /// - Throws: ``SmartStoreError`` `notIndexed` if the soup has no index on `path`.
  init(
    _ soup: Soup, path: String, setting: [(key: String, value: JSONValue)], removing: [String],
    on access: StoreAccess
  ) throws(SmartStoreError) {
    guard let index = soup.index(forPath: path) else { throw .notIndexed(path, soup) }
    self.soup = soup
    self.path = JSONPath(path)
    type = index.type
    source = try PathSource(self.path, setting: setting, removing: removing)
    // A json1 path has no stored value: SQLite reads the new value in the same way as a stored one,
    // so that both are compared in the same form.
    let condition =
      type == .json1
      ? "json_extract(?1, '$[0]') AND (?2 IS NULL OR 1\(soup.exactText("?2", at: path)))" : "?1"
    let sql =
      "SELECT id FROM \(soup.table) WHERE \(soup.expression(forPath: path)) = \(condition) LIMIT 2"
    statement = try StoreStatement(access.database, sql, cached: sql.isCacheableStatement)
  }

  /// Returns the id of the only entry with the external id of `element`; nil if there is no such
  /// entry.
  ///
  /// - Throws: ``SmartStoreError`` `externalIdMissing`, `ambiguousMatch`.
  func entryId(
    of element: JSONSlice, on access: StoreAccess
  ) throws(SmartStoreError) -> Int64? {
    let value =
      if case .constant(let value) = source { value } else { element.project(path) }
    guard !value.isEmpty(as: type) else {
      throw SmartStoreError(
        .externalIdMissing,
        "For upsert with external ID path '\(path)', value cannot be empty for any entries. "
          + "Give every entry a value there.")
    }
    guard type == .json1 else {
      statement.bind(value, as: type, at: 1)
      return try onlyMatch(of: statement, value)
    }
    if let text = readableText(of: value) {
      statement.bind("[\(text)]", at: 1)
      if case .value(let slice) = value, let string = slice.string {
        statement.bind(string, at: 2)
      } else {
        statement.bindNull(at: 2)
      }
      return try onlyMatch(of: statement, value)
    }
    let sql = "SELECT id FROM \(soup.table) WHERE \(Soup.ownExtraction(of: path.text)) = ? LIMIT 2"
    let exact = try StoreStatement(access.database, sql, cached: sql.isCacheableStatement)
    exact.bind(BoundValue(key: value.value ?? .null, type: .json1), at: 1)
    return try onlyMatch(of: exact, value)
  }

  private func onlyMatch(
    of statement: borrowing StoreStatement, _ value: JSONProjection
  ) throws(SmartStoreError) -> Int64? {
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let id = statement.int64(0)
    if try statement.step() {
      throw .ambiguousMatch(value.shown, path: path.description)
    }
    return id
  }

  /// Returns the JSON text of a value that SQLite reads unchanged, on a path that it follows.
  private func readableText(of value: JSONProjection) -> String? {
    guard case .value(let slice) = value, SQLitePath(path.text) == .names else { return nil }
    switch slice.kind {
    case .array, .object: return nil
    case .string where JSONValue.string(slice.string ?? "").isUnreadableForSQLite: return nil
    default: return slice.description
    }
  }
}

extension SmartStoreError {
  /// The error for several entries with the value of an external id or look-up.
  static func ambiguousMatch(
    _ value: String, path: String, fileID: String = #fileID, line: Int = #line
  ) -> SmartStoreError {
    SmartStoreError(
      .ambiguousMatch,
      "Cannot update entry: the value for path '\(path)' does not represent a unique entry! Remove the "
        + "doubles, or choose another path.",
      detail: "Cannot update entry: the value '\(value)' for path '\(path)' does not represent a "
        + "unique entry!", fileID: fileID, line: line)
  }

  /// The error for an external id or look-up whose path has no index.
  static func notIndexed(
    _ path: String, _ soup: Soup, fileID: String = #fileID, line: Int = #line
  ) -> SmartStoreError {
    SmartStoreError(
      .notIndexed,
      "No index column defined for field '\(path)'. Soup \(soup.name) must be altered to index it.",
      fileID: fileID, line: line)
  }
}

extension JSONProjection {
  /// The value as it is shown in a message.
  fileprivate var shown: String {
    if case .value(let slice) = self, let text = slice.string { return text }
    return compactText ?? ""
  }
}
