import SalesforceSDKCommon

/// A writer of entries of one soup inside one transaction.
///
/// One writer is created for a batch, so that work which is the same for all entries is done once:
/// preparing the statements and the members to set, and finding the source of each index's value.
/// An entry's text is copied once, from the given bytes into SQLite, and is not parsed.
struct EntryWriter: ~Copyable {
  /// An entry that is ready to be written.
  private struct StagedRow {
    let element: JSONSlice
    let entryId: Int64
    let lastModified: Int64
    /// The range of its text in the buffer.
    let text: Range<Int>
  }

  /// The maximum size of the texts that one statement of several rows inserts, in bytes.
  private static let mostTextForRows = 256 << 10

  private let access: StoreAccess
  private let soup: Soup
  private let splicer: EntrySplicer
  /// Whether the writer sets the flag of local changes according to the entries' other flags.
  private let completesFlags: Bool
  private let sources: [PathSource]
  private let insertStatement: StoreStatement
  private let updateStatement: StoreStatement
  private let externalId: ExternalIdLookup?
  private let fullText: FullTextWriter?
  /// The rows that are written next, and the texts of all of them.
  private var staged: [StagedRow] = []
  private var buffer: [UInt8] = []
  /// An opening bracket and the texts of all written rows, with a comma after each; nil if the caller does not
  /// need them.
  private(set) var written: [UInt8]?

  /// - Parameter keepsTexts: Whether ``written`` receives the texts, in the order of the calls.
  init(
    _ soup: Soup, setting: [(key: String, value: JSONValue)] = [], removing: [String] = [],
    externalIdPath: String? = nil, keepsTexts: Bool = false, on access: StoreAccess
  ) throws(SmartStoreError) {
    let completesFlags = !setting.contains { $0.key == LocalFlags.local }
    let setting = completesFlags ? LocalFlags.completed(setting) : setting
    let splicer = try EntrySplicer(setting: setting, removing: removing)
    var sources: [PathSource] = []
    for column in soup.columns {
      sources.append(try PathSource(column.path, setting: setting, removing: removing))
    }
    let fullText = try soup.hasFullText ? FullTextWriter(soup, on: access) : nil
    var externalId: ExternalIdLookup?
    if let externalIdPath, externalIdPath != SmartStore.soupEntryId {
      externalId = try ExternalIdLookup(
        soup, path: externalIdPath, setting: setting, removing: removing, on: access)
    }
    let insertStatement = try StoreStatement(access.database, soup.insertStatement)
    let updateStatement = try StoreStatement(access.database, soup.updateStatement)

    written = keepsTexts ? [UInt8(ascii: "[")] : nil
    self.access = access
    self.soup = soup
    self.splicer = splicer
    self.completesFlags = completesFlags
    self.sources = sources
    self.fullText = fullText
    self.externalId = externalId
    self.insertStatement = insertStatement
    self.updateStatement = updateStatement
  }

  /// Inserts or updates in order, by the external id or, without one, by the entry id in the entry.
  ///
  /// - Returns: The entry ids, in the order of `elements`.
  mutating func upsert(_ elements: [JSONSlice]) throws(SmartStoreError) -> [Int64] {
    var ids: [Int64] = []
    ids.reserveCapacity(elements.count)
    if let count = written?.count {
      // The texts, and the members that the store sets: growing by doubling would need three times as much.
      written?.reserveCapacity(elements.reduce(count) { $0 + $1.utf8.count + 80 })
    }
    guard externalId == nil else {
      // A look-up must find the preceding entries, so each is written at once.
      for element in elements { ids.append(try upsert(element)) }
      return ids
    }
    // The entries from `start` to the current one are new and are written together.
    var start = elements.startIndex
    for (position, element) in elements.enumerated() {
      guard let known = try entryId(in: element) else { continue }
      ids += try insert(elements[start..<position])
      ids.append(try upsert(element, entryId: known))
      start = position + 1
    }
    return ids + (try insert(elements[start...]))
  }

  /// Inserts or updates one entry.
  mutating func upsert(_ element: JSONSlice) throws(SmartStoreError) -> Int64 {
    try checkObject(element)
    let known =
      if let externalId {
        try externalId.entryId(of: element, on: access)
      } else {
        try entryId(in: element)
      }
    return try upsert(element, entryId: known)
  }

  /// Inserts in order under new ids, and ignores the ids in the entries.
  ///
  /// SQLite needs less time per row in a statement that inserts several (Docs/Benchmarks.md).
  mutating func insert(_ elements: ArraySlice<JSONSlice>) throws(SmartStoreError) -> [Int64] {
    var ids: [Int64] = []
    ids.reserveCapacity(elements.count)
    var rest = elements
    if let rowsStatement = soup.insertRowsStatement, rest.count >= Soup.rowsPerInsert {
      let statement = try StoreStatement(access.database, rowsStatement)
      while rest.count >= Soup.rowsPerInsert {
        let rows = rest.prefix(Soup.rowsPerInsert)
        if rows.reduce(0, { $0 + $1.utf8.count }) <= Self.mostTextForRows {
          ids += try insert(rows, with: statement)
        } else {
          for element in rows { ids.append(try insert(element)) }
        }
        rest = rest.dropFirst(Soup.rowsPerInsert)
      }
    }
    for element in rest { ids.append(try insert(element)) }
    return ids
  }

  /// Inserts under a new id, and ignores the id in the entry.
  mutating func insert(_ element: JSONSlice) throws(SmartStoreError) -> Int64 {
    clearStage()
    let id = try access.takeEntryId(of: soup)
    try stage(element, entryId: id)
    _ = try run(insertStatement)
    keepTexts()
    if let fullText { try writeFullText(with: fullText.insertStatement) }
    return id
  }

  /// Replaces the entry with this id; returns false if it does not exist.
  mutating func update(_ element: JSONSlice, entryId: Int64) throws(SmartStoreError) -> Bool {
    clearStage()
    try stage(element, entryId: entryId)
    guard try run(updateStatement) else { return false }
    keepTexts()
    // Replaces the full-text row, or creates a missing one.
    if let fullText { try writeFullText(with: fullText.replaceStatement) }
    return true
  }

  /// Returns the entry that was written last, as it is stored.
  func lastElement() throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      return try JSONSlice(parsing: buffer, limits: .stored)
    } catch {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: its members cannot be set.", cause: error)
    }
  }

  // MARK: Parts

  /// Replaces the entry with this id, or inserts it under a new id if it does not exist.
  private mutating func upsert(
    _ element: JSONSlice, entryId known: Int64?
  ) throws(SmartStoreError) -> Int64 {
    if let known, try update(element, entryId: known) { return known }
    return try insert(element)
  }

  /// Inserts as many entries as the statement has rows.
  private mutating func insert(
    _ elements: ArraySlice<JSONSlice>, with statement: borrowing StoreStatement
  ) throws(SmartStoreError) -> [Int64] {
    clearStage()
    for element in elements { try stage(element, entryId: try access.takeEntryId(of: soup)) }
    _ = try run(statement)
    keepTexts()
    return staged.map(\.entryId)
  }

  private mutating func keepTexts() {
    guard written != nil else { return }
    for row in staged {
      written?.append(contentsOf: buffer[row.text])
      written?.append(UInt8(ascii: ","))
    }
  }

  private mutating func clearStage() {
    staged.removeAll(keepingCapacity: true)
    buffer.removeAll(keepingCapacity: true)
  }

  /// Stages an entry after those that are staged already.
  private mutating func stage(_ element: JSONSlice, entryId: Int64) throws(SmartStoreError) {
    try checkObject(element)
    // SQLite finds a member by the bytes of its name, the first one of two.
    var element = element.normalizingNames(along: soup.pathsInText) ?? element
    let now = access.now()
    let start = buffer.count
    let mayHoldUnderscoreKey = EntrySplicer.mayHoldUnderscoreKey(element)
    if completesFlags, mayHoldUnderscoreKey, LocalFlags.lacksLocal(element) {
      element = try LocalFlags.settingLocal(of: element)
    }
    try splicer.splice(
      element, mayHoldUnderscoreKey: mayHoldUnderscoreKey, entryId: entryId, lastModified: now,
      into: &buffer)
    guard buffer.count - start <= JSONLimits.greatestSize else {
      throw SmartStoreError(
        .entryTooLarge, "Invalid entry: with the store's members it has 256 MiB of text or more.")
    }
    staged.append(
      StagedRow(
        element: element, entryId: entryId, lastModified: now, text: start..<buffer.count))
  }

  /// Runs a statement with the staged rows, and writes external texts to their files.
  ///
  /// - Returns: False if there was no row to change.
  private func run(_ statement: borrowing StoreStatement) throws(SmartStoreError) -> Bool {
    for (number, row) in staged.enumerated() {
      let before = number * soup.parametersPerRow
      statement.bind(row.entryId, at: before + Soup.entryIdParameter)
      statement.bind(row.lastModified, at: before + Soup.timeParameter)
      for column in soup.columns.indices {
        bind(
          column: column, of: row, to: statement, at: before + Soup.firstColumnParameter + column)
      }
    }
    guard !soup.isExternal else {
      precondition(staged.count == 1, "a soup with element files is written row by row")
      try statement.run()
      guard statement.changes > 0 else { return false }
      try access.writeExternal(buffer, entryId: staged[0].entryId, table: soup.table)
      return true
    }
    try buffer.withUnsafeBufferPointer { texts throws(SmartStoreError) in
      for (number, row) in staged.enumerated() {
        statement.bindUncopied(
          UnsafeBufferPointer(rebasing: texts[row.text]),
          at: number * soup.parametersPerRow + soup.textParameter)
      }
      try statement.run()
      for number in staged.indices {
        statement.bindNull(at: number * soup.parametersPerRow + soup.textParameter)
      }
    }
    access.didWrite(bytes: buffer.count)
    return statement.changes > 0
  }

  @inline(__always)
  private func bind(
    column: Int, of row: StagedRow, to statement: borrowing StoreStatement, at parameter: Int
  ) {
    // The whole column is not copied, because that would retain four objects.
    let type = soup.columns[column].type
    switch sources[column] {
    case .element:
      statement.bind(row.element.project(soup.columns[column].path), as: type, at: parameter)
    case .constant(let value): statement.bind(value, as: type, at: parameter)
    case .entryId: statement.bind(row.entryId, at: parameter)
    case .lastModified: statement.bind(row.lastModified, at: parameter)
    }
  }

  /// Writes the full-text row of the one staged entry.
  private func writeFullText(
    with statement: borrowing StoreStatement
  ) throws(SmartStoreError) {
    let row = staged[0]
    statement.bind(row.entryId, at: 1)
    for (offset, column) in soup.fullTextColumns.enumerated() {
      bind(column: column, of: row, to: statement, at: 2 + offset)
    }
    try statement.run()
  }

  private func checkObject(_ element: JSONSlice) throws(SmartStoreError) {
    guard element.kind == .object else {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: an element of soup \(soup.name) must be a JSON object.")
    }
  }

  /// Reads the entry id in an entry: an integer, an integral double or a decimal string.
  private func entryId(in element: JSONSlice) throws(SmartStoreError) -> Int64? {
    guard let id = element[SmartStore.soupEntryId], !id.isNull else { return nil }
    if let number = id.int64 ?? id.string.flatMap({ Int64($0) }) { return number }
    throw SmartStoreError(
      .invalidEntry,
      "Invalid entry: its \(SmartStore.soupEntryId) is no whole number. "
        + "Leave it out to insert the entry.")
  }
}

/// The statements that write the full-text rows of a soup.
final class FullTextWriter {
  let insertStatement: StoreStatement
  let replaceStatement: StoreStatement

  init(_ soup: Soup, on access: StoreAccess) throws(SmartStoreError) {
    insertStatement = try StoreStatement(access.database, soup.fullTextInsertStatement)
    replaceStatement = try StoreStatement(access.database, soup.fullTextReplaceStatement)
  }
}
