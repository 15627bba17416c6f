import SmartStore

/// The names that sync stores in records or reads from the server, exactly as the platform spells
/// them.
public enum SyncKeys: Sendable {
  // MARK: Fields that sync keeps on a record

  /// True while a record differs from the server's, whatever the reason.
  public static let local = LocalFlags.local
  /// True for a record that was created locally and is not on the server yet.
  public static let locallyCreated = LocalFlags.created
  /// True for a record that was edited locally.
  public static let locallyUpdated = LocalFlags.updated
  /// True for a record that is to be deleted on the server.
  public static let locallyDeleted = LocalFlags.deleted
  /// The id of the sync that downloaded the record last.
  public static let syncId = "__sync_id__"
  /// The server's error when it rejected the record, as JSON text.
  public static let lastError = "__last_error__"

  /// In a conflict, and in the base version, of a parent that is deleted locally: the server's children that its
  /// deletion would delete and that were created or changed there since, with their modification dates by id.
  static let treeChildren = "__children__"
  /// In a base version: the values that the server has accepted from here since the last download, as they were sent.
  /// The server may have other forms of them.
  static let uploaded = "__uploaded__"

  // MARK: Fields that the store keeps on a record

  static let soupEntryId = "_soupEntryId"
  static let soupLastModified = "_soupLastModifiedDate"
  static let soupCreated = "_soupCreatedDate"

  // MARK: The server's names

  /// The id field of a target that names no other.
  public static let defaultIdField = "Id"
  /// The modification date field of a target that names no other.
  public static let defaultModificationDateField = "LastModifiedDate"
  /// The member whose member ``type`` is the object type.
  public static let attributes = "attributes"
  /// The object type inside ``attributes``.
  public static let type = "type"
  /// The id in the response to a create or an upsert.
  public static let responseId = "id"
  /// The records of a query's page.
  public static let records = "records"
  /// The total number of records of a query.
  public static let totalSize = "totalSize"
  /// Whether a query's page is the last.
  static let done = "done"
  /// The address of a query's next page.
  public static let nextRecordsURL = "nextRecordsUrl"

  /// The prefix of local ids.
  public static let localIdPrefix = "local_"

  /// Fields of the store and of sync: they mean nothing to the server and are never sent.
  static let neverSent: Set<String> = [
    local, locallyCreated, locallyUpdated, locallyDeleted, syncId, lastError, soupEntryId,
    soupLastModified, soupCreated, attributes, treeChildren, uploaded,
  ]

  /// An id for a record that the server does not have yet.
  static func newLocalId(_ number: UInt64 = .random(in: .min ... .max)) -> String {
    localIdPrefix + String(number)
  }

  /// Whether `id` was created locally, so that the server cannot know it.
  public static func isLocalId(_ id: String) -> Bool {
    id.utf8.starts(with: localIdPrefix.utf8)
  }
}

/// The sizes that the server or the engine sets.
enum SyncLimits {
  /// Ids are read from the store, and dates asked from the server, in groups of this many.
  static let idsPerPage = 2_000
  /// Soup entries are read for sending, and ghosts deleted, in groups of at most this many.
  static let recordsPerRead = 500
}
