/// A sync down target that can fetch single fields of its records, so that a field that is added later also
/// reaches existing entries.
///
/// Fields are named in the target's own words: whatever ``addedFields(since:)`` says is stored with the
/// sync and given to ``narrowed(to:)``. A target that fills several soups tells their fields apart in
/// these names.
public protocol FieldBackfilling: SyncDownTarget {
  /// The fields that this target brings and `other` does not; nil if they differ in more than fields,
  /// so that they do not bring the same records.
  func addedFields(since other: Self) -> [String]?

  /// The target that brings `fields` of the same records, with their ids and into the same soups, and
  /// as little else as it can.
  ///
  /// - Throws: ``SyncError`` `invalidTarget` if there is none.
  func narrowed(to fields: [String]) throws -> Self
}
