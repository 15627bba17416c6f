import SalesforceSDKCommon
import SmartStore

/// The stages of a sync up that sends the records of one soup, each for itself.
struct RecordStages<Target: SyncUpTarget>: SyncUpStages {
  private let target: Target
  private var scope: SyncUpScope
  private let leavesOutReferences: Bool
  private let fetchesDates: Bool
  /// The entries that are not sent.
  private var held = HeldEntries()
  private var recovered = RecoveredEntries()
  /// The server's versions of the entries, from the comparison.
  private var survey: UploadSurvey?
  /// The references between records by local ids; nil if there are none.
  private var references: UploadReferences?

  // The batch.
  private var batch = UploadBatch()
  private var lost: [SyncUpRecord] = []
  private var accepted: [SyncUpRecord] = []
  /// Entries of records that turned out to be older than the server's.
  private var outdated: [Int64] = []

  init(
    _ target: Target, _ scope: SyncUpScope, leavesOutReferences: Bool, fetchesDates: Bool
  ) {
    self.target = target
    self.scope = scope
    self.leavesOutReferences = leavesOutReferences
    self.fetchesDates = fetchesDates
  }

  mutating func list() async throws -> [Int64] {
    let soup = scope.soup
    try await soup.check(in: scope.store, indexed: [SyncKeys.local])
    scope.hasIdIndex = try await soup.indexedPaths(in: scope.store).contains(soup.idField)
    try await scope.context.doubles.unite(scope.union, in: scope.store)
    try await ExternalIdRecovery(scope: scope).unite()
    return try await soup.dirtyEntryIds(in: scope.store)
  }

  mutating func recover(_ ids: [Int64]) async throws {
    held.inDoubt = try await UnacknowledgedCreateRecovery(scope: scope).recover(
      on: target, noting: &recovered)
    let externalIds = ExternalIdRecovery(scope: scope)
    let filled = try await externalIds.fill(ids)
    try await externalIds.adopt(from: target, except: filled)
    let updates = try await UnacknowledgedUpdateRecovery(scope: scope).recover(
      on: target, noting: &recovered)
    held.inDoubt.merge(updates) { first, _ in first }
  }

  mutating func checkConflicts(among ids: [Int64]) async throws {
    let detection = ConflictDetection(scope: scope)
    var survey = UploadSurvey(idField: scope.fields.idField)
    held.formUnion(
      try await detection.compare(
        ConflictDetection.Input(ids: ids, inDoubt: held.inDoubt), on: target
      ) { slice, page in survey.add(page, of: slice) })
    if scope.context.mergeMode != .overwrite { self.survey = survey }
    held.formUnion(try await detection.open())
  }

  mutating func order(_ ids: [Int64]) async throws -> [[Int64]]? {
    let found = try await UploadOrder(scope: scope, leavesOutReferences: leavesOutReferences)
      .order(ids, survey)
    survey = nil
    references = found.references
    return found.order?.levels
  }

  mutating func cut(from waiting: ArraySlice<Int64>, isLastPass: Bool) async throws -> Int {
    if isLastPass { references?.beginLastPass() }
    batch = try await UploadBatch(
      from: waiting, scope, held: held, recovered: recovered, references: references,
      maxSize: target.maxBatchSize)
    try await batch.completeLocally(scope)
    return batch.count
  }

  private var sender: Upload {
    Upload(
      results: ResultWriter(scope: scope, references: references, overruled: held.overruled))
  }

  mutating func upload() async throws -> SyncUpMachine.Upload {
    var sent = try await sender.send(
      batch.toSend, on: target, mayRecreate: scope.mayRecreate)
    let united = try await ExternalIdRecovery(scope: scope).uniteLost(
      sent.lost, accepted: Set(sent.accepted.map(\.entryId)))
    sent.lost.removeAll { united.entries[$0.entryId] != nil }
    held.conflicts.formUnion(united.inConflict)
    let found = try await LostRecords(sent.lost, target, scope, &references)
    try await sender.refuse(found.refused, sent.reasons)
    lost = found.records
    outdated = sent.outdated
    accepted = []
    return note(
      sent, again: united.entries.values.sorted(), later: found.later, hasLost: !lost.isEmpty)
  }

  mutating func recreate() async throws -> SyncUpMachine.Upload {
    note(try await sender.send(lost, on: target, mayRecreate: false))
  }

  private mutating func note(
    _ sent: Upload.Sent, again: [Int64] = [], later: [Int64] = [], hasLost: Bool = false
  ) -> SyncUpMachine.Upload {
    accepted += sent.accepted
    held.conflicts.formUnion(sent.united.inConflict)
    return SyncUpMachine.Upload(
      again: again, incomplete: later + sent.accepted.filter(\.isPartial).map(\.entryId),
      hasLost: hasLost, leftOut: sent.leftOut)
  }

  mutating func complete() async throws {
    if !outdated.isEmpty {
      // The server's version becomes the conflict.
      _ = try await LeaveIfChangedDetection(scope: scope.completingBatch).compare(
        ConflictDetection.Input(ids: outdated, inDoubt: held.inDoubt), on: target)
    }
    references?.note(accepted)
    if fetchesDates {
      try await AcceptedDates(scope: scope).fetch(of: accepted, on: target)
    }
  }

  mutating func finish() async throws {}
}
