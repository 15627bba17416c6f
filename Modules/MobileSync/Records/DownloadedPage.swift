import SalesforceSDKCommon
import SmartStore

/// A page as it came, looked through before it is saved.
struct DownloadedPage<Cursor: Sendable>: Sendable {
  /// The entries for one soup, in the order in which they came.
  struct Part: Sendable {
    var entries: [JSONSlice] = []
    /// The entries' ids.
    var ids: [String] = []
    /// The numbers of the records that the entries belong to.
    var owners: [Int] = []
  }

  /// The entries, soup by soup.
  let parts: [Part]
  /// How many records came.
  let count: Int
  /// The newest modification date of entries without a parent; -1 if one has none that can be read.
  let latest: Int64
  /// The same of children.
  let latestOfChildren: Int64
  let totalSize: Int?
  let next: Cursor?

  /// Looks through a page.
  ///
  /// - Throws: ``SyncError`` `recordWithoutId` if a record cannot be matched to a row; what the
  ///   target throws for a record of the wrong form.
  init(_ page: SyncPage<Cursor>, _ layout: DownloadLayout) throws {
    var parts = layout.places.map { _ in Part() }
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
    self.latest = latest(false)
    latestOfChildren = latest(true)
    totalSize = page.totalSize
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

extension DownloadedPage.Part {
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

/// Which local edits a sync down leaves alone in one soup.
enum EditProtection: Sendable {
  /// None: nobody edits these records.
  case nothing
  /// Every record that is dirty when its page is saved.
  case allEdits
  /// Records that became dirty, or were edited again, since the run began: what was dirty before is
  /// replaced.
  case editsSince([Int64: EditMark])

  /// A dirty record as it was when the run began.
  struct EditMark: Sendable, Equatable {
    let lastModified: Int64
    /// Tells apart two edits within the same millisecond.
    let contentHash: Int
  }

  /// Remembers the dirty records of each soup for a run in `mode`.
  static func begin(
    _ mode: SyncMergeMode, _ layout: DownloadLayout, in store: SmartStore
  ) async throws -> [EditProtection] {
    guard layout.isEditable else { return layout.places.map { _ in .nothing } }
    guard mode == .overwrite else { return layout.places.map { _ in .allEdits } }
    return try await store.read { reader in
      var protections: [EditProtection] = []
      for place in layout.places {
        protections.append(.editsSince(try marks(of: place.records, in: reader)))
      }
      return protections
    }
  }

  private static func marks(
    of records: SoupRecords, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [Int64: EditMark] {
    let dirty = try records.dirty(in: reader)
    let lastModified = Dictionary(
      dirty.map { ($0.entryId, $0.lastModified) }, uniquingKeysWith: { _, last in last })
    var marks: [Int64: EditMark] = [:]
    for start in stride(from: 0, to: dirty.count, by: SyncLimits.recordsPerRead) {
      let slice = dirty[start..<min(start + SyncLimits.recordsPerRead, dirty.count)]
      for (entryId, record) in try reader.entries(slice.map(\.entryId), of: records.soupName) {
        marks[entryId] = EditMark(
          lastModified: lastModified[entryId] ?? -1, contentHash: record.contentHash)
      }
    }
    return marks
  }

  /// The values of `field`, among those given, that records which must stay as they are have.
  ///
  /// - Parameter field: The id field, or the one that holds a parent's id.
  func protectedValues(
    among values: [String], of field: String, _ records: SoupRecords,
    in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    if case .nothing = self { return [] }
    var protected: Set<String> = []
    var unchangedByDate: [Int64: String] = [:]
    for dirty in try records.dirty(with: field, among: values, in: transaction) {
      guard let value = dirty.id else { continue }
      if case .editsSince(let marks) = self,
        marks[dirty.entryId]?.lastModified == dirty.lastModified
      {
        unchangedByDate[dirty.entryId] = value
      } else {
        protected.insert(value)
      }
    }
    if case .editsSince(let marks) = self, !unchangedByDate.isEmpty {
      let entryIds = Array(unchangedByDate.keys)
      for (entryId, record) in try transaction.entries(entryIds, of: records.soupName)
      where record.contentHash != marks[entryId]?.contentHash {
        if let value = unchangedByDate[entryId] { protected.insert(value) }
      }
    }
    return protected
  }
}

/// Writes downloaded records into their soups.
enum PageWriter {
  /// Saves the records of one page that no protection holds back: flags false, last error removed,
  /// the sync's id set, matched to rows by their ids.
  ///
  /// A record is held back with all its entries if one of them is protected, or a child that did not
  /// come with it.
  static func save<Cursor>(
    _ page: DownloadedPage<Cursor>, _ layout: DownloadLayout, syncId: Int64,
    protection: [EditProtection], in transaction: borrowing StoreTransaction
  ) throws {
    var heldBack: Set<Int> = []
    for (index, place) in layout.places.enumerated() {
      let part = page.parts[index]
      let own = try protection[index].protectedValues(
        among: part.ids, of: place.records.idField, place.records, in: transaction)
      if !own.isEmpty {
        heldBack.formUnion(zip(part.ids, part.owners).filter { own.contains($0.0) }.map(\.1))
      }
      if let parent = place.parent {
        let parents = page.parts[parent.place]
        let edited = try protection[index].protectedValues(
          among: parents.ids, of: parent.field, place.records, in: transaction)
        if !edited.isEmpty {
          heldBack.formUnion(
            zip(parents.ids, parents.owners).filter { edited.contains($0.0) }.map(\.1))
        }
      }
    }
    for (part, place) in zip(page.parts, layout.places) where !part.entries.isEmpty {
      let saved =
        heldBack.isEmpty
        ? part.entries
        : zip(part.entries, part.owners).filter { !heldBack.contains($0.1) }.map(\.0)
      try transaction.upsert(
        slices: saved,
        setting: RecordFlags.clean.members + [(SyncKeys.syncId, .integer(syncId))],
        removing: [SyncKeys.lastError], soup: place.records.soupName,
        externalIdPath: place.records.idField)
    }
  }
}

extension JSONSlice {
  /// A hash of the text as written, equal within one process only.
  fileprivate var contentHash: Int {
    withUTF8 { bytes in
      var hasher = Hasher()
      hasher.combine(bytes: bytes)
      return hasher.finalize()
    }
  }
}
