public import SalesforceSDKCommon

/// A query of one soup, or a Smart SQL statement, with its page size.
///
/// The `build…` functions and the initializer from JSON create a spec, and refuse an invalid one.
/// ``smartSql``, ``countSmartSql`` and ``idsSmartSql`` are its Smart SQL.
public struct QuerySpec: Sendable, Hashable {
  /// The kinds of query.
  public enum QueryType: String, Sendable, Hashable {
    case exact, range, like, match, smart
  }

  /// The direction of the order path's values.
  public enum Order: String, Sendable, Hashable {
    case ascending, descending
  }

  /// The page size of a spec from JSON that contains none.
  public static let defaultPageSize = 10

  public let queryType: QueryType
  /// The queried soup; nil for a smart query, whose statement contains its soups.
  public let soupName: String?
  /// The path that the key is compared with. Nil for an all-query, and for a match over all
  /// full-text paths.
  public let indexPath: String?
  /// The key of an exact or match query.
  public let matchKey: JSONValue?
  /// The pattern of a like query: `%` matches any text, `_` one character.
  public let likeKey: String?
  /// The inclusive lower bound of a range; nil for no lower bound.
  public let beginKey: JSONValue?
  /// The inclusive upper bound of a range; nil for no upper bound.
  public let endKey: JSONValue?
  /// The statement of a smart query.
  let statement: String?
  /// The path to order by; nil for no particular order.
  public let orderPath: String?
  public let order: Order
  /// The maximum number of results in a page, at least 1.
  public let pageSize: Int
  /// The paths to return instead of whole entries, in this order.
  public let selectPaths: [String]?

  private init(
    _ queryType: QueryType, soupName: String?, indexPath: String? = nil,
    matchKey: JSONValue? = nil, likeKey: String? = nil, beginKey: JSONValue? = nil,
    endKey: JSONValue? = nil, statement: String? = nil, orderPath: String? = nil,
    order: Order = .ascending, pageSize: Int, selectPaths: [String]? = nil
  ) throws(SmartStoreError) {
    self.queryType = queryType
    self.soupName = soupName
    self.indexPath = indexPath
    self.matchKey = matchKey
    self.likeKey = likeKey
    self.beginKey = beginKey
    self.endKey = endKey
    self.statement = statement
    self.orderPath = orderPath
    self.order = order
    self.pageSize = pageSize
    self.selectPaths = selectPaths?.isEmpty == true ? nil : selectPaths
    try validate()
  }

  // MARK: Builders

  /// Creates a query for all entries of a soup, including those without a value at the order path.
  public static func buildAllQuerySpec(
    soupName: String, selectPaths: [String]? = nil, orderPath: String? = nil,
    order: Order = .ascending, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(
      .range, soupName: soupName, orderPath: orderPath, order: order, pageSize: pageSize,
      selectPaths: selectPaths)
  }

  /// Creates a query for the entries whose value at `path` equals `matchKey`.
  ///
  /// A Boolean or number finds the entries with the equal JSON value, for every index type. An
  /// integer index stores numbers without their fraction and within 64 bits: 1 finds 1.5 there, too, and 1.5 only 1.5.
  /// In a soup with entries in files, a key that such an index cannot hold finds nothing. The texts `true` and `false`
  /// find a flag of local changes, such as `__local__`, as the Booleans do.
  public static func buildExactQuerySpec(
    soupName: String, selectPaths: [String]? = nil, path: String, matchKey: JSONValue?,
    orderPath: String? = nil, order: Order = .ascending, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(
      .exact, soupName: soupName, indexPath: path, matchKey: matchKey, orderPath: orderPath,
      order: order, pageSize: pageSize, selectPaths: selectPaths)
  }

  /// Creates a query for the entries whose value at `path` is between the keys, inclusive.
  public static func buildRangeQuerySpec(
    soupName: String, selectPaths: [String]? = nil, path: String, beginKey: JSONValue? = nil,
    endKey: JSONValue? = nil, orderPath: String? = nil, order: Order = .ascending, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(
      .range, soupName: soupName, indexPath: path, beginKey: beginKey, endKey: endKey,
      orderPath: orderPath, order: order, pageSize: pageSize, selectPaths: selectPaths)
  }

  /// Creates a query for the entries whose value at `path` matches the pattern `likeKey`. ASCII
  /// letters match in either case.
  public static func buildLikeQuerySpec(
    soupName: String, selectPaths: [String]? = nil, path: String, likeKey: String?,
    orderPath: String? = nil, order: Order = .ascending, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(
      .like, soupName: soupName, indexPath: path, likeKey: likeKey, orderPath: orderPath,
      order: order, pageSize: pageSize, selectPaths: selectPaths)
  }

  /// Creates a query for the entries whose full text matches `matchKey`, in `path` or, without a
  /// path, in all full-text paths of the soup.
  ///
  /// `matchKey` may contain terms, `term*`, `"a phrase"`, AND, OR, NOT, parentheses and
  /// `{soup:path}:term`. On a soup that still uses FTS4, a reference applies to one term, not to a
  /// phrase: for a phrase, pass `path`.
  public static func buildMatchQuerySpec(
    soupName: String, selectPaths: [String]? = nil, path: String? = nil, matchKey: String?,
    orderPath: String? = nil, order: Order = .ascending, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(
      .match, soupName: soupName, indexPath: path, matchKey: matchKey.map { .string($0) },
      orderPath: orderPath, order: order, pageSize: pageSize, selectPaths: selectPaths)
  }

  /// Creates a query for the rows of a Smart SQL statement.
  public static func buildSmartQuerySpec(
    smartSql: String, pageSize: Int
  ) throws(SmartStoreError) -> QuerySpec {
    try QuerySpec(.smart, soupName: nil, statement: smartSql, pageSize: pageSize)
  }

  // MARK: JSON

  /// Reads the JSON form of a spec.
  ///
  /// A missing, null or non-positive `pageSize` means 10. Any `order` except `descending` means
  /// ascending. A null member counts as missing.
  ///
  /// - Parameter soupName: The queried soup; not needed for a smart query.
  /// - Throws: ``SmartStoreError`` `invalidQuerySpec` for a missing or unknown `queryType`, a missing
  ///   key, or a path, a statement or a page size of the wrong type.
  public init(json: JSONValue, soupName: String?) throws(SmartStoreError) {
    guard let type = json["queryType"]?.string.flatMap(QueryType.init(rawValue:)) else {
      throw SmartStoreError(
        .invalidQuerySpec,
        "Invalid query spec: queryType is missing or unknown. "
          + "Use exact, range, like, match or smart.")
    }
    func key(_ name: String) -> JSONValue? {
      guard let value = json[name], !value.isNull else { return nil }
      return value
    }
    func text(_ name: String) throws(SmartStoreError) -> String? {
      guard let value = key(name) else { return nil }
      guard let text = value.string else { throw Self.invalid("\(name) must be a string") }
      return text
    }
    let isSmart = type == .smart
    var selectPaths: [String]?
    if !isSmart, let paths = key("selectPaths") {
      selectPaths = paths.array?.compactMap(\.string)
      guard let selectPaths, selectPaths.count == paths.array?.count else {
        throw Self.invalid("selectPaths must be a list of strings")
      }
    }
    var pageSize = QuerySpec.defaultPageSize
    if let value = key("pageSize") {
      guard let size = value.int64 else { throw Self.invalid("pageSize must be a whole number") }
      if size > 0 { pageSize = Int(clamping: size) }
    }
    try self.init(
      type, soupName: isSmart ? nil : soupName, indexPath: isSmart ? nil : text("indexPath"),
      matchKey: type == .exact || type == .match ? key("matchKey") : nil,
      likeKey: type == .like ? key("likeKey").map { $0.string ?? $0.text } : nil,
      beginKey: type == .range ? key("beginKey") : nil,
      endKey: type == .range ? key("endKey") : nil,
      statement: isSmart ? text("smartSql") : nil,
      orderPath: isSmart ? nil : text("orderPath"),
      order: key("order")?.string == Order.descending.rawValue ? .descending : .ascending,
      pageSize: pageSize, selectPaths: selectPaths)
  }

  /// The JSON form, with the members that apply to this kind of query. Parsing it returns an equal
  /// spec.
  public var json: JSONValue {
    var members: JSONObject = [
      "queryType": .string(queryType.rawValue), "pageSize": .integer(Int64(pageSize)),
      "order": .string(order.rawValue),
    ]
    members["indexPath"] = indexPath.map { .string($0) }
    members["orderPath"] = orderPath.map { .string($0) }
    members["selectPaths"] = selectPaths.map { .array($0.map { .string($0) }) }
    members["beginKey"] = beginKey
    members["endKey"] = endKey
    members["likeKey"] = likeKey.map { .string($0) }
    members["matchKey"] = matchKey
    members["smartSql"] = statement.map { .string($0) }
    return .object(members)
  }

  // MARK: Checks

  private func validate() throws(SmartStoreError) {
    guard pageSize >= 1 else { throw Self.invalid("the page size is \(pageSize). Use at least 1") }
    if queryType == .smart {
      guard statement != nil else { throw Self.invalid("a smart query needs smartSql") }
      return
    }
    guard let soupName, !soupName.isEmpty else { throw Self.invalid("the soup's name is missing") }
    switch queryType {
    case .exact:
      guard let matchKey, !matchKey.isNull else {
        throw Self.invalid("an exact query needs a matchKey; ask for null with a smart query")
      }
    case .like:
      guard likeKey != nil else { throw Self.invalid("a like query needs a likeKey") }
    case .match:
      guard let key = matchKey?.string, key.contains(where: { !$0.isWhitespace }) else {
        throw Self.invalid("a match query needs a matchKey with at least one term")
      }
    case .range, .smart: break
    }
    let needsPath = queryType == .exact || queryType == .like || beginKey != nil || endKey != nil
    if needsPath, indexPath?.isEmpty != false { throw Self.invalid("the indexPath is missing") }
    let paths = [indexPath, orderPath].compactMap(\.self) + (selectPaths ?? [])
    if paths.contains(where: { $0.isEmpty || $0.utf8.contains(0) }) {
      throw Self.invalid("a path is empty or holds a NUL")
    }
  }

  private static func invalid(_ reason: String) -> SmartStoreError {
    SmartStoreError(.invalidQuerySpec, "Invalid query spec: \(reason).")
  }
}
