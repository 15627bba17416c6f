import SalesforceSDKCommon
import SmartStore

/// Sends one tree, request by request.
struct TreeSender: Sendable {
  let plan: TreeUpRun.Plan
  let mode: SyncMergeMode
  /// What the server has accepted in this run before.
  var acceptedBefore = AcceptedEntries()

  var run: SyncUpRun { plan.parentRun }
  var store: SmartStore { run.context.store }

  /// A record that the server has accepted.
  struct AcceptedRecord {
    let isParent: Bool
    var record: SyncUpRecord
  }

  /// The entries of records that the server has accepted.
  struct AcceptedEntries: Sendable {
    var parents: Set<Int64> = []
    var children: Set<Int64> = []

    mutating func add(_ records: [AcceptedRecord]) {
      for accepted in records {
        if accepted.isParent {
          parents.insert(accepted.record.entryId)
        } else {
          children.insert(accepted.record.entryId)
        }
      }
    }
  }

  /// What became of a tree.
  struct Sent {
    var accepted: [AcceptedRecord] = []
    /// Entries that became one with others and wait for a decision.
    var parentsInConflict: Set<Int64> = []
    var childrenInConflict: Set<Int64> = []
  }

  /// What is left to do for a tree.
  private struct Course {
    /// The tree; nil for records that belong to none.
    let tree: LocalTree?
    /// The id that children are given.
    var parentId: String?
    var waiting: [TreeWork.Step]
    /// How often a lost parent, and lost children, may still be created again.
    var parentRetries = 1
    var childRetries = 1
    var sent = Sent()
    /// Conflicts that the responses have made known.
    var conflicts: Set<String> = []
  }

  /// Sends the tree of a parent's entry as it is now.
  ///
  /// - Parameter conflicts: Gets the conflicts, by ``SyncConflict/id``, that hold back trees as wholes.
  func send(
    treeOf entryId: Int64, _ target: some TreeSyncUpTarget, noting conflicts: inout Set<String>
  ) async throws -> Sent {
    guard let tree = try await resolvedTree(entryId) else {
      try await completeLocally(withoutWork: entryId)
      return Sent()
    }
    var work = try await narrowed(TreeWork(tree, plan.rules))
    if work.isEmpty {
      try await completeLocally(withoutWork: entryId)
      return Sent()
    }
    var reason = plan.reasonToHold(tree)
    if reason == nil, mode == .leaveIfChanged {
      reason = try await check(tree, target, noting: &conflicts)
    }
    if let reason {
      try await completeLocally(held: work, reason)
      return Sent()
    }
    guard try await completeLocally(work, tree) else {
      // The deletion was taken back since: the next run decides again.
      try await completeLocally(withoutWork: entryId)
      return Sent()
    }
    try await completeLocally(waiting: work.takeWaiting(plan))
    var course = Course(tree: tree, parentId: id(of: tree), waiting: work.steps)
    if work.steps.first(where: \.isParent)?.record.makesRecord == true { course.parentId = nil }
    while !course.waiting.isEmpty {
      try await sendNext(&course, entryId, target)
    }
    conflicts.formUnion(course.conflicts)
    if let parent = work.removedLast { try await removeLast(parent) }
    return course.sent
  }

  /// Sends children that belong to no tree: those that were detached or deleted locally.
  ///
  /// - Parameter conflicts: As for trees.
  func send(
    detached steps: [TreeWork.Step], _ target: some TreeSyncUpTarget,
    noting conflicts: inout Set<String>
  ) async throws -> [SyncUpRecord] {
    var work = try await narrowed(TreeWork(steps: steps))
    try await completeLocally(waiting: work.takeWaiting(plan))
    var accepted: [SyncUpRecord] = []
    let size = max(target.maxStepsPerRequest, 1)
    for start in stride(from: 0, to: work.steps.count, by: size) {
      try run.context.checkStop()
      var course = Course(
        tree: nil, waiting: Array(work.steps[start..<min(start + size, work.steps.count)]))
      while !course.waiting.isEmpty { try await sendNext(&course, -1, target) }
      conflicts.formUnion(course.conflicts)
      accepted += course.sent.accepted.map(\.record)
    }
    return accepted
  }

  /// Removes a parent that the server never had, now that its children are gone there; if one is left, it
  /// stays for the next run.
  private func removeLast(_ parent: TreeWork.LocalStep) async throws {
    guard let tree = try await tree(parent.entryId) else { return }
    let work = TreeWork(tree, plan.rules)
    if work.removedLast != nil {
      try await completeLocally(
        waiting: [
          SyncRecordOutcome(
            syncId: run.context.syncId, soupName: run.context.soupName, entryId: parent.entryId,
            recordId: parent.id, action: nil, kind: .waiting, time: run.now())
        ])
    } else if work.steps.isEmpty {
      _ = try await completeLocally(work, tree)
    }
  }

  /// The tree with the server's ids in the places of local ones, as far as they are known by now.
  private func resolvedTree(_ entryId: Int64) async throws -> LocalTree? {
    let tree = try await tree(entryId)
    guard let tree, plan.parents.references != nil else { return tree }
    let parents = try await plan.parentRun.resolved([tree.parent], plan.parents)
    let children = try await plan.childRun.resolved(tree.children, plan.children)
    return parents.first.map { LocalTree(parent: $0, children: children) }
  }

  private func tree(_ entryId: Int64) async throws -> LocalTree? {
    try await store.read { reader in try Self.tree(entryId, plan, in: reader) }
  }

  static func tree(
    _ entryId: Int64, _ plan: TreeUpRun.Plan, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> LocalTree? {
    let soup = plan.parents.records.soupName
    guard let parent = try reader.entries([entryId], of: soup).first else { return nil }
    var children: [LocalTree.Entry] = []
    if let id = parent.record[plan.rules.parent.idField]?.string, !id.isEmpty {
      let ids = try plan.children.records.entryIds(where: plan.link.field, is: id, in: reader)
      children = try reader.entries(ids, of: plan.children.records.soupName)
    }
    return LocalTree(parent: parent, children: children)
  }

  func id(of tree: LocalTree) -> String? {
    tree.parent.record[plan.rules.parent.idField]?.string
  }

  /// The work with those fields and links alone that differ from what both sides agreed on, in mode
  /// ``SyncMergeMode/mergeFields``.
  func narrowed(_ work: TreeWork) async throws -> TreeWork {
    if plan.parents.merge == nil { return work }
    func ids(isParent: Bool) -> [String] {
      work.steps.filter { $0.isParent == isParent && $0.record.action == .update }
        .compactMap(\.record.id)
    }
    let (parentIds, childIds) = (ids(isParent: true), ids(isParent: false))
    let bases = try await store.read { reader in
      (
        parents: try BaseVersionStore(soupName: plan.parents.records.soupName)
          .bases(of: parentIds, in: reader),
        children: try BaseVersionStore(soupName: plan.children.records.soupName)
          .bases(of: childIds, in: reader)
      )
    }
    let makesParent = work.steps.contains { $0.isParent && $0.record.makesRecord }
    var work = work
    work.steps = work.steps.map { step in
      guard step.record.action == .update, let id = step.record.id,
        let base = step.isParent ? bases.parents[id] : bases.children[id]
      else { return step }
      let isMoved =
        makesParent
        || !ServerEquality.same(step.record.record[plan.link.field]?.value, base[plan.link.field])
      return TreeWork.Step(
        isParent: step.isParent,
        record: step.record.changed(
          from: base, (step.isParent ? plan.parents : plan.children).fields.names,
          besides: plan.link.field),
        isLinked: step.isLinked && isMoved)
    }
    return work
  }

  // MARK: Requests

  /// Sends as many of the waiting records as go with one request.
  private func sendNext(
    _ course: inout Course, _ entryId: Int64, _ target: some TreeSyncUpTarget
  ) async throws {
    let steps = Array(course.waiting.prefix(max(target.maxStepsPerRequest, 1)))
    course.waiting.removeFirst(steps.count)
    let maker = steps.firstIndex { $0.isParent && $0.record.makesRecord }
    guard maker != nil || course.parentId != nil || steps.allSatisfy({ !$0.isLinked }) else {
      // The parent could not be made, so its children have nowhere to go.
      try await refuse(steps)
      return
    }
    let composite = steps.map { step in
      var link: CompositeStep.Link?
      if step.isLinked {
        let source = maker.map { CompositeStep.Link.Source.step($0) } ?? .id(course.parentId ?? "")
        link = CompositeStep.Link(field: plan.link.field, source: source)
      }
      return CompositeStep(record: step.record, link: link)
    }
    var context = run.context
    context.completesBatch = true
    try await markInFlight(steps)
    let outcomes: [SyncUpOutcome]
    do {
      outcomes = try await target.send(steps: composite, in: context)
    } catch {
      for isParent in [true, false] {
        try await plan.run(isParent: isParent).applyFailure(
          error, of: steps.filter { $0.isParent == isParent }.map(\.record))
      }
      throw error
    }
    let isParentLost = await isParentGone(steps, outcomes, course, target)
    try await applyResults(
      steps, verdict(steps, outcomes, course, isParentLost: isParentLost), &course, entryId, target)
  }

  /// Whether the parent is what the server misses when it refuses children.
  ///
  /// It says the same if another lookup of a child leads to a deleted record, and a parent that is there
  /// must not be made a second time.
  private func isParentGone(
    _ steps: [TreeWork.Step], _ outcomes: [SyncUpOutcome], _ course: Course,
    _ target: some TreeSyncUpTarget
  ) async -> Bool {
    let isRefused = zip(steps, outcomes).contains { step, outcome in
      step.isLinked && Self.saysParentIsGone(outcome)
    }
    guard isRefused, course.parentRetries > 0, !course.sent.accepted.contains(where: \.isParent)
    else {
      return false
    }
    switch zip(steps, outcomes).first(where: \.0.isParent)?.1 {
    // Where it is not created again, its own conflict is decided first.
    case .gone: return plan.parents.mayRecreate
    case .succeeded: return false
    default: break
    }
    guard let id = course.parentId else { return false }
    // If the server cannot say, the children stay as they are for the next run.
    return (try? await target.remoteDates(ofTreeWithParent: id, in: run.context))?.parent == .gone
  }

  /// What the responses mean for the rest of the tree.
  private struct Verdict {
    var acknowledged: [(step: TreeWork.Step, effect: SyncUpEffect)] = []
    var isParentLost = false
    var lostChildren: [TreeWork.Step] = []
    /// The entries, parents' and children's, whose records are gone on the server.
    var deletedThere: Set<Int64> = []
    /// The children that cannot be sent, since their parent is gone on the server.
    var withoutParent: Set<Int64> = []
  }

  private func verdict(
    _ steps: [TreeWork.Step], _ outcomes: [SyncUpOutcome], _ course: Course, isParentLost: Bool
  ) -> Verdict {
    var verdict = Verdict()
    for (index, step) in steps.enumerated() {
      let outcome = index < outcomes.count ? outcomes[index] : .unanswered
      let retries = step.isParent ? course.parentRetries : course.childRetries
      if step.isLinked, Self.saysParentIsGone(outcome), case .rejected(let error) = outcome {
        // The parent's entry decides: it is created again, or left as it is for the next sync down.
        if isParentLost, plan.parents.mayRecreate {
          verdict.isParentLost = true
        } else if isParentLost {
          verdict.acknowledged.append((step, .conflict))
          verdict.withoutParent.insert(step.record.entryId)
        } else {
          verdict.acknowledged.append(
            (step, mode == .leaveIfChanged ? .conflict : .keepError(error)))
        }
        continue
      }
      if case .gone(let error) = outcome, step.record.action == .update {
        if !plan.parents.mayRecreate {
          verdict.acknowledged.append((step, plan.parents.merge == nil ? .conflict : .deletedThere))
          verdict.deletedThere.insert(step.record.entryId)
        } else if retries == 0 {
          verdict.acknowledged.append((step, .keepError(error)))
        } else if step.isParent {
          verdict.isParentLost = true
        } else {
          verdict.lostChildren.append(step)
        }
        continue
      }
      verdict.acknowledged.append(
        (step, SyncUpEffect(outcome, of: step.record, mayRecreate: false)))
    }
    return verdict
  }

  private static func saysParentIsGone(_ outcome: SyncUpOutcome) -> Bool {
    guard case .rejected(let error) = outcome else { return false }
    return (error["errorCode"] ?? error["statusCode"])?.string == "ENTITY_IS_DELETED"
  }

  /// Writes the results into the soups and finds out what is left to do.
  private func applyResults(
    _ steps: [TreeWork.Step], _ verdict: Verdict, _ course: inout Course, _ entryId: Int64,
    _ target: some TreeSyncUpTarget
  ) async throws {
    for (step, effect) in verdict.acknowledged {
      guard case .clean(let newId) = effect else { continue }
      let record = step.record.accepted(as: newId)
      course.sent.accepted.append(AcceptedRecord(isParent: step.isParent, record: record))
      if step.isParent { course.parentId = record.id }
    }
    var waiting = course.waiting
    if !verdict.isParentLost, !verdict.lostChildren.isEmpty {
      course.childRetries -= 1
      waiting =
        try await notReplaced(
          notUnited(verdict.lostChildren, &course.sent), target
        ).map { step in
          TreeWork.Step(
            isParent: false, record: step.record.recreated(with: plan.rules.child),
            isLinked: step.isLinked)
        } + waiting
    }
    let effect = TreeEffectWriter(plan: plan, time: run.now(), tree: course.tree)
    let written = try await effect.write(verdict.acknowledged, waiting: waiting)
    if mode == .leaveIfChanged {
      try await note(
        conflictsOf: verdict.acknowledged.filter {
          !verdict.withoutParent.contains($0.step.record.entryId)
        }, verdict.deletedThere, &course.conflicts)
    }
    if let parent = course.tree?.parent {
      try await keep(
        missing: parent,
        of: verdict.acknowledged.map(\.step.record).filter {
          verdict.withoutParent.contains($0.entryId)
        })
    }
    written.outcomes.forEach(run.reportOutcome)
    course.waiting = written.waiting
    course.sent.note(written)
    if verdict.isParentLost { try await beginAgain(&course, entryId, target) }
  }

  /// The server has lost the parent: everything that is not on it by now is uploaded again. Where another record stands
  /// in the place of a parent without edits, the children go there.
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
        try await TreeEffectWriter(plan: plan, time: run.now())
          .replace(replaced, ofTree: entryId)
      }
    guard let tree = try await tree(parentId) else { return }
    let isLost = united == nil && !replaced.parents.contains { $0.id == id(of: tree) }
    var work =
      try isLost
      ? TreeWork(lost: tree, keeping: Set(replaced.children.map(\.id)), plan.rules)
      : TreeWork(tree, plan.rules)
    if course.sent.parentsInConflict.contains(parentId) {
      return try await completeLocally(held: work, .conflict)
    }
    _ = try await completeLocally(work, tree)
    try await completeLocally(waiting: work.takeWaiting(plan))
    if !work.steps.contains(where: { $0.isParent && $0.record.makesRecord }) {
      course.parentId = id(of: tree)
    }
    course.waiting = work.steps
  }

  /// Remembers what has to be searched on the server if no response comes.
  private func markInFlight(_ steps: [TreeWork.Step]) async throws {
    let time = run.now()
    let marks = steps.filter { run.needsMark($0.record) }.map { step in
      (record: step.record, outcome: plan.outcome(of: step, .inFlight, id: step.record.id, time))
    }
    if marks.isEmpty { return }
    try await run.learnServerTime(before: marks.map(\.record))
    try await store.inTransaction { transaction in
      try run.save(marks, in: transaction)
    }
  }
}

extension TreeSender.Sent {
  /// Follows entries to those that they have become one with.
  fileprivate mutating func note(_ written: TreeEffectWriter.Written) {
    for index in accepted.indices {
      let survivors = written.united(isParent: accepted[index].isParent).survivors
      accepted[index].record = accepted[index].record.moved(
        to: survivors[accepted[index].record.entryId])
    }
    parentsInConflict.formUnion(written.unitedParents.inConflict)
    childrenInConflict.formUnion(written.unitedChildren.inConflict)
  }
}

extension TreeUpRun.Plan {
  /// What became of a record of the tree.
  func outcome(
    of step: TreeWork.Step, _ kind: SyncRecordOutcome.Kind, id: String?, _ time: Int64,
    error: JSONValue? = nil, hasAction: Bool = true
  ) -> SyncRecordOutcome {
    let context = run(isParent: step.isParent).context
    return SyncRecordOutcome(
      syncId: context.syncId, soupName: context.soupName, entryId: step.record.entryId,
      recordId: id, action: hasAction ? step.record.action : nil, kind: kind, time: time,
      error: error)
  }
}

extension TreeWork {
  /// Removes the steps that have to wait for records that were not uploaded, and returns them; the
  /// others leave out the fields that are to go later. Without a parent that is to be made, its children
  /// have nowhere to go.
  mutating func takeWaiting(_ plan: TreeUpRun.Plan) -> [Step] {
    var waiting: [Step] = []
    var sent: [Step] = []
    for step in steps {
      let waitsForParent =
        step.isLinked && waiting.contains { $0.isParent && $0.record.makesRecord }
      let part = plan.part(isParent: step.isParent)
      if !waitsForParent,
        let record = plan.run(isParent: step.isParent).sendable(step.record, part)
      {
        sent.append(Step(isParent: step.isParent, record: record, isLinked: step.isLinked))
      } else {
        waiting.append(step)
      }
    }
    steps = sent
    return waiting
  }
}
