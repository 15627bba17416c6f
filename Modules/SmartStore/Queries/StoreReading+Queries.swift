public import SalesforceSDKCommon

extension StoreReading where Self: ~Copyable {
  /// Returns one page of a query's results: entries, or rows as arrays.
  ///
  /// A row has one value for each select path or column, null included. A column with a whole entry
  /// becomes an object; text in any other column becomes a string. Blobs become text, infinite
  /// numbers null. An entry whose stored text is not JSON becomes null, so that the other entries
  /// can still be read; the event store and observers are notified (SS-150, SS-213).
  ///
  /// - Parameters:
  ///   - pageIndex: The page, counted from 0. Beyond the end the result is empty.
  ///   - whereArgs: One value for each `?` of a smart query, in order.
  /// - Throws: ``SmartStoreError`` `invalidQuerySpec` for a negative page, `unknownSoup`,
  ///   `bindArgumentsNotAllowed`, `bindArgumentCount`, `refusedStatement`, `invalidReference`,
  ///   `limitExceeded`, `sql`.
  public borrowing func query(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) throws(SmartStoreError) -> [JSONValue] {
    var results: [JSONValue] = []
    try access.forEachRow(
      querySpec, pageIndex: pageIndex, whereArgs: whereArgs
    ) { row, plan throws(SmartStoreError) in
      results.append(
        plan.givesElements ? try row.jsonValue(0) : .array(try row.jsonValues()))
    }
    return results
  }

  /// Returns one page of entries in their stored text, without a copy of their content.
  ///
  /// A plaintext store checks each of them. An encrypted store checks only the authentication of
  /// its pages, because the text was checked when it was written, and parses an entry on first
  /// access. If parsing fails because of a defect in the store, the entry reads as null.
  ///
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``, and `invalidQuerySpec` if the
  ///   query gives rows instead of entries; `corrupt` if a stored entry is not JSON.
  public borrowing func queryEntries(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0
  ) throws(SmartStoreError) -> [JSONSlice] {
    guard querySpec.queryType != .smart, querySpec.selectPaths == nil else {
      throw SmartStoreError(
        .invalidQuerySpec, "Invalid query spec: this query gives rows, not elements.")
    }
    var results: [JSONSlice] = []
    try access.forEachRow(
      querySpec, pageIndex: pageIndex, whereArgs: nil
    ) { row, _ throws(SmartStoreError) in
      results.append(try row.storedElement(0))
    }
    return results
  }

  /// Returns one page of results as JSON text. Entries are returned as stored, unparsed.
  ///
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``.
  public borrowing func queryAsString(
    using querySpec: QuerySpec, startingFromPageIndex pageIndex: Int = 0,
    whereArgs: [JSONValue]? = nil
  ) throws(SmartStoreError) -> String {
    var text = SerializedRows()
    try access.forEachRow(
      querySpec, pageIndex: pageIndex, whereArgs: whereArgs
    ) { row, plan throws(SmartStoreError) in
      try text.append(row, asElement: plan.givesElements)
    }
    let bytes = text.finish()
    if access.options.jsonSerializationCheckEnabled { try access.check(bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Counts the results of a query in all pages.
  ///
  /// - Throws: As ``query(using:startingFromPageIndex:whereArgs:)``.
  public borrowing func count(
    using querySpec: QuerySpec, whereArgs: [JSONValue]? = nil
  ) throws(SmartStoreError) -> Int64 {
    try access.checkUsable()
    let plan = try QueryPlan(querySpec, whereArgs: whereArgs, on: access)
    let access = access
    return try plan.limited(on: access) { () throws(SmartStoreError) in
      let statement = try access.reading(plan.countSQL, cached: plan.isCacheable)
      try statement.bind(arguments: plan.bindings)
      try access.diagnostics.willRun(plan.countSQL, plan.bindings, on: access)
      return try plan.explaining { () throws(SmartStoreError) in
        try statement.step() ? statement.int64(0) : 0
      }
    }
  }
}

extension StoreAccess {
  /// Runs one page of a query and passes each row to `body`.
  func forEachRow(
    _ spec: QuerySpec, pageIndex: Int, whereArgs: [JSONValue]?, method: String = #function,
    _ body: (borrowing ResultRow, QueryPlan) throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    guard pageIndex >= 0 else {
      throw SmartStoreError(
        .invalidQuerySpec, "Invalid query spec: the page index is \(pageIndex). Use at least 0.")
    }
    try checkUsable()
    let plan = try QueryPlan(spec, whereArgs: whereArgs, on: self)
    try plan.limited(on: self) { () throws(SmartStoreError) in
      try forEachRow(of: plan, pageIndex: pageIndex, method: method, body)
    }
  }

  private func forEachRow(
    of plan: QueryPlan, pageIndex: Int, method: String,
    _ body: (borrowing ResultRow, QueryPlan) throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    let statement = try reading(plan.pageSQL, cached: plan.isCacheable)
    // The page's two numbers are bound after the caller's values.
    try statement.bind(arguments: plan.bindings, besides: 2)
    let (offset, overflow) = pageIndex.multipliedReportingOverflow(by: plan.pageSize)
    guard !overflow else { return }
    let (first, size) = (Int64(offset), Int64(plan.pageSize))
    statement.bind(first, at: statement.parameterCount - 1)
    statement.bind(size, at: statement.parameterCount)
    try diagnostics.willRun(
      plan.pageSQL, plan.bindings + [.integer(first), .integer(size)], on: self)
    let row = ResultRow(statement, on: self, method: method)
    var bytes = 0
    while try plan.explaining({ () throws(SmartStoreError) in try row.next() }) {
      if plan.isSmart {
        bytes += row.plainBytes
        if bytes > QueryLimits.pageBytes { throw QueryLimits.pageTooLarge }
      }
      try body(row, plan)
    }
  }

  /// Parses a result before it is returned.
  func check(_ result: [UInt8], method: String = #function) throws(SmartStoreError) {
    do throws(JSONError) {
      _ = try JSONSlice(parsing: result, limits: .stored)
    } catch {
      diagnostics.report(
        JSONFailure(kind: .parse, errorMessage: "\(error)", method: method, text: result))
      throw SmartStoreError(
        .corrupt, "Database is corrupted: a result is no JSON. Nothing was changed.", cause: error)
    }
  }

  /// Returns the entry ids of a query's first page, to remove the entries.
  func entryIds(
    _ spec: QuerySpec, whereArgs: [JSONValue]?
  ) throws(SmartStoreError) -> [Int64] {
    let plan = try QueryPlan(spec, whereArgs: whereArgs, on: self, for: .removal)
    return try plan.limited(on: self) { () throws(SmartStoreError) in try entryIds(of: plan) }
  }

  private func entryIds(of plan: QueryPlan) throws(SmartStoreError) -> [Int64] {
    let sql = "SELECT * FROM (\(plan.idsSQL)) LIMIT ?"
    let statement = try reading(sql, cached: plan.isCacheable)
    try statement.bind(arguments: plan.bindings, besides: 1)
    statement.bind(Int64(plan.pageSize), at: statement.parameterCount)
    try diagnostics.willRun(
      sql, plan.bindings + [.integer(Int64(plan.pageSize))], on: self)
    var ids: [Int64] = []
    while try plan.explaining({ () throws(SmartStoreError) in try statement.step() }) {
      if !statement.isNull(0) { ids.append(statement.int64(0)) }
    }
    return ids
  }
}

extension StoreStatement {
  /// Binds the values for all placeholders except the last ones, which the caller binds.
  func bind(arguments: [BoundValue], besides others: Int = 0) throws(SmartStoreError) {
    let expected = parameterCount - others
    guard arguments.count == expected else {
      throw SmartStoreError(
        .bindArgumentCount,
        "The statement has \(expected) placeholders but \(arguments.count) arguments were given.")
    }
    bind(arguments)
  }
}
