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
  /// The statement that returns the entry ids of the results, to remove them.
  let idsSQL: String
  /// The statement for one page.
  let pageSQL: String
  /// The queried soup; nil for a smart query.
  let soup: Soup?
  /// The full-text engine of a match; nil for other queries.
  let fullTextVersion: SmartStoreOptions.FullTextVersion?
  /// Whether the statements come from a bounded set whose members GRDB's cache can distinguish, so
  /// that caching them prepared saves time.
  let isCacheable: Bool
  /// Whether the last run exceeded the time limit for a caller's thread, see ``ReadBudget``.
  let isLong = Atomic(false)

  private init(
    sql: String, countSQL: String, idsSQL: String, soup: Soup? = nil,
    fullTextVersion: SmartStoreOptions.FullTextVersion? = nil
  ) {
    self.soup = soup
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
    func names(for purpose: KeyComparison.Purpose) -> QueryNames {
      QueryNames(
        table: soup.table, fullTextTable: soup.fullTextTable,
        matched: column.map { "\(soup.fullTextTable).\($0)" } ?? soup.fullTextTable,
        path: soup.expression(forPath:), selected: soup.selection(ofPath:),
        comparison: { path, comparison in
          let key =
            switch comparison {
            case .equal: spec.matchKey
            case .atLeast: spec.beginKey
            case .atMost: spec.endKey
            }
          return soup.comparisonSQL(of: path, comparison, key?.keyKind ?? .plain, for: purpose)
        },
        element: soup.elementColumns)
    }
    let (names, removal) = (names(for: .query), names(for: .removal))
    let predicate = spec.predicate(names, "?")
    let order = spec.orderText(names)
    self.init(
      sql: spec.selectText(names) + predicate + order,
      countSQL: "SELECT count(*) FROM \(soup.table) " + predicate,
      idsSQL: "SELECT id FROM \(soup.table) " + spec.predicate(removal, "?") + order, soup: soup,
      fullTextVersion: fullTextVersion)
  }
}

/// The common part of specs that have the same statements. Names and paths are compared by their
/// bytes.
struct QueryShape: Hashable, Sendable {
  private let queryType: QuerySpec.QueryType
  private let soupName: MemberKey?
  private let indexPath: MemberKey?
  private let matchKey: KeyKind?
  private let beginKey: KeyKind?
  private let endKey: KeyKind?
  private let orderPath: MemberKey?
  private let order: QuerySpec.Order
  private let selectPaths: [MemberKey]?

  init(_ spec: QuerySpec) {
    queryType = spec.queryType
    soupName = spec.soupName.map(MemberKey.init)
    indexPath = spec.indexPath.map(MemberKey.init)
    matchKey = spec.queryType == .match ? nil : spec.matchKey?.keyKind
    beginKey = spec.beginKey?.keyKind
    endKey = spec.endKey?.keyKind
    orderPath = spec.orderPath.map(MemberKey.init)
    order = spec.order
    selectPaths = spec.selectPaths?.map(MemberKey.init)
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
