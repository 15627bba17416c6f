/// The steps of an alter. The number of the last completed one is stored, so that the next
/// process that opens the store after a crash resumes there (SS-181).
enum AlterStep: Int, CaseIterable, Comparable {
  /// The operation is recorded.
  case starting = 0
  /// The soup's table and its full-text table are renamed.
  case renameOldSoupTable
  /// The old indexes and the rows that describe them are dropped.
  case dropOldIndexes
  /// The new tables and rows are created.
  case registerSoupUsingTableName
  /// The entries and the values of kept paths are in the new table.
  case copyTable
  /// The values of the other paths are in the new table too, if re-indexing was requested.
  case reIndexSoup
  /// The old tables are dropped: the alter can no longer be undone.
  case dropOldTable
  /// Unused files of the soup are removed.
  case cleanup

  /// The stored form.
  var status: String { String(rawValue) }

  /// Reads the stored form: a number, or the word that Android writes.
  init?(status: String) {
    if let number = Int(status) {
      self.init(rawValue: number)
    } else if let step = AlterStep.words[status] {
      self = step
    } else {
      return nil
    }
  }

  private static let words: [String: AlterStep] = [
    "STARTING": .starting, "RENAME_OLD_SOUP_TABLE": .renameOldSoupTable,
    "DROP_OLD_INDEXES": .dropOldIndexes,
    "REGISTER_SOUP_USING_TABLE_NAME": .registerSoupUsingTableName, "COPY_TABLE": .copyTable,
    "RE_INDEX_SOUP": .reIndexSoup, "DROP_OLD_TABLE": .dropOldTable,
  ]

  /// The step after this one, nil after the last.
  var next: AlterStep? { AlterStep(rawValue: rawValue + 1) }

  static func < (left: AlterStep, right: AlterStep) -> Bool { left.rawValue < right.rawValue }
}
