import GRDB
import SalesforceSDKCommon
import Synchronization

/// A query ready to run on one snapshot: its statements and the values to bind.
struct QueryPlan {
  private let statements: QueryStatements
  let bindings: [BoundValue]
  let pageSize: Int
  /// Whether each result is an entry rather than a row.
  let givesElements: Bool
  /// The names of a row's columns, if the spec has them.
  let columnNames: [String]
  /// Whether a caller or a page wrote the statement.
  let isSmart: Bool
  /// Whether GRDB may cache the prepared statements.
  var isCacheable: Bool { statements.isCacheable }

  /// The statement that returns all results, without paging.
  var sql: String { statements.sql }
  /// The statement for one page.
  var pageSQL: String { statements.pageSQL }
  /// The statement that counts the results.
  var countSQL: String { statements.countSQL }
  /// The statement that returns the entry ids of the results, to remove them.
  var idsSQL: String { statements.idsSQL }

  /// - Parameter purpose: A removal is for ``idsSQL``, a query for the other statements.
  init(
    _ spec: QuerySpec, whereArgs: [JSONValue]?, on access: StoreAccess,
    for purpose: KeyComparison.Purpose = .query
  ) throws(SmartStoreError) {
    pageSize = spec.pageSize
    isSmart = spec.statement != nil
    if let statement = spec.statement {
      let converted = try QueryPlan.convert(statement, on: access)
      try QueryPlan.checkFlags(of: converted, whereArgs ?? [])
      statements = QueryStatements(converted)
      bindings = (whereArgs ?? []).map(BoundValue.init(argument:))
      givesElements = false
      columnNames = []
      return
    }
    guard whereArgs == nil else {
      throw SmartStoreError(
        .bindArgumentsNotAllowed, "whereArgs can only be provided for smart queries")
    }
    if let known = access.statements {
      statements = known
    } else {
      statements = try QueryPlan.statements(spec, access)
    }
    bindings = try QueryPlan.bindings(spec, statements, access, purpose)
    givesElements = spec.selectPaths == nil
    columnNames = spec.selectPaths ?? []
  }

  /// Runs work on the query's rows, within ``QueryLimits`` if a caller wrote the statement.
  func limited<R>(
    on access: StoreAccess, _ work: () throws(SmartStoreError) -> R
  ) throws(SmartStoreError) -> R {
    isSmart ? try QueryLimits.enforce(on: access.database, work) : try work()
  }

  /// Runs a step of the query. The error for a search text that the engine cannot read says how to write it.
  func explaining<R>(_ step: () throws(SmartStoreError) -> R) throws(SmartStoreError) -> R {
    do throws(SmartStoreError) {
      return try step()
    } catch {
      guard statements.fullTextVersion != nil, error.code == .sql else { throw error }
      let remedy =
        "Put words with other characters than letters and digits in double quotes: \"O'Brien\"."
      throw SmartStoreError(
        .sql, "The search text is not a valid match query. \(remedy)",
        detail: error.detail.map { "\($0). \(remedy)" }, cause: error)
    }
  }

  /// Refuses a text that is bound in a comparison with a flag, which would find nothing.
  private static func checkFlags(
    of converted: ConvertedStatement, _ arguments: [JSONValue]
  ) throws(SmartStoreError) {
    for (number, flag) in converted.flagParameters.sorted(by: { $0.key < $1.key })
    where arguments.indices.contains(number - 1) {
      guard let text = arguments[number - 1].string, FlagText.isMeant(text) else { continue }
      throw FlagText.refusal(
        "in argument \(number)", flag: flag, remedy: "Bind the Boolean true or false.")
    }
  }

  /// Refuses a text that a query spec compares with a flag in another way than for equality.
  private static func checkFlag(of spec: QuerySpec) throws(SmartStoreError) {
    guard let path = spec.indexPath, LocalFlags.all.contains(path) else { return }
    var texts = [spec.beginKey, spec.endKey].compactMap { $0?.string }
    if let key = spec.likeKey { texts.append(key) }
    if spec.queryType == .exact, let key = spec.matchKey?.string, key != "true", key != "false" {
      texts.append(key)
    }
    guard texts.contains(where: { FlagText.isMeant($0) }) else { return }
    throw FlagText.refusal(
      "of the query spec", flag: path,
      remedy: "Use an exact query spec with the Boolean true or false as its key.")
  }

  /// Returns the statements of a query on one soup, from the snapshot's cache if they were prepared
  /// before.
  private static func statements(
    _ spec: QuerySpec, _ access: StoreAccess
  ) throws(SmartStoreError) -> QueryStatements {
    let soup = try access.soup(named: spec.soupName ?? "")
    let shape = QueryShape(spec)
    if let known = access.catalog.statements.withLock({ $0[shape] }) { return known }
    let made = try QueryStatements(
      spec, on: soup,
      fullTextVersion: spec.queryType == .match
        ? try access.engine(ofFullTextTable: soup.fullTextTable) : nil)
    access.catalog.statements.withLock { $0[shape] = made }
    return made
  }

  /// Returns the keys of a spec in the form that the index of their path stores.
  private static func bindings(
    _ spec: QuerySpec, _ statements: QueryStatements, _ access: StoreAccess,
    _ purpose: KeyComparison.Purpose
  ) throws(SmartStoreError) -> [BoundValue] {
    if spec.queryType == .match, let soup = statements.soup {
      guard soup.hasFullText else {
        throw SmartStoreError(
          .invalidQuerySpec,
          "Invalid query spec: soup \(soup.name) has no full_text path to match.")
      }
      var field: String?
      if let path = spec.indexPath {
        guard let column = soup.fullTextColumn(forPath: path) else {
          throw SmartStoreError(
            .invalidQuerySpec,
            "Invalid query spec: \(path) is not a full_text path of soup \(soup.name).")
        }
        field = column
      }
      let version = statements.fullTextVersion
      // In FTS4 the statement itself contains the column.
      let key = MatchKey.qualified(
        spec.matchKey?.string ?? "", field: version == .fts4 ? nil : field)
      return [.text(try MatchKey.resolved(key, soups: access.catalog.soups, version: version))]
    }
    try checkFlag(of: spec)
    var bindings: [BoundValue] = []
    func append(_ comparison: KeyComparison.Operator, _ key: JSONValue?) {
      guard let key, let path = spec.indexPath, let soup = statements.soup else { return }
      bindings += soup.comparisonBindings(of: path, comparison, key, for: purpose)
    }
    if spec.queryType == .exact { append(.equal, spec.matchKey) }
    append(.atLeast, spec.beginKey)
    append(.atMost, spec.endKey)
    if let key = spec.likeKey { bindings.append(.text(key)) }
    return bindings
  }

  /// Returns the SQL of a Smart SQL statement, from the snapshot's cache if it was converted
  /// before.
  ///
  /// SQLite checks the statement once, before it is cached: it must be a single statement that only
  /// reads.
  private static func convert(
    _ smartSQL: String, on access: StoreAccess
  ) throws(SmartStoreError) -> ConvertedStatement {
    let catalog = access.catalog
    if let known = catalog.conversions.withLock({ $0.statement(for: smartSQL) }) { return known }
    let converted: ConvertedStatement
    do throws(SmartStoreError) {
      converted = try SmartSQLConverter.convert(smartSQL, soups: catalog.soups)
    } catch {
      // A soup may be unknown only because its alter is unfinished.
      if let name = catalog.unfinished.first(where: { smartSQL.contains("{\($0)") }) {
        try access.checkFinished(name)
      }
      throw error
    }
    try converted.checkAllowed()
    try check(converted, on: access)
    catalog.conversions.withLock { $0.put(converted, for: smartSQL) }
    return converted
  }

  private static func check(
    _ converted: ConvertedStatement, on access: StoreAccess
  ) throws(SmartStoreError) {
    do {
      guard try access.database.makeStatement(sql: converted.body).isReadonly else {
        throw SmartStoreError(
          .refusedStatement,
          "Only SELECT are supported. Use the calls of the store to change elements.")
      }
    } catch {
      let error = SmartStoreError(grdb: error)
      throw QueryLimits.refusal(compiling: error) ?? error
    }
  }
}

extension Soup {
  /// Returns the type by which keys for `path` are compared: the type of its index, an integer for
  /// the reserved numbers, nil for a value that is extracted from the entry.
  func keyType(forPath path: String) -> SoupIndexType? {
    switch path {
    case SmartStore.soupEntryId, SmartStore.createdDate, SmartStore.lastModifiedDate: .integer
    case SmartStore.soupPath: .string
    default: index(forPath: path)?.type
    }
  }
}

extension Int64 {
  /// Creates the number without its fraction; out of range, the nearest integer.
  fileprivate init(clamping double: Double) {
    self =
      Int64(exactly: double.rounded(.towardZero))
      ?? (double.isNaN ? 0 : double < 0 ? Int64.min : Int64.max)
  }
}

extension BoundValue {
  /// Creates an argument for a placeholder of a smart query.
  init(argument: JSONValue) {
    self = BoundValue(key: argument, type: .json1)
  }

  /// Creates a value in the form that an index of `type` stores.
  init(indexed value: JSONValue, type: SoupIndexType) {
    switch (type, value) {
    case (.integer, .double(let double)): self = .integer(Int64(clamping: double))
    case (.integer, .number(let number)): self = .integer(number.clampedInt64)
    default: self = BoundValue(key: value, type: type)
    }
  }

  /// Creates a key to compare with the values of an index, in the form that the index stores.
  init(key: JSONValue, type: SoupIndexType) {
    switch (type, key) {
    case (_, .null): self = .null
    case (.string, .bool(let flag)), (.fullText, .bool(let flag)): self = .text(flag ? "1" : "0")
    case (_, .bool(let flag)): self = .integer(flag ? 1 : 0)
    case (_, .string(let text)): self = .text(text)
    case (.string, _), (.fullText, _), (_, .array), (_, .object):
      // A value that JSON cannot represent is in no entry.
      self = key.normalizedText.map { .text($0) } ?? .null
    // The index rounds integers that a double cannot represent exactly, so the key is rounded too.
    case (.floating, .integer(let integer)): self = .double(Double(integer))
    case (.floating, .number(let number)): self = .double(BoundValue.double(number))
    case (_, .integer(let integer)): self = .integer(integer)
    case (_, .double(let double)): self = .double(double)
    case (_, .number(let number)):
      self = number.int64.map { .integer($0) } ?? .double(BoundValue.double(number))
    }
  }

  /// Returns the double nearest to a number.
  static func nearestDouble(to key: JSONValue) -> Double {
    switch key {
    case .integer(let integer): Double(integer)
    case .double(let double): double
    case .number(let number): double(number)
    default: .nan
    }
  }

  /// Returns the nearest double; infinity beyond the range.
  private static func double(_ number: JSONNumber) -> Double {
    number.double ?? (number.text.utf8.first == UInt8(ascii: "-") ? -.infinity : .infinity)
  }
}
