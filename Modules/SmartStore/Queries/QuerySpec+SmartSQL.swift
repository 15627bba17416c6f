import SalesforceSDKCommon

/// The names of a soup and its values in a query's text, in Smart SQL or in SQL.
struct QueryNames {
  /// The soup's table.
  let table: String
  /// The soup's full-text table.
  let fullTextTable: String
  /// The name that a match searches: the full-text table, or one of its columns.
  let matched: String
  /// Returns the name of a path of the soup.
  let path: (String) -> String
  /// Returns the name of a path among the results.
  let selected: (String) -> String
  /// Returns the comparison of a path's values with a key, which is bound.
  let comparison: (String, KeyComparison.Operator) -> String
  /// The name of the whole entry.
  let element: String

  /// Returns the name of a path among the results.
  func selection(_ path: String) -> String {
    path == SmartStore.soupPath ? element : selected(path)
  }
}

extension QuerySpec {
  /// The Smart SQL that returns the results.
  public var smartSql: String {
    statement ?? (names.map { selectText($0) + predicate($0, inlinedMatchKey($0)) + orderText($0) })
      ?? ""
  }

  /// The Smart SQL that counts the results.
  public var countSmartSql: String {
    if let statement { return "SELECT count(*) FROM (\(statement))" }
    guard let names else { return "" }
    return "SELECT count(*) FROM \(names.table) " + predicate(names, inlinedMatchKey(names))
  }

  /// The Smart SQL that returns the entry ids of the results. A smart query must have a column
  /// named `id` for it.
  public var idsSmartSql: String {
    if let statement { return "SELECT id FROM (\(statement))" }
    guard let names else { return "" }
    return "SELECT id FROM \(names.table) " + predicate(names, inlinedMatchKey(names))
      + orderText(names)
  }

  /// The names in Smart SQL.
  private var names: QueryNames? {
    soupName.map { soup in
      QueryNames(
        table: "{\(soup)}", fullTextTable: "{\(soup)}_fts", matched: "{\(soup)}_fts",
        path: { "{\(soup):\($0)}" }, selected: { "{\(soup):\($0)}" },
        comparison: { "{\(soup):\($0)} \($1.rawValue) ?" },
        element: "{\(soup):\(SmartStore.soupPath)}")
    }
  }

  /// Returns the match key as a literal, restricted to the index path.
  private func inlinedMatchKey(_ names: QueryNames) -> String {
    guard queryType == .match, let key = matchKey?.string else { return "?" }
    let qualified = MatchKey.qualified(key, field: indexPath.map(names.path))
    return "'\(qualified.replacing("'", with: "''"))'"
  }

  // MARK: Parts of the statement, each with one blank at its end

  func selectText(_ names: QueryNames) -> String {
    let columns = (selectPaths ?? [SmartStore.soupPath]).map(names.selection)
    return "SELECT \(columns.joined(separator: ", ")) FROM \(names.table) "
  }

  func predicate(_ names: QueryNames, _ matchKey: String) -> String {
    func compared(_ comparison: KeyComparison.Operator) -> String {
      indexPath.map { names.comparison($0, comparison) } ?? ""
    }
    switch queryType {
    case .exact: return "WHERE \(compared(.equal)) "
    case .like: return "WHERE \(indexPath.map(names.path) ?? "") LIKE ? "
    case .range:
      return switch (beginKey, endKey) {
      case (nil, nil): ""
      case (_, nil): "WHERE \(compared(.atLeast)) "
      case (nil, _): "WHERE \(compared(.atMost)) "
      default: "WHERE \(compared(.atLeast)) AND \(compared(.atMost)) "
      }
    case .match:
      return "WHERE \(names.path(SmartStore.soupEntryId)) IN "
        + "(SELECT rowid FROM \(names.fullTextTable) WHERE \(names.matched) MATCH \(matchKey)) "
    case .smart: return ""
    }
  }

  func orderText(_ names: QueryNames) -> String {
    guard let orderPath else { return "" }
    return "ORDER BY \(names.path(orderPath)) \(order == .ascending ? "ASC" : "DESC") "
  }
}
