/// A sync down target whose records are never edited locally, such as descriptions of objects.
///
/// Their soup needs an index on the id field, but not on `__local__`; every page replaces existing
/// entries.
public protocol ReadOnlySyncDownTarget: SyncDownTarget {}

extension ReadOnlySyncDownTarget {
  /// Nil: such records have no ghosts.
  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? { nil }
}
