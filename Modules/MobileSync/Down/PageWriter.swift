import SalesforceSDKCommon
import SmartStore

/// Writes downloaded records into their soups.
struct PageWriter: Sendable {
  /// The rules for saving the records of one soup.
  struct Place: Sendable {
    let records: SyncSoup
    let dateField: String
    /// For children: the place of their parents and the field that holds a parent's id.
    let parent: (place: Int, field: String)?
    let protection: EditProtection
    /// The mark that the soup's records have base versions; nil if they are never edited.
    let uses: SoupSyncIndex?
    let names: SyncFieldNames
    /// The record of other syncs that downloaded a record, too; nil if there can be none.
    let owners: ContributingSyncs?
    /// The merge of edited entries with downloaded ones; nil if they are skipped or replaced.
    let merge: ConflictMerge?
    /// The union of several entries that represent one record.
    let union: EntryUnion
    /// Entries that may turn out to represent records of the page; nil if there are none.
    let lost: UnacknowledgedUpserts?
    /// Conflicts of edits that this run replaces, by record id; they end with the edits.
    var overruled: [String: SyncConflict] = [:]
  }

  let syncId: Int64
  /// The date up to which the sync has downloaded all records, in milliseconds since 1970.
  let seenUntil: Int64
  let places: [Place]
  let skipped: SkippedRecords
  /// The target's decisions about saving; nil if it makes none.
  private let saving: (any SyncDownRecordSaving)?
  /// Whether a soup had entries with ids in other forms when the run began, place by place.
  private let hasOtherForms: [Bool]

  /// Prepares for a run.
  init(
    _ layout: DownloadLayout, _ sync: SyncState, _ uses: SoupSyncIndex, time: Int64,
    _ doubles: DoubleSearch, in store: SmartStore
  ) async throws {
    let protection = try await EditProtection.begin(sync.options.mergeMode, layout, in: store)
    let merges = sync.options.mergeMode == .mergeFields && layout.isEditable
    var places: [Place] = []
    for (place, protection) in zip(layout.places, protection) {
      let soupName = place.records.soupName
      let isShared =
        uses.isFilled(soupName, besidesBy: sync.id)
        ? try await place.records.indexedPaths(in: store).contains(SyncKeys.syncId) : false
      places.append(
        Place(
          records: place.records, dateField: place.dateField, parent: place.parent,
          protection: protection,
          uses: layout.isEditable ? uses : nil, names: place.names,
          owners: isShared ? ContributingSyncs(soupName: soupName, syncId: sync.id) : nil,
          merge: merges
            ? ConflictMerge(soupName: soupName, names: place.names, syncId: sync.id, time: time)
            : nil,
          union: EntryUnion(
            soupName: soupName, names: place.names, uses: uses, syncId: sync.id, time: time),
          lost: try await UnacknowledgedUpserts(of: soupName, in: store),
          overruled: sync.options.mergeMode == .overwrite && layout.isEditable
            ? try await Self.overruled(in: soupName, store) : [:]))
    }
    syncId = sync.id
    // What came in ranges is seen up to their watermark, also before all of them are done.
    seenUntil = max(sync.maxTimeStamp, sync.partitions?.watermark ?? -1)
    self.places = places
    saving = layout.saving
    hasOtherForms = layout.places.map { doubles.mayHaveOtherForms($0.records.soupName) }
    skipped = SkippedRecords(syncId: sync.id, layout: layout)
  }

  /// The members that every downloaded record gets.
  var members: [(key: String, value: JSONValue)] {
    RecordFlags.clean.members + [(SyncKeys.syncId, .integer(syncId))]
  }

  /// Saves the records of one page that no protection holds back: flags false, last error removed,
  /// the sync's id set, matched to entries by their ids.
  ///
  /// If edits are merged, each entry is merged separately, except that a locally deleted parent is
  /// skipped with its children: the sync up compares the details that the deletion would remove
  /// with those that the user has seen. If edits are kept, a record is skipped with all its entries
  /// if one of them, or a child that was not downloaded with it, is protected.
  ///
  /// - Returns: The keys of records that were skipped or are deleted locally, and are newer on the
  ///   server; they are stored.
  func save<Cursor>(
    _ page: DownloadedPage<Cursor>, in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    var edited: [Set<String>] = []
    for (place, part) in zip(places, page.parts) {
      edited.append(
        try place.protection.protectedValues(
          among: part.ids, of: place.records.idField, place.records, in: transaction
        ).union(
          try place.protection.idsThatCameBefore(
            part, until: seenUntil, dateField: place.dateField, place.records, in: transaction)))
    }
    let deleted = try zip(places, edited).map { place, ids in
      place.merge == nil ? [] : try deletedIds(among: ids, place, in: transaction)
    }
    let heldBack = try recordsHeldBack(page, edited, deleted, in: transaction).union(
      recordsToSkip(page, in: transaction))
    // What is deleted locally is not merged: if its user wants it back, it has to come again.
    var left = heldBack
    for (ids, part) in zip(deleted, page.parts) where !ids.isEmpty {
      left.formUnion(zip(part.ids, part.owners).filter { ids.contains($0.0) }.map(\.1))
    }
    let newer = try newerRecords(page, left, in: transaction)
    try skipped.save(newer, in: transaction)
    for (index, place) in places.enumerated() where !page.parts[index].entries.isEmpty {
      let part = page.parts[index]
      if place.merge == nil {
        try save(part, place, { heldBack.contains(part.owners[$0]) }, in: transaction)
      } else {
        let rows = edited[index]
        let isLeft = { heldBack.contains(part.owners[$0]) }
        try save(part, place, { isLeft($0) || rows.contains(part.ids[$0]) }, in: transaction)
        try merge(part, rows, place, except: isLeft, in: transaction)
      }
      try place.lost?.adopt(part, place.union, in: transaction)
      // Another form of an id is another text, by which a record is not matched to its entry.
      if hasOtherForms[index] || part.ids.contains(where: EntryUnion.isOtherForm) {
        try place.union.unite(part.ids, in: transaction)
      }
    }
    return Set(newer.map(skipped.key))
  }

  /// Those among the records held back that have an entry which is not here as it came.
  private func newerRecords<Cursor>(
    _ page: DownloadedPage<Cursor>, _ heldBack: Set<Int>, in transaction: borrowing StoreTransaction
  ) throws -> [SkippedRecords.Record] {
    if heldBack.isEmpty { return [] }
    // The dates of the newer entries of each record, the oldest one; -1 for one without a date.
    var oldest: [Int: Int64] = [:]
    for (place, part) in zip(places, page.parts) {
      let indices = part.ids.indices.filter { heldBack.contains(part.owners[$0]) }
      if indices.isEmpty { continue }
      let ids = indices.map { part.ids[$0] }
      let entryIds = try place.records.entryIds(of: ids, in: transaction)
      let bases = try BaseVersionStore(soupName: place.records.soupName).bases(
        of: ids, in: transaction)
      var dates: [String: Int64] = [:]
      for (_, row) in try transaction.entries(
        Array(entryIds.values), of: place.records.soupName)
      {
        guard let id = row[place.records.idField]?.string else { continue }
        dates[id] = ServerDate.milliseconds(of: row[place.dateField])
      }
      for index in indices {
        let (id, entry) = (part.ids[index], part.entries[index])
        let date = ServerDate.milliseconds(of: entry[place.dateField])
        let isSame =
          date != nil && dates[id] == date
          && bases[id].map { $0.isSame(as: entry, place.names) } ?? true
        if !isSame { oldest[part.owners[index], default: .max].lower(to: date ?? -1) }
      }
    }
    return zip(places, page.parts).filter { $0.0.parent == nil }.flatMap { place, part in
      part.ids.indices.compactMap { index in
        guard var date = oldest[part.owners[index]] else { return nil }
        // A child comes only with its parent: both have to be newer than the date.
        date.lower(to: ServerDate.milliseconds(of: part.entries[index][place.dateField]) ?? -1)
        return SkippedRecords.Record(
          soupName: place.records.soupName, id: part.ids[index], date: date)
      }
    }
  }

  /// The soup, if there is one, no other sync fills it, and the target leaves saving to the engine.
  var onlyUnsharedSoup: SyncSoup? {
    places.count == 1 && places[0].owners == nil && saving == nil ? places[0].records : nil
  }

  /// The soups, if the target leaves saving to the engine.
  var placesOfEngine: [Place]? { saving == nil ? places : nil }

  /// Appends the records of a page to a soup that has none of them.
  ///
  /// - Returns: The newest entry's id; nil if the page is empty.
  func append<Cursor>(
    _ page: DownloadedPage<Cursor>, in transaction: borrowing StoreTransaction
  ) throws -> Int64? {
    let part = page.parts[0]
    return try write(part.ids, part.entries, places[0], matching: nil, in: transaction).last
  }

  /// The numbers of the page's records that are skipped as a whole.
  private func recordsHeldBack<Cursor>(
    _ page: DownloadedPage<Cursor>, _ edited: [Set<String>], _ deleted: [Set<String>],
    in transaction: borrowing StoreTransaction
  ) throws -> Set<Int> {
    var heldBack: Set<Int> = []
    for (index, place) in places.enumerated() {
      let part = page.parts[index]
      guard place.merge == nil else {
        if !deleted[index].isEmpty, places.contains(where: { $0.parent?.place == index }) {
          heldBack.formUnion(
            zip(part.ids, part.owners).filter { deleted[index].contains($0.0) }.map(\.1))
        }
        continue
      }
      if !edited[index].isEmpty {
        heldBack.formUnion(
          zip(part.ids, part.owners).filter { edited[index].contains($0.0) }.map(\.1))
      }
      guard let parent = place.parent else { continue }
      let parents = page.parts[parent.place]
      let withEdits = try place.protection.protectedValues(
        among: parents.ids, of: parent.field, place.records, in: transaction)
      if !withEdits.isEmpty {
        heldBack.formUnion(
          zip(parents.ids, parents.owners).filter { withEdits.contains($0.0) }.map(\.1))
      }
    }
    return heldBack
  }

  /// The numbers of the page's records that the target skips.
  private func recordsToSkip<Cursor>(
    _ page: DownloadedPage<Cursor>, in transaction: borrowing StoreTransaction
  ) throws -> Set<Int> {
    guard let saving else { return [] }
    var skipped: Set<Int> = []
    for (place, part) in zip(places, page.parts) where !part.ids.isEmpty {
      let ids = try saving.idsToSkip(
        among: part.ids, inSoup: place.records.soupName, in: transaction)
      if ids.isEmpty { continue }
      skipped.formUnion(zip(part.ids, part.owners).filter { ids.contains($0.0) }.map(\.1))
    }
    return skipped
  }

  /// The entries to store for downloaded records, as the target makes them.
  private func entriesToSave(
    _ ids: [String], _ records: [JSONSlice], _ place: Place,
    in transaction: borrowing StoreTransaction
  ) throws -> [JSONSlice] {
    guard let saving, !ids.isEmpty else { return records }
    let soup = place.records
    let entryIds = try soup.entryIds(of: ids, in: transaction)
    let present = Dictionary(
      try transaction.entries(Array(entryIds.values), of: soup.soupName).compactMap { _, entry in
        entry[soup.idField]?.string.map { ($0, entry) }
      }, uniquingKeysWith: { first, _ in first })
    return try zip(ids, records).map { id, record in
      let entry = try saving.entry(
        for: record, replacing: present[id], inSoup: soup.soupName)
      for (name, value) in record.value.object ?? [:] where entry[name]?.value != value {
        throw SyncError(
          .invalidTarget,
          "The target '\(type(of: saving).kind.typeName)' changed '\(name)' of the record '\(id)', with which later edits "
            + "are compared. Let its entry(for:replacing:inSoup:) only add members.")
      }
      return entry
    }
  }

  /// Those of the edited records at a place that are deleted locally.
  private func deletedIds(
    among edited: Set<String>, _ place: Place, in transaction: borrowing StoreTransaction
  ) throws -> Set<String> {
    if edited.isEmpty { return [] }
    let records = place.records
    let entryIds = try records.entryIds(of: edited.sorted(), in: transaction)
    return Set(
      try transaction.entries(Array(entryIds.values), of: records.soupName)
        .filter { RecordFlags(of: $0.record).deleted }
        .compactMap { $0.record[records.idField]?.string })
  }

  /// Saves the entries of one soup, but those that `isLeft` says stay as they are here.
  private func save(
    _ part: PagePart, _ place: Place, _ isLeft: (Int) -> Bool,
    in transaction: borrowing StoreTransaction
  ) throws {
    let left = part.ids.indices.filter(isLeft)
    var (ids, entries) = (part.ids, part.entries)
    if !left.isEmpty {
      let kept = part.ids.indices.filter { !isLeft($0) }
      (ids, entries) = (kept.map { part.ids[$0] }, kept.map { part.entries[$0] })
    }
    if let owners = place.owners {
      try owners.add(
        place.records.otherOwners(of: ids, than: syncId, in: transaction), in: transaction)
      try owners.add(left.map { (id: part.ids[$0], syncId: syncId) }, in: transaction)
    }
    try write(ids, entries, place, matching: place.records.idField, in: transaction)
    if !place.overruled.isEmpty {
      try ConflictStore.remove(
        ids.compactMap { place.overruled[$0]?.entryId }, of: place.records.soupName,
        in: transaction)
    }
    // Merging compares with the base versions as they are.
    if !left.isEmpty, place.merge == nil {
      try refreshBases(part, left, place, in: transaction)
    }
  }

  /// Stores the dates of records that stay as they are here and that the server has as both sides agreed on: what
  /// was edited locally is based on them.
  private func refreshBases(
    _ part: PagePart, _ left: [Int], _ place: Place, in transaction: borrowing StoreTransaction
  ) throws {
    guard let uses = place.uses, try uses.keepsBases(place.records.soupName, in: transaction)
    else { return }
    let store = BaseVersionStore(soupName: place.records.soupName)
    let bases = try store.bases(of: left.map { part.ids[$0] }, in: transaction)
    try store.save(
      left.compactMap { index in
        let (id, entry) = (part.ids[index], part.entries[index])
        guard let base = bases[id], base.isSame(as: entry, place.names) else { return nil }
        return (id: id, base: entry)
      }, in: transaction)
  }

  /// The open conflicts, by record id: mode overwrite ends each with the edits that it replaces, whichever sync found
  /// it. One in doubt is about a record without an id of the server.
  private static func overruled(
    in soupName: String, _ store: SmartStore
  ) async throws -> [String: SyncConflict] {
    let conflicts = try await store.read { reader in try ConflictStore.all(in: soupName, reader) }
    return Dictionary(
      conflicts.filter { $0.kind != .inDoubt }.map { ($0.recordId, $0) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Writes clean entries, and their base versions where those are kept.
  ///
  /// - Parameter idField: The field by which records are matched to entries; nil if there are none to match.
  /// - Returns: The entries' ids.
  @discardableResult
  private func write(
    _ ids: [String], _ entries: [JSONSlice], _ place: Place, matching idField: String?,
    in transaction: borrowing StoreTransaction
  ) throws -> [Int64] {
    let saved = try entriesToSave(ids, entries, place, in: transaction)
    var entryIds = try upsert(saved, place, matching: idField, in: transaction)
    if entryIds == nil {
      // The app has given a record a second entry since the soup was searched for such.
      try place.union.unite(ids, in: transaction)
      entryIds = try transaction.upsert(
        slices: saved, setting: members, removing: [SyncKeys.lastError],
        soup: place.records.soupName, externalIdPath: idField)
    }
    try EditedFields(soupName: place.records.soupName).forget(entryIds ?? [], in: transaction)
    if let uses = place.uses, try uses.keepsBases(place.records.soupName, in: transaction) {
      try BaseVersionStore(soupName: place.records.soupName).save(
        zip(ids, entries).map { (id: $0, base: $1) }, in: transaction)
    }
    return entryIds ?? []
  }

  /// Writes clean entries.
  ///
  /// - Returns: The entries' ids; nil if nothing was written, since a record has several entries.
  private func upsert(
    _ entries: [JSONSlice], _ place: Place, matching idField: String?,
    in transaction: borrowing StoreTransaction
  ) throws -> [Int64]? {
    do {
      return try transaction.upsert(
        slices: entries, setting: members, removing: [SyncKeys.lastError],
        soup: place.records.soupName, externalIdPath: idField)
    } catch {
      guard error.code == .ambiguousMatch else { throw error }
      return nil
    }
  }

  /// Merges what came into the rows that were edited locally, but the entries that `isLeft` says stay as they are.
  private func merge(
    _ part: PagePart, _ ids: Set<String>, _ place: Place, except isLeft: (Int) -> Bool,
    in transaction: borrowing StoreTransaction
  ) throws {
    guard let merge = place.merge, !ids.isEmpty else { return }
    let theirs = Dictionary(
      part.ids.indices.filter { !isLeft($0) }.map { (part.ids[$0], part.entries[$0]) },
      uniquingKeysWith: { _, last in last })
    let entryIds = try place.records.entryIds(of: ids.sorted(), in: transaction)
    let pairs = try transaction.entries(Array(entryIds.values), of: place.records.soupName)
      .compactMap { entryId, row -> ConflictMerge.Pair? in
        guard let id = row[place.records.idField]?.string, let record = theirs[id]?.value.object,
          !RecordFlags(of: row).created
        else { return nil }
        return ConflictMerge.Pair(entryId: entryId, id: id, entry: row, remote: .record(record))
      }
    try merge.apply(pairs, in: transaction)
  }
}

extension Int64 {
  fileprivate mutating func lower(to other: Int64) { self = Swift.min(self, other) }
}
