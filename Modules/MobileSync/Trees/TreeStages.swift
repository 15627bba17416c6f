import SalesforceSDKCommon
import SmartStore

/// The stages of a sync up that sends parents with their children: a batch is one tree.
struct TreeStages<Target: TreeSyncUpTarget>: SyncUpStages {
  private let target: Target
  private var plan: TreePlan
  private let leavesOutReferences: Bool
  private let fetchesDates: Bool
  /// The conflicts that hold back trees as wholes: those that were open, and those that this run has found.
  private var openConflicts: Set<String> = []
  private var foundConflicts: Set<String> = []
  /// The records that the server has accepted in this run.
  private var acceptedBefore = TreeSender.AcceptedEntries()

  // The batch.
  private var tree: Int64 = -1
  private var accepted: [TreeSender.AcceptedRecord] = []

  init(_ target: Target, _ plan: TreePlan, leavesOutReferences: Bool, fetchesDates: Bool) {
    self.target = target
    self.plan = plan
    self.leavesOutReferences = leavesOutReferences
    self.fetchesDates = fetchesDates
  }

  mutating func list() async throws -> [Int64] {
    let (parents, children) = (plan.scopes.parents.soup, plan.scopes.children.soup)
    try await parents.check(in: plan.store, indexed: [parents.idField, SyncKeys.local])
    try await children.check(
      in: plan.store, indexed: [children.idField, SyncKeys.local, plan.rules.link.field])
    for level in TreeLevel.allCases {
      let scope = plan.scopes[level]
      try await scope.context.doubles.unite(scope.union, in: scope.store)
      try await ExternalIdRecovery(scope: scope).unite()
    }
    try await plan.rules.link.adopt(by: plan.scopes.parents.soup, in: plan.store)
    return try await dirtyTrees()
  }

  mutating func recover(_ ids: [Int64]) async throws {
    for level in TreeLevel.allCases {
      plan.held[level].inDoubt = try await UnacknowledgedCreateRecovery(
        scope: plan.scopes[level], children: level == .parents ? plan.rules.link : nil
      ).recover(on: target, noting: &plan.recovered[level])
    }
    for level in TreeLevel.allCases {
      let scope = plan.scopes[level]
      let dirty =
        scope.fields.fillsExternalId
        ? try await scope.soup.dirtyEntryIds(in: scope.store) : []
      let externalIds = ExternalIdRecovery(scope: scope)
      let filled = try await externalIds.fill(dirty)
      try await externalIds.adopt(from: target, except: filled)
    }
    for level in TreeLevel.allCases {
      let updates = try await UnacknowledgedUpdateRecovery(scope: plan.scopes[level])
        .recover(on: target, noting: &plan.recovered[level])
      plan.held[level].inDoubt.merge(updates) { first, _ in first }
    }
  }

  mutating func checkConflicts(among ids: [Int64]) async throws {
    let found = try await TreeConflictDetection(plan: plan).compare(on: target)
    plan.held = found.held
    plan.comparedDeletions = found.comparedDeletions
    openConflicts = try await TreeConflictStore(plan: plan).ofTrees()
  }

  mutating func order(_ ids: [Int64]) async throws -> [[Int64]]? {
    let order = try await TreeOrder(plan: plan, leavesOutReferences: leavesOutReferences)
      .order(ids)
    guard let order else { return nil }
    plan.references = order.references
    return order.levels
  }

  mutating func cut(from waiting: ArraySlice<Int64>, isLastPass: Bool) async throws -> Int {
    if isLastPass {
      for level in TreeLevel.allCases { plan.references[level]?.beginLastPass() }
    }
    tree = waiting.first ?? -1
    return 1
  }

  mutating func upload() async throws -> SyncUpMachine.Upload {
    let sender = TreeSender(plan: plan, acceptedBefore: acceptedBefore)
    let sent = try await sender.send(treeOf: tree, target, noting: &foundConflicts)
    accepted = sent.accepted
    acceptedBefore.add(accepted)
    for level in TreeLevel.allCases {
      plan.references[level]?.note(accepted.map(\.record))
      plan.held[level].conflicts.formUnion(sent.inConflict[level])
    }
    return SyncUpMachine.Upload(
      incomplete: accepted.contains(where: \.record.isPartial) ? [tree] : [])
  }

  /// A tree whose records were lost is sent again at once: ``upload()`` has done it.
  mutating func recreate() async throws -> SyncUpMachine.Upload { SyncUpMachine.Upload() }

  mutating func complete() async throws {
    guard fetchesDates else { return }
    for level in TreeLevel.allCases {
      try await AcceptedDates(scope: plan.scopes[level]).fetch(
        of: accepted.filter { $0.level == level }.map(\.record), on: target)
    }
  }

  mutating func finish() async throws {
    let detached = try await OrphanUpload(plan: plan).send(on: target, noting: &foundConflicts)
    if fetchesDates {
      try await AcceptedDates(scope: plan.scopes.children).fetch(of: detached, on: target)
    }
    try await TreeConflictStore(plan: plan).end(openConflicts.subtracting(foundConflicts))
  }

  /// The entry ids of parents that are dirty or have a dirty child, ascending.
  private func dirtyTrees() async throws -> [Int64] {
    var ids: [Int64] = []
    while true {
      let after = ids.last ?? -1
      let page = try await plan.store.read { reader in
        try plan.scopes.parents.soup.dirtyTrees(
          children: plan.scopes.children.soup, by: plan.rules.link.field, after: after, in: reader)
      }
      ids += page
      if page.count < SyncLimits.idsPerPage { return ids }
    }
  }
}
