import Foundation
import SalesforceSDKCommon
import SmartStore

/// A stage that recovers creates of earlier runs that were not acknowledged.
///
/// If the server has the record as it was sent, the entry gets its id and counts as edited, so this
/// run sends it as an update, which may be repeated. If the server does not have the record and can
/// no longer be at work on the request, the create is sent again. If it can, the search is repeated
/// for some seconds. If the server may have the record by then, or its state is unknown, the entry
/// becomes a conflict in doubt.
struct UnacknowledgedCreateRecovery: Sendable {
  /// The number of candidates that a conflict lists.
  private static let mostCandidates = 100

  let scope: SyncUpScope
  /// The field by which entries of another soup refer to records of this one: they follow them to their new ids.
  var children: ChildLink?

  /// Searches the server.
  ///
  /// - Parameter recovered: Gets the entries whose records were found.
  /// - Returns: The marks of the entries that are in doubt; they are not sent.
  func recover(
    on target: some SyncUpTarget, noting recovered: inout RecoveredEntries
  ) async throws -> [Int64: SyncRecordOutcome] {
    let marks = try await OutcomeStore(store: scope.store).lost(.create, in: scope.context.soupName)
    if marks.isEmpty { return [:] }
    var lost: [Lost] = []
    for (entryId, entry) in try await scope.entries(marks.keys.sorted()) {
      guard let mark = marks[entryId], let record = try mark.record(of: entry, in: scope) else {
        continue
      }
      lost.append(Lost(record: record, mark: mark))
    }
    var inDoubt: [Int64: SyncRecordOutcome] = [:]
    var patience = SearchPatience()
    while !lost.isEmpty {
      try await search(&lost, on: target)
      let found = lost
      let result = try await scope.store.inTransaction { transaction in
        let result = try adopt(found, in: transaction)
        if let end = scope.context.serverClock.latestArrival {
          let open = result.late.union(result.inDoubt.keys)
          try OutcomeStore.end(
            found.map(\.mark).filter { open.contains($0.outcome.entryId) }, at: end,
            in: transaction)
        }
        return result
      }
      inDoubt.merge(result.inDoubt) { _, new in new }
      for entryId in result.made { recovered.actions[entryId] = .create }
      lost.removeAll { !result.late.contains($0.record.entryId) }
      guard let end = lost.map(\.openFor).min() else { break }
      guard let pause = patience.pause(until: end) else {
        return try await hold(lost).merging(inDoubt) { first, _ in first }
      }
      try await scope.context.pause(for: pause)
    }
    return inDoubt
  }

  /// A record that may have been made, and those on the server that it may be; nil if that is not known.
  private struct Lost: Sendable {
    let record: SyncUpRecord
    let mark: UnacknowledgedMark
    var candidates: [UnacknowledgedCreateCandidate]?
    /// The time from the last search on in which the server may still make it.
    var openFor = Duration.zero

    var asCreate: UnacknowledgedCreate {
      UnacknowledgedCreate(record: record, sentAfter: mark.sentAfter, arrival: mark.arrival)
    }
  }

  /// Searches for all records, and finds out for how long the server may still make those that it does not have.
  private func search(_ lost: inout [Lost], on target: some SyncUpTarget) async throws {
    guard let finder = target as? any UnacknowledgedCreateFinding else { return }
    let start = scope.context.serverClock.instant()
    let now = scope.now()
    let possible = try await finder.possibleRecords(for: lost.map(\.asCreate), in: scope.context)
    let time = scope.context.serverClock.estimate(at: start) ?? scope.now()
    for index in lost.indices {
      lost[index].candidates = index < possible.count ? possible[index] : nil
      // A time that is further away is of a clock that was set back since.
      let open = Duration.milliseconds(max(0, (lost[index].mark.openUntil ?? 0) - time))
      let openHere = lost[index].mark.openUntilHere.map { Duration.milliseconds(max(0, $0 - now)) }
      lost[index].openFor = min(open, openHere ?? open, scope.context.lateArrival)
    }
    let open = lost.indices.filter { lost[$0].openFor > .zero }
    if open.isEmpty { return }
    let over = try await finder.areOver(open.map { lost[$0].asCreate }, in: scope.context)
    for (index, isOver) in zip(open, over) where isOver { lost[index].openFor = .zero }
  }

  /// Keeps records from being sent that the server may still make.
  ///
  /// - Returns: Their outcomes, by entry id.
  private func hold(_ late: [Lost]) async throws -> [Int64: SyncRecordOutcome] {
    let now = scope.context.serverClock.estimate ?? scope.now()
    let latest = now + Int64(scope.context.lateArrival / .milliseconds(1))
    let held = late.map { lost in
      let until = min(lost.mark.openUntil ?? now, latest)
      let outcome = lost.mark.outcome.held(
        because: Self.inDoubt(
          "the server may still create it until \(SalesforceDate(milliseconds: until).text). Run the sync again after "
            + "that time."))
      return (lost: lost, outcome: outcome, until: until)
    }
    try await scope.store.inTransaction { transaction in
      let entries = Dictionary(
        try transaction.entries(held.map(\.outcome.entryId), of: scope.context.soupName)
          .map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
      try ConflictStore.save(
        held.compactMap { lost, outcome, until in
          entries[outcome.entryId].map { conflict(lost, $0, [], until: until) }
        }, in: transaction)
      try OutcomeStore.hold(held.map { ($0.outcome, $0.until as Int64?) }, in: transaction)
    }
    return Dictionary(
      held.map { ($0.outcome.entryId, $0.outcome) }, uniquingKeysWith: { first, _ in first })
  }

  /// The error of an outcome, with what else is known.
  private static func inDoubt(_ detail: String) -> JSONValue {
    SyncUpDecision.clientError(
      "IN_DOUBT", "The response to the create of this record was lost, and \(detail)")
  }

  /// Assigns each record its first candidate that agrees and belongs to no other entry, or else the only one that
  /// agrees in another form of the values, and skips records that may be another candidate.
  ///
  /// A candidate that was created locally under another id, or that stood in an entry before the record was sent, is
  /// another record, however much alike they are. One that a sync down has downloaded since then is the
  /// lost record, in a second entry: they become one, unless that entry was edited.
  ///
  /// - Returns: The outcomes of the entries in doubt, the entries whose records the server does not have, but may still
  ///   make, and those whose records it has made.
  private func adopt(
    _ found: [Lost], in transaction: borrowing StoreTransaction
  ) throws -> (inDoubt: [Int64: SyncRecordOutcome], late: Set<Int64>, made: Set<Int64>) {
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
    var forms: [(record: SyncUpRecord, values: JSONObject)] = []
    let entries = try transaction.entries(Array(lost.keys), of: scope.context.soupName)
    var chosen: [Int64: UnacknowledgedCreateCandidate] = [:]
    for entryId in entries.map(\.id) {
      guard let found = lost[entryId],
        let candidate = found.candidates?.first(where: {
          $0.agrees && !edited.contains($0.id) && isFree($0, found)
        })
      else { continue }
      chosen[entryId] = candidate
      claimed.insert(candidate.id)
    }
    for entryId in entries.map(\.id) where chosen[entryId] == nil {
      guard let found = lost[entryId],
        let alike = found.candidates?.filter({ $0.agreesInForm && isFree($0, found) }),
        alike.count == 1, !edited.contains(alike[0].id)
      else { continue }
      chosen[entryId] = alike[0]
      claimed.insert(alike[0].id)
    }
    for (entryId, entry) in entries {
      guard let found = lost[entryId], let candidate = chosen[entryId] else { continue }
      let id = candidate.id
      made.append((found.record, id))
      // The server's form of a value counts as what was agreed on, so that it is no change by others.
      let changed = Self.forms(of: found.mark.values, candidate.values)
      forms.append((found.record.accepted(as: id), changed))
      origins[entryId] = ConflictMerge.overlaid(found.mark.values, with: changed)
      let taken = changed.filter {
        ServerEquality.same(entry[$0.key]?.value, found.mark.values[$0.key])
      }.map { (key: $0.key, value: $0.value) }
      var flags = RecordFlags(of: entry)
      flags.created = false
      // An entry without edits, whose record was to be created again with others of its tree, stays one.
      flags.updated = flags.updated || (flags.local && !flags.deleted)
      if let children, let old = entry[scope.fields.idField]?.string {
        try children.rewrite(from: old, to: id, in: transaction)
      }
      adopted.append(
        try entry.setting(taken + flags.members + [(scope.fields.idField, .string(id))]))
    }
    try scope.write(adopted, in: transaction)
    let results = ResultWriter(scope: scope)
    try results.remember(made, in: transaction)
    try results.keep(forms, in: transaction)
    try LocalIdIndex.follow(
      Dictionary(
        made.compactMap { record, id in
          guard record.hasServersId, let old = record.id, let id, old != id else { return nil }
          return (old, id)
        }, uniquingKeysWith: { first, _ in first }), ofSoup: scope.context.soupName,
      idField: scope.fields.idField, in: transaction)
    let united = try scope.union.unite(
      made.compactMap(\.newId), origins: origins, in: transaction)
    let acknowledged = Set(made.map(\.record.entryId))
    if !acknowledged.isEmpty {
      try ConflictStore.remove(acknowledged, of: scope.context.soupName, in: transaction)
    }
    var late: Set<Int64> = []
    var doubtful: [(lost: Lost, entry: JSONSlice, candidates: [UnacknowledgedCreateCandidate]?)] =
      []
    for (entryId, entry) in entries where !acknowledged.contains(entryId) {
      guard let found = lost[entryId] else { continue }
      let candidates = found.candidates?.filter { isFree($0, found) }
      if candidates?.isEmpty == true, found.openFor > .zero {
        late.insert(entryId)
      } else {
        doubtful.append((found, entry, candidates))
      }
    }
    return (
      try holdDoubtful(doubtful, in: transaction), late,
      Set(acknowledged.map { united.survivors[$0] ?? $0 })
    )
  }

  /// The server's values that differ from what was sent, among those that can be compared.
  private static func forms(of sent: JSONObject, _ made: JSONObject) -> JSONObject {
    JSONObject(
      sent.compactMap { name, value in
        guard let stored = made[name], value.object == nil, value.array == nil,
          !ServerEquality.same(value, stored)
        else { return nil }
        return (key: name, value: stored)
      })
  }

  /// Stores a conflict for each record that the server may have, and ends the conflicts of the
  /// others.
  ///
  /// - Returns: The outcomes of the entries in doubt.
  private func holdDoubtful(
    _ left: [(lost: Lost, entry: JSONSlice, candidates: [UnacknowledgedCreateCandidate]?)],
    in transaction: borrowing StoreTransaction
  ) throws -> [Int64: SyncRecordOutcome] {
    let stored = try ConflictStore.conflicts(
      of: left.map(\.lost.record.entryId), in: scope.context.soupName, transaction)
    var open: [SyncConflict] = []
    var outcomes: [Int64: SyncRecordOutcome] = [:]
    for (lost, entry, candidates) in left where candidates?.isEmpty != true {
      let detail =
        candidates == nil
        ? "the server did not say whether it has the record. Run the sync again, or resolve the conflict."
        : "the server has records that may be it. Resolve the conflict."
      outcomes[lost.record.entryId] = lost.mark.outcome.held(because: Self.inDoubt(detail))
      let conflict = conflict(lost, entry, candidates ?? [])
      let earlier = stored[lost.record.entryId]
      open.append(earlier?.isSame(as: conflict) == true ? earlier ?? conflict : conflict)
    }
    let held = Set(open.map(\.entryId))
    let ended = stored.values.filter { $0.kind == .inDoubt && !held.contains($0.entryId) }
    if !ended.isEmpty {
      try ConflictStore.remove(ended.map(\.entryId), of: scope.context.soupName, in: transaction)
    }
    try ConflictStore.save(open, in: transaction)
    try OutcomeStore.hold(outcomes.values.map { ($0, nil) }, in: transaction)
    return outcomes
  }

  private func conflict(
    _ lost: Lost, _ entry: JSONSlice, _ candidates: [UnacknowledgedCreateCandidate],
    until time: Int64? = nil
  ) -> SyncConflict {
    let best = candidates.first
    let fields = lost.record.values.map { name, sent in
      SyncConflict.Field(
        name: name, base: sent.value, mine: entry[name]?.value, theirs: best?.values[name])
    }
    return SyncConflict(
      soupName: scope.context.soupName, entryId: lost.record.entryId,
      recordId: lost.record.id ?? "",
      kind: .inDoubt, fields: fields, syncId: scope.context.syncId,
      mergeMode: scope.context.mergeMode,
      time: scope.now(),
      names: scope.fields.names,
      theirs: best?.values,
      candidates: candidates.prefix(Self.mostCandidates).map {
        SyncConflict.Candidate(id: $0.id, values: $0.values)
      }, heldUntil: time, childLinks: scope.uses.childLinks(of: scope.context.soupName))
  }
}
