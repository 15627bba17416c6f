import SalesforceSDKCommon
import SmartStore

/// The next entries of a run with the action for each: the stage of a sync up that reads them to
/// decide.
struct UploadBatch: Sendable {
  /// The reason why an entry is not sent. Outcomes of a batch are stored and reported in this
  /// order.
  enum Skip: CaseIterable, Sendable {
    /// In conflict, or the server's version is unknown.
    case held
    /// Not sent, and removed since.
    case removedSince
    /// Removed or cleaned since it was listed, or none of its flags says what to do.
    case nothingToDo
    /// Waits for a record that it refers to.
    case waiting
    /// Its edits equal the base version.
    case unchanged
    /// Its edits are of fields that the sync does not send.
    case leftOut
    /// Created and deleted locally: the server never had it.
    case neverSent
    /// Invalid, so it cannot be sent.
    case refused
  }

  /// The records to send.
  private(set) var toSend: [SyncUpRecord] = []
  /// The outcomes of the other entries.
  private(set) var skipped: [Skip: [SyncRecordOutcome]] = [:]
  /// The marks of entries in doubt, which stay as they are.
  private(set) var inDoubt: [SyncRecordOutcome] = []
  /// Entries whose edits equal the base version, as they were read: they become clean.
  private var unchanged: [Int64: JSONSlice] = [:]
  /// The number of the run's entries that are in it.
  private(set) var count = 0

  init() {}

  /// Reads entries until there are `maxSize` records to send.
  ///
  /// - Parameter waiting: The run's next entries, one or more.
  init(
    from waiting: ArraySlice<Int64>, _ scope: SyncUpScope, held: HeldEntries,
    recovered: RecoveredEntries = RecoveredEntries(), references: UploadReferences?, maxSize: Int
  ) async throws {
    var rest = waiting
    let maxSize = max(maxSize, 1)
    let most = max(maxSize, SyncLimits.idsPerPage)
    let time = scope.now()
    while toSend.count < maxSize, !rest.isEmpty, count < most {
      let next = rest.prefix(min(maxSize - toSend.count, SyncLimits.recordsPerRead))
      rest = rest.dropFirst(next.count)
      count += next.count
      let page = try await scope.entries(Array(next))
      skip(next, page, held, scope, time)
      let found = try await scope.resolved(page.filter { !held.contains($0.id) })
      let missing = Set(next.filter { !held.contains($0) }).subtracting(found.map(\.id))
      for entryId in missing.sorted() {
        skip(.nothingToDo, scope.outcome(of: entryId, nil, .nothingToDo, time))
      }
      let known = try await scope.known(of: found)
      for (entryId, entry) in found {
        decide(entryId, entry, known, recovered, references, scope, time)
      }
    }
  }

  private mutating func skip(_ reason: Skip, _ outcome: SyncRecordOutcome) {
    skipped[reason, default: []].append(outcome)
  }

  /// Skips the entries that are held back.
  private mutating func skip(
    _ ids: ArraySlice<Int64>, _ page: [(id: Int64, record: JSONSlice)], _ held: HeldEntries,
    _ scope: SyncUpScope, _ time: Int64
  ) {
    inDoubt += ids.compactMap { held.inDoubt[$0] }
    let known = Set(page.map(\.id))
    for entryId in ids.filter({ held.inDoubt[$0] == nil && !known.contains($0) }).sorted()
    where held.contains(entryId) {
      skip(.removedSince, scope.outcome(of: entryId, nil, .nothingToDo, time))
    }
    for (entryId, entry) in page where held.inDoubt[entryId] == nil {
      guard let kind = held.reason(entryId) else { continue }
      let error = kind == .undecided ? SyncUpDecision.versionUnknown : nil
      if case .send(let record) = scope.decision(entryId, entry) {
        skip(.held, scope.outcome(of: record, kind, id: record.id, time, error: error))
      } else {
        let id = entry[scope.fields.idField]?.string
        skip(.held, scope.outcome(of: entryId, id, kind, time, error: error))
      }
    }
  }

  private mutating func decide(
    _ entryId: Int64, _ entry: JSONSlice, _ known: KnownEdits, _ recovered: RecoveredEntries,
    _ references: UploadReferences?, _ scope: SyncUpScope, _ time: Int64
  ) {
    let id = entry[scope.fields.idField]?.string
    let arrived = recovered.actions[entryId].map { action in
      scope.outcome(of: entryId, id, .succeeded, time, action: action)
    }
    // The application may have cleaned it since it was listed.
    guard RecordFlags(of: entry).local else {
      return skip(.nothingToDo, arrived ?? scope.outcome(of: entryId, id, .nothingToDo, time))
    }
    switch scope.decision(entryId, entry) {
    case .send(let record):
      let base = record.action == .update ? record.id.flatMap { known.bases[$0] } : nil
      var changed = record.noting(known.edits[entryId], base: base, scope.fields.names)
      changed.recovered = recovered.actions[entryId]
      if scope.merge != nil, let base {
        changed = changed.changed(from: base)
      } else if record.action == .update, let edits = known.edits[entryId] {
        changed = changed.leavingOut(sent: edits.sent)
      }
      if record.action == .update, changed.fieldNames.isEmpty {
        if let error = changed.otherEditsError {
          return skip(
            .leftOut, scope.outcome(of: record, .partial, id: record.id, time, error: error))
        }
        if scope.merge != nil, base != nil {
          unchanged[entryId] = entry
          return skip(
            .unchanged, arrived ?? scope.outcome(of: entryId, record.id, .nothingToDo, time))
        }
      }
      if let references {
        guard let dirty = references.sendable(changed, of: scope.soup),
          dirty.makesRecord || !dirty.isEmptied
        else { return skip(.waiting, scope.outcome(of: entryId, record.id, .waiting, time)) }
        changed = dirty
      }
      toSend.append(changed)
    case .removeEntry(let id):
      skip(.neverSent, scope.outcome(of: entryId, id, .nothingToDo, time))
    case .refuse(let id, let error):
      skip(.refused, scope.outcome(of: entryId, id, .rejected, time, error: error))
    case .nothing: skip(.nothingToDo, scope.outcome(of: entryId, nil, .nothingToDo, time))
    }
  }

  // MARK: Without a request

  /// Stores the outcomes of the entries that need no request. Each entry is read again: one that
  /// the app has changed since stays as it is.
  func completeLocally(_ scope: SyncUpScope) async throws {
    inDoubt.map(\.shown).forEach(scope.reportOutcome)
    let outcomes = Skip.allCases.flatMap { skipped[$0] ?? [] }
    if outcomes.isEmpty { return }
    let soup = scope.context.soupName
    try await scope.store.inTransaction { transaction in
      let removed = try transaction.entries((skipped[.neverSent] ?? []).map(\.entryId), of: soup)
        .filter { if case .removeEntry = scope.decision($0.id, $0.record) { true } else { false } }
      try transaction.remove(entryIds: removed.map(\.id), forSoupNamed: soup)
      let same = try transaction.entries(Array(unchanged.keys), of: soup)
        .filter { $0.record.utf8.elementsEqual(unchanged[$0.id]?.utf8 ?? []) }
      try scope.write(
        same.map {
          try $0.record.setting(RecordFlags.clean.members, removing: [SyncKeys.lastError])
        },
        in: transaction)
      try EditedFields(soupName: soup).forget(
        same.map(\.id) + removed.map(\.id), in: transaction)
      try EditedFields(soupName: soup).keep(
        (skipped[.leftOut] ?? []).map(\.entryId), in: transaction)
      let errors = Dictionary(
        (skipped[.refused] ?? []).map { ($0.entryId, $0.error?.text ?? "") },
        uniquingKeysWith: { first, _ in first })
      try scope.write(
        transaction.entries(errors.keys.sorted(), of: soup).map { entryId, entry in
          try entry.setting([(SyncKeys.lastError, .string(errors[entryId] ?? ""))])
        }, in: transaction)
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(scope.reportOutcome)
  }
}

/// The known edits of entries that are about to be sent.
struct KnownEdits: Sendable {
  /// The base versions, by record id; none if the sync's mode compares nothing.
  var bases: [String: JSONObject] = [:]
  /// The fields that the edit calls have changed, by entry id.
  var edits: [Int64: EditedFields.Edits] = [:]
}

/// The entries whose records a former run had sent, and whose responses were lost: the server has them.
struct RecoveredEntries: Sendable {
  /// The action that the server has executed, by entry id.
  var actions: [Int64: SyncUpAction] = [:]
}

extension SyncUpScope {
  /// Reads the known edits of entries.
  func known(of entries: [(id: Int64, record: JSONSlice)]) async throws -> KnownEdits {
    if entries.isEmpty { return KnownEdits() }
    let (soup, compares) = (context.soupName, context.mergeMode != .overwrite)
    let ids = entries.compactMap { $0.record[fields.idField]?.string }
    return try await store.read { reader in
      KnownEdits(
        bases: compares ? try BaseVersionStore(soupName: soup).bases(of: ids, in: reader) : [:],
        edits: try EditedFields(soupName: soup).edits(of: entries.map(\.id), in: reader))
    }
  }
}
