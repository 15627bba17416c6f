public import SalesforceSDKCommon
public import SmartStore

/// A sync down target that chooses which records of a page are saved now, and adds members to them.
///
/// The engine still keeps unsynced edits, writes the page in one transaction with the watermark,
/// and sets the flags. If a target never wants a record, it omits the record from the page instead.
public protocol SyncDownRecordSaving: SyncDownTarget {
  /// Returns the ids of records to skip in this page, in addition to those with unsynced edits;
  /// their entries stay as they are.
  ///
  /// Called in the page's transaction. A skipped record is handled like one with an unsynced edit:
  /// each run requests it again until it is saved. If one entry of a tree is skipped, the whole
  /// tree is. Default: none.
  ///
  /// - Parameter ids: The ids of the page's records for that soup.
  /// - Throws: Any error; the page is not saved and the run fails.
  func idsToSkip(
    among ids: [String], inSoup soupName: String, in transaction: borrowing StoreTransaction
  ) throws -> Set<String>

  /// Returns the entry to store for a downloaded record, such as the record with the app's own
  /// members from the entry that it replaces. Default: the record.
  ///
  /// Called in the page's transaction for each record that is not merged into an edited entry.
  ///
  /// - Parameter entry: The entry in the store that has the record's id; nil if there is none.
  /// - Returns: The record, with added members. The server's members must stay as they are, because
  ///   later edits are compared with them; otherwise the run fails with ``SyncError``
  ///   `invalidTarget`.
  /// - Throws: Any error; the page is not saved and the run fails.
  func entry(
    for record: JSONSlice, replacing entry: JSONSlice?, inSoup soupName: String
  ) throws -> JSONSlice
}

extension SyncDownRecordSaving {
  public func idsToSkip(
    among ids: [String], inSoup soupName: String, in transaction: borrowing StoreTransaction
  ) throws -> Set<String> { [] }

  public func entry(
    for record: JSONSlice, replacing entry: JSONSlice?, inSoup soupName: String
  ) throws -> JSONSlice { record }
}

/// A sync down target that finds ghosts itself, in place of ``SyncDownTarget/remoteIds(for:in:)``.
public protocol GhostFinding: SyncDownTarget {
  /// Returns the ids of records that the server no longer has for this sync.
  ///
  /// Clean entries of these records that this sync downloaded are removed, unless another sync downloaded them, too.
  /// Other ids are ignored.
  ///
  /// - Returns: nil if the target cannot tell; then nothing is removed.
  /// - Throws: As ``SyncDownTarget/startFetch(since:in:)``. Then nothing is removed.
  func ghostIds(in context: SyncContext) async throws -> Set<String>?
}

/// A sync up target that uploads only some of the unsynced entries.
public protocol SyncUpSelecting: SyncUpTarget {
  /// Whether an unsynced entry is uploaded by this run. The others stay as they are, unsynced; entries that refer to
  /// one of them by its local id wait for it.
  ///
  /// A run reads each unsynced entry once more for this. For a ``TreeSyncUpTarget`` the entries are those of the
  /// parents' soup, and children follow their parent.
  ///
  /// - Parameter entry: The entry with its flags, such as `__locally_created__`.
  func uploads(_ entry: JSONSlice) -> Bool
}
