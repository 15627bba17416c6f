public import SalesforceSDKCommon

/// A sync down target that fills several soups.
///
/// Each downloaded record is a tree: the engine cuts it into entries with ``entries(of:)``, saves
/// those of a page in one transaction, and leaves the tree alone as a whole where an edit is to be
/// kept. The soup of the sync itself is not used.
public protocol MultiSoupSyncDownTarget: SyncDownTarget {
  /// The soups, parents before their children.
  ///
  /// Each needs indexes on its id field, on `__local__` and, for children, on the field that holds
  /// the parent's id; one on `__sync_id__` lets several syncs share it.
  var soups: [SyncSoup] { get }

  /// Cuts a downloaded record into entries.
  ///
  /// The modification dates of entries without a parent make the watermark while pages come; those
  /// of children count when the run is complete, since a child may be newer than parents that have
  /// not come yet.
  ///
  /// - Returns: The entries; none if the record belongs nowhere.
  /// - Throws: ``SyncError`` for a record of the wrong form.
  func entries(of record: JSONSlice) throws -> [SyncEntry]

  /// Which records the server has now, soup by soup, for finding ghosts.
  ///
  /// - Parameter localIds: The ids of the clean records that this sync brought, in the order of
  ///   ``soups``.
  /// - Returns: The server's ids in the same order; nil if the target cannot tell.
  /// - Throws: As ``SyncDownTarget/remoteIds(for:in:)``.
  func remoteIds(inSoups localIds: [[String]], in context: SyncContext) async throws -> [Set<
    String
  >]?
}

extension MultiSoupSyncDownTarget {
  /// Nil: ``remoteIds(inSoups:in:)`` serves all soups.
  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? { nil }
}

/// A soup that a target works with, and the fields that it needs there.
public struct SyncSoup: Sendable, Hashable {
  /// What makes a soup one of children.
  public struct Parent: Sendable, Hashable {
    /// The soup of the parents.
    public let soupName: String
    /// The field of a child that holds its parent's id.
    public let fieldName: String

    /// Names soup and field.
    public init(soupName: String, fieldName: String) {
      self.soupName = soupName
      self.fieldName = fieldName
    }
  }

  /// The soup.
  public let soupName: String
  /// The id and the modification date field of its records.
  public let names: SyncFieldNames
  /// Where its records' parents are; nil if they have none.
  public let parent: Parent?

  /// Describes a soup.
  public init(soupName: String, names: SyncFieldNames = SyncFieldNames(), parent: Parent? = nil) {
    self.soupName = soupName
    self.names = names
    self.parent = parent
  }
}

/// A downloaded record for one of a target's soups.
public struct SyncEntry: Sendable {
  /// The soup's place in ``MultiSoupSyncDownTarget/soups``.
  public let soup: Int
  /// The record.
  public let record: JSONSlice

  /// Makes an entry.
  public init(soup: Int, record: JSONSlice) {
    self.soup = soup
    self.record = record
  }
}
