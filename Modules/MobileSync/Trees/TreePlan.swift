import SalesforceSDKCommon
import SmartStore

/// The structure of trees, and the fields to send.
struct TreeRules: Sendable {
  let fields: PerLevel<SyncUpFieldChoice>
  /// The field by which children refer to their parents.
  let link: ChildLink
  /// Whether the server deletes children together with their parent.
  let deletesChildren: Bool

  /// Creates the rules from their parts.
  init(fields: PerLevel<SyncUpFieldChoice>, link: ChildLink, deletesChildren: Bool) {
    self.fields = fields
    self.link = link
    self.deletesChildren = deletesChildren
  }

  /// The rules of a target.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, `noFields`.
  init(_ target: some TreeSyncUpTarget, _ options: SyncOptions) throws(SyncError) {
    guard let link = target.childSoup.parent else {
      throw SyncError(
        .invalidTarget, "The children of the target have no field for the parent's id. Name it.")
    }
    let childFields = target.childFields
    func unlinked(_ list: [String]?) -> [String] { (list ?? []).filter { $0 != link.fieldName } }
    fields = PerLevel(
      parents: try SyncUpFieldChoice(target: target, options: options),
      children: SyncUpFieldChoice(
        create: unlinked(childFields.createFieldlist),
        update: unlinked(childFields.updateFieldlist), names: target.childSoup.names,
        externalIdField: childFields.externalIdFieldName,
        fillsExternalId: childFields.fillsExternalId))
    self.link = ChildLink(soupName: target.childSoup.soupName, field: link.fieldName)
    deletesChildren = target.deletesChildrenWithParent
  }
}

/// The inputs of the stages of a sync up that work on trees, and their results.
struct TreePlan: Sendable {
  let scopes: PerLevel<SyncUpScope>
  let rules: TreeRules
  /// The entries whose records a former run had sent.
  var recovered = PerLevel(parents: RecoveredEntries(), children: RecoveredEntries())
  /// The entries that are not sent.
  var held = PerLevel(parents: HeldEntries(), children: HeldEntries())
  /// The references between records by local ids, apart from their links; nil if there are none.
  var references = PerLevel<UploadReferences?>(parents: nil, children: nil)
  /// The parents whose deletion was compared with what it takes along on the server; nil where each tree is compared
  /// when it is sent, or none is.
  var comparedDeletions: Set<Int64>?

  init(scopes: PerLevel<SyncUpScope>, rules: TreeRules) {
    self.scopes = scopes
    self.rules = rules
  }

  var store: SmartStore { scopes.parents.store }
  var mode: SyncMergeMode { scopes.parents.context.mergeMode }

  /// The writer of results of one level.
  func results(_ level: TreeLevel) -> ResultWriter {
    ResultWriter(
      scope: scopes[level], references: references[level], overruled: held[level].overruled)
  }

  /// Returns the record in the form that can be sent now, as ``UploadReferences/sendable(_:of:)``.
  func sendable(_ record: SyncUpRecord, _ level: TreeLevel) -> SyncUpRecord? {
    guard let references = references[level] else { return record }
    return references.sendable(record, of: scopes[level].soup)
  }

  /// The reason why the tree must not be sent; nil if it may be.
  func reasonToHold(_ tree: LocalTree) -> SyncRecordOutcome.Kind? {
    // A parent that was deleted since the run compared goes with the next run.
    if let comparedDeletions, RecordFlags(of: tree.parent.record).deleted,
      TreeWork.isKnown(tree.parent, rules.fields.parents),
      !comparedDeletions.contains(tree.parent.id)
    {
      return .undecided
    }
    let reasons =
      [held.parents.reason(tree.parent.id)].compactMap(\.self)
      + tree.children.compactMap { held.children.reason($0.id) }
    return reasons.contains(.conflict) ? .conflict : reasons.first
  }

  /// The tree of a parent's entry; nil if there is none.
  func tree(
    _ entryId: Int64, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> LocalTree? {
    guard
      let parent = try reader.entries([entryId], of: scopes.parents.soup.soupName).first
    else { return nil }
    var children: [LocalTree.Entry] = []
    if let id = parent.record[rules.fields.parents.idField]?.string, !id.isEmpty {
      let soup = scopes.children.soup
      let ids = try soup.entryIds(where: rules.link.field, is: id, in: reader)
      children = try reader.entries(ids, of: soup.soupName)
    }
    return LocalTree(parent: parent, children: children)
  }

  /// Removes the children of a parent that no longer exists, with their base versions.
  ///
  /// - Returns: The children as they were.
  @discardableResult
  func removeChildren(
    of id: String, in transaction: borrowing StoreTransaction
  ) throws -> [LocalTree.Entry] {
    let soup = scopes.children.soup
    let entries = try transaction.entries(
      try soup.entryIds(where: rules.link.field, is: id, in: transaction), of: soup.soupName)
    try transaction.remove(entryIds: entries.map(\.id), forSoupNamed: soup.soupName)
    try BaseVersionStore(soupName: soup.soupName).remove(
      entries.compactMap { $0.record[soup.idField]?.string }, in: transaction)
    return entries
  }

  /// The outcome of a record of the tree.
  func outcome(
    of step: TreeWork.Step, _ kind: SyncRecordOutcome.Kind, id: String?, _ time: Int64,
    error: JSONValue? = nil, hasAction: Bool = true
  ) -> SyncRecordOutcome {
    let scope = scopes[step.level]
    return hasAction
      ? scope.outcome(of: step.record, kind, id: id, time, error: error)
      : scope.outcome(of: step.record.entryId, id, kind, time, error: error)
  }
}

/// The field by which children of a soup refer to their parents.
struct ChildLink: Sendable, Hashable {
  let soupName: String
  let field: String

  /// Makes the children of `old` refer to `new`, and changes nothing else in them.
  func rewrite(
    from old: String, to new: String, in transaction: borrowing StoreTransaction
  ) throws {
    let soup = SyncSoup(soupName: soupName, idField: field)
    let entries = try transaction.entries(
      try soup.entryIds(where: field, is: old, in: transaction), of: soupName)
    if entries.isEmpty { return }
    try transaction.upsert(
      slices: entries.map { try $0.record.setting([(field, .string(new))]) }, soup: soupName)
  }
}
