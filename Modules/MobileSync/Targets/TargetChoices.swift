public import SalesforceSDKCommon
public import SmartStore

/// A sync down target that decides which records of a page are saved now, and what is added to them.
///
/// The engine still keeps unsynced edits, writes the page in one transaction with the watermark, and sets the
/// flags. A target that never wants a record leaves it out of the page instead.
public protocol SyncDownRecordSaving: SyncDownTarget {
  /// The ids of records that this page leaves as they are in the store, in addition to those with unsynced edits.
  ///
  /// Called in the page's transaction. What is skipped is remembered like a record with an unsynced edit: the next run
  /// requests it again until it is saved. A record with children is skipped as a whole if one of its entries is.
  /// Default: none.
  ///
  /// - Parameter ids: The ids of the page's records for that soup.
  /// - Throws: Any error; the page is not saved and the run fails.
  func idsToSkip(
    among ids: [String], inSoup soupName: String, in transaction: borrowing StoreTransaction
  ) throws -> Set<String>

  /// The entry that is stored for a downloaded record, such as the record with members of the app's own from the
  /// entry that it replaces. Default: the record.
  ///
  /// Called in the page's transaction for each record that is not merged into an edited entry.
  ///
  /// - Parameter entry: The entry in the store that has the record's id; nil if there is none.
  /// - Returns: The record, with added members. The server's members must stay as they are, since later edits are
  ///   compared with them: ``SyncError`` `invalidTarget` ends the run otherwise.
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
  /// The ids of records that the server no longer has for this sync.
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
