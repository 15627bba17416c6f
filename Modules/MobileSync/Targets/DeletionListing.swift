/// A sync down target that learns from its server which records were deleted, so that cleaning the ghosts of many
/// records costs a few requests instead of all ids.
///
/// A record can leave a target without a deletion: by an edit, by a change of who may see it. The engine therefore
/// counts: only if the server has as many of the records as are left here, nothing else is gone. Otherwise it compares
/// ids, with ``SyncDownTarget/remoteIds(for:in:)``.
public protocol DeletionListing: SyncDownTarget {
  /// From how many local records on the deletions are requested: below that, comparing ids costs no more.
  var deletionsFrom: Int { get }

  /// Fetches what was deleted.
  ///
  /// - Parameter start: In milliseconds since 1970, by the server's clock. More than what was deleted since may come.
  /// - Returns: nil if the server cannot tell all of it, as when `start` is too long ago; then ids are compared.
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``. Then nothing is removed.
  func deletions(since start: Int64, in context: SyncContext) async throws -> SyncDeletions?

  /// The number of the target's records that the server has and that were last changed at `maxTimeStamp` or before.
  ///
  /// - Returns: nil if the server cannot tell.
  func count(until maxTimeStamp: Int64, in context: SyncContext) async throws -> Int?

  /// The ids of the target's records that were changed after `maxTimeStamp`.
  func ids(since maxTimeStamp: Int64, in context: SyncContext) async throws -> Set<String>
}

/// The records that a server has deleted.
public struct SyncDeletions: Sendable, Hashable {
  /// The ids of the records.
  public let ids: Set<String>
  /// Up to when the list is complete, in milliseconds since 1970 by the server's clock.
  public let completeUntil: Int64

  /// Takes what a server has said.
  public init(ids: Set<String>, completeUntil: Int64) {
    self.ids = ids
    self.completeUntil = completeUntil
  }
}
