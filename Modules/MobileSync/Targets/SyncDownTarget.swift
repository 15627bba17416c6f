public import SalesforceSDKCommon

/// A target that downloads records, page by page.
///
/// A plugin implements ``startFetch(since:in:)``, ``continueFetch(_:in:)`` and
/// ``remoteIds(for:in:)`` in addition to the requirements of ``SyncTarget``. The engine does everything else:
/// it saves each page in one transaction with the watermark, keeps local edits, stops and resumes.
///
/// The engine requests the next page while it saves the current one, and further pages only of a
/// ``PagePredicting`` target.
public protocol SyncDownTarget: SyncTarget {
  /// What it takes to ask for the next page, such as its address. The target's memory within a run; from run to
  /// run there is ``SyncPage/targetState``.
  ///
  /// If it is `Hashable`, a run whose pages lead in a circle fails with ``SyncError`` `unexpectedResponse`
  /// instead of going on for ever: equal cursors have to mean the same page.
  associatedtype Cursor: Sendable

  /// Whether pages come in ascending order of the modification date. Default: false.
  ///
  /// Then an interrupted run goes on where it was; otherwise it starts over.
  var isSortedByModificationDate: Bool { get }

  /// Fetches the first page.
  ///
  /// - Parameter maxTimeStamp: In milliseconds since 1970. Greater than 0: only what changed after
  ///   it is needed. A first run gets -1.
  /// - Returns: The page with the total size, nil if there is nothing to sync at all.
  /// - Throws: Whatever the context's calls throw; ``SyncError`` for a response of the wrong form.
  func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>?

  /// Fetches the page that `cursor`, the ``SyncPage/next`` of the page before, leads to.
  ///
  /// - Returns: nil if there is no such page after all.
  /// - Throws: As ``startFetch(since:in:)``.
  func continueFetch(_ cursor: Cursor, in context: SyncContext) async throws -> SyncPage<Cursor>?

  /// Which records the server has now, for finding ghosts.
  ///
  /// A target that sends several requests calls ``SyncContext/checkStop()`` between them.
  ///
  /// - Parameter localIds: The ids of the clean records that this sync brought. The result may hold
  ///   others too.
  /// - Returns: nil if the target cannot tell; then nothing is removed.
  /// - Throws: As ``startFetch(since:in:)``. Then nothing is removed.
  func remoteIds(for localIds: [String], in context: SyncContext) async throws -> Set<String>?
}

extension SyncDownTarget {
  /// False.
  public var isSortedByModificationDate: Bool { false }
}

/// The records of one response.
public struct SyncPage<Cursor: Sendable>: Sendable {
  /// The records as the server wrote them. Each must be a JSON object that holds the target's id
  /// field. Of two records with the same id the later wins.
  public let records: [JSONSlice]
  /// The ids of records that the server has deleted, or no longer returns for this sync.
  ///
  /// They are applied before ``records``, in the same transaction: a clean entry is removed, unless another sync
  /// has brought it too; an edited one stays, with a ``SyncConflict`` of kind ``SyncConflict/Kind/deletedThere``;
  /// one that was deleted locally is removed. Ids that no soup of the sync has are ignored.
  public let deleted: [String]
  /// How many records the run has in all, if this page tells; the engine takes the latest word.
  public let totalSize: Int?
  /// Up to when the run's records are complete, in milliseconds since 1970: its watermark goes no further,
  /// whatever the records' dates say. nil: up to the newest of these dates.
  ///
  /// For targets that learn which records to bring before they bring them: what changed in between may be
  /// newer than a record that was not listed.
  public let completeUntil: Int64?
  /// The newest modification date of the page's records, in milliseconds since 1970. nil: it is read from the
  /// records' modification date field. For servers that write dates in another form.
  public let latestModificationDate: Int64?
  /// What the target keeps for its next run, which finds it in ``SyncContext/targetState``: stored together with
  /// the watermark once the run is done, and not if it stops or fails. nil: nothing changes; empty: the target
  /// keeps nothing. The last page that names a state wins.
  public let targetState: JSONObject?
  /// Where the server's changes are read up to once this page is saved, such as a delta token or the id of a job:
  /// stored in the page's transaction, so that a run that stops, fails or is killed leaves the one of its last
  /// page. The next run finds it in ``SyncContext/checkpoint``. nil: the one before stays; empty: there is none
  /// any more. The engine does not read it.
  public let checkpoint: JSONObject?
  /// What leads to the next page; nil on the last one. An empty page is not the end.
  public let next: Cursor?

  /// Makes a page.
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
