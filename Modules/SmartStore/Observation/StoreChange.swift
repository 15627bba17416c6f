import GRDB

/// The changes of one or more commits.
struct StoreChange: Sendable {
  /// The tables whose rows changed.
  private(set) var tables: Set<String> = []
  /// Whether soups were registered, altered or removed, which may change the result of any query.
  var changesMapping = false

  /// The change that another process may have made.
  static let unknown = {
    var change = StoreChange()
    change.changesMapping = true
    return change
  }()

  var isEmpty: Bool { tables.isEmpty && !changesMapping }

  mutating func insert(_ soup: Soup) {
    tables.insert(soup.table)
    if soup.hasFullText { tables.insert(soup.fullTextTable) }
  }

  mutating func formUnion(_ other: StoreChange) {
    tables.formUnion(other.tables)
    changesMapping = changesMapping || other.changesMapping
  }

  /// Whether a read of `region` may return another result now.
  func concerns(_ region: DatabaseRegion) -> Bool {
    changesMapping
      || tables.contains { region.isModified(byEventsOfKind: .insert(tableName: $0)) }
  }
}
