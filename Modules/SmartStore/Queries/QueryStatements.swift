import SalesforceSDKCommon
import Synchronization

/// The statements of a kind of query on one version of the soups, without its keys.
///
/// They are created once for all queries of the same shape: composing the texts takes longer than
/// finding an entry by its index in SQLite.
final class QueryStatements: Sendable {
  /// The statement that returns all results, without paging.
  let sql: String
  /// The statement that counts the results.
  let countSQL: String
  /// The statement that returns the entry ids of the results.
  let idsSQL: String
  /// The statement for one page.
  let pageSQL: String
  /// The queried soup; nil for a smart query.
  let soup: Soup?
  /// The type by which its keys are compared.
  let keyType: SoupIndexType
  /// The full-text engine of a match; nil for other queries.
  let fullTextVersion: SmartStoreOptions.FullTextVersion?
  /// Whether the statements come from a bounded set whose members GRDB's cache can distinguish, so
  /// that caching them prepared saves time.
  let isCacheable: Bool
  /// Whether the last run exceeded the time limit for a caller's thread, see ``ReadBudget``.
  let isLong = Atomic(false)

  private init(
    sql: String, countSQL: String, idsSQL: String, soup: Soup? = nil,
    keyType: SoupIndexType = .json1, fullTextVersion: SmartStoreOptions.FullTextVersion? = nil
  ) {
    self.soup = soup
    self.keyType = keyType
    self.fullTextVersion = fullTextVersion
    isCacheable = soup != nil && sql.isCacheableStatement
    self.sql = sql
    self.countSQL = countSQL
    self.idsSQL = idsSQL
    pageSQL = "SELECT * FROM (\(sql)) LIMIT ?, ?"
  }

  /// Creates the statements of a smart query.
  convenience init(_ converted: ConvertedStatement) {
    self.init(
      sql: converted.body, countSQL: "SELECT count(*) FROM (\(converted.body))",
      idsSQL: "SELECT id FROM (\(converted.body))")
  }

  /// Creates the statements of a query on one soup.
  ///
  /// - Parameter fullTextVersion: The engine of the soup's full-text table, for a match.
  /// - Throws: ``SmartStoreError`` `invalidReference` for a path that cannot be read.
  convenience init(
    _ spec: QuerySpec, on soup: Soup, fullTextVersion: SmartStoreOptions.FullTextVersion?
  ) throws(SmartStoreError) {
    for path in [spec.indexPath, spec.orderPath].compactMap(\.self) {
      try soup.checkReadable(path)
    }
    for path in spec.selectPaths ?? [] where path != SmartStore.soupPath {
      try soup.checkReadable(path)
    }
    // In FTS4 a key cannot restrict a phrase to a column, but the statement can restrict the whole
    // key.
    let column =
      fullTextVersion == .fts4 ? spec.indexPath.flatMap { soup.fullTextColumn(forPath: $0) } : nil
    let names = QueryNames(
      table: soup.table, fullTextTable: soup.fullTextTable,
      matched: column.map { "\(soup.fullTextTable).\($0)" } ?? soup.fullTextTable,
      path: soup.expression(forPath:),
      comparedPath: {
        soup.expression(
          forPath: $0, comparedWith: spec.matchKey, spec.beginKey, spec.endKey)
      },
      element: soup.elementColumns)
    let predicate = spec.predicate(names, "?")
    let order = spec.orderText(names)
    self.init(
      sql: spec.selectText(names) + predicate + order,
      countSQL: "SELECT count(*) FROM \(soup.table) " + predicate,
      idsSQL: "SELECT id FROM \(soup.table) " + predicate + order, soup: soup,
      keyType: spec.indexPath.flatMap { soup.keyType(forPath: $0) } ?? .json1,
      fullTextVersion: fullTextVersion)
  }
}

/// The common part of specs that have the same statements. Names and paths are compared by their
/// bytes.
struct QueryShape: Hashable, Sendable {
  private let queryType: QuerySpec.QueryType
  private let soupName: MemberKey?
  private let indexPath: MemberKey?
  private let hasBegin: Bool
  private let hasEnd: Bool
  private let orderPath: MemberKey?
  private let order: QuerySpec.Order
  private let selectPaths: [MemberKey]?
  /// Whether SQLite would read a value that equals a key as another value.
  private let hasUnreadableKey: Bool

  init(_ spec: QuerySpec) {
    queryType = spec.queryType
    soupName = spec.soupName.map(MemberKey.init)
    indexPath = spec.indexPath.map(MemberKey.init)
    hasBegin = spec.beginKey != nil
    hasEnd = spec.endKey != nil
    orderPath = spec.orderPath.map(MemberKey.init)
    order = spec.order
    selectPaths = spec.selectPaths?.map(MemberKey.init)
    func isUnreadable(_ key: JSONValue?) -> Bool { key?.isUnreadableForSQLite == true }
    hasUnreadableKey =
      spec.queryType != .match
      && (isUnreadable(spec.matchKey) || isUnreadable(spec.beginKey) || isUnreadable(spec.endKey))
  }
}

/// A cache of statements by the shape of their query.
struct QueryStatementsCache: Sendable {
  /// The maximum number of shapes. Beyond it, all are removed: an app has a few dozen.
  static let capacity = 1024

  private var statements: [QueryShape: QueryStatements] = [:]

  subscript(shape: QueryShape) -> QueryStatements? {
    get { statements[shape] }
    set {
      if statements.count >= Self.capacity { statements = [:] }
      statements[shape] = newValue
    }
  }
}
