import SalesforceSDKCommon
import SmartStore

/// The soups of the records of a sync down.
struct DownloadLayout: Sendable {
  /// A soup and what is known of its records.
  struct Place: Sendable {
    let records: SyncSoup
    let dateField: String
    /// For children: the place of their parents and the field that holds a parent's id.
    let parent: (place: Int, field: String)?

    /// The fields of the records that never count as edits.
    var names: SyncFieldNames { SyncFieldNames(id: records.idField, modificationDate: dateField) }
  }

  let places: [Place]
  /// Whether records may be edited locally.
  let isEditable: Bool
  /// The target's decisions about saving; nil if it makes none.
  let saving: (any SyncDownRecordSaving)?
  /// Splits a downloaded record into entries; nil if the target has one soup, with each record as
  /// an entry.
  let cut: (@Sendable (JSONSlice) throws -> [SyncEntry])?

  /// The layout of a target, for a sync of the soup `soupName`.
  init(of target: some SyncDownTarget, soupName: String) {
    isEditable = !(target is any ReadOnlySyncDownTarget)
    saving = target as? any SyncDownRecordSaving
    let soups = target.soups(in: soupName)
    places = soups.map { soup in
      Place(
        records: SyncSoup(soupName: soup.soupName, idField: soup.names.id),
        dateField: soup.names.modificationDate,
        parent: soup.parent.flatMap { parent in
          soups.firstIndex { $0.soupName == parent.soupName }.map { ($0, parent.fieldName) }
        })
    }
    if let several = target as? any MultiSoupSyncDownTarget {
      cut = { try several.entries(of: $0) }
    } else {
      cut = nil
    }
  }

  /// The only place, if each record is its entry.
  var onlyPlace: Place? { places.count == 1 && cut == nil ? places[0] : nil }

  /// Checks the soups before the first request to the server.
  ///
  /// - Throws: ``SyncError`` `store`, naming what is missing.
  func check(in store: SmartStore) async throws {
    for place in places {
      var paths = [place.records.idField]
      if isEditable { paths.append(SyncKeys.local) }
      if let parent = place.parent { paths.append(parent.field) }
      try await place.records.check(in: store, indexed: paths)
    }
  }
}
