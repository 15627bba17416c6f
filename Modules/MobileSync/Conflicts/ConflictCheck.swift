import SalesforceSDKCommon
import SmartStore

/// A check for edited records that changed on the server since they were downloaded. It writes
/// entries, base versions and conflicts in one transaction.
///
/// Modification dates are in whole seconds, so equal dates prove nothing: if the values are known,
/// they are compared with the base version.
struct ConflictCheck: Sendable {
  let soupName: String
  let names: SyncFieldNames
  let syncId: Int64
  let time: Int64

  /// An edited record as it would be sent, and the server's version of it.
  struct Pair: Sendable {
    let record: SyncUpRecord
    let remote: RemoteVersion
  }

  /// The write for one entry.
  private enum Decision {
    /// The server's record is unchanged; `date` is the entry's new date if the entry has an older
    /// one.
    case unchanged(date: JSONValue?)
    /// Both sides agree: the entry becomes clean with these members.
    case agreed(JSONObject)
    case conflict(SyncConflict)
  }

  /// Compares the entries as `transaction` has them. Entries that are no longer to be sent, or
  /// belong to another record by now, are skipped.
  ///
  /// - Returns: The entry ids in conflict.
  func apply(
    _ pairs: [Pair], in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let byEntry = Dictionary(
      pairs.map { ($0.record.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    let store = BaseVersionStore(soupName: soupName)
    var bases = try store.bases(of: pairs.compactMap(\.record.id), in: transaction)
    let stored = try ConflictStore.conflicts(of: byEntry.keys, in: soupName, transaction)
    let edited = EditedFields(soupName: soupName)
    let edits = try edited.edits(of: byEntry.keys, in: transaction)
    var written: [JSONSlice] = []
    var clean: [Int64] = []
    var agreed: [String: JSONObject] = [:]
    var open: [SyncConflict] = []
    var ended: Set<Int64> = []
    for (entryId, entry) in try transaction.entries(byEntry.keys.sorted(), of: soupName) {
      let flags = RecordFlags(of: entry)
      guard let pair = byEntry[entryId], let id = pair.record.id, flags.local, !flags.created,
        entry[names.id]?.string == id
      else { continue }
      let known = stored[entryId]
      // Between two local edits no comparison with the server decides.
      if let known, known.kind == .localEdits {
        open.append(known)
        continue
      }
      let base = bases[id].flatMap { isOlder($0, than: entry) ? nil : $0 }
      let leftOut = pair.record.asStored(entry).noting(edits[entryId], base: base, names).otherEdits
      switch decision(pair, entry, flags, base: base, leftOut) {
      case .unchanged(let date):
        if let date { written.append(try entry.setting([(names.modificationDate, date)])) }
        if known?.mergeMode == .leaveIfChanged, known?.kind != .parentMissing {
          ended.insert(entryId)
        }
      case .agreed(let members):
        let values = members.map { (key: $0.key, value: $0.value) }
        written.append(
          try entry.setting(values + RecordFlags.clean.members, removing: [SyncKeys.lastError]))
        bases[id] = ConflictMerge.overlaid(bases[id], with: members)
        agreed[id] = bases[id]
        clean.append(entryId)
        ended.insert(entryId)
      case .conflict(let conflict):
        open.append(conflict.replacing(known))
      }
    }
    if !written.isEmpty { try transaction.upsert(slices: written, soup: soupName) }
    try edited.forget(clean, in: transaction)
    try store.save(agreed, in: transaction)
    if !ended.isEmpty { try ConflictStore.remove(ended, of: soupName, in: transaction) }
    try ConflictStore.save(open, in: transaction)
    return Set(open.map(\.entryId))
  }

  /// - Parameter leftOut: The edited fields that are not sent, by which the entry stays unsynced whatever both sides
  ///   agree on.
  private func decision(
    _ pair: Pair, _ entry: JSONSlice, _ flags: RecordFlags, base: JSONObject?, _ leftOut: [String]
  ) -> Decision {
    switch pair.remote {
    case .gone where flags.deleted: return .unchanged(date: nil)
    case .gone:
      let fields = FieldMerge.changesHere(base: base ?? [:], mine: entry, names: names)
      return .conflict(conflict(pair, .deletedThere, fields, theirs: nil))
    case .date(let date):
      let text = JSONValue.string(SalesforceDate(milliseconds: date).text)
      guard isNewer(text, entry, base) else { return .unchanged(date: dateToTake(entry, base)) }
      if flags.deleted {
        return .conflict(conflict(pair, .deletedHere, [], theirs: [names.modificationDate: text]))
      }
      let fields = FieldMerge.changesHere(base: base ?? [:], mine: entry, names: names)
      return .conflict(
        conflict(pair, .changedThere, fields, theirs: [names.modificationDate: text]))
    case .record(let theirs):
      let isOther =
        base.map {
          FieldMerge.isChangedThere(base: $0, mine: entry, theirs: theirs, names: names)
        } ?? false
      // After an upload the server's date is the upload's, which is not known here: the values decide.
      if let base, !isOther, baseDate(base) == nil {
        return .unchanged(date: theirs[names.modificationDate])
      }
      guard isOther || isNewer(theirs[names.modificationDate], entry, base) else {
        return .unchanged(date: dateToTake(entry, base))
      }
      if flags.deleted {
        let fields = FieldMerge.changesThere(base: base, mine: entry, theirs: theirs, names: names)
        return .conflict(conflict(pair, .deletedHere, fields, theirs: theirs))
      }
      if agrees(pair.record, entry, theirs)
        || base.map({ isUndone(pair.record, entry, $0) }) ?? false
      {
        if !leftOut.isEmpty { return .unchanged(date: dateToTake(entry, base)) }
        // The date is not used, because only some fields of the server's record were read.
        return .agreed(
          JSONObject(theirs.filter { names.isData($0.key) && entry[$0.key] != nil }))
      }
      let fields = FieldMerge.differences(base: base, mine: entry, theirs: theirs, names: names)
      // The server's values of fields that the sync does not send are not known.
      let others = leftOut.filter { theirs[$0] == nil }.map { name in
        SyncConflict.Field(name: name, base: base?[name], mine: entry[name]?.value, theirs: nil)
      }
      return .conflict(conflict(pair, .fields, fields + others, theirs: theirs))
    }
  }

  /// Whether the app itself has written a newer version of the record, so that the base version is
  /// not comparable.
  private func isOlder(_ base: JSONObject, than entry: JSONSlice) -> Bool {
    guard let date = baseDate(base),
      let own = ServerDate.milliseconds(of: entry[names.modificationDate])
    else { return false }
    return own > date
  }

  /// Whether the server's date is later than the one that the entry is based on; false if either is not known.
  private func isNewer(_ date: JSONValue?, _ entry: JSONSlice, _ base: JSONObject?) -> Bool {
    guard let date = Self.milliseconds(date) else { return false }
    let known = [ServerDate.milliseconds(of: entry[names.modificationDate]), baseDate(base)]
      .compactMap(\.self).max()
    return known.map { date > $0 } ?? false
  }

  /// The base version's date, if it is later than the entry's: a download, or a decision, has seen that nothing
  /// stands against the entry up to then.
  private func dateToTake(_ entry: JSONSlice, _ base: JSONObject?) -> JSONValue? {
    guard let date = baseDate(base) else { return nil }
    let own = ServerDate.milliseconds(of: entry[names.modificationDate])
    return own.map { $0 < date } ?? true ? base?[names.modificationDate] : nil
  }

  private func baseDate(_ base: JSONObject?) -> Int64? {
    Self.milliseconds(base?[names.modificationDate])
  }

  private static func milliseconds(_ value: JSONValue?) -> Int64? {
    value?.string.flatMap(SalesforceDate.parse)?.milliseconds
  }

  /// Whether the server has every value that would be sent.
  private func agrees(_ record: SyncUpRecord, _ entry: JSONSlice, _ theirs: JSONObject) -> Bool {
    let names = record.values.map(\.name)
    return !names.isEmpty
      && names.allSatisfy { name in
        theirs[name].map { ServerEquality.same(entry[name]?.value, $0) } ?? false
      }
  }

  /// Whether no value that would be sent differs from the base version.
  private func isUndone(_ record: SyncUpRecord, _ entry: JSONSlice, _ base: JSONObject) -> Bool {
    let names = record.values.map(\.name)
    return !names.isEmpty
      && names.allSatisfy { name in
        base[name].map { ServerEquality.same(entry[name]?.value, $0) } ?? false
      }
  }

  private func conflict(
    _ pair: Pair, _ kind: SyncConflict.Kind, _ fields: [SyncConflict.Field], theirs: JSONObject?
  ) -> SyncConflict {
    SyncConflict(
      soupName: soupName, entryId: pair.record.entryId, recordId: pair.record.id ?? "", kind: kind,
      fields: fields, syncId: syncId, mergeMode: .leaveIfChanged, time: time, names: names,
      theirs: theirs)
  }
}

extension SyncConflict {
  /// The conflict to keep in place of an earlier one: the earlier one if nothing has changed since, so that
  /// what was listed can still be resolved, and the one of a mode that demands a decision.
  func replacing(_ earlier: SyncConflict?) -> SyncConflict {
    guard let earlier else { return self }
    return earlier.mergeMode == .mergeFields || earlier.isSame(as: self) ? earlier : self
  }

  /// Whether two conflicts differ at most in the sync that detected them and in its time.
  func isSame(as other: SyncConflict) -> Bool {
    kind == other.kind && recordId == other.recordId && fields == other.fields
      && theirs == other.theirs && candidates == other.candidates && isOfTree == other.isOfTree
      && missingParent == other.missingParent && heldUntil == other.heldUntil
  }
}
