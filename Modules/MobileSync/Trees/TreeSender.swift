import SalesforceSDKCommon
import SmartStore

/// Sends one tree, request by request.
struct TreeSender: Sendable {
  let plan: TreePlan
  /// The records that the server has accepted earlier in this run.
  var acceptedBefore = AcceptedEntries()

  /// The scope of the trees' parents, by which trees go.
  var scope: SyncUpScope { plan.scopes.parents }
  var mode: SyncMergeMode { plan.mode }
  var store: SmartStore { plan.store }
  var conflictStore: TreeConflictStore { TreeConflictStore(plan: plan) }

  /// A record that the server has accepted.
  struct AcceptedRecord {
    let level: TreeLevel
    var record: SyncUpRecord
  }

  /// The entries of records that the server has accepted.
  struct AcceptedEntries: Sendable {
    private(set) var ids = PerLevel<Set<Int64>>(parents: [], children: [])

    mutating func add(_ records: [AcceptedRecord]) {
      for accepted in records { ids[accepted.level].insert(accepted.record.entryId) }
    }
  }

  /// The result of sending a tree.
  struct Sent {
    var accepted: [AcceptedRecord] = []
    /// Entries that became one with others and wait for a decision.
    var inConflict = PerLevel<Set<Int64>>(parents: [], children: [])
  }

  /// The remaining work for a tree.
  struct Course {
    /// The tree; nil for records that belong to none.
    let tree: LocalTree?
    /// The id that children are given.
    var parentId: String?
    var waiting: [TreeWork.Step]
    /// The number of times that a lost parent, and lost children, may still be created again.
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
    let arrived = try await completeLocally(recoveredOf: tree)
    var work = try await narrowed(TreeWork(tree, plan.rules))
    if work.isEmpty {
      if !arrived { try await completeLocally(withoutWork: entryId) }
      return Sent()
    }
    var reason = plan.reasonToHold(tree)
    if reason == nil, mode == .leaveIfChanged {
      reason = try await TreeCheck(plan: plan).check(tree, on: target, noting: &conflicts)
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
    try await completeLocally(leftOut: work.takeLeftOut())
    try await completeLocally(waiting: work.takeWaiting(plan))
    var course = Course(tree: tree, parentId: id(of: tree), waiting: work.steps)
    if work.steps.first(where: { $0.level == .parents })?.record.makesRecord == true {
      course.parentId = nil
    }
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
    try await completeLocally(leftOut: work.takeLeftOut())
    try await completeLocally(waiting: work.takeWaiting(plan))
    var accepted: [SyncUpRecord] = []
    let size = max(target.maxStepsPerRequest, 1)
    for start in stride(from: 0, to: work.steps.count, by: size) {
      try scope.context.checkStop()
      var course = Course(
        tree: nil, waiting: Array(work.steps[start..<min(start + size, work.steps.count)]))
      while !course.waiting.isEmpty { try await sendNext(&course, -1, target) }
      conflicts.formUnion(course.conflicts)
      accepted += course.sent.accepted.map(\.record)
    }
    return accepted
  }

  /// Removes a parent that the server never had, after its children are gone on the server; if a
  /// child is left, the parent stays for the next run.
  private func removeLast(_ parent: TreeWork.LocalStep) async throws {
    guard let tree = try await tree(parent.entryId) else { return }
    let work = TreeWork(tree, plan.rules)
    if work.removedLast != nil {
      try await completeLocally(
        waiting: [
          SyncRecordOutcome(
            syncId: scope.context.syncId, soupName: scope.context.soupName, entryId: parent.entryId,
            recordId: parent.id, action: nil, kind: .waiting, time: scope.now())
        ])
    } else if work.steps.isEmpty {
      _ = try await completeLocally(work, tree)
    }
  }

  /// The tree with the server's ids in place of local ones, as far as they are known by now.
  private func resolvedTree(_ entryId: Int64) async throws -> LocalTree? {
    let tree = try await tree(entryId)
    guard let tree, plan.references.parents != nil else { return tree }
    let parents = try await plan.scopes.parents.resolved([tree.parent])
    let children = try await plan.scopes.children.resolved(tree.children)
    return parents.first.map { LocalTree(parent: $0, children: children) }
  }

  func tree(_ entryId: Int64) async throws -> LocalTree? {
    try await store.read { reader in try plan.tree(entryId, in: reader) }
  }

  func id(of tree: LocalTree) -> String? {
    tree.parent.record[plan.rules.fields.parents.idField]?.string
  }

  /// Returns the work with the edits that it leaves out, without the links that did not change here, and in mode
  /// ``SyncMergeMode/mergeFields`` with only the fields that differ from the base versions.
  func narrowed(_ work: TreeWork) async throws -> TreeWork {
    func entries(_ level: TreeLevel) -> [(id: Int64, record: JSONSlice)] {
      work.steps.filter { $0.level == level && $0.record.action != .delete }
        .map { ($0.record.entryId, $0.record.record) }
    }
    let parents = try await plan.scopes.parents.known(of: entries(.parents))
    let children = try await plan.scopes.children.known(of: entries(.children))
    let makesParent = work.steps.contains { $0.level == .parents && $0.record.makesRecord }
    var work = work
    work.steps = work.steps.map { step in
      let known = step.level == .parents ? parents : children
      let isUpdate = step.record.action == .update
      let base = isUpdate ? step.record.id.flatMap { known.bases[$0] } : nil
      let edits = known.edits[step.record.entryId]
      var step = step
      step.record.recovered = plan.recovered[step.level].actions[step.record.entryId]
      if RecordFlags(of: step.record.record).local {
        step.record = step.record.noting(
          edits, base: base, plan.scopes[step.level].fields.names,
          besides: step.level == .children ? plan.rules.link.field : nil)
      }
      if isUpdate, step.level == .children, !makesParent,
        isLinkKept(step.record.record, base)
      {
        step.isLinked = false
        step.record.fieldNames.removeAll { $0 == plan.rules.link.field }
      }
      if plan.scopes.parents.merge != nil, let base {
        step.record = step.record.changed(from: base)
      } else if isUpdate, let edits {
        step.record = step.record.leavingOut(sent: edits.sent)
      }
      return step
    }
    return work
  }

  /// Whether a child is known to refer to the same parent as on the server: most masters cannot be exchanged, and the
  /// server refuses their fields even with the value that it has.
  private func isLinkKept(_ child: JSONSlice, _ base: JSONObject?) -> Bool {
    let field = plan.rules.link.field
    return base?[field].map { ServerEquality.same(child[field]?.value, $0) } ?? false
  }

  // MARK: Requests

  /// Sends as many of the waiting records as go with one request.
  private func sendNext(
    _ course: inout Course, _ entryId: Int64, _ target: some TreeSyncUpTarget
  ) async throws {
    var steps = Array(course.waiting.prefix(max(target.maxStepsPerRequest, 1)))
    course.waiting.removeFirst(steps.count)
    let maker = steps.firstIndex { $0.level == .parents && $0.record.makesRecord }
    guard maker != nil || course.parentId != nil || steps.allSatisfy({ !$0.isLinked }) else {
      // The parent could not be made, so its children have nowhere to go.
      try await refuse(steps)
      return
    }
    let composite = steps.map { step in
      var link: CompositeStep.Link?
      if step.isLinked {
        let source = maker.map { CompositeStep.Link.Source.step($0) } ?? .id(course.parentId ?? "")
        link = CompositeStep.Link(field: plan.rules.link.field, source: source)
      }
      return CompositeStep(record: step.record, link: link)
    }
    var context = scope.context
    context.completesBatch = true
    try await markInFlight(steps)
    var outcomes: [SyncUpOutcome]
    let start = scope.context.serverClock.instant()
    let processed = context.processed.value
    do {
      outcomes = try await target.send(steps: composite, in: context)
    } catch {
      for level in TreeLevel.allCases {
        try await RequestMarks(scope: plan.scopes[level]).fail(
          steps.filter { $0.level == level }.map(\.record), error, sent: start,
          isFirst: context.processed.value == processed)
      }
      throw error
    }
    let kept = try await linksThatStay(steps, outcomes, target)
    if !kept.isEmpty {
      let again = steps.indices.filter(kept.contains).map { index in
        var step = steps[index]
        step.isLinked = false
        step.record.fieldNames.removeAll { $0 == plan.rules.link.field }
        return step
      }
      course.waiting = again + course.waiting
      outcomes = outcomes.indices.filter { !kept.contains($0) }.map { outcomes[$0] }
      steps = steps.indices.filter { !kept.contains($0) }.map { steps[$0] }
    }
    try await refuseExisting(steps, &outcomes, target)
    let isParentLost = await isParentGone(steps, outcomes, course, target)
    let results = try await self.results(steps, outcomes, course, isParentLost: isParentLost)
    try await applyResults(
      steps, results, &course, entryId, target)
  }

  /// Marks the records to search for on the server if no response arrives.
  private func markInFlight(_ steps: [TreeWork.Step]) async throws {
    let time = scope.now()
    let requestMarks = RequestMarks(scope: scope)
    let marks = steps.filter { requestMarks.isNeeded($0.record) }.map { step in
      (record: step.record, outcome: plan.outcome(of: step, .inFlight, id: step.record.id, time))
    }
    if marks.isEmpty { return }
    try await requestMarks.learnServerTime(before: marks.map(\.record))
    try await store.inTransaction { transaction in
      try requestMarks.save(marks, ending: .unknown, in: transaction)
    }
  }
}

extension TreeWork {
  /// Removes the steps of records of which the sync sends nothing that was edited, and returns them.
  mutating func takeLeftOut() -> [Step] {
    func isLeftOut(_ step: Step) -> Bool {
      step.record.action == .update && !step.isLinked && !step.record.otherEdits.isEmpty
        && step.record.values.isEmpty
    }
    defer { steps.removeAll(where: isLeftOut) }
    return steps.filter(isLeftOut)
  }

  /// Removes the steps that have to wait for records that were not uploaded, and returns them; the
  /// others leave out the fields that are to go later. If a parent to create has to wait, its
  /// children wait, too.
  mutating func takeWaiting(_ plan: TreePlan) -> [Step] {
    var waiting: [Step] = []
    var sent: [Step] = []
    for step in steps {
      let waitsForParent =
        step.isLinked && waiting.contains { $0.level == .parents && $0.record.makesRecord }
      if !waitsForParent, let record = plan.sendable(step.record, step.level) {
        sent.append(Step(level: step.level, record: record, isLinked: step.isLinked))
      } else {
        waiting.append(step)
      }
    }
    steps = sent
    return waiting
  }
}
