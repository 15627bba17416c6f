import SalesforceSDKCommon
import SmartStore

extension SyncUpRun {
  /// Fetches the server's versions of the records that are to be changed or deleted, and merges them
  /// into their entries.
  ///
  /// The values are compared, not the dates: two changes within the second of a date differ too.
  ///
  /// With a target that cannot fetch records only deletions are decided on; what was edited here and
  /// changed there is left for the next sync down.
  ///
  /// - Returns: The records that are not to be sent: those in conflict, and those that the server said
  ///   nothing about.
  func merge(
    _ target: some SyncUpTarget, _ plan: Plan, among ids: [Int64]
  ) async throws -> Held {
    var held = Held()
    guard let merge = plan.merge else { return held }
    let fetcher = target as? any RemoteRecordFetching
    try await forEachGroup(of: ids, plan) { group in
      let (theirs, left) =
        if let fetcher {
          try await remote(group, fetcher, plan)
        } else {
          try await remoteDeletions(group, target, plan)
        }
      held.formUnion(left)
      held.conflicts.formUnion(
        try await context.store.inTransaction { transaction in
          try apply(theirs, merge, plan, in: transaction)
        })
    }
    return held
  }

  /// What the server has of a record.
  private struct Remote: Sendable {
    let id: String
    let side: RemoteVersion
    /// When it was modified last, as the server puts it.
    var date: JSONValue?
  }

  /// The server's versions of records, by entry id, and which records are to be left alone.
  private func remote(
    _ group: [SyncUpRecord], _ target: some RemoteRecordFetching, _ plan: Plan
  ) async throws -> (found: [Int64: Remote], held: Held) {
    var fields = [plan.fields.dateField]
    for name in plan.fields.update
    where !fields.contains(name) && name != plan.fields.idField && !name.contains(".") {
      fields.append(name)
    }
    let results = try await target.remoteRecords(of: group, fields: fields, in: context)
    var found: [Int64: Remote] = [:]
    var held = Held()
    for (index, record) in group.enumerated() {
      guard let id = record.id else { continue }
      switch index < results.count ? results[index] : .unknown {
      case .record(let remote):
        // The entries keep their dates: of the server's record this shows some fields only.
        var fields = remote.value.object ?? [:]
        let date = fields.removeValue(forKey: plan.fields.dateField)
        found[record.entryId] = Remote(id: id, side: .record(fields), date: date)
      case .gone: found[record.entryId] = Remote(id: id, side: .gone)
      case .unknown: held.undecided.insert(record.entryId)
      }
    }
    return (found, held)
  }

  /// As far as dates tell: what the server has of records that are deleted on one side, and which of the
  /// others are to be left alone.
  private func remoteDeletions(
    _ group: [SyncUpRecord], _ target: some SyncUpTarget, _ plan: Plan
  ) async throws -> (found: [Int64: Remote], held: Held) {
    let dates = try await target.remoteDates(of: group, in: context)
    var found: [Int64: Remote] = [:]
    var held = Held()
    for (index, record) in group.enumerated() {
      guard let id = record.id else { continue }
      let known = ServerDate.milliseconds(of: record.record[plan.fields.dateField])
      switch index < dates.count ? dates[index] : .unknown {
      case .gone: found[record.entryId] = Remote(id: id, side: .gone)
      case .modified(let date) where record.action == .delete:
        let text = SalesforceDate(milliseconds: date).text
        found[record.entryId] = Remote(id: id, side: .record([:]), date: .string(text))
      case .modified(let date):
        if let known, date != known { held.conflicts.insert(record.entryId) }
      case .unknown: held.undecided.insert(record.entryId)
      }
    }
    return (found, held)
  }

  /// Merges what the server has into the entries as they are now.
  ///
  /// - Returns: The entry ids of the entries that are in conflict.
  private func apply(
    _ theirs: [Int64: Remote], _ merge: ConflictMerge, _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let entries = try transaction.entries(theirs.keys.sorted(), of: context.soupName)
    let bases = try BaseVersionStore(soupName: context.soupName).bases(
      of: theirs.values.map(\.id), in: transaction)
    var pairs: [ConflictMerge.Pair] = []
    for (entryId, entry) in entries {
      let flags = RecordFlags(of: entry)
      guard let remote = theirs[entryId], flags.local, !flags.created,
        entry[plan.fields.idField]?.string == remote.id
      else { continue }
      // Whatever was changed there, also in a field that is never sent, the deletion would take with it.
      let isChanged =
        flags.deleted
        && ConflictMerge.isDateOther(remote.date, than: bases[remote.id]?[plan.fields.dateField])
      pairs.append(
        ConflictMerge.Pair(
          entryId: entryId, id: remote.id, entry: entry, remote: remote.side,
          isChangedThere: isChanged, changedChildren: plan.changedChildren[remote.id]))
    }
    return try merge.apply(pairs, in: transaction)
  }

  /// The bases of records that are about to be sent; none if only whole records are.
  func knownBases(
    of entries: [(id: Int64, record: JSONSlice)], _ plan: Plan
  ) async throws -> [String: JSONObject] {
    if plan.merge == nil || entries.isEmpty { return [:] }
    let ids = entries.compactMap { $0.record[plan.fields.idField]?.string }
    return try await context.store.read { reader in
      try BaseVersionStore(soupName: context.soupName).bases(of: ids, in: reader)
    }
  }

  /// Keeps what is known of records that the server has accepted, outside their entries: the base versions, the
  /// new ids of those that it has created, and that those were created locally.
  func remember(
    _ accepted: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    try keepBases(of: accepted, plan, in: transaction)
    try rewriteReferences(to: accepted, plan, in: transaction)
    try ContributingSyncs(soupName: context.soupName, syncId: ContributingSyncs.createdLocally).add(
      accepted.compactMap { record, newId in
        record.makesRecord ? newId.map { (id: $0, syncId: ContributingSyncs.createdLocally) } : nil
      }, in: transaction)
  }

  /// Keeps what the server has accepted as what both sides agree on.
  ///
  /// The date goes: the server has set another, which is unknown here.
  private func keepBases(
    of accepted: [(record: SyncUpRecord, newId: String?)], _ plan: Plan,
    in transaction: borrowing StoreTransaction
  ) throws {
    guard try uses.keepsBases(context.soupName, in: transaction) else { return }
    let store = BaseVersionStore(soupName: context.soupName)
    let known = try store.bases(
      of: accepted.compactMap(\.record.id) + accepted.compactMap(\.newId), in: transaction)
    var bases: [String: JSONObject] = [:]
    for (record, newId) in accepted {
      guard let id = newId ?? record.id else { continue }
      // A record that was downloaded before this entry got its id has a base version of its own.
      var base = known[id] ?? record.id.flatMap { known[$0] } ?? [:]
      for (name, value) in record.values where !name.contains(".") { base[name] = value.value }
      if record.makesRecord { for name in record.leftOut { base[name] = nil } }
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
  ///
  /// - Parameter link: A field that is uploaded besides those of the list.
  func changed(
    from base: JSONObject, _ names: SyncFieldNames, besides link: String? = nil
  ) -> SyncUpRecord {
    var changed = sending(
      values.filter { !ServerEquality.same($0.value.value, base.value(at: $0.name)) }.map(\.name))
    changed.hasOtherEdits = base.contains { name, value in
      // What a related record shows is never uploaded.
      guard names.isData(name), value.object == nil, name != link,
        !fieldNames.contains(name),
        let mine = record[name]?.value
      else { return false }
      return !ServerEquality.same(mine, value)
    }
    return changed
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
