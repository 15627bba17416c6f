import SalesforceSDKCommon

/// The statements that read a page of entries. Each statement follows one index, and together they
/// return the entries in order.
///
/// An index has the entries without a value first, and a comparison with such an entry is neither
/// true nor false. So the entries after a given one are up to three ranges of an index.
struct InspectedEntryScan {
  /// One statement, with the values to bind.
  struct Segment {
    let sql: String
    let values: [BoundValue]
  }

  /// The way in which a statement's rows show whether they match a search.
  enum Hit {
    /// Every row matches.
    case always
    /// SQLite decides: a row matches if the last column is 1.
    case flag
    /// The caller decides, by the text of the last column.
    case text(lowercased: String)
  }

  private let soup: Soup
  private let request: InspectedEntriesRequest
  /// The expression of the value that is ordered by.
  private let key: String
  private let keyType: SoupIndexType
  private(set) var hit = Hit.always
  private var columns: String
  /// The conditions of all segments, in addition to their ranges.
  private var conditions: [(sql: String, values: [BoundValue])] = []
  /// The range of ``key`` to which a search restricts the page, without its upper bound.
  private var range: (lower: BoundValue, upper: BoundValue)?

  /// Creates the statements for a request.
  ///
  /// - Throws: ``SmartStoreError`` `notIndexed`.
  init(_ request: InspectedEntriesRequest, on soup: Soup) throws(SmartStoreError) {
    self.request = request
    self.soup = soup
    guard let type = soup.keyType(forPath: request.order),
      Soup.reservedColumn(request.order) != SmartStore.soupColumn
    else { throw .notIndexed(request.order, soup) }
    key = soup.expression(forPath: request.order)
    keyType = type
    columns = "id, \(key), lastModified"
    if !soup.isExternal { columns += ", \(SmartStore.soupColumn)" }
    addFilter()
    try addSearch()
  }

  private var isById: Bool { request.order == SmartStore.soupEntryId }

  /// Returns the statements in the order in which they run.
  func segments() throws(SmartStoreError) -> [Segment] {
    let (behind, direction) = request.isDescending ? ("<", "DESC") : (">", "ASC")
    func segment(_ condition: String, _ values: [BoundValue], _ order: String) -> Segment {
      let all = conditions + (condition.isEmpty ? [] : [(condition, values)])
      let text = all.map { "(\($0.sql))" }.joined(separator: " AND ")
      return Segment(
        sql: "SELECT \(columns) FROM \(soup.table)" + (text.isEmpty ? "" : " WHERE \(text)")
          + " ORDER BY \(order)",
        values: hitValues + all.flatMap(\.values))
    }
    let byId = "id \(direction)"
    let byKey = isById ? byId : "\(key) \(direction), id \(direction)"
    /// The bound at the far end of a search's range.
    let far = range.map { range in
      request.isDescending
        ? (" AND \(key) >= ?", [range.lower]) : (" AND \(key) < ?", [range.upper])
    }
    let (farText, farValues) = far ?? ("", [])
    // In descending order the entries without a value are last.
    let tail =
      request.isDescending && range == nil && !isById
      ? [segment("\(key) IS NULL", [], byId)] : []
    switch request.start {
    case .edge:
      guard let range else { return [segment("", [], byKey)] }
      return [segment("\(key) >= ? AND \(key) < ?", [range.lower, range.upper], byKey)]
    case .from(let value):
      let bound = BoundValue(indexed: value, type: keyType)
      return [segment("\(key) \(behind)= ?" + farText, [bound] + farValues, byKey)] + tail
    case .after(let place) where isById:
      return [segment("id \(behind) ?", [.integer(place.id)], byId)]
    case .after(let place) where place.value == .null:
      let rest = [segment("\(key) IS NULL AND id \(behind) ?", [.integer(place.id)], byId)]
      return request.isDescending ? rest : rest + [segment("\(key) IS NOT NULL", [], byKey)]
    case .after(let place):
      return [
        segment("\(key) = ? AND id \(behind) ?", [place.value, .integer(place.id)], byId),
        segment("\(key) \(behind) ?" + farText, [place.value] + farValues, byKey),
      ] + tail
    }
  }

  // MARK: Filter

  private mutating func addFilter() {
    switch request.filter {
    case .all: break
    case .unsynced:
      guard soup.index(forPath: LocalFlags.local) != nil else { break }
      conditions.append(
        ("\(soup.expression(forPath: LocalFlags.local)) IN ('1', 1, 'true')", []))
    case .ids(let ids):
      let list = ids.map(String.init).joined(separator: ",")
      conditions.append(("id IN (SELECT value FROM json_each(?))", [.text("[\(list)]")]))
    }
  }

  // MARK: Search

  private var hitValues: [BoundValue] {
    guard case .flag = hit, let search = request.search else { return [] }
    return [.text(Self.pattern(search.text))]
  }

  private mutating func addSearch() throws(SmartStoreError) {
    guard let search = request.search else { return }
    if search.match != .contains { return try addIndexed(search) }
    guard let searched = try searchedExpression(search.path) else {
      // The text of the entry's file.
      hit = .text(lowercased: search.text.lowercased())
      return
    }
    if search.text.utf8.allSatisfy({ $0 < 0x80 && $0 > 0 }) {
      hit = .flag
      columns += ", \(searched) LIKE ? ESCAPE '\\'"
    } else {
      // SQLite ignores the case only of ASCII letters, and ends a pattern at a NUL.
      hit = .text(lowercased: search.text.lowercased())
      columns += ", \(searched)"
    }
  }

  /// Returns the expression that a search for a substring reads; nil if it reads the entry's file.
  private func searchedExpression(_ path: String?) throws(SmartStoreError) -> String? {
    guard let path else { return soup.isExternal ? nil : SmartStore.soupColumn }
    try soup.checkReadable(path)
    return soup.expression(forPath: path)
  }

  /// Adds a search for a whole value or its prefix, by the index of its path.
  private mutating func addIndexed(
    _ search: InspectedEntriesRequest.Search
  ) throws(SmartStoreError) {
    let path = search.path ?? ""
    guard let type = soup.keyType(forPath: path), soup.index(forPath: path) != nil else {
      throw .notIndexed(path, soup)
    }
    let column = soup.expression(forPath: path)
    if search.match == .exact {
      // The text may represent a number or a Boolean.
      var keys = [BoundValue(indexed: .string(search.text), type: type)]
      if type != .string, type != .fullText,
        let number = try? JSONSlice(parsing: search.text), number.kind == .number
      {
        keys.append(BoundValue(indexed: number.value, type: type))
      }
      let list = keys.map { _ in "?" }.joined(separator: ", ")
      conditions.append(("\(column) IN (\(list))", keys))
      return
    }
    // The upper bound: no text with this prefix is greater.
    let bounds = (
      lower: BoundValue.text(search.text), upper: BoundValue.text(search.text + "\u{10FFFF}")
    )
    if path == request.order {
      range = bounds
    } else {
      conditions.append(("\(column) >= ? AND \(column) < ?", [bounds.lower, bounds.upper]))
    }
  }

  /// Returns a pattern for texts that contain another text.
  private static func pattern(_ text: String) -> String {
    var pattern = "%"
    for character in text.unicodeScalars {
      if character == "%" || character == "_" || character == "\\" { pattern.append("\\") }
      pattern.unicodeScalars.append(character)
    }
    return pattern + "%"
  }
}
