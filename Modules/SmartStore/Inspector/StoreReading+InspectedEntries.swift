import SalesforceSDKCommon

extension StoreReading where Self: ~Copyable {
  /// Returns a page of a soup's entries.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `notIndexed` for an order or an indexed search without an
  ///   index, `invalidReference`.
  package borrowing func inspectedEntries(
    _ request: InspectedEntriesRequest
  ) throws(SmartStoreError) -> InspectedEntries {
    try access.checkUsable()
    let soup = try access.soup(named: request.soupName)
    let scan = try InspectedEntryScan(request, on: soup)
    var page = InspectedEntries()
    let end = ContinuousClock.now + request.patience
    for segment in try scan.segments() {
      let rows = try access.reading(segment.sql, cached: false)
      rows.bind(segment.values)
      while try rows.step() {
        if page.entries.count == request.limit {
          page.hasMore = true
          return page
        }
        // Matching rows fill the page, so only a page with few matches takes long.
        if page.scanned % 64 == 63, page.scanned > request.limit, ContinuousClock.now > end {
          page.hasMore = true
          page.isComplete = false
          return page
        }
        try access.add(rows, of: soup, to: &page, request, scan.hit)
      }
    }
    return page
  }

  /// Returns the entry with this id in its stored form; nil if it does not exist.
  ///
  /// - Throws: ``SmartStoreError`` `unknownSoup`, `externalFileUnreadable`.
  package borrowing func inspectedEntry(
    _ id: Int64, ofSoupNamed soupName: String
  ) throws(SmartStoreError) -> InspectedEntry? {
    var request = InspectedEntriesRequest(soupName: soupName)
    request.filter = .ids([id])
    return try inspectedEntries(request).entries.first
  }

  /// Returns the position of an entry in an order; nil if the entry does not exist.
  package borrowing func inspectedKey(
    ofEntry id: Int64, ofSoupNamed soupName: String, order: String
  ) throws(SmartStoreError) -> InspectedEntryKey? {
    var request = InspectedEntriesRequest(soupName: soupName, order: order)
    request.filter = .ids([id])
    return try inspectedEntries(request).entries.first?.key
  }

  /// Returns the entry id at a fraction of the range of ids, from 0 to 1; nil if the soup is empty.
  package borrowing func inspectedId(
    at part: Double, ofSoupNamed soupName: String
  ) throws(SmartStoreError) -> Int64? {
    let soup = try access.soup(named: soupName)
    // Separately, each query reads one end of an index; combined, they would scan the table.
    let ends = try access.reading(
      "SELECT (SELECT min(id) FROM \(soup.table)), (SELECT max(id) FROM \(soup.table))",
      cached: false)
    guard try ends.step(), !ends.isNull(0) else { return nil }
    let (first, last) = (ends.int64(0), ends.int64(1))
    return min(first + Int64(Double(last - first + 1) * part), last)
  }

  /// Counts a soup's entries. SQLite counts the entries of the smallest index.
  package borrowing func inspectedCount(
    ofSoupNamed soupName: String
  ) throws(SmartStoreError) -> Int64 {
    let soup = try access.soup(named: soupName)
    let rows = try access.reading("SELECT count(*) FROM \(soup.table)", cached: false)
    return try rows.step() ? rows.int64(0) : 0
  }

  /// Returns the total size of a soup's entries, which are read for it; nil if there are more than
  /// `limit` or they are stored in files.
  package borrowing func inspectedBytes(
    ofSoupNamed soupName: String, limit: Int64
  ) throws(SmartStoreError) -> Int64? {
    let soup = try access.soup(named: soupName)
    if soup.isExternal { return nil }
    let rows = try access.reading(
      "SELECT count(*), sum(length(CAST(\(SmartStore.soupColumn) AS BLOB))) "
        + "FROM (SELECT \(SmartStore.soupColumn) FROM \(soup.table) LIMIT ?)", cached: false)
    rows.bind(limit + 1, at: 1)
    guard try rows.step(), rows.int64(0) <= limit else { return nil }
    return rows.int64(1)
  }

  /// Counts a soup's unsynced entries; nil if the count would have to read more than `limit`
  /// entries, because the flag has no index.
  ///
  /// - Throws: ``SmartStoreError`` `corrupt`.
  package borrowing func inspectedUnsynced(
    ofSoupNamed soupName: String, limit: Int64
  ) throws(SmartStoreError) -> Int? {
    let soup = try access.soup(named: soupName)
    guard try access.canCountUnsynced(soup, limit) else { return nil }
    return try access.unsyncedEntries(of: soup)
  }

  /// Counts a soup's entries by the kind of their local changes; nil where
  /// ``inspectedUnsynced(ofSoupNamed:limit:)`` returns nil.
  package borrowing func inspectedStates(
    ofSoupNamed soupName: String, limit: Int64
  ) throws(SmartStoreError) -> [InspectedEntriesRequest.State: Int]? {
    let soup = try access.soup(named: soupName)
    guard try access.canCountUnsynced(soup, limit) else { return nil }
    var request = InspectedEntriesRequest(soupName: soupName)
    request.filter = .unsynced(nil)
    var states: [InspectedEntriesRequest.State: Int] = [:]
    for segment in try InspectedEntryScan(request, on: soup).segments() {
      let rows = try access.reading(segment.sql, cached: false)
      rows.bind(segment.values)
      while try rows.step() {
        let text = try access.text(rows, of: soup)
        if let state = StoreAccess.state(of: text) { states[state, default: 0] += 1 }
      }
    }
    return states
  }

  /// Returns a mark that changes with most writes to a soup: its highest entry id and its last
  /// modification. Both are at the end of an index.
  package borrowing func inspectedMark(
    ofSoupNamed soupName: String
  ) throws(SmartStoreError) -> String {
    let soup = try access.soup(named: soupName)
    let rows = try access.reading(
      "SELECT (SELECT max(id) FROM \(soup.table)), (SELECT max(lastModified) FROM \(soup.table))",
      cached: false)
    return try rows.step() ? "\(rows.int64(0)) \(rows.int64(1))" : ""
  }

  /// Returns the name of the soup's table, which query plans contain.
  package borrowing func inspectedTable(
    ofSoupNamed soupName: String
  ) throws(SmartStoreError) -> String { try access.soup(named: soupName).table }
}

extension StoreAccess {
  /// Adds the current entry of a scan, if it matches.
  fileprivate func add(
    _ row: borrowing StoreStatement, of soup: Soup, to page: inout InspectedEntries,
    _ request: InspectedEntriesRequest, _ hit: InspectedEntryScan.Hit
  ) throws(SmartStoreError) {
    let id = row.int64(0)
    let key = InspectedEntryKey(row.boundValue(1), id)
    page.scanned += 1
    page.last = key
    var text: [UInt8]?
    switch hit {
    case .always: break
    case .flag: guard row.int64(row.columnCount - 1) == 1 else { return }
    case .text(let wanted):
      let isFile = soup.isExternal && row.columnCount == 3
      if isFile { text = try externalText(of: id, in: soup) }
      let searched =
        text.map { String(decoding: $0, as: UTF8.self) } ?? row.string(row.columnCount - 1)
      guard searched.lowercased().contains(wanted) else { return }
    }
    let stored: [UInt8]
    if let text { stored = text } else { stored = try self.text(row, of: soup) }
    if case .unsynced(let wanted) = request.filter {
      guard let state = Self.state(of: stored), wanted == nil || wanted == state else { return }
    }
    page.entries.append(
      InspectedEntry(id: id, key: key, lastModified: row.int64(2), text: stored))
  }
}

extension StoreAccess {
  /// Returns the text of the current entry of a scan.
  fileprivate func text(
    _ row: borrowing StoreStatement, of soup: Soup
  ) throws(SmartStoreError) -> [UInt8] {
    try soup.isExternal ? externalText(of: row.int64(0), in: soup) : row.bytes(3)
  }

  /// Returns the kind of an entry's local change; nil for a clean entry, and for a text that is not
  /// JSON.
  fileprivate static func state(of text: [UInt8]) -> InspectedEntriesRequest.State? {
    guard text.withUnsafeBytes({ EntrySplicer.mayHoldUnderscoreKey($0) }) else { return nil }
    return (try? JSONSlice(parsing: text, limits: .stored))?.inspectedState
  }

  /// Whether an index finds the entries with local changes, or the soup has at most `limit`
  /// entries.
  fileprivate func canCountUnsynced(
    _ soup: Soup, _ limit: Int64
  ) throws(SmartStoreError) -> Bool {
    if soup.index(forPath: LocalFlags.local) != nil { return true }
    let rows = try reading("SELECT 1 FROM \(soup.table) LIMIT 1 OFFSET ?", cached: false)
    rows.bind(limit, at: 1)
    return try !rows.step()
  }
}

extension StoreStatement {
  /// Returns the column's value in the form that can be bound again.
  fileprivate func boundValue(_ column: Int) -> BoundValue {
    switch value(column) {
    case .null: .null
    case .integer(let integer): .integer(integer)
    case .double(let double): .double(double)
    case .text: .text(string(column))
    }
  }
}
