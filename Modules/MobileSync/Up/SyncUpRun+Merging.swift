import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Fetches the server's versions of the records that are to be changed or deleted, and merges them
  /// into their rows.
  ///
  /// The values are compared, not the dates: two changes within the second of a date differ too.
  ///
  /// - Returns: The records that are not to be sent: those in conflict, and those that the server said
  ///   nothing about.
  func merge(
    _ target: some SyncUpTarget, _ plan: Plan, among ids: [Int64]
  ) async throws -> Set<Int64> {
    var held: Set<Int64> = []
    let fetcher = target as? any RemoteRecordFetching
    try await forEachGroup(of: ids, plan) { group in
      if let fetcher {
        held.formUnion(try await merge(group, fetcher, plan))
      } else {
        held.formUnion(try await changed(group, target, plan))
      }
    }
    return held
  }

  private func merge(
    _ group: [SyncUpRecord], _ target: some RemoteRecordFetching, _ plan: Plan
  ) async throws -> Set<Int64> {
    guard let merge = plan.merge else { return [] }
    var fields = [plan.fields.dateField]
    for name in plan.fields.update
    where !fields.contains(name) && name != plan.fields.idField && !name.contains(".") {
      fields.append(name)
    }
    let answers = try await target.remoteRecords(of: group, fields: fields, in: context)
    let dateField = plan.fields.dateField
    return try await context.store.inTransaction { transaction in
      var held: Set<Int64> = []
      var theirs: [Int64: (id: String, side: RowMerge.Theirs)] = [:]
      // The rows keep their dates: of the server's record this shows some fields only.
      var dates: [Int64: JSONValue] = [:]
      for (index, record) in group.enumerated() {
        guard let id = record.id else { continue }
        switch index < answers.count ? answers[index] : .unknown {
        case .record(let remote):
          var fields = remote.value.object ?? [:]
          dates[record.entryId] = fields.removeValue(forKey: dateField)
          theirs[record.entryId] = (id, .record(fields))
        case .gone: theirs[record.entryId] = (id, .gone)
        case .unknown: held.insert(record.entryId)
        }
      }
      let rows = try transaction.entries(theirs.keys.sorted(), of: context.soupName)
      let bases = try BaseStore(soupName: context.soupName).bases(
        of: theirs.values.map(\.id), in: transaction)
      var pairs: [RowMerge.Pair] = []
      for (entryId, row) in rows {
        let flags = RecordFlags(of: row)
        guard let (id, side) = theirs[entryId], flags.local, !flags.created,
          row[plan.fields.idField]?.string == id
        else { continue }
        if flags.deleted, Self.isDateOther(dates[entryId], than: bases[id]?[dateField]) {
          // Whatever was changed there, also in a field that is never sent, the deletion takes with
          // it: only a sync down shows what it is.
          held.insert(entryId)
        }
        pairs.append(RowMerge.Pair(entryId: entryId, id: id, row: row, theirs: side))
      }
      return held.union(try merge.apply(pairs, in: transaction))
    }
  }

  /// The records that somebody else has changed, by the server's dates.
  private func changed(
    _ group: [SyncUpRecord], _ target: some SyncUpTarget, _ plan: Plan
  ) async throws -> [Int64] {
    let dates = try await target.remoteDates(of: group, in: context)
    return group.enumerated().compactMap { index, record in
      let known = ServerDate.milliseconds(of: record.record[plan.fields.dateField])
      switch index < dates.count ? dates[index] : .unknown {
      case .modified(let date): return known == nil || date == known ? nil : record.entryId
      case .gone: return record.action == .delete ? nil : record.entryId
      case .unknown: return record.entryId
      }
    }
  }

  private static func isDateOther(_ date: JSONValue?, than known: JSONValue?) -> Bool {
    guard let date, let known else { return false }
    return !FieldEquality.same(date, known)
  }

  /// The rows that wait for the app: nothing is sent for them, in any mode.
  func openConflicts() async throws -> [Int64] {
    try await context.store.read { reader in
      try ConflictStore.all(in: context.soupName, reader).map(\.entryId)
    }
  }

  /// The bases of records that are about to be sent; none if only whole records are.
  func knownBases(
    of entries: [(id: Int64, record: JSONSlice)], _ plan: Plan
  ) async throws -> [String: JSONObject] {
    if plan.merge == nil || entries.isEmpty { return [:] }
    let ids = entries.compactMap { $0.record[plan.fields.idField]?.string }
    return try await context.store.read { reader in
      try BaseStore(soupName: context.soupName).bases(of: ids, in: reader)
    }
  }

  /// Keeps what is known of records that the server has taken, beside their rows: the bases, the new
  /// ids of those that it has made, and that those were made here.
  func remember(
    _ taken: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    try keepBases(of: taken, plan, in: transaction)
    try rewriteReferences(to: taken, plan, in: transaction)
    try RecordOwners(soupName: context.soupName, syncId: RecordOwners.madeHere).add(
      taken.compactMap { record, newId in
        record.makesRecord ? newId.map { (id: $0, syncId: RecordOwners.madeHere) } : nil
      }, in: transaction)
  }

  /// Keeps what the server has taken as what both sides agree on.
  ///
  /// The date goes: the server has set another, which nobody here knows.
  private func keepBases(
    of taken: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    guard plan.keepsBases else { return }
    let store = BaseStore(soupName: context.soupName)
    let known = try store.bases(of: taken.compactMap(\.record.id), in: transaction)
    var bases: [String: JSONObject] = [:]
    for (record, newId) in taken {
      guard let id = newId ?? record.id else { continue }
      var base = record.id.flatMap { known[$0] } ?? [:]
      for (name, value) in record.values where !name.contains(".") { base[name] = value.value }
      base[plan.fields.dateField] = nil
      if record.action == .create {
        // What was not sent is empty there, unless the server has a default for it.
        for name in plan.fields.create + plan.fields.update
        where base[name] == nil && !name.contains(".") { base[name] = .null }
      }
      bases[id] = base
    }
    try store.save(bases, in: transaction)
  }
}

extension SyncUpRecord {
  /// The record with those fields alone that differ from what both sides agreed on.
  func changed(from base: JSONObject) -> SyncUpRecord {
    let changed = values.filter { !FieldEquality.same($0.value.value, base.value(at: $0.name)) }
    return SyncUpRecord(
      entryId: entryId, record: record, action: action, objectType: objectType, id: id,
      fieldNames: changed.map(\.name), externalId: externalId, unsentFields: unsentFields,
      isPartial: isPartial)
  }
}

extension JSONObject {
  /// The member of this name, or else what a name with dots leads to.
  fileprivate func value(at name: String) -> JSONValue? {
    if let value = self[name] { return value }
    return name.split(separator: ".").reduce(JSONValue.object(self) as JSONValue?) { value, key in
      value?[String(key)]
    }
  }
}
