/// A sync down target that can fetch single fields of its records, so that a field that is added later also
/// reaches existing entries.
///
/// The target chooses the names of fields: the result of ``addedFields(since:)`` is stored with the
/// sync and passed to ``narrowed(to:)``. In a target that fills several soups, the names have to
/// identify the soup, too.
public protocol FieldBackfilling: SyncDownTarget {
  /// The fields that this target downloads and `other` does not; nil if the targets differ in more
  /// than fields, so that they select different records.
  func addedFields(since other: Self) -> [String]?

  /// Returns a target that downloads only `fields` and the ids of the same records, as far as
  /// possible, into the same soups.
  ///
  /// - Throws: ``SyncError`` `invalidTarget` if there is none.
  func narrowed(to fields: [String]) throws -> Self
}
