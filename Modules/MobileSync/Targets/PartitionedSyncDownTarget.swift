/// A sync down target whose first download can be split into ranges of ids that are downloaded in
/// parallel.
///
/// A record's id never changes, so each record stays in one range during the run. A range is
/// downloaded in ascending order of ids, so its greatest saved id is the watermark from which it
/// resumes. When all ranges are saved, the engine calls ``SyncDownTarget/startFetch(since:in:)``
/// with ``SyncIdBounds/newestChange``, which downloads the changes that were made during the run.
///
/// The engine splits only the first download of a sync into an empty soup. All other downloads are
/// serial.
public protocol PartitionedSyncDownTarget: SyncDownTarget {
  /// The number of ranges to download in parallel; with 1 or less, the download is never split.
  var partitions: Int { get }
  /// The minimum number of records for a split; below that, the additional requests cost more than
  /// they gain.
  var partitionsFrom: Int { get }
  /// The reason why the records cannot be split into ranges of ids, as a sentence; nil if they can.
  var partitionObstacle: String? { get }

  /// Fetches the bounds of the ids, from which the engine computes the ranges.
  ///
  /// - Returns: nil if the server cannot determine them; the download is then not split.
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``.
  func idBounds(in context: SyncContext) async throws -> SyncIdBounds?

  /// Fetches the first page of a range, whose records come in ascending order of their ids. The
  /// pages after it are fetched with ``SyncDownTarget/continueFetch(_:in:)``.
  ///
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``.
  func startFetch(_ range: SyncIdRange, in context: SyncContext) async throws -> SyncPage<Cursor>
}

/// A range of record ids.
public struct SyncIdRange: Sendable, Hashable {
  /// The inclusive lower bound; nil if there is none.
  public let from: String?
  /// The exclusive lower bound; nil if the range begins with ``from``.
  public let after: String?
  /// The exclusive upper bound; nil if there is none.
  public let below: String?

  /// Creates a range.
  public init(from: String? = nil, after: String? = nil, below: String? = nil) {
    self.from = from
    self.after = after
    self.below = below
  }
}

/// The bounds of the ids of a target's records.
public struct SyncIdBounds: Sendable, Hashable {
  /// The number of records.
  public let count: Int
  /// The smallest id.
  public let lowest: String
  /// The greatest id.
  public let highest: String
  /// The newest modification date of the records, in milliseconds since 1970.
  public let newestChange: Int64
  /// The number of requests that the server still accepts today; nil if it is unknown.
  public let requestsLeft: Int?

  /// Creates bounds from a server's response.
  public init(
    count: Int, lowest: String, highest: String, newestChange: Int64, requestsLeft: Int? = nil
  ) {
    self.count = count
    self.lowest = lowest
    self.highest = highest
    self.newestChange = newestChange
    self.requestsLeft = requestsLeft
  }
}
