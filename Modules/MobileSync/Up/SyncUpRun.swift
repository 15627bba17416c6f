import SalesforceSDKCommon
import SmartStore

/// One run of a sync up: the stages that ``SyncUpMachine`` names, one after the other.
///
/// Entries are read, sent and applied batch by batch. The run checks for a stop before a batch: one that
/// has begun is completed. The outcomes of each request are on disk before the next is sent.
struct SyncUpRun: Sendable {
  let context: SyncContext
  let uses: SoupSyncIndex
  let now: @Sendable () -> Int64
  let report: @Sendable (SyncState) -> Void
  let reportOutcome: @Sendable (SyncRecordOutcome) -> Void
  /// Whether a record that refers to one of another soup, which waits itself, goes without the
  /// reference instead of waiting, too.
  var leavesOutReferences = false
  /// The ids of the records that the server has created in this run.
  private let createdIds = CreatedIds()

  /// Runs to the end.
  ///
  /// - Parameter sync: The sync as submitted; it holds what is stored also when this throws.
  @concurrent func run(_ target: some SyncUpTarget, _ sync: inout SyncState) async throws {
    try context.checkStop()
    let leftOut: Int
    if let trees = target as? any TreeSyncUpTarget {
      leftOut = try await runTrees(trees, &sync)
    } else {
      let scope = scope(
        of: context.soupName, try SyncUpFieldChoice(target: target, options: sync.options))
      leftOut = try await drive(
        RecordStages(
          target, scope, leavesOutReferences: leavesOutReferences,
          fetchesDates: sync.options.fetchesModificationDates), of: target, scope, &sync)
    }
    guard leftOut == 0 else {
      throw SyncError(
        .invalidTarget,
        "The target '\(type(of: target).kind.typeName)' left \(leftOut) of \(sync.totalSize) records out of "
          + "its requests, so they were not sent. Correct its requests(for:).")
    }
  }

  private func runTrees(
    _ target: some TreeSyncUpTarget, _ sync: inout SyncState
  ) async throws -> Int {
    let rules = try TreeRules(target, sync.options)
    let parents = scope(of: target.parentSoup.soupName, rules.fields.parents)
    return try await drive(
      TreeStages(
        target,
        TreePlan(
          scopes: PerLevel(
            parents: parents,
            children: scope(of: target.childSoup.soupName, rules.fields.children)), rules: rules),
        leavesOutReferences: leavesOutReferences,
        fetchesDates: sync.options.fetchesModificationDates), of: target, parents, &sync)
  }

  private func scope(of soupName: String, _ fields: SyncUpFieldChoice) -> SyncUpScope {
    var context = context
    context.soupName = soupName
    return SyncUpScope(
      context, fields, uses: uses, createdIds: createdIds, now: now, reportOutcome: reportOutcome)
  }

  /// Calls one stage after the other.
  ///
  /// - Returns: The number of records that were in none of the target's requests.
  private func drive(
    _ stages: some SyncUpStages, of target: some SyncUpTarget, _ scope: SyncUpScope,
    _ sync: inout SyncState
  ) async throws -> Int {
    var stages = stages
    var machine = SyncUpMachine()
    let ids = try await selected(stages.list(), by: target, scope)
    sync.totalSize = ids.count
    if !ids.isEmpty {
      try await SyncStateStore(store: context.store).save(sync, durability: .normal)
      report(sync)
    }
    do {
      return try await complete(&stages, &machine, ids, &sync)
    } catch {
      // The error that ended the run is the one to report.
      try? await keepUnsent(ids, scope)
      throw error
    }
  }

  private func complete(
    _ stages: inout some SyncUpStages, _ machine: inout SyncUpMachine, _ ids: [Int64],
    _ sync: inout SyncState
  ) async throws -> Int {
    var event = SyncUpMachine.Event.listed(ids)
    while let action = machine.handle(event) {
      switch action {
      case .recover:
        try await stages.recover(ids)
        event = .recovered
      case .checkConflicts:
        try await stages.checkConflicts(among: ids)
        event = .checked
      case .order: event = .ordered(try await stages.order(ids))
      case .cut(let waiting, let isLastPass):
        try context.checkStop()
        event = .cut(count: try await stages.cut(from: waiting, isLastPass: isLastPass))
      case .upload: event = .uploaded(try await stages.upload())
      case .recreate: event = .recreated(try await stages.recreate())
      case .complete(let progress):
        try await stages.complete()
        try await store(progress, &sync)
        event = .completed
      case .finish(let leftOut):
        try await stages.finish()
        return leftOut
      }
    }
    preconditionFailure("No stage follows \(event).")
  }

  /// Stores of the entries that a run did not come to before it ended that they were not sent.
  private func keepUnsent(_ ids: [Int64], _ scope: SyncUpScope) async throws {
    // After a close nothing may be written.
    if scope.context.signal.current == .closed { return }
    let (soup, time) = (scope.context.soupName, scope.now())
    let error = SyncUpDecision.notSent("The run ended before it came to this record.")
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      let outcomes = try await scope.store.inTransaction(durability: .normal) { transaction in
        let known = try OutcomeStore.decided(slice, in: soup, by: context.syncId, transaction)
        let outcomes = try transaction.entries(slice, of: soup)
          .filter { RecordFlags(of: $0.record).local && !known.contains($0.id) }
          .map { entryId, entry in
            scope.outcome(
              of: entryId, entry[scope.fields.idField]?.string, .notSent, time, error: error)
          }
        try OutcomeStore.save(outcomes, in: transaction)
        return outcomes
      }
      outcomes.forEach(reportOutcome)
    }
  }

  /// The entries that the target wants to upload.
  private func selected(
    _ ids: [Int64], by target: some SyncUpTarget, _ scope: SyncUpScope
  ) async throws -> [Int64] {
    guard let selecting = target as? any SyncUpSelecting else { return ids }
    var selected: [Int64] = []
    for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
      let slice = Array(ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)])
      selected += try await scope.entries(slice).filter { selecting.uploads($0.record) }.map(\.id)
    }
    return selected
  }

  /// Stores the progress of the run, then reports each of the batch's entries.
  private func store(_ progress: [Int], _ sync: inout SyncState) async throws {
    guard let last = progress.last else { return }
    let before = sync.progress
    sync.advance(to: last)
    try await SyncStateStore(store: context.store).save(sync, durability: .normal)
    for step in progress {
      var update = sync
      update.progress = max(before, step)
      report(update)
    }
  }
}
