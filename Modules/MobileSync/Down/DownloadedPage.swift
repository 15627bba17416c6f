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

/// A downloaded page, validated before it is saved.
struct DownloadedPage<Cursor: Sendable>: Sendable {
  /// The entries, soup by soup.
  private(set) var parts: [PagePart]
  /// The number of downloaded records.
  private(set) var count: Int
  /// The newest modification date of entries without a parent; -1 if one has none that can be read.
  let latest: Int64
  /// The same of children.
  let latestOfChildren: Int64
  /// The ids of records that are deleted on the server.
  let deleted: [String]
  private(set) var totalSize: Int?
  let completeUntil: Int64?
  let targetState: JSONObject?
  let checkpoint: JSONObject?
  let next: Cursor?
  /// The size of the entries in bytes.
  var byteCount: Int { parts.reduce(0) { $1.entries.reduce($0) { $0 + $1.utf8.count } } }

  /// Validates a page and assigns its records to soups.
  ///
  /// - Throws: ``SyncError`` `recordWithoutId` if a record cannot be matched to an entry; the error
  ///   of the target for a record of the wrong form.
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
    for (index, place) in layout.places.enumerated() {
      guard let parent = place.parent else { continue }
      try parts[index].link(by: parent.field, to: parts[parent.place])
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

  /// The page without the records of a second that came before and are as they came, if it is the only page.
  ///
  /// They come again only because the second was not over then.
  ///
  /// - Parameters:
  ///   - second: The date of the records, in milliseconds since 1970.
  ///   - places: The soups of the page's parts.
  func withoutKnown(
    at second: Int64, of syncId: Int64, _ places: [PageWriter.Place], in store: SmartStore
  ) async throws -> DownloadedPage {
    guard next == nil else { return self }
    var known = Set(0..<count)
    for (place, part) in zip(places, parts) where place.parent == nil {
      for (entry, owner) in zip(part.entries, part.owners)
      where ServerDate.milliseconds(of: entry[place.dateField]) != second { known.remove(owner) }
    }
    for (place, part) in zip(places, parts) where !known.isEmpty {
      let indices = part.ids.indices.filter { known.contains(part.owners[$0]) }
      let soup = place.records
      let entries = try await store.read { reader in
        let ids = try soup.entryIds(of: indices.map { part.ids[$0] }, in: reader)
        return try reader.entries(ids.values.sorted(), of: soup.soupName)
      }
      let byId = Dictionary(
        entries.map { ($0.record[soup.idField]?.string ?? "", $0.record) },
        uniquingKeysWith: { first, _ in first })
      for index in indices {
        let came = part.entries[index]
        guard let entry = byId[part.ids[index]], !RecordFlags(of: entry).local,
          entry[SyncKeys.syncId]?.int64 == syncId,
          came.members.allSatisfy({ entry[$0.key]?.value == $0.value.value })
        else {
          known.remove(part.owners[index])
          continue
        }
      }
    }
    return known.isEmpty ? self : without(known)
  }

  /// The page without some of its records.
  private func without(_ owners: Set<Int>) -> DownloadedPage {
    let left = (0..<count).filter { !owners.contains($0) }
    let numbers = Dictionary(uniqueKeysWithValues: zip(left, left.indices))
    var page = self
    page.parts = parts.map { part in
      var kept = PagePart()
      for (index, owner) in part.owners.enumerated() {
        guard let number = numbers[owner] else { continue }
        kept.entries.append(part.entries[index])
        kept.ids.append(part.ids[index])
        kept.owners.append(number)
      }
      return kept
    }
    page.count = left.count
    page.totalSize = totalSize.map { $0 - owners.count }
    return page
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
  /// Lets children refer to their parents by the form of the id that the parents have.
  fileprivate mutating func link(by field: String, to parents: PagePart) throws {
    var ids: [Int: String] = [:]
    for (id, owner) in zip(parents.ids, parents.owners) { ids[owner] = id }
    for index in entries.indices {
      guard let id = ids[owners[index]], let other = entries[index][field]?.string, other != id,
        EntryUnion.forms(of: other)[0] == EntryUnion.forms(of: id)[0]
      else { continue }
      entries[index] = try entries[index].setting([(field, .string(id))])
    }
  }

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
