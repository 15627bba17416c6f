import SalesforceSDKCommon
import SmartStore

/// Records with the server's results, and the effects on their entries.
typealias AcknowledgedRecords = [(record: SyncUpRecord, effect: SyncUpEffect)]

/// The results for the entries of acknowledged records.
struct WrittenEntries {
  /// The entries that were removed with their records.
  let removed: [JSONSlice]
  /// The entries that became one with others.
  let united: EntryUnion.United
}

/// The stage of a sync up that writes results to the store, for single records and for trees.
struct ResultWriter: Sendable {
  let scope: SyncUpScope
  /// The references between records by ids that change; nil if there are none.
  var references: UploadReferences?
  /// The entries whose conflicts end when the server has accepted them.
  var overruled: Set<Int64> = []

  /// Writes or removes the entries of acknowledged records, with their base versions.
  ///
  /// An entry that was edited since it was read keeps the edit and stays dirty. An entry that got
  /// the id of a record with another entry is united with that entry.
  func writeEntries(
    of acknowledged: AcknowledgedRecords, in transaction: borrowing StoreTransaction
  ) throws -> WrittenEntries {
    let entries = Dictionary(
      try transaction.entries(acknowledged.map(\.record.entryId), of: scope.context.soupName)
        .map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    var written: [JSONSlice] = []
    var removed: [Int64] = []
    var gone: [ConflictMerge.Pair] = []
    var learned: [Int64: String] = [:]
    var clean: [Int64] = []
    var unsynced: [SyncUpRecord] = []
    for (record, effect) in acknowledged {
      guard let entry = entries[record.entryId] else { continue }
      let change: EntryChange
      switch effect {
      case .clean(let newId):
        change = .accepted(
          sent: record.record, now: entry, newId: newId,
          isPartial: record.isPartial || !record.otherEdits.isEmpty)
      case .removeEntry: change = .deleted(sent: record.record, now: entry)
      case .keepError(let error):
        written.append(try Self.refused(entry, record, error.redacted))
        continue
      case .unanswered:
        written.append(try Self.refused(entry, record, Self.noResponse))
        continue
      case .unexpected(let error):
        written.append(try Self.refused(entry, record, error.redacted))
        continue
      case .deletedThere:
        guard let id = record.id else { continue }
        gone.append(
          ConflictMerge.Pair(entryId: record.entryId, id: id, entry: entry, remote: .gone))
        continue
      case .conflict, .recreate: continue
      }
      if case .write(.clean, _) = change {
        clean.append(record.entryId)
      } else if effect.isAccepted {
        unsynced.append(record)
      }
      switch change {
      case .write(let flags, let id):
        var members = flags.members
        if let id {
          members.append((scope.fields.idField, .string(id)))
          learned[record.entryId] = id
        }
        written.append(try entry.setting(members, removing: [SyncKeys.lastError]))
      case .remove: removed.append(record.entryId)
      case .leave: break
      }
    }
    try scope.write(written, in: transaction)
    let edited = EditedFields(soupName: scope.context.soupName)
    try edited.accept(unsynced, in: transaction)
    try edited.forget(clean + removed, in: transaction)
    try scope.merge?.apply(gone, in: transaction)
    if !overruled.isEmpty {
      let ended = acknowledged.filter { $0.effect.isAccepted }.map(\.record.entryId)
      try ConflictStore.remove(
        overruled.intersection(ended), of: scope.context.soupName, in: transaction)
    }
    try transaction.remove(entryIds: removed, forSoupNamed: scope.context.soupName)
    let removedEntries = removed.compactMap { entries[$0] }
    try BaseVersionStore(soupName: scope.context.soupName).remove(
      removedEntries.compactMap { $0[scope.fields.idField]?.string }, in: transaction)
    let united =
      scope.hasIdIndex
      ? try scope.union.unite(learned.values, accepted: Set(learned.keys), in: transaction)
      : EntryUnion.United()
    return WrittenEntries(removed: removedEntries, united: united)
  }

  /// Returns the accepted records with the ids that the server returned.
  static func accepted(of acknowledged: AcknowledgedRecords) -> [(
    record: SyncUpRecord, newId: String?
  )] {
    acknowledged.compactMap { record, effect in
      if case .clean(let newId) = effect { (record, newId) } else { nil }
    }
  }

  /// The error that an entry stores if the response does not name its record.
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
      scope.outcome(
        of: record, record.otherEdits.isEmpty ? .succeeded : .partial, id: newId ?? record.id, time,
        error: record.otherEditsError)
    case .removeEntry:
      scope.outcome(of: record, .succeeded, id: record.id, time)
    case .keepError(let error):
      scope.outcome(of: record, .rejected, id: record.id, time, error: error)
    case .conflict, .deletedThere:
      scope.outcome(of: record, .conflict, id: record.id, time)
    case .unanswered, .recreate:
      scope.outcome(of: record, .unanswered, id: record.id, time)
    case .unexpected(let error):
      scope.outcome(of: record, .unanswered, id: record.id, time, error: error)
    }
  }

  // MARK: What is known of accepted records

  /// Stores what is known of records that the server has accepted, outside their entries: the base versions, the
  /// new ids of those that it has created, and that those were created locally.
  func remember(
    _ accepted: [(record: SyncUpRecord, newId: String?)],
    in transaction: borrowing StoreTransaction
  ) throws {
    try keepBases(of: accepted, in: transaction)
    try rewriteReferences(to: accepted, in: transaction)
    try ContributingSyncs(
      soupName: scope.context.soupName, syncId: ContributingSyncs.createdLocally
    ).add(
      accepted.compactMap { record, newId in
        record.makesRecord ? newId.map { (id: $0, syncId: ContributingSyncs.createdLocally) } : nil
      }, in: transaction)
  }

  /// Stores the accepted values as base versions.
  ///
  /// The modification date is removed, because the server has set a new one, which is not known
  /// here.
  private func keepBases(
    of accepted: [(record: SyncUpRecord, newId: String?)],
    in transaction: borrowing StoreTransaction
  ) throws {
    guard try scope.uses.keepsBases(scope.context.soupName, in: transaction) else { return }
    let store = BaseVersionStore(soupName: scope.context.soupName)
    let known = try store.bases(
      of: accepted.compactMap(\.record.id) + accepted.compactMap(\.newId), in: transaction)
    var bases: [String: JSONObject] = [:]
    for (record, newId) in accepted {
      guard let id = newId ?? record.id else { continue }
      // A record that was downloaded before this entry got its id has a base version of its own.
      var base = known[id] ?? record.id.flatMap { known[$0] } ?? [:]
      var uploaded = base[SyncKeys.uploaded]?.object ?? [:]
      for (name, value) in record.values where !name.contains(".") {
        let sent = value.value
        base[name] = sent
        uploaded[name] = ServerEquality.hasForms(sent) ? sent : nil
      }
      base[SyncKeys.uploaded] = uploaded.isEmpty ? nil : .object(uploaded)
      if record.makesRecord { for name in record.leftOut { base[name] = nil } }
      base[scope.fields.dateField] = nil
      if record.action == .create {
        // What was not sent is empty there, unless the server has a default for it.
        for name in scope.fields.create + scope.fields.update
        where base[name] == nil && !name.contains(".") { base[name] = .null }
      }
      bases[id] = base
    }
    try store.save(bases, in: transaction)
  }

  /// Stores the ids of records that the server has created, and replaces the references to those
  /// records in entries.
  private func rewriteReferences(
    to accepted: [(record: SyncUpRecord, newId: String?)],
    in transaction: borrowing StoreTransaction
  ) throws {
    var ids: [String: String] = [:]
    for (record, newId) in accepted {
      guard let old = record.id, let newId, old != newId,
        SyncKeys.isLocalId(old) || references?.lost.contains(old) == true
      else { continue }
      ids[old] = newId
    }
    if ids.isEmpty { return }
    try LocalIdIndex.save(ids.filter { SyncKeys.isLocalId($0.key) }, in: transaction)
    guard let references else { return }
    try references.index.rewrite(
      ids.keys.flatMap { references.places[$0] ?? [] }, with: ids, in: transaction)
  }

  /// Stores the server's values as base versions.
  func keep(
    _ forms: [(record: SyncUpRecord, values: JSONObject)],
    in transaction: borrowing StoreTransaction
  ) throws {
    let changed = forms.filter { !$0.values.isEmpty }
    guard !changed.isEmpty, try scope.uses.keepsBases(scope.context.soupName, in: transaction)
    else { return }
    let store = BaseVersionStore(soupName: scope.context.soupName)
    let bases = try store.bases(of: changed.compactMap(\.record.id), in: transaction)
    var merged: [String: JSONObject] = [:]
    for (record, values) in changed {
      if let id = record.id { merged[id] = ConflictMerge.overlaid(bases[id], with: values) }
    }
    try store.save(merged, in: transaction)
  }
}

extension SyncUpRecord {
  /// The record with those fields alone that differ from what both sides agreed on.
  func changed(from base: JSONObject) -> SyncUpRecord {
    sending(
      values.filter { !ServerEquality.same($0.value.value, base.value(at: $0.name)) }.map(\.name))
  }

  /// The record without the fields that the server has accepted before, when other edits were left out: sent again
  /// they would replace what others have changed since.
  func leavingOut(sent: JSONObject) -> SyncUpRecord {
    if sent.isEmpty { return self }
    return sending(
      values.filter { name, value in
        !(sent[name].map { ServerEquality.same(value.value, $0) } ?? false)
      }.map(\.name))
  }

  /// The record with the edited fields that it does not send.
  ///
  /// - Parameters:
  ///   - edits: The fields that the edit calls have changed.
  ///   - base: What both sides agreed on; nil if it is not known, or does not count.
  ///   - link: A field that the sync uploads apart from the others.
  func noting(
    _ edits: EditedFields.Edits?, base: JSONObject?, _ names: SyncFieldNames,
    besides link: String? = nil
  ) -> SyncUpRecord {
    if action == .delete { return self }
    func isLeftOut(_ name: String, _ mine: JSONValue) -> Bool {
      guard names.isData(name), name != link, !fieldNames.contains(name) else { return false }
      if makesRecord { return mine != .null }
      return base?[name].map { !ServerEquality.same(mine, $0) } ?? true
    }
    var others = edits?.names(in: record) ?? []
    if let base, !makesRecord {
      // Values that an entry shows of a related record are never uploaded.
      for (name, value) in base where value.object == nil { others.insert(name) }
    }
    others = others.filter { name in
      record[name].map { isLeftOut(name, $0.value) } ?? false
    }
    var noted = self
    noted.otherEdits = others.sorted()
    return noted
  }

  /// The error of an outcome that says which edits are left; nil if there are none.
  var otherEditsError: JSONValue? {
    if otherEdits.isEmpty { return nil }
    let names = otherEdits.joined(separator: ", ")
    return .object([
      "statusCode": "FIELDS_NOT_SENT",
      "message": .string(
        "The sync does not send \(names), which \(otherEdits.count == 1 ? "was" : "were") edited. "
          + "Add them to its field list, or run a sync that has them."),
      "fields": .array(otherEdits.map { .string($0) }),
    ])
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
