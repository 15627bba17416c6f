public import SalesforceSDKCommon

/// A sync down target that fills several soups.
///
/// Each downloaded record is a tree: the engine splits it into entries with ``entries(of:)`` and
/// saves the entries of a page in one transaction. If an edit in a tree has to be kept, the engine
/// skips the whole tree. The soup of the sync itself is not used.
public protocol MultiSoupSyncDownTarget: SyncDownTarget {
  /// The soups, parents before their children.
  ///
  /// Each needs indexes on its id field, on `__local__` and, for children, on the field with the
  /// parent's id; with an index on `__sync_id__`, several syncs can share a soup.
  var soups: [SyncSoup] { get }

  /// Splits a downloaded record into entries.
  ///
  /// During the run, the modification dates of entries without a parent set the watermark. Dates of
  /// children count only when the run is complete, because a child may be newer than parents that
  /// are not downloaded yet.
  ///
  /// - Returns: The entries; none if the record belongs to no soup.
  /// - Throws: ``SyncError`` for a record of the wrong form.
  func entries(of record: JSONSlice) throws -> [SyncEntry]

  /// Fetches the ids that the server has now, soup by soup, to find ghosts.
  ///
  /// - Parameter localIds: The ids of the clean records that this sync downloaded, in the order of
  ///   ``soups``.
  /// - Returns: The server's ids in the same order; nil if the target cannot determine them.
  /// - Throws: As ``SyncDownTarget/remoteIds(for:in:)``.
  func remoteIds(inSoups localIds: [[String]], in context: SyncContext) async throws -> [Set<
    String
  >]?
}

extension MultiSoupSyncDownTarget {
  /// Nil: ``remoteIds(inSoups:in:)`` is used for all soups.
  public func remoteIds(
    for localIds: [String], in context: SyncContext
  ) async throws -> Set<String>? { nil }
}

/// A soup that a target works with, and the fields that it needs there.
public struct SyncSoup: Sendable, Hashable {
  /// The relationship of a soup of children to its parents.
  public struct Parent: Sendable, Hashable {
    /// The soup of the parents.
    public let soupName: String
    /// The field of a child with its parent's id.
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
  /// The parents of its records; nil if they have none.
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
  /// The soup's position in ``MultiSoupSyncDownTarget/soups``.
  public let soup: Int
  /// The record.
  public let record: JSONSlice

  /// Creates an entry.
  public init(soup: Int, record: JSONSlice) {
    self.soup = soup
    self.record = record
  }
}
