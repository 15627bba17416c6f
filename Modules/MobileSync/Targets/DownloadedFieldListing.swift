/// A sync down target that knows the fields that it downloads.
///
/// The engine compares them with the fields that syncs up send, and warns of a name that stands in only one of the
/// lists: it is misspelled, or an edit of the field stays on the device.
public protocol DownloadedFieldListing: SyncDownTarget {
  /// The fields that this target downloads into a soup, in any order; nil if it cannot tell, or does not fill the
  /// soup. `FIELDS(ALL)`, `FIELDS(STANDARD)` and `FIELDS(CUSTOM)` stand for fields of the object.
  func downloadedFields(into soupName: String) -> [String]?

  /// The object of the records in a soup, such as `Account`, to look up its describe result. Default: nil, and the
  /// entries of the soup say it.
  func downloadedObject(into soupName: String) -> String?
}

extension DownloadedFieldListing {
  /// nil: the entries of the soup say it.
  public func downloadedObject(into soupName: String) -> String? { nil }
}
