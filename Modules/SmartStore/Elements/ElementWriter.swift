import SalesforceSDKCommon

/// Writes elements of one soup inside one transaction.
///
/// Made once for a batch, so that what is the same for all its elements is done once: the prepared
/// statements, the members to set, where each index takes its value from. An element's text goes
/// from the given bytes into SQLite with one copy and no parsing.
struct ElementWriter: ~Copyable {
  private let access: StoreAccess
  private let soup: Soup
  private let splicer: ElementSplicer
  private let sources: [PathSource]
  private let insertStatement: StoreStatement
  private let updateStatement: StoreStatement
  private let externalId: ExternalIdLookup?
  private let fullText: FullTextWriter?
  private var buffer: [UInt8] = []

  init(
    _ soup: Soup, setting: [(key: String, value: JSONValue)] = [], removing: [String] = [],
    externalIdPath: String? = nil, on access: StoreAccess
  ) throws(SmartStoreError) {
    let splicer = try ElementSplicer(setting: setting, removing: removing)
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

    self.access = access
    self.soup = soup
    self.splicer = splicer
    self.sources = sources
    self.fullText = fullText
    self.externalId = externalId
    self.insertStatement = insertStatement
    self.updateStatement = updateStatement
  }

  /// Inserts or updates by the external id or, without one, by the entry id that the element names.
  mutating func upsert(_ element: JSONSlice) throws(SmartStoreError) -> Int64 {
    try checkObject(element)
    let known =
      if let externalId {
        try externalId.entryId(of: element, on: access)
      } else {
        try entryId(in: element)
      }
    if let known, try update(element, entryId: known) { return known }
    return try insert(element)
  }

  /// Inserts under a new id, whatever id the element names.
  mutating func insert(_ element: JSONSlice) throws(SmartStoreError) -> Int64 {
    try checkObject(element)
    let id = try access.takeEntryId(of: soup)
    let now = access.now()
    try splicer.splice(element, entryId: id, lastModified: now, into: &buffer)
    insertStatement.bind(id, at: 1)
    insertStatement.bind(now, at: 2)
    bindColumns(of: element, to: insertStatement, entryId: id, lastModified: now)
    try run(insertStatement)
    if soup.isExternal { try access.writeExternal(buffer, entryId: id, table: soup.table) }
    if let fullText {
      try writeFullText(element, entryId: id, lastModified: now, with: fullText.insertStatement)
    }
    return id
  }

  /// Replaces the element with this id; false if there is none.
  mutating func update(_ element: JSONSlice, entryId: Int64) throws(SmartStoreError) -> Bool {
    try checkObject(element)
    let now = access.now()
    try splicer.splice(element, entryId: entryId, lastModified: now, into: &buffer)
    updateStatement.bind(entryId, at: 1)
    updateStatement.bind(now, at: 2)
    bindColumns(of: element, to: updateStatement, entryId: entryId, lastModified: now)
    try run(updateStatement)
    guard updateStatement.changes > 0 else { return false }
    if soup.isExternal { try access.writeExternal(buffer, entryId: entryId, table: soup.table) }
    if let fullText {
      // Replaces the row, or makes one that is missing.
      try writeFullText(
        element, entryId: entryId, lastModified: now, with: fullText.replaceStatement)
    }
    return true
  }

  /// The element written last, as it is stored.
  func lastElement() throws(SmartStoreError) -> JSONSlice {
    do throws(JSONError) {
      return try JSONSlice(parsing: buffer, limits: .stored)
    } catch {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: its members cannot be set.", cause: error)
    }
  }

  // MARK: Parts

  /// Runs a statement with the element's text, which an external soup keeps elsewhere.
  private func run(_ statement: borrowing StoreStatement) throws(SmartStoreError) {
    guard !soup.isExternal else { return try statement.run() }
    let position = soup.textParameter
    guard buffer.count <= Int32.max else {
      throw SmartStoreError(.entryTooLarge, "Invalid entry: it has more than 2 GB of text.")
    }
    try buffer.withUnsafeBufferPointer { text throws(SmartStoreError) in
      statement.bindUncopied(text, at: position)
      try statement.run()
      statement.bindNull(at: position)
    }
    access.didWrite(bytes: buffer.count)
  }

  private func bindColumns(
    of element: JSONSlice, to statement: borrowing StoreStatement, entryId: Int64,
    lastModified: Int64
  ) {
    for position in soup.columns.indices {
      bind(
        column: position, of: element, to: statement, at: Soup.firstColumnParameter + position,
        entryId: entryId, lastModified: lastModified)
    }
  }

  @inline(__always)
  private func bind(
    column position: Int, of element: JSONSlice, to statement: borrowing StoreStatement,
    at parameter: Int, entryId: Int64, lastModified: Int64
  ) {
    let column = soup.columns[position]
    switch sources[position] {
    case .element: statement.bind(element.project(column.path), as: column.type, at: parameter)
    case .constant(let value): statement.bind(value, as: column.type, at: parameter)
    case .entryId: statement.bind(entryId, at: parameter)
    case .lastModified: statement.bind(lastModified, at: parameter)
    }
  }

  private func writeFullText(
    _ element: JSONSlice, entryId: Int64, lastModified: Int64,
    with statement: borrowing StoreStatement
  ) throws(SmartStoreError) {
    statement.bind(entryId, at: 1)
    for (offset, position) in soup.fullTextColumns.enumerated() {
      bind(
        column: position, of: element, to: statement, at: 2 + offset, entryId: entryId,
        lastModified: lastModified)
    }
    try statement.run()
  }

  private func checkObject(_ element: JSONSlice) throws(SmartStoreError) {
    guard element.kind == .object else {
      throw SmartStoreError(
        .invalidEntry, "Invalid entry: an element of soup \(soup.name) must be a JSON object.")
    }
  }

  /// The id that an element names: an integer, an integral double or a decimal string.
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
