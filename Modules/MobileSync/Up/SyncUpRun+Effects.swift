import SalesforceSDKCommon
import SmartStore

/// Records that the server spoke about, and what that means for their entries.
typealias AcknowledgedRecords = [(record: SyncUpRecord, effect: SyncUpEffect)]

/// What became of the entries of acknowledged records.
struct WrittenEntries {
  /// The entries that were removed with their records.
  let removed: [JSONSlice]
  /// The entries that became one with others.
  let united: EntryUnion.United
}

/// Brings what the server said into entries, for records that are sent one by one and for trees.
extension SyncUpRun {
  /// Writes or removes the entries of acknowledged records, with their base versions.
  ///
  /// An entry that was edited since it was read keeps the edit and stays dirty. One that got the id of a record which
  /// has another entry becomes one with that.
  func writeEntries(
    of acknowledged: AcknowledgedRecords, _ plan: Plan, in transaction: borrowing StoreTransaction
  ) throws -> WrittenEntries {
    let entries = Dictionary(
      try transaction.entries(acknowledged.map(\.record.entryId), of: context.soupName)
        .map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    var written: [JSONSlice] = []
    var removed: [Int64] = []
    var gone: [ConflictMerge.Pair] = []
    var learned: [Int64: String] = [:]
    for (record, effect) in acknowledged {
      guard let entry = entries[record.entryId] else { continue }
      let change: EntryChange
      switch effect {
      case .clean(let newId):
        change = .accepted(
          sent: record.record, now: entry, newId: newId,
          isPartial: record.isPartial || record.hasOtherEdits)
      case .removeEntry: change = .deleted(sent: record.record, now: entry)
      case .keepError(let error):
        written.append(try Self.refused(entry, record, error))
        continue
      case .unanswered:
        written.append(try Self.refused(entry, record, Self.noResponse))
        continue
      case .deletedThere:
        guard let id = record.id else { continue }
        gone.append(
          ConflictMerge.Pair(entryId: record.entryId, id: id, entry: entry, remote: .gone))
        continue
      case .conflict, .recreate: continue
      }
      switch change {
      case .write(let flags, let id):
        var members = flags.members
        if let id {
          members.append((plan.fields.idField, .string(id)))
          learned[record.entryId] = id
        }
        written.append(try entry.setting(members, removing: [SyncKeys.lastError]))
      case .remove: removed.append(record.entryId)
      case .leave: break
      }
    }
    try write(written, in: transaction)
    try plan.merge?.apply(gone, in: transaction)
    if !plan.overruled.isEmpty {
      let ended = acknowledged.filter { $0.effect.isAccepted }.map(\.record.entryId)
      try ConflictStore.remove(
        plan.overruled.intersection(ended), of: context.soupName, in: transaction)
    }
    try transaction.remove(entryIds: removed, forSoupNamed: context.soupName)
    let removedEntries = removed.compactMap { entries[$0] }
    try BaseVersionStore(soupName: context.soupName).remove(
      removedEntries.compactMap { $0[plan.fields.idField]?.string }, in: transaction)
    let united =
      plan.hasIdIndex
      ? try union(plan).unite(learned.values, accepted: Set(learned.keys), in: transaction)
      : EntryUnion.United()
    return WrittenEntries(removed: removedEntries, united: united)
  }

  /// The records that the server has accepted, with the ids that it gave.
  static func accepted(of acknowledged: AcknowledgedRecords) -> [(
    record: SyncUpRecord, newId: String?
  )] {
    acknowledged.compactMap { record, effect in
      if case .clean(let newId) = effect { (record, newId) } else { nil }
    }
  }

  /// What an entry keeps whose record the response does not name.
  private static let noResponse = SyncUpDecision.clientError(
    "NO_ANSWER", "The server's response says nothing about this record. It will be sent again.")

  /// An entry that keeps why its record was refused. One that was sent although nothing had been edited
  /// becomes dirty, since the server does not have what it says.
  private static func refused(
    _ entry: JSONSlice, _ record: SyncUpRecord, _ error: JSONValue
  ) throws -> JSONSlice {
    var members = [(SyncKeys.lastError, JSONValue.string(error.text))]
    if !RecordFlags(of: record.record).local, !RecordFlags(of: entry).local {
      members += RecordFlags(toSend: record).members
    }
    return try entry.setting(members)
  }

  /// The outcome to report of an acknowledged record.
  func outcome(
    of record: SyncUpRecord, _ effect: SyncUpEffect, _ time: Int64
  ) -> SyncRecordOutcome {
    switch effect {
    case .clean(let newId):
      outcome(of: record, .succeeded, id: newId ?? record.id, time)
    case .removeEntry:
      outcome(of: record, .succeeded, id: record.id, time)
    case .keepError(let error):
      outcome(of: record, .rejected, id: record.id, time, error: error)
    case .conflict, .deletedThere:
      outcome(of: record, .conflict, id: record.id, time)
    case .unanswered, .recreate:
      outcome(of: record, .unanswered, id: record.id, time)
    }
  }

  /// The outcome to tell of a record.
  func outcome(
    of record: SyncUpRecord, _ kind: SyncRecordOutcome.Kind, id: String?, _ time: Int64,
    error: JSONValue? = nil
  ) -> SyncRecordOutcome {
    SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: record.entryId, recordId: id,
      action: record.action, kind: kind, time: time, error: error)
  }
}
