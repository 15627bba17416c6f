import SalesforceSDKCommon
import Synchronization

/// The statements of a kind of query on one version of the soups, without its keys.
///
/// Made once for all queries of the same shape: putting the texts together takes longer than SQLite
/// needs to find an entry by its index.
final class QueryStatements: Sendable {
  /// The statement that gives all results, without paging.
  let sql: String
  /// The statement that counts them.
  let countSQL: String
  /// The statement that gives their entry ids.
  let idsSQL: String
  /// The statement for one page.
  let pageSQL: String
  /// The soup that is queried; nil for a smart query.
  let soup: Soup?
  /// How its keys are compared.
  let keyType: SoupIndexType
  /// The engine that a match asks; nil for other queries.
  let fullTextVersion: SmartStoreOptions.FullTextVersion?
  /// Whether the statements come from a bounded set that GRDB's cache tells apart, so that preparing
  /// them once pays.
  let isCacheable: Bool
  /// Whether the last run took longer than a caller's thread should wait, see ``ReadBudget``.
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

  /// The statements of a smart query.
  convenience init(_ converted: ConvertedStatement) {
    self.init(
      sql: converted.body, countSQL: "SELECT count(*) FROM (\(converted.body))",
      idsSQL: "SELECT id FROM (\(converted.body))")
  }

  /// The statements of a query on one soup.
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
    // A key of FTS4 cannot aim a phrase at a column; the statement can restrict all of it to one.
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

/// What two specs have in common if they have the same statements. Names and paths are compared by
/// their bytes.
struct QueryShape: Hashable, Sendable {
  private let queryType: QuerySpec.QueryType
  private let soupName: MemberKey?
  private let indexPath: MemberKey?
  private let hasBegin: Bool
  private let hasEnd: Bool
  private let orderPath: MemberKey?
  private let order: QuerySpec.Order
  private let selectPaths: [MemberKey]?
  /// Whether SQLite would read a value otherwise than a key is.
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

/// The statements of the shapes of queries that were run.
struct QueryStatementsCache: Sendable {
  /// Beyond so many shapes all are forgotten: an app has a few dozen.
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
