// Names that are stored in databases and entries, or that callers depend on. They never change.

extension SmartStore {
  /// The name of a store that was requested without one.
  public static let defaultStoreName = "defaultStore"
  /// The domain of this module's errors.
  public static let errorDomain = SmartStoreError.domain

  /// The member of an entry that holds its entry id.
  public static let soupEntryId = "_soupEntryId"
  /// The member of an entry that holds the time of its last write, in milliseconds since 1970.
  public static let lastModifiedDate = "_soupLastModifiedDate"
  /// The path of the time at which an entry was first written. It is only a column, not a member of
  /// the entry.
  public static let createdDate = "_soupCreatedDate"
  /// The path that names the whole entry.
  public static let soupPath = "_soup"

  /// The column of the entry id.
  public static let idColumn = "id"
  /// The column of the time of creation.
  public static let createdColumn = "created"
  /// The column of the time of the last write.
  public static let lastModifiedColumn = "lastModified"
  /// The column of the entry's text.
  public static let soupColumn = "soup"
}

/// The tables that describe a store.
enum MetaTable {
  static let attributes = "soup_attrs"
  static let indexMap = "soup_index_map"
  static let longOperations = "long_operations_status"
  /// The name of `soup_attrs` before version 4.3.
  static let legacyAttributes = "soup_names"
  /// The number of the last commit that changed files of externally stored entries.
  static let externalChanges = "external_storage_changes"
}
