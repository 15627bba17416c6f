import Foundation
import SalesforceSDKCommon
import SmartStore

/// Finds out what became of creates that were sent by an earlier run and not acknowledged.
///
/// A record that the server has as it was sent gives its id to the entry, which then counts as edited, so that
/// this run sends it as an update, which may be repeated. One that the server does not have stays created and is
/// sent again. Where the server may have it, or does not say, the entry is held as a conflict in doubt.
struct UnacknowledgedCreateRecovery: Sendable {
  let scope: SyncUpScope
  /// The field by which entries of another soup refer to records of this one: they follow them to their new ids.
  var children: ChildLink?

  /// Searches the server.
  ///
  /// - Returns: The marks of the entries that are in doubt; they are not sent.
  func recover(on target: some SyncUpTarget) async throws -> [Int64: SyncRecordOutcome] {
    let marks = try await OutcomeStore(store: scope.store).lost(.create, in: scope.context.soupName)
    if marks.isEmpty { return [:] }
    var lost: [Lost] = []
    for (entryId, entry) in try await scope.entries(marks.keys.sorted()) {
      guard let mark = marks[entryId], let record = try mark.record(of: entry, in: scope) else {
        continue
      }
      lost.append(Lost(record: record, mark: mark))
    }
    if lost.isEmpty { return [:] }
    if let finder = target as? any UnacknowledgedCreateFinding {
      let possible = try await finder.possibleRecords(
        for: lost.map { UnacknowledgedCreate(record: $0.record, sentAfter: $0.mark.sentAfter) },
        in: scope.context)
      for index in lost.indices where index < possible.count {
        lost[index].candidates = possible[index]
      }
    }
    let found = lost
    let inDoubt = try await scope.store.inTransaction { transaction in
      try adopt(found, in: transaction)
    }
    return marks.filter { inDoubt.contains($0.key) }.mapValues(\.outcome)
  }

  /// A record that may have been made, and those on the server that it may be; nil if that is not known.
  private struct Lost: Sendable {
    let record: SyncUpRecord
    let mark: UnacknowledgedMark
    var candidates: [UnacknowledgedCreateCandidate]?
  }

  /// Gives each record the first of its candidates that agrees and is no other entry's, and holds those that may
  /// be another candidate.
  ///
  /// A candidate that was created here under another id, or that stood in an entry before the record was sent, is
  /// another record, however much alike they are. One that a sync down has brought since then is the
  /// lost record, in a second entry: they become one, unless that entry was edited.
  ///
  /// - Returns: The entries in doubt.
  private func adopt(
    _ found: [Lost], in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let ids = found.flatMap { ($0.candidates ?? []).map(\.id) }
    let known = try scope.soup.entryIds(of: ids, in: transaction)
    var claimed = try LocalIdIndex.createdLocally(among: ids, in: transaction)
    var edited: Set<String> = []
    for (_, entry) in try transaction.entries(Array(known.values), of: scope.context.soupName) {
      guard let id = entry[scope.fields.idField]?.string else { continue }
      if entry[SyncKeys.syncId]?.int64 == nil { claimed.insert(id) }
      if RecordFlags(of: entry).local { edited.insert(id) }
    }
    let lost = Dictionary(
      found.map { ($0.record.entryId, $0) }, uniquingKeysWith: { first, _ in first })
    func isFree(_ candidate: UnacknowledgedCreateCandidate, _ found: Lost) -> Bool {
      !claimed.contains(candidate.id)
        && known[candidate.id].map { $0 > found.mark.newestEntryId } ?? true
    }
    var adopted: [JSONSlice] = []
    var origins: [Int64: JSONObject] = [:]
    var made: [(record: SyncUpRecord, newId: String?)] = []
    let entries = try transaction.entries(Array(lost.keys), of: scope.context.soupName)
    for (entryId, entry) in entries {
      guard let found = lost[entryId],
        let id = found.candidates?.first(where: {
          $0.agrees && !edited.contains($0.id) && isFree($0, found)
        })?.id
      else { continue }
      claimed.insert(id)
      made.append((found.record, id))
      origins[entryId] = found.mark.values
      var flags = RecordFlags(of: entry)
      flags.created = false
      // An entry without edits, whose record was to be created again with others of its tree, stays one.
      flags.updated = flags.updated || (flags.local && !flags.deleted)
      if let children, let old = entry[scope.fields.idField]?.string {
        try children.rewrite(from: old, to: id, in: transaction)
      }
      adopted.append(try entry.setting(flags.members + [(scope.fields.idField, .string(id))]))
    }
    try scope.write(adopted, in: transaction)
    try ResultWriter(scope: scope).remember(made, in: transaction)
    try LocalIdIndex.follow(
      Dictionary(
        made.compactMap { record, id in
          guard record.hasServersId, let old = record.id, let id, old != id else { return nil }
          return (old, id)
        }, uniquingKeysWith: { first, _ in first }), ofSoup: scope.context.soupName,
      idField: scope.fields.idField, in: transaction)
    try scope.union.unite(made.compactMap(\.newId), origins: origins, in: transaction)
    let acknowledged = Set(made.map(\.record.entryId))
    if !acknowledged.isEmpty {
      try ConflictStore.remove(acknowledged, of: scope.context.soupName, in: transaction)
    }
    return try holdDoubtful(
      entries.filter { !acknowledged.contains($0.id) }.compactMap { entryId, entry in
        lost[entryId].map { found in
          (found, entry, found.candidates?.filter { isFree($0, found) })
        }
      }, in: transaction)
  }

  /// Keeps a conflict for each record that the server may have, and ends those of the others.
  private func holdDoubtful(
    _ left: [(lost: Lost, entry: JSONSlice, candidates: [UnacknowledgedCreateCandidate]?)],
    in transaction: borrowing StoreTransaction
  ) throws -> Set<Int64> {
    let stored = try ConflictStore.conflicts(
      of: left.map(\.lost.record.entryId), in: scope.context.soupName, transaction)
    var open: [SyncConflict] = []
    for (lost, entry, candidates) in left where candidates?.isEmpty != true {
      let best = candidates?.first
      let fields = lost.record.values.map { name, sent in
        SyncConflict.Field(
          name: name, base: sent.value, mine: entry[name]?.value, theirs: best?.values[name])
      }
      let conflict = SyncConflict(
        soupName: scope.context.soupName, entryId: lost.record.entryId,
        recordId: lost.record.id ?? "",
        kind: .inDoubt, fields: fields, syncId: scope.context.syncId,
        mergeMode: scope.context.mergeMode,
        time: scope.now(),
        names: scope.fields.names,
        theirs: best?.values,
        candidates: (candidates ?? []).map {
          SyncConflict.Candidate(id: $0.id, values: $0.values)
        }, childLinks: scope.uses.childLinks(of: scope.context.soupName))
      let earlier = stored[lost.record.entryId]
      open.append(earlier?.isSame(as: conflict) == true ? earlier ?? conflict : conflict)
    }
    let held = Set(open.map(\.entryId))
    let ended = stored.values.filter { $0.kind == .inDoubt && !held.contains($0.entryId) }
    if !ended.isEmpty {
      try ConflictStore.remove(ended.map(\.entryId), of: scope.context.soupName, in: transaction)
    }
    try ConflictStore.save(open, in: transaction)
    return held
  }
}
