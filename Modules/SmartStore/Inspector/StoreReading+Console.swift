package import SalesforceSDKCommon

/// A page of the result of a Smart SQL statement, for a console.
package struct ConsoleResult: Sendable {
  /// A value of a row. Long texts are truncated.
  package enum Cell: Sendable {
    case null
    case integer(Int64)
    case double(Double)
    /// A text up to the limit, and the number of Unicode scalars of the whole text.
    case text(String, characters: Int)
  }

  /// The names of the columns: the path for a column of a soup, else SQLite's name; nil for whole
  /// entries.
  package internal(set) var columns: [String?] = []
  package internal(set) var rows: [[Cell]] = []
  /// The number of all rows; nil unless it was requested or the page is the last.
  package internal(set) var total: Int64?
  package internal(set) var plan: ExplainedQuery?
}

extension StoreReading where Self: ~Copyable {
  /// Returns one page of the rows of a Smart SQL statement, with its plan if requested.
  ///
  /// - Parameters:
  ///   - maxCharacters: The number of Unicode scalars after which texts are truncated.
  ///   - maxBytes: The maximum size of the texts of all rows. Reading ends with the row that
  ///     exceeds it, and the page is then not the last.
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``.
  package borrowing func console(
    _ spec: QuerySpec, pageIndex: Int, whereArgs: [JSONValue], explains: Bool, counts: Bool,
    maxCharacters: Int, maxBytes: Int
  ) throws(SmartStoreError) -> ConsoleResult {
    try access.checkUsable()
    let plan = try QueryPlan(spec, whereArgs: whereArgs, on: access)
    let access = access
    var result = try plan.limited(on: access) { () throws(SmartStoreError) in
      try access.consolePage(
        plan, pageIndex: pageIndex, explains: explains, maxCharacters: maxCharacters,
        maxBytes: maxBytes)
    }
    if counts, result.total == nil {
      result.total = try count(using: spec, whereArgs: whereArgs)
    }
    return result
  }
}

extension StoreAccess {
  /// The page; the total only if it is the last.
  fileprivate func consolePage(
    _ plan: QueryPlan, pageIndex: Int, explains: Bool, maxCharacters: Int, maxBytes: Int
  ) throws(SmartStoreError) -> ConsoleResult {
    let access = self
    var result = ConsoleResult()
    let statement = try access.reading(plan.pageSQL, cached: false)
    try statement.bind(arguments: plan.bindings, besides: 2)
    let (first, overflow) = pageIndex.multipliedReportingOverflow(by: plan.pageSize)
    guard pageIndex >= 0, !overflow else {
      throw SmartStoreError(
        .invalidQuerySpec,
        "Invalid query spec: the page index is \(pageIndex). Use a smaller one, at least 0.")
    }
    let page: [BoundValue] = [.integer(Int64(first)), .integer(Int64(plan.pageSize))]
    for (offset, value) in page.enumerated() {
      statement.bind(value, at: statement.parameterCount - 1 + offset)
    }
    if explains {
      result.plan = try ExplainedQuery(plan.pageSQL, plan.bindings + page, on: access)
    }
    let row = ResultRow(statement, on: access, method: #function)
    for column in 0..<row.columnCount {
      result.columns.append(
        row.isElement(column)
          ? nil : access.catalog.path(ofColumn: row.name(column)) ?? row.name(column))
    }
    var bytes = 0
    while bytes <= maxBytes, try row.next() {
      var cells: [ConsoleResult.Cell] = []
      for column in 0..<row.columnCount {
        let cell = ConsoleResult.Cell(try row.column(column), maxCharacters)
        if case .text(let text, _) = cell { bytes += text.utf8.count }
        cells.append(cell)
      }
      result.rows.append(cells)
    }
    if bytes <= maxBytes, result.rows.count < plan.pageSize, first == 0 || !result.rows.isEmpty {
      result.total = Int64(first + result.rows.count)
    }
    return result
  }
}

extension ConsoleResult.Cell {
  fileprivate init(_ value: ColumnValue, _ maxCharacters: Int) {
    switch value {
    case .null: self = .null
    case .integer(let integer): self = .integer(integer)
    case .double(let double): self = double.isFinite ? .double(double) : .null
    case .text(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      // A text has at most as many scalars as bytes.
      if bytes.count <= maxCharacters {
        self = .text(text, characters: text.unicodeScalars.count)
      } else {
        self = .text(
          String(String.UnicodeScalarView(text.unicodeScalars.prefix(maxCharacters))),
          characters: text.unicodeScalars.count)
      }
    }
  }
}

extension SoupCatalog {
  /// Returns the path whose values a column contains; nil if it is not a column of a soup.
  fileprivate func path(ofColumn name: String) -> String? {
    for soup in soups.values {
      if let index = soup.indexes.first(where: { $0.columnName == name }) { return index.path }
    }
    return nil
  }
}
