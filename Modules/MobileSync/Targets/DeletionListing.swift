/// A sync down target whose server lists deleted records, so that ghost cleaning costs a few
/// requests instead of fetching all ids.
///
/// A record can also leave a target by an edit or by a change of access. Therefore the engine
/// compares counts: if the server has as many of the records as the soup without the deleted ones,
/// no other record is gone. Otherwise it compares ids, with ``SyncDownTarget/remoteIds(for:in:)``.
public protocol DeletionListing: SyncDownTarget {
  /// The minimum number of local records for which the engine requests deletions; below that,
  /// comparing ids costs no more.
  var deletionsFrom: Int { get }

  /// Fetches the deletions since a time.
  ///
  /// - Parameter start: In milliseconds since 1970, by the server's clock. The result may include
  ///   earlier deletions.
  /// - Returns: nil if the server has no complete list, such as when `start` is too long ago; the
  ///   engine then compares ids.
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``. Then nothing is removed.
  func deletions(since start: Int64, in context: SyncContext) async throws -> SyncDeletions?

  /// The number of the target's records that the server has and that were last changed at `maxTimeStamp` or before.
  ///
  /// - Returns: nil if the server cannot count them.
  func count(until maxTimeStamp: Int64, in context: SyncContext) async throws -> Int?

  /// The ids of the target's records that were changed after `maxTimeStamp`.
  func ids(since maxTimeStamp: Int64, in context: SyncContext) async throws -> Set<String>
}

/// The records that a server has deleted.
public struct SyncDeletions: Sendable, Hashable {
  /// The ids of the records.
  public let ids: Set<String>
  /// The time up to which the list is complete, in milliseconds since 1970 by the server's clock.
  public let completeUntil: Int64

  /// Creates a list from a server's response.
  public init(ids: Set<String>, completeUntil: Int64) {
    self.ids = ids
    self.completeUntil = completeUntil
  }
}
