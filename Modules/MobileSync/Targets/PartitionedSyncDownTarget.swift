/// A sync down target whose first download can be split into ranges of ids that are downloaded side by side.
///
/// A record's id never changes, so that each record is in one range, whatever else changes during the run. Each range
/// comes in ascending order of the ids, so that its greatest saved id is the watermark from which it resumes. When all
/// ranges are saved, the engine asks with ``SyncDownTarget/startFetch(since:in:)`` for what has changed since
/// ``SyncIdBounds/newestChange``: that brings the changes that were made during the run.
///
/// The engine splits the first download of a sync into an empty soup. All others are one range.
public protocol PartitionedSyncDownTarget: SyncDownTarget {
  /// How many ranges are downloaded side by side; 1 and less: the download is never split.
  var partitions: Int { get }
  /// From how many records on the download is split: below that the requests for the ranges cost more than they gain.
  var partitionsFrom: Int { get }
  /// Why the records cannot be split into ranges of ids, as a sentence; nil if they can.
  var partitionObstacle: String? { get }

  /// Fetches what the ranges are made of.
  ///
  /// - Returns: nil if the server cannot tell; then the download is not split.
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``.
  func idBounds(in context: SyncContext) async throws -> SyncIdBounds?

  /// Fetches the first page of a range, whose records come in ascending order of their ids. The pages behind it are
  /// fetched with ``SyncDownTarget/continueFetch(_:in:)``.
  ///
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``.
  func startFetch(_ range: SyncIdRange, in context: SyncContext) async throws -> SyncPage<Cursor>
}

/// A range of record ids.
public struct SyncIdRange: Sendable, Hashable {
  /// The first id that may be in the range; nil: there is no lower end.
  public let from: String?
  /// The id behind which the range begins; nil: it begins with ``from``.
  public let after: String?
  /// The id in front of which the range ends; nil: there is no upper end.
  public let below: String?

  /// Makes a range.
  public init(from: String? = nil, after: String? = nil, below: String? = nil) {
    self.from = from
    self.after = after
    self.below = below
  }
}

/// Where the ids of a target's records begin and end.
public struct SyncIdBounds: Sendable, Hashable {
  /// The number of records.
  public let count: Int
  /// The smallest id.
  public let lowest: String
  /// The greatest id.
  public let highest: String
  /// The newest modification date of the records, in milliseconds since 1970.
  public let newestChange: Int64
  /// How many requests the server accepts today after this one; nil if it does not say.
  public let requestsLeft: Int?

  /// Takes what a server has said.
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
