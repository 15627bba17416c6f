public import SalesforceSDKCommon

/// A target that downloads records, page by page.
///
/// A plugin implements ``startFetch(since:in:)``, ``continueFetch(_:in:)`` and
/// ``remoteIds(for:in:)`` in addition to the requirements of ``SyncTarget``. The engine does everything else:
/// it saves each page in one transaction with the watermark, keeps local edits, stops and resumes.
///
/// The engine requests the next page while it saves the current one; it requests further pages
/// ahead only from a ``PagePredicting`` target.
public protocol SyncDownTarget: SyncTarget {
  /// The data to request the next page, such as its address. It is the target's state within a run;
  /// from run to run there is ``SyncPage/targetState``.
  ///
  /// If it is `Hashable`, a run fails with ``SyncError`` `unexpectedResponse` instead of going on for ever if its pages
  /// form a cycle, or if 1,000 pages in a row bring neither a new record nor a deletion: equal cursors have to mean the
  /// same page. With any cursor, it fails so if the pages have clearly more records than ``SyncPage/totalSize``.
  associatedtype Cursor: Sendable

  /// Whether pages come in ascending order of the modification date. Default: false.
  ///
  /// If true, an interrupted run resumes at its page; otherwise it starts over.
  var isSortedByModificationDate: Bool { get }

  /// Whether a later run fetches only records that changed after the time that the engine passes. Default:
  /// ``isSortedByModificationDate``.
  ///
  /// If true, unchanged records that come again because the second of that time was not over are not counted.
  var fetchesOnlyChanges: Bool { get }

  /// Fetches the first page.
  ///
  /// - Parameter maxTimeStamp: In milliseconds since 1970. If it is greater than 0, fetch only
  ///   records that changed after it. A first run gets -1.
  /// - Returns: The page with the total size, nil if there is nothing to sync at all.
  /// - Throws: The errors of the context's calls; ``SyncError`` for a response of the wrong form.
  func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>?

  /// Fetches the page that `cursor`, the ``SyncPage/next`` of the page before, leads to.
  ///
  /// - Returns: nil if there is no such page.
  /// - Throws: As ``startFetch(since:in:)``.
  func continueFetch(_ cursor: Cursor, in context: SyncContext) async throws -> SyncPage<Cursor>?

  /// Fetches the ids of the records that the server has now, to find ghosts.
  ///
  /// A target that sends several requests calls ``SyncContext/checkStop()`` between them.
  ///
  /// - Parameter localIds: The ids of the clean records that this sync downloaded. The result may
  ///   contain others, too.
  /// - Returns: nil if the target cannot determine them; then nothing is removed.
  /// - Throws: As ``startFetch(since:in:)``. Then nothing is removed.
  func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>?
}

extension SyncDownTarget {
  /// False.
  public var isSortedByModificationDate: Bool { false }
  /// As ``isSortedByModificationDate``.
  public var fetchesOnlyChanges: Bool { isSortedByModificationDate }
}

/// The records of one response.
public struct SyncPage<Cursor: Sendable>: Sendable {
  /// The records as the server wrote them. Each must be a JSON object with the target's id field.
  /// If two records have the same id, the later one wins.
  public let records: [JSONSlice]
  /// The ids of records that the server has deleted, or no longer returns for this sync.
  ///
  /// They are applied before ``records``, in the same transaction. A clean entry is removed, unless
  /// another sync has downloaded it, too. An edited entry stays, with a ``SyncConflict`` of kind
  /// ``SyncConflict/Kind/deletedThere``. An entry that was deleted locally is removed. Ids that no
  /// soup of the sync has are ignored.
  public let deleted: [String]
  /// The total number of records of the run, if the page has it; the engine uses the latest value.
  public let totalSize: Int?
  /// The time up to which the run's records are complete, in milliseconds since 1970. The watermark
  /// stays at or below it, even if records have newer dates. nil: the newest of these dates.
  ///
  /// It is for targets that fetch ids before records: a record that changed in between may be newer
  /// than a record that was not listed.
  public let completeUntil: Int64?
  /// The newest modification date of the page's records, in milliseconds since 1970. nil: the
  /// engine reads it from the records' modification date field. It is for servers that write dates
  /// in another form.
  public let latestModificationDate: Int64?
  /// The state that the target stores for its next run, which reads it from
  /// ``SyncContext/targetState``. It is stored with the watermark when the run is done, not if the
  /// run stops or fails. nil: the state is unchanged; empty: it is removed. If several pages set a
  /// state, the last one is stored.
  public let targetState: JSONObject?
  /// The position in the server's changes after this page, such as a delta token or the id of a
  /// job. It is stored in the page's transaction, so a run that stops, fails or is killed leaves
  /// the checkpoint of its last page. The next run reads it from ``SyncContext/checkpoint``. nil:
  /// the checkpoint is unchanged; empty: it is removed. The engine does not interpret it.
  public let checkpoint: JSONObject?
  /// The cursor of the next page; nil on the last one. An empty page is not the end.
  public let next: Cursor?

  /// Creates a page.
  public init(
    records: [JSONSlice], deleted: [String] = [], totalSize: Int? = nil,
    completeUntil: Int64? = nil, latestModificationDate: Int64? = nil,
    targetState: JSONObject? = nil, checkpoint: JSONObject? = nil,
    next: Cursor?
  ) {
    self.records = records
    self.deleted = deleted
    self.totalSize = totalSize
    self.completeUntil = completeUntil
    self.latestModificationDate = latestModificationDate
    self.targetState = targetState
    self.checkpoint = checkpoint
    self.next = next
  }
}
