import SalesforceSDKCommon
import SmartStore

/// The entries of a page for one soup, in the order in which they came.
struct PagePart: Sendable {
  var entries: [JSONSlice] = []
  /// The entries' ids.
  var ids: [String] = []
  /// The numbers of the records that the entries belong to.
  var owners: [Int] = []
}

/// A page as it came, looked through before it is saved.
struct DownloadedPage<Cursor: Sendable>: Sendable {
  /// The entries, soup by soup.
  let parts: [PagePart]
  /// How many records came.
  let count: Int
  /// The newest modification date of entries without a parent; -1 if one has none that can be read.
  let latest: Int64
  /// The same of children.
  let latestOfChildren: Int64
  /// The ids of records that are deleted on the server.
  let deleted: [String]
  let totalSize: Int?
  let completeUntil: Int64?
  let targetState: JSONObject?
  let checkpoint: JSONObject?
  let next: Cursor?
  /// How many bytes the entries have.
  var byteCount: Int { parts.reduce(0) { $1.entries.reduce($0) { $0 + $1.utf8.count } } }

  /// Looks through a page.
  ///
  /// - Throws: ``SyncError`` `recordWithoutId` if a record cannot be matched to a row; what the
  ///   target throws for a record of the wrong form.
  init(_ page: SyncPage<Cursor>, _ layout: DownloadLayout) throws {
    var parts = layout.places.map { _ in PagePart() }
    var dates = layout.places.map { _ in LatestDate() }
    for (number, record) in page.records.enumerated() {
      guard let cut = layout.cut else {
        try parts[0].add(record, number, layout.places[0])
        dates[0].add(record[layout.places[0].dateField])
        continue
      }
      for entry in try cut(record) {
        try parts[entry.soup].add(entry.record, number, layout.places[entry.soup])
        dates[entry.soup].add(entry.record[layout.places[entry.soup].dateField])
      }
    }
    self.parts = parts
    count = page.records.count
    func latest(_ isChild: Bool) -> Int64 {
      let values = zip(layout.places, dates).filter { ($0.0.parent != nil) == isChild }.map(\.1)
      return values.contains { !$0.isComplete } ? -1 : values.map(\.latest).max() ?? -1
    }
    self.latest = page.latestModificationDate ?? latest(false)
    latestOfChildren = latest(true)
    deleted = page.deleted
    totalSize = page.totalSize
    completeUntil = page.completeUntil
    targetState = page.targetState
    checkpoint = page.checkpoint
    next = page.next
  }

  /// The newest of several dates.
  private struct LatestDate {
    var latest: Int64 = -1
    /// False once there was a record without a date.
    var isComplete = true

    mutating func add(_ value: JSONSlice?) {
      guard isComplete else { return }
      if let date = ServerDate.milliseconds(of: value) {
        latest = max(latest, date)
      } else {
        isComplete = false
      }
    }
  }
}

extension PagePart {
  fileprivate mutating func add(
    _ entry: JSONSlice, _ owner: Int, _ place: DownloadLayout.Place
  ) throws {
    let idField = place.records.idField
    guard let id = entry[idField]?.string, !id.isEmpty else {
      throw SyncError(
        .recordWithoutId,
        "A downloaded record has no text in its id field '\(idField)', so it cannot be matched to a "
          + "soup entry. Let the target fetch that field, or name another with idFieldName.")
    }
    entries.append(entry)
    ids.append(id)
    owners.append(owner)
  }
}
