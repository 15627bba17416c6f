import SalesforceSDKCommon
import SmartStore

/// Brings fields that were added to a sync's target into the records that it has brought before.
///
/// Rows that were edited here take a field only if they do not have it; a base takes it in any case.
struct FieldBackfill: Sendable {
  let context: SyncContext
  let uses: SoupUses
  /// What was added, in the target's own words.
  let fields: [String]

  /// Runs to the end. An interrupted one is begun again by the next run.
  func run<Target: FieldBackfilling>(_ target: Target) async throws {
    let narrowed = try target.narrowed(to: fields)
    let layout = DownloadLayout(of: narrowed, soupName: context.soupName)
    try context.checkStop()
    var page = try await narrowed.startFetch(since: -1, in: context)
    while let current = page {
      let looked = try DownloadedPage(current, layout)
      try context.checkStop()
      try await context.store.inTransaction(durability: .normal) { transaction in
        try context.signal.check()
        for (part, place) in zip(looked.parts, layout.places) {
          try save(part, place, in: transaction)
        }
      }
      guard let next = current.next else { return }
      try context.checkStop()
      page = try await narrowed.continueFetch(next, in: context)
    }
  }

  private func save(
    _ part: PagePart, _ place: DownloadLayout.Place, in transaction: borrowing StoreTransaction
  ) throws {
    let records = place.records
    let store = BaseStore(soupName: records.soupName)
    let found = Dictionary(zip(part.ids, part.entries), uniquingKeysWith: { _, last in last })
    let entryIds = try records.entryIds(of: part.ids, in: transaction)
    var bases =
      uses.keepsBases(records.soupName) ? try store.bases(of: part.ids, in: transaction) : [:]
    var written: [JSONSlice] = []
    for (_, row) in try transaction.entries(Array(entryIds.values), of: records.soupName) {
      guard let id = row[records.idField]?.string, let record = found[id] else { continue }
      let isEdited = RecordFlags(of: row).local
      var members: [(key: String, value: JSONValue)] = []
      for (name, value) in record.members where isAdded(name, place) {
        if !isEdited || row[name] == nil { members.append((name, value.value)) }
        if bases[id] != nil { bases[id]?[name] = value.value }
      }
      if !members.isEmpty { written.append(try row.setting(members)) }
    }
    if !written.isEmpty { try transaction.upsert(slices: written, soup: records.soupName) }
    try store.save(bases, in: transaction)
  }

  /// Whether a member was asked for: the rest comes with every record.
  private func isAdded(_ name: String, _ place: DownloadLayout.Place) -> Bool {
    name != place.records.idField && name != place.dateField && name != place.parent?.field
      && name != SyncKeys.attributes
  }
}
