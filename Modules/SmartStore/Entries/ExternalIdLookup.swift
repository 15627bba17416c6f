import SalesforceSDKCommon

/// A look-up of the stored entry with the same external id as a given entry, by the index of the
/// path.
final class ExternalIdLookup {
  private let soup: Soup
  private let path: JSONPath
  private let type: SoupIndexType
  private let source: PathSource
  /// The statements that were needed so far.
  private var statements: [KeyKind: Prepared] = [:]

  private final class Prepared {
    let statement: StoreStatement

    init(_ statement: consuming StoreStatement) { self.statement = statement }
  }

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
    let isText = type == .string || type == .fullText
    let key = isText ? JSONValue.null : value.value ?? .null
    let prepared = try statement(for: key.keyKind, on: access)
    if isText {
      prepared.statement.bind(value, as: type, at: 1)
    } else {
      prepared.statement.bind(
        soup.comparisonBindings(of: path.text, .equal, key, for: .externalId))
    }
    return try onlyMatch(of: prepared.statement, value)
  }

  private func statement(
    for kind: KeyKind, on access: StoreAccess
  ) throws(SmartStoreError) -> Prepared {
    if let known = statements[kind] { return known }
    let condition = soup.comparisonSQL(of: path.text, .equal, kind, for: .externalId)
    let sql = "SELECT id FROM \(soup.table) WHERE \(condition) LIMIT 2"
    let made = Prepared(
      try StoreStatement(access.database, sql, cached: sql.isCacheableStatement))
    statements[kind] = made
    return made
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
