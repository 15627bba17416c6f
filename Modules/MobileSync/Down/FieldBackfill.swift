import SalesforceSDKCommon
import SmartStore

/// A download of fields that were added to a sync's target, for the records that were downloaded
/// before.
///
/// Entries that were edited locally take a field only if they do not have it; a base version takes it in any case.
struct FieldBackfill: Sendable {
  let context: SyncContext
  let uses: SoupSyncIndex
  /// The added fields, by the target's names.
  let fields: [String]

  /// Runs to the end. An interrupted one is begun again by the next run.
  func run<Target: FieldBackfilling>(_ target: Target) async throws {
    let narrowed = try target.narrowed(to: fields)
    let layout = DownloadLayout(of: narrowed, soupName: context.soupName)
    try context.checkStop()
    var bound = PageBound<AnyHashable>(isTotalFixed: narrowed is any PagePredicting)
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
      if let fault = bound.follow(looked) { throw SyncError(fault) }
      try context.checkStop()
      page = try await narrowed.continueFetch(next, in: context)
    }
  }

  private func save(
    _ part: PagePart, _ place: DownloadLayout.Place, in transaction: borrowing StoreTransaction
  ) throws {
    let records = place.records
    let store = BaseVersionStore(soupName: records.soupName)
    let found = Dictionary(zip(part.ids, part.entries), uniquingKeysWith: { _, last in last })
    let entryIds = try records.entryIds(of: part.ids, in: transaction)
    var bases =
      try uses.keepsBases(records.soupName, in: transaction)
      ? store.bases(of: part.ids, in: transaction) : [:]
    var written: [JSONSlice] = []
    for (_, row) in try transaction.entries(Array(entryIds.values), of: records.soupName) {
      guard let id = row[records.idField]?.string, let record = found[id] else { continue }
      let isEdited = RecordFlags(of: row).local
      var members: [(key: String, value: JSONValue)] = []
      for (name, slice) in record.members where isAdded(name, place) {
        let (value, mine) = (slice.value, row[name]?.value)
        let filled = isEdited ? Self.fill(value, into: mine) : Self.fill(mine, into: value)
        if let filled, filled != mine { members.append((name, filled)) }
        if let base = bases[id] { bases[id]?[name] = Self.fill(base[name], into: value) }
      }
      if !members.isEmpty { written.append(try row.setting(members)) }
    }
    if !written.isEmpty { try transaction.upsert(slices: written, soup: records.soupName) }
    try store.save(bases, in: transaction)
  }

  /// Adds missing members to the existing value. The object of a related record gets the members of
  /// both sides, because one side was downloaded with the earlier fields and the other with the
  /// added ones.
  private static func fill(_ value: JSONValue?, into there: JSONValue?) -> JSONValue? {
    guard let there else { return value }
    guard var joined = there.object, let members = value?.object else { return there }
    for (name, member) in members { joined[name] = fill(member, into: joined[name]) }
    return .object(joined)
  }

  /// Whether a member was requested: the rest comes with every record.
  private func isAdded(_ name: String, _ place: DownloadLayout.Place) -> Bool {
    name != place.records.idField && name != place.dateField && name != place.parent?.field
      && name != SyncKeys.attributes
  }
}
