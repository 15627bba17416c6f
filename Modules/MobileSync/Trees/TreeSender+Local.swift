import SalesforceSDKCommon
import SmartStore

// Effects that are written to the store without a request.
extension TreeSender {
  /// Children whose parent could not be made stay dirty and say why.
  func refuse(_ steps: [TreeWork.Step]) async throws {
    let error = SyncUpDecision.clientError(
      "PARENT_NOT_SENT", "The record's parent is not on the server, so it cannot be sent yet.")
    let effect = TreeEffectWriter(plan: plan, time: scope.now())
    try await effect.write(steps.map { ($0, .keepError(error)) }, waiting: [])
      .outcomes.forEach(scope.reportOutcome)
  }

  /// Completes the records that need no request: entries that the server never had, and those that cannot
  /// be sent.
  ///
  /// - Returns: False if the parent was to be removed and stays after all.
  func completeLocally(_ work: TreeWork, _ tree: LocalTree) async throws -> Bool {
    if work.removed.isEmpty && work.refused.isEmpty { return true }
    let effect = TreeEffectWriter(plan: plan, time: scope.now(), tree: tree)
    let outcomes = try await effect.write(removed: work.removed, refused: work.refused)
    outcomes.forEach(scope.reportOutcome)
    return work.removed.filter { $0.level == .parents }.allSatisfy { parent in
      outcomes.contains {
        $0.entryId == parent.entryId && $0.soupName == scope.context.soupName
      }
    }
  }

  /// Records that refer to others that were not uploaded stay for the next run.
  func completeLocally(waiting steps: [TreeWork.Step]) async throws {
    let time = scope.now()
    try await completeLocally(
      waiting: steps.map {
        plan.outcome(of: $0, .waiting, id: $0.record.id, time, hasAction: false)
      })
  }

  /// Records of which nothing that was edited is sent stay for a sync that does.
  func completeLocally(leftOut steps: [TreeWork.Step]) async throws {
    if steps.isEmpty { return }
    let time = scope.now()
    let outcomes = steps.map {
      plan.outcome(of: $0, .partial, id: $0.record.id, time, error: $0.record.otherEditsError)
    }
    try await store.inTransaction { transaction in
      for level in TreeLevel.allCases {
        try EditedFields(soupName: plan.scopes[level].soup.soupName).keep(
          steps.filter { $0.level == level }.map(\.record.entryId), in: transaction)
      }
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(scope.reportOutcome)
  }

  func completeLocally(waiting outcomes: [SyncRecordOutcome]) async throws {
    try await save(outcomes)
  }

  func completeLocally(held work: TreeWork, _ kind: SyncRecordOutcome.Kind) async throws {
    let time = scope.now()
    let own = kind == .conflict ? try await conflictStore.entriesInConflict(work) : []
    // What is still to be searched stays marked.
    func mark(_ step: TreeWork.Step) -> SyncRecordOutcome? {
      plan.held[step.level].inDoubt[step.record.entryId]
    }
    work.steps.compactMap { mark($0)?.shown }.forEach(scope.reportOutcome)
    try await save(
      work.steps.filter { mark($0) == nil }.map { step in
        let key = "\(plan.scopes[step.level].soup.soupName)/\(step.record.entryId)"
        let error =
          if kind == .undecided {
            SyncUpDecision.treeVersionUnknown
          } else {
            own.contains(key) ? nil : TreeConflictStore.treeInConflict
          }
        return plan.outcome(of: step, kind, id: step.record.id, time, error: error)
      })
  }

  /// Reports the records that a former run had sent, and of which nothing is left to send.
  ///
  /// - Returns: Whether there are any.
  func completeLocally(recoveredOf tree: LocalTree) async throws -> Bool {
    let time = scope.now()
    func outcomes(_ level: TreeLevel, _ entries: [LocalTree.Entry]) -> [SyncRecordOutcome] {
      entries.compactMap { entryId, record in
        guard let action = plan.recovered[level].actions[entryId], !RecordFlags(of: record).local
        else { return nil }
        let part = plan.scopes[level]
        return part.outcome(
          of: entryId, record[part.fields.idField]?.string, .succeeded, time, action: action)
      }
    }
    let arrived = outcomes(.parents, [tree.parent]) + outcomes(.children, tree.children)
    try await save(arrived)
    return !arrived.isEmpty
  }

  func completeLocally(withoutWork entryId: Int64) async throws {
    try await save([
      SyncRecordOutcome(
        syncId: scope.context.syncId, soupName: scope.context.soupName, entryId: entryId,
        recordId: nil,
        action: nil, kind: .nothingToDo, time: scope.now())
    ])
  }

  private func save(_ outcomes: [SyncRecordOutcome]) async throws {
    if outcomes.isEmpty { return }
    try await store.inTransaction { transaction in
      try OutcomeStore.save(outcomes, in: transaction)
    }
    outcomes.forEach(scope.reportOutcome)
  }
}
