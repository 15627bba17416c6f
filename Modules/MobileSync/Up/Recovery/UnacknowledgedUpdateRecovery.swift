import SalesforceSDKCommon
import SmartStore

/// A stage that recovers updates of earlier runs that were not acknowledged.
///
/// An update that arrived makes the record newer on the server, possibly with values in another
/// form, so a comparison would mistake this device's edit for another user's change. If the server
/// has the sent value, or another form of it (``ServerEquality/mayBeStored(_:as:)``), in every
/// field, the edit was this device's own: the entry takes the value in each field that was not
/// edited again; in mode ``SyncMergeMode/leaveIfChanged`` it also takes the server's date and is
/// clean unless it was edited again. If the server has other values, the conflict is real or the
/// update never arrived, which the later comparison decides. Mode ``SyncMergeMode/overwrite`` does
/// not need this stage, because sending again is harmless.
struct UnacknowledgedUpdateRecovery: Sendable {
  let scope: SyncUpScope

  /// Compares what was sent with what the server has.
  ///
  /// - Parameter recovered: Gets the entries whose updates have arrived.
  /// - Returns: The marks of records whose server version is unknown; they are not sent.
  func recover(
    on target: some SyncUpTarget, noting recovered: inout RecoveredEntries
  ) async throws -> [Int64: SyncRecordOutcome] {
    let marks = try await OutcomeStore(store: scope.store).lost(.update, in: scope.context.soupName)
    if marks.isEmpty { return [:] }
    let entries = try await scope.entries(marks.keys.sorted())
    let dirty = Set(entries.filter { RecordFlags(of: $0.record).local }.map(\.id))
    try await OutcomeStore(store: scope.store).forget(
      marks.filter { !dirty.contains($0.key) }.map(\.value.outcome))
    guard scope.context.mergeMode != .overwrite, let fetcher = target as? any RemoteRecordFetching
    else { return [:] }
    var waiting: [String: [SyncUpRecord]] = [:]
    for (entryId, entry) in entries where dirty.contains(entryId) {
      guard let mark = marks[entryId], let record = try mark.record(of: entry, in: scope) else {
        continue
      }
      waiting[record.objectType, default: []].append(record)
    }
    var unclear: [Int64: SyncRecordOutcome] = [:]
    for type in waiting.keys.sorted() {
      let result = try await adopt(waiting[type] ?? [], fetcher)
      for entryId in result.unclear {
        unclear[entryId] = marks[entryId]?.outcome.held(because: SyncUpDecision.versionUnknown)
      }
      for entryId in result.arrived { recovered.actions[entryId] = .update }
    }
    let held = unclear.values.map { (outcome: $0, until: Int64?.none) }
    if !held.isEmpty {
      try await scope.store.inTransaction { transaction in
        try OutcomeStore.hold(held, in: transaction)
      }
    }
    return unclear
  }

  /// Compares what was sent with what the server has, and lets those entries agree that do.
  ///
  /// - Returns: The entry ids of records whose server version is unknown, and those of records whose update has
  ///   arrived.
  private func adopt(
    _ sent: [SyncUpRecord], _ target: some RemoteRecordFetching
  ) async throws -> (unclear: [Int64], arrived: [Int64]) {
    var unclear: [Int64] = []
    var arrived: [Int64: Arrival] = [:]
    for start in stride(from: 0, to: sent.count, by: SyncLimits.idsPerPage) {
      let group = Array(sent[start..<min(start + SyncLimits.idsPerPage, sent.count)])
      let names = SOQLNames.appending(group.flatMap(\.columns), to: [scope.fields.dateField])
      let results = try await target.remoteRecords(of: group, fields: names, in: scope.context)
      let ids = group.compactMap(\.id)
      let bases = try await scope.store.read { reader in
        try BaseVersionStore(soupName: scope.context.soupName).bases(of: ids, in: reader)
      }
      for (index, record) in group.enumerated() {
        switch index < results.count ? results[index] : .unknown {
        case .record(let remote):
          let base = record.id.flatMap { bases[$0] } ?? [:]
          // What was there before may be another form of the edit, too: then it did not arrive.
          guard let forms = FieldAgreement.forms(of: record.values, remote),
            forms.allSatisfy({ name, value in
              base[name].map { !ServerEquality.same($0, value) } ?? false
            }), let date = remote[scope.fields.dateField]?.value
          else { continue }
          let spellings = FieldAgreement.spellings(of: record.values, remote)
          arrived[record.entryId] = Arrival(
            record: record, date: date, forms: ConflictMerge.overlaid(forms, with: spellings))
        case .unknown: unclear.append(record.entryId)
        case .gone: break
        }
      }
    }
    if arrived.isEmpty { return (unclear, []) }
    let agreed = arrived
    try await scope.store.inTransaction { transaction in
      try write(agreed, in: transaction)
    }
    return (unclear, Array(arrived.keys))
  }

  /// An update that has arrived, and the values that the server has put into another form.
  private struct Arrival: Sendable {
    let record: SyncUpRecord
    let date: JSONValue
    let forms: JSONObject
  }

  private func write(
    _ arrived: [Int64: Arrival], in transaction: borrowing StoreTransaction
  ) throws {
    var written: [JSONSlice] = []
    var clean: [Int64] = []
    var accepted: [(record: SyncUpRecord, newId: String?)] = []
    let edited = EditedFields(soupName: scope.context.soupName)
    let edits = try edited.edits(of: arrived.keys, in: transaction)
    let bases = try BaseVersionStore(soupName: scope.context.soupName).bases(
      of: arrived.values.compactMap(\.record.id), in: transaction)
    for (entryId, entry) in try transaction.entries(
      arrived.keys.sorted(), of: scope.context.soupName)
    {
      guard let arrival = arrived[entryId], RecordFlags(of: entry).local,
        entry[scope.fields.idField]?.string == arrival.record.id
      else { continue }
      let sent = arrival.record
      accepted.append((sent, nil))
      var members = arrival.forms.filter {
        ServerEquality.same(entry[$0.key]?.value, sent.record[$0.key]?.value)
      }
      .map { (key: $0.key, value: $0.value) }
      // Where fields are merged the entry keeps its date: of the server's record some fields were seen.
      if scope.context.mergeMode == .leaveIfChanged {
        members.append((scope.fields.dateField, arrival.date))
      }
      if scope.context.mergeMode == .leaveIfChanged,
        case .send(let now) = scope.decision(entryId, entry),
        now.action == .update, now.hasValues(of: sent),
        now.noting(edits[entryId], base: sent.id.flatMap { bases[$0] }, scope.fields.names)
          .otherEdits.isEmpty
      {
        members += RecordFlags.clean.members
        clean.append(entryId)
      }
      written.append(try entry.setting(members, removing: [SyncKeys.lastError]))
    }
    try scope.write(written, in: transaction)
    try edited.forget(clean, in: transaction)
    let results = ResultWriter(scope: scope)
    try results.remember(accepted, in: transaction)
    try results.keep(arrived.values.map { ($0.record, $0.forms) }, in: transaction)
  }
}

extension SyncUpRecord {
  /// Whether this record would be sent with the same values as another.
  fileprivate func hasValues(of other: SyncUpRecord) -> Bool {
    let (mine, others) = (values, other.values)
    return mine.count == others.count
      && zip(mine, others).allSatisfy { $0.name == $1.name && $0.value.value == $1.value.value }
  }
}
