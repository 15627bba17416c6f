import SalesforceSDKCommon

/// Finds the element that has an entry's external id, by the index of its path.
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
    // A json1 path has no stored value: SQLite reads it from the new element as it would from an
    // old one, so that both are compared in the same form.
    let value =
      type == .json1
      ? Soup.extraction(of: path).replacing("soup,", with: "?,", maxReplacements: 1) : "?"
    let sql =
      "SELECT id FROM \(soup.table) WHERE \(soup.expression(forPath: path)) = \(value) LIMIT 2"
    statement = try StoreStatement(access.database, sql, cached: sql.isCacheableStatement)
  }

  /// The id of the one element with the external id of `element`; nil if there is none.
  ///
  /// - Throws: ``SmartStoreError`` `externalIdMissing`, `ambiguousMatch`.
  func entryId(
    of element: JSONSlice, on access: StoreAccess
  ) throws(SmartStoreError) -> Int64? {
    let value = projection(of: element)
    guard !value.isEmpty(as: type), !(type == .json1 && value.isGathered) else {
      throw SmartStoreError(
        .externalIdMissing,
        "For upsert with external ID path '\(path)', value cannot be empty for any entries. "
          + "Give every entry a value there.")
    }
    if type == .json1 {
      statement.bind(document(of: element, value), at: 1)
    } else {
      statement.bind(value, as: type, at: 1)
    }
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let id = statement.int64(0)
    if try statement.step() {
      throw .ambiguousMatch(value.shown, path: path.description)
    }
    return id
  }

  private func projection(of element: JSONSlice) -> JSONProjection {
    switch source {
    case .constant(let value): value
    default: element.project(path)
    }
  }

  /// A JSON text in which the path leads to `value`.
  private func document(of element: JSONSlice, _ value: JSONProjection) -> String {
    guard case .constant = source else { return element.description }
    var text = value.compactText ?? "null"
    for key in path.keys.reversed() { text = "{\(JSONValue.string(key).text):\(text)}" }
    return text
  }
}

extension SmartStoreError {
  /// More than one element has the value of an external id or look-up.
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

  /// The path of an external id or look-up has no index.
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
  var isGathered: Bool {
    if case .gathered = self { true } else { false }
  }

  /// The value for a message.
  fileprivate var shown: String {
    if case .value(let slice) = self, let text = slice.string { return text }
    return compactText ?? ""
  }
}
