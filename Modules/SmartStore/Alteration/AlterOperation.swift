import SalesforceSDKCommon

/// An alter in progress: its changes and its last step.
///
/// ``perform(_:on:)`` is called once for each step, in a separate transaction that also records the
/// step.
struct AlterOperation {
  /// The recorded type; Android writes it with a lower-case first letter.
  static let type = "AlterSoup"

  let id: Int64
  let details: AlterDetails
  /// The last step that was completed.
  var completed: AlterStep

  let old: Soup
  let new: Soup

  /// Records a new alter: its first step.
  init(_ details: AlterDetails, on access: StoreAccess) throws(SmartStoreError) {
    let id = try access.recordOperation(
      type: Self.type, details: details.json(withNewColumns: false),
      status: AlterStep.starting.status)
    self.init(id: id, details: details, completed: .starting)
  }

  /// Loads a recorded operation; nil if it is of another kind, or damaged.
  init?(_ operation: LongOperation) {
    guard operation.type == Self.type || operation.type == "alterSoup",
      let details = AlterDetails(json: operation.details),
      let completed = AlterStep(status: operation.status)
    else { return nil }
    self.init(id: operation.id, details: details, completed: completed)
  }

  private init(id: Int64, details: AlterDetails, completed: AlterStep) {
    self.id = id
    self.details = details
    self.completed = completed
    old = details.oldSoup
    new = details.newSoup
  }

  /// Whether the operation has changed nothing, and its soup was replaced or removed later. As long
  /// as only its record exists, the soup can be used, and altered again.
  func isOutdated(by catalog: SoupCatalog) -> Bool {
    guard completed == .starting else { return false }
    guard let soup = catalog.soup(named: old.name) else { return true }
    let hasSameIndexes = soup.indexes.elementsEqual(old.indexes) {
      MemberKey.isSame($0.path, $1.path) && $0.type == $1.type && $0.columnName == $1.columnName
    }
    return soup.number != old.number || !hasSameIndexes || soup.isExternal != old.isExternal
  }

  var oldTable: String { old.table + "_old" }
  var oldFullTextTable: String { old.fullTextTable + "_old" }

  // MARK: Steps

  /// Performs one step and records it.
  ///
  /// - Parameter check: Throws if the work was cancelled.
  func perform(
    _ step: AlterStep, on access: StoreAccess, check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    switch step {
    case .starting: break
    case .renameOldSoupTable: try renameOldTables(access)
    case .dropOldIndexes: try dropOldIndexes(access)
    case .registerSoupUsingTableName: try makeNewTables(access)
    case .copyTable: try copy(access, check: check)
    case .reIndexSoup: try reIndex(access, check: check)
    case .dropOldTable: try dropOldTables(access)
    case .cleanup: try cleanUp(access)
    }
    if step == .dropOldTable {
      // From here on the soup is visible again.
      access.didChange(new)
      access.didChangeMapping()
    }
    if step == .cleanup {
      try access.deleteOperation(id)
    } else {
      try access.updateOperation(
        id, details: details.json(withNewColumns: step >= .registerSoupUsingTableName),
        status: step.status)
    }
  }

  private func renameOldTables(_ access: StoreAccess) throws(SmartStoreError) {
    try access.execute("ALTER TABLE \(old.table) RENAME TO \(oldTable)")
    if try access.hasTable(old.fullTextTable) {
      try access.execute("ALTER TABLE \(old.fullTextTable) RENAME TO \(oldFullTextTable)")
    }
  }

  private func dropOldIndexes(_ access: StoreAccess) throws(SmartStoreError) {
    try access.dropIndexes(ofTable: oldTable)
    try access.forgetIndexSpecs(of: old)
  }

  private func makeNewTables(_ access: StoreAccess) throws(SmartStoreError) {
    try access.createTables(of: new)
    try access.recordIndexSpecs(of: new)
    try access.setExternal(new)
  }

  /// Copies rows. The last of the two steps that write rows builds the indexes, with one sort per
  /// index instead of a search per row.
  private func copy(
    _ access: StoreAccess, check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    let kept = keptColumns
    switch (old.isExternal, new.isExternal) {
    case (false, true):
      try copyRows(kept, access)
      try writeFiles(access, check: check)
    case (true, false):
      try copyRowsWithTexts(kept, access, check: check)
    default:
      try copyRows(kept, access)
    }
    try access.continueSequence(of: oldTable, in: new.table)
    if new.hasFullText, !reIndexesFullText { try access.fillFullText(of: new) }
    if !details.reIndexData { try access.createIndexes(of: new) }
  }

  private func reIndex(
    _ access: StoreAccess, check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    guard details.reIndexData else { return }
    try access.reIndex(new, columns: changedColumns, check: check)
    try access.createIndexes(of: new)
  }

  private func dropOldTables(_ access: StoreAccess) throws(SmartStoreError) {
    try access.execute("DROP TABLE IF EXISTS \(oldTable)")
    // Android has the words in the other order.
    for table in [oldFullTextTable, oldTable + "_fts"] {
      try access.execute("DROP TABLE IF EXISTS \(table)")
    }
  }

  private func cleanUp(_ access: StoreAccess) throws(SmartStoreError) {
    // After a failure it is repeated at the next opening, when the files may belong to a later
    // alter.
    if old.isExternal, !new.isExternal, access.externalSoup(inTable: old.table) == nil {
      access.externalChanges.clear(table: old.table, keepsFolder: false)
    }
  }

  // MARK: Columns

  /// The columns whose values are kept: those of paths that keep their type.
  private var keptColumns: [(new: String, old: String)] {
    new.columns.compactMap { column in
      old.columns.first {
        MemberKey.isSame($0.pathText, column.pathText) && $0.type == column.type
      }
      .map { (column.name, $0.name) }
    }
  }

  /// The positions of the other columns.
  private var changedColumns: [Int] {
    let kept = Set(keptColumns.map(\.new))
    return new.columns.indices.filter { !kept.contains(new.columns[$0].name) }
  }

  /// Whether the full-text rows are written later, with the new values.
  private var reIndexesFullText: Bool {
    details.reIndexData && changedColumns.contains { new.columns[$0].isFullText }
  }

  // MARK: Copying

  private func copyRows(
    _ kept: [(new: String, old: String)], _ access: StoreAccess
  ) throws(SmartStoreError) {
    var names = ["id", "created", "lastModified"]
    if !old.isExternal, !new.isExternal { names.append(SmartStore.soupColumn) }
    let newNames = (names + kept.map(\.new)).joined(separator: ", ")
    let oldNames = (names + kept.map(\.old)).joined(separator: ", ")
    try access.execute(
      "INSERT INTO \(new.table) (\(newNames)) SELECT \(oldNames) FROM \(oldTable) ORDER BY id")
  }

  /// Writes a file for each entry that was stored in a row.
  private func writeFiles(
    _ access: StoreAccess, check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    let rows = try StoreStatement(access.database, "SELECT id, soup FROM \(oldTable)")
    while try rows.step() {
      try check()
      try access.writeExternal(rows.bytes(1), entryId: rows.int64(0), table: new.table)
    }
    access.externalChanges.create(table: new.table)
  }

  /// Copies rows whose texts are read from files.
  private func copyRowsWithTexts(
    _ kept: [(new: String, old: String)], _ access: StoreAccess,
    check: () throws(SmartStoreError) -> Void
  ) throws(SmartStoreError) {
    let names = ["id", "created", "lastModified"]
    let newNames = (names + kept.map(\.new)).joined(separator: ", ")
    let oldNames = (names + kept.map(\.old)).joined(separator: ", ")
    let rows = try StoreStatement(access.database, "SELECT id FROM \(oldTable) ORDER BY id")
    let insert = try StoreStatement(
      access.database,
      "INSERT INTO \(new.table) (\(newNames), soup) SELECT \(oldNames), ?2 FROM \(oldTable) "
        + "WHERE id = ?1")
    while try rows.step() {
      try check()
      let entryId = rows.int64(0)
      let text = try access.externalText(of: entryId, in: old)
      insert.bind(entryId, at: 1)
      try text.withUnsafeBufferPointer { bytes throws(SmartStoreError) in
        insert.bindUncopied(bytes, at: 2)
        try insert.run()
        insert.bindNull(at: 2)
      }
    }
  }
}
