import SalesforceSDKCommon
import SmartStore

// The handling of responses for a tree.
extension TreeSender {
  /// Whether the server refused children because their parent is missing.
  ///
  /// The server returns the same error if another lookup of a child refers to a deleted record, and
  /// an existing parent must not be created a second time.
  func isParentGone(
    _ steps: [TreeWork.Step], _ outcomes: [SyncUpOutcome], _ course: Course,
    _ target: some TreeSyncUpTarget
  ) async -> Bool {
    let isRefused = zip(steps, outcomes).contains { step, outcome in
      step.isLinked && Self.saysParentIsGone(outcome)
    }
    guard isRefused, course.parentRetries > 0,
      !course.sent.accepted.contains(where: { $0.level == .parents })
    else {
      return false
    }
    switch zip(steps, outcomes).first(where: { $0.0.level == .parents })?.1 {
    // Where it is not created again, its own conflict is decided first.
    case .gone: return plan.scopes.parents.mayRecreate
    case .succeeded: return false
    default: break
    }
    guard let id = course.parentId else { return false }
    // If the server cannot say, the children stay as they are for the next run.
    return (try? await target.remoteDates(ofTreeWithParent: id, in: scope.context))?.parent == .gone
  }

  /// Turns the outcomes of records that are not gone, although the server says so, into refusals: a lookup of theirs
  /// points nowhere, and created again without it they would exist twice.
  func refuseExisting(
    _ steps: [TreeWork.Step], _ outcomes: inout [SyncUpOutcome], _ target: some TreeSyncUpTarget
  ) async throws {
    for level in TreeLevel.allCases where plan.scopes[level].mayRecreate {
      let scope = plan.scopes[level]
      let doubtful = zip(steps, outcomes).filter { step, outcome in
        guard step.level == level, step.record.action == .update, case .gone = outcome else {
          return false
        }
        return LostRecords.createLacksReference(step.record, scope.fields)
      }
      if doubtful.isEmpty { continue }
      let existing = Set(
        try await LostRecords.notGone(doubtful.map(\.0.record), target, scope).map(\.entryId))
      for (index, step) in steps.enumerated()
      where step.level == level && existing.contains(step.record.entryId) {
        if case .gone(let error) = outcomes[index] { outcomes[index] = .rejected(error) }
      }
    }
  }

  /// The steps of children whose link the server refuses although it has the same: an entry that an app writes itself
  /// does not say what has changed in it, and most masters cannot be exchanged.
  func linksThatStay(
    _ steps: [TreeWork.Step], _ outcomes: [SyncUpOutcome], _ target: some TreeSyncUpTarget
  ) async throws -> Set<Int> {
    let field = plan.rules.link.field
    let refused = zip(steps.indices, outcomes).filter { index, outcome in
      guard steps[index].isLinked, steps[index].record.action == .update,
        case .rejected(let error) = outcome,
        (error["errorCode"] ?? error["statusCode"])?.string == "INVALID_FIELD_FOR_INSERT_UPDATE"
      else { return false }
      return error["fields"]?.array?.contains { $0.string == field } ?? true
    }.map(\.0)
    guard !refused.isEmpty, let fetcher = target as? any RemoteRecordFetching else { return [] }
    let results = try await fetcher.remoteRecords(
      of: refused.map { steps[$0].record }, fields: [field], in: plan.scopes.children.context)
    return Set(
      zip(refused, results).compactMap { index, result in
        guard case .record(let remote) = result,
          ServerEquality.same(steps[index].record.record[field]?.value, remote[field]?.value)
        else { return nil }
        return index
      })
  }

  /// The consequences of the responses for the rest of the tree.
  struct Results {
    var acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)] = []
    var isParentLost = false
    var lostChildren: [TreeWork.Step] = []
    /// The entries, parents' and children's, whose records are gone on the server.
    var deletedThere: Set<Int64> = []
    /// The children that cannot be sent, since their parent is gone on the server.
    var withoutParent: Set<Int64> = []
  }

  func results(
    _ steps: [TreeWork.Step], _ outcomes: [SyncUpOutcome], _ course: Course, isParentLost: Bool
  ) async throws -> Results {
    var results = Results()
    for (index, step) in steps.enumerated() {
      let outcome = index < outcomes.count ? outcomes[index] : .unanswered
      let retries = step.level == .parents ? course.parentRetries : course.childRetries
      if step.isLinked, Self.saysParentIsGone(outcome), case .rejected(let error) = outcome {
        // The parent's entry decides: it is created again, or left as it is for the next sync down.
        if isParentLost, plan.scopes.parents.mayRecreate {
          results.isParentLost = true
        } else if isParentLost {
          results.acknowledged.append((step, .conflict))
          results.withoutParent.insert(step.record.entryId)
        } else {
          results.acknowledged.append(
            (step, mode == .leaveIfChanged ? .conflict : .keepError(error)))
        }
        continue
      }
      if case .gone(let error) = outcome, step.record.action == .update {
        if !plan.scopes.parents.mayRecreate {
          results.acknowledged.append(
            (step, plan.scopes.parents.merge == nil ? .conflict : .deletedThere))
          results.deletedThere.insert(step.record.entryId)
        } else if retries == 0 {
          results.acknowledged.append((step, .keepError(error)))
        } else if step.level == .parents {
          results.isParentLost = true
        } else {
          results.lostChildren.append(step)
        }
        continue
      }
      results.acknowledged.append(
        (step, SyncUpEffect(outcome, of: step.record, mayRecreate: false)))
    }
    for level in TreeLevel.allCases {
      let scope = plan.scopes[level]
      let indices = results.acknowledged.indices.filter {
        results.acknowledged[$0].step.level == level
      }
      let effects = try await scope.checked(
        indices.map { results.acknowledged[$0].effect },
        of: indices.map { results.acknowledged[$0].step.record })
      for (index, effect) in zip(indices, effects) { results.acknowledged[index].effect = effect }
    }
    return results
  }

  static func saysParentIsGone(_ outcome: SyncUpOutcome) -> Bool {
    guard case .rejected(let error) = outcome else { return false }
    return (error["errorCode"] ?? error["statusCode"])?.string == "ENTITY_IS_DELETED"
  }

  /// Writes the results into the soups and finds out what is left to do.
  func applyResults(
    _ steps: [TreeWork.Step], _ results: Results, _ course: inout Course, _ entryId: Int64,
    _ target: some TreeSyncUpTarget
  ) async throws {
    for (step, effect) in results.acknowledged {
      guard case .clean(let newId) = effect else { continue }
      let record = step.record.accepted(as: newId)
      course.sent.accepted.append(AcceptedRecord(level: step.level, record: record))
      if step.level == .parents { course.parentId = record.id }
    }
    var waiting = course.waiting
    if !results.isParentLost, !results.lostChildren.isEmpty {
      course.childRetries -= 1
      waiting =
        try await notReplaced(
          notUnited(results.lostChildren, &course.sent), target
        ).map { step in
          TreeWork.Step(
            level: .children, record: step.record.recreated(with: plan.rules.fields.children),
            isLinked: step.isLinked)
        } + waiting
    }
    let effect = TreeEffectWriter(plan: plan, time: scope.now(), tree: course.tree)
    let written = try await effect.write(results.acknowledged, waiting: waiting)
    if mode == .leaveIfChanged {
      try await conflictStore.note(
        conflictsOf: results.acknowledged.filter {
          !results.withoutParent.contains($0.step.record.entryId)
        }, results.deletedThere, &course.conflicts)
    }
    if let parent = course.tree?.parent {
      try await conflictStore.keep(
        missing: parent,
        of: results.acknowledged.map(\.step.record).filter {
          results.withoutParent.contains($0.entryId)
        })
    }
    written.outcomes.forEach(scope.reportOutcome)
    course.waiting = written.waiting
    course.sent.note(written)
    if results.isParentLost { try await beginAgain(&course, entryId, target) }
  }

  /// Begins again after the server has lost the parent: all records that are not on the server are
  /// uploaded again. If another record has replaced a parent without edits, the children refer to
  /// that record.
  private func beginAgain(
    _ course: inout Course, _ entryId: Int64, _ target: some TreeSyncUpTarget
  ) async throws {
    course.parentRetries -= 1
    course.parentId = nil
    course.waiting = []
    guard let lost = try await tree(entryId),
      let replaced = try await replacements(ofLost: lost, target)
    else { return }
    let united = try await unitedParent(of: lost, &course.sent)
    let parentId =
      if let united {
        united
      } else {
        try await TreeEffectWriter(plan: plan, time: scope.now())
          .replace(replaced, ofTree: entryId)
      }
    guard let tree = try await tree(parentId) else { return }
    let isLost = united == nil && !replaced.parents.contains { $0.id == id(of: tree) }
    var work =
      try isLost
      ? TreeWork(lost: tree, keeping: Set(replaced.children.map(\.id)), plan.rules)
      : TreeWork(tree, plan.rules)
    if course.sent.inConflict.parents.contains(parentId) {
      return try await completeLocally(held: work, .conflict)
    }
    _ = try await completeLocally(work, tree)
    try await completeLocally(waiting: work.takeWaiting(plan))
    if !work.steps.contains(where: { $0.level == .parents && $0.record.makesRecord }) {
      course.parentId = id(of: tree)
    }
    course.waiting = work.steps
  }
}

extension TreeSender.Sent {
  /// Follows entries to those that they have become one with.
  fileprivate mutating func note(_ written: TreeEffectWriter.Written) {
    for index in accepted.indices {
      let survivors = written.united[accepted[index].level].survivors
      accepted[index].record = accepted[index].record.moved(
        to: survivors[accepted[index].record.entryId])
    }
    for level in TreeLevel.allCases {
      inConflict[level].formUnion(written.united[level].inConflict)
    }
  }
}
