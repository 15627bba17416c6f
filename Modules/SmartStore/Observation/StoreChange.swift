import GRDB

/// What one commit, or several, changed.
struct StoreChange: Sendable {
  /// The tables whose rows changed.
  private(set) var tables: Set<String> = []
  /// Whether soups were registered, altered or removed, so that any query may mean something else.
  var changesMapping = false

  var isEmpty: Bool { tables.isEmpty && !changesMapping }

  mutating func insert(_ soup: Soup) {
    tables.insert(soup.table)
    if soup.hasFullText { tables.insert(soup.fullTextTable) }
  }

  mutating func formUnion(_ other: StoreChange) {
    tables.formUnion(other.tables)
    changesMapping = changesMapping || other.changesMapping
  }

  /// Whether what was read from `region` may read differently now.
  func concerns(_ region: DatabaseRegion) -> Bool {
    changesMapping
      || tables.contains { region.isModified(byEventsOfKind: .insert(tableName: $0)) }
  }
}
