import SalesforceSDKCommon

/// A parent and its children as the soups have them.
struct LocalTree: Sendable {
  /// An entry of a soup.
  typealias Entry = (id: Int64, record: JSONSlice)

  let parent: Entry
  let children: [Entry]
}

/// The actions that a tree needs, decided from its entries alone.
struct TreeWork: Sendable {
  /// A record to send.
  struct Step: Sendable {
    let level: TreeLevel
    var record: SyncUpRecord
    /// Whether the record gets its parent's id.
    var isLinked: Bool
  }

  /// An entry that is completed without the server.
  struct LocalStep: Sendable {
    let level: TreeLevel
    let entryId: Int64
    let id: String?
    var error: JSONValue?
    /// Whether a child is removed because its parent is, and not by its own flags.
    var followsParent = false
  }

  /// The records to send, in order.
  var steps: [Step] = []
  /// Entries that the server never had.
  var removed: [LocalStep] = []
  /// Entries that cannot be sent.
  var refused: [LocalStep] = []
  /// The parent's entry, which is removed when its steps are done.
  var removedLast: LocalStep?

  /// Whether there is nothing to do.
  var isEmpty: Bool {
    steps.isEmpty && removed.isEmpty && refused.isEmpty && removedLast == nil
  }

  /// Work that belongs to no tree.
  init(steps: [Step]) { self.steps = steps }

  /// The work for local changes.
  init(_ tree: LocalTree, _ rules: TreeRules) {
    let decision = Self.decision(tree.parent, rules.fields.parents)
    switch decision {
    case .removeEntry(let id):
      let parent = LocalStep(level: .parents, entryId: tree.parent.id, id: id)
      if rules.deletesChildren {
        // Children that were moved here from elsewhere exist on the server, which never saw this parent.
        let known = tree.children.filter { Self.isKnown($0, rules.fields.children) }
        known.forEach { delete($0, rules.fields.children) }
        guard known.isEmpty else {
          removedLast = parent
          return
        }
        removed.append(parent)
        removed += tree.children.map {
          LocalStep(
            level: .children, entryId: $0.id, id: $0.record[rules.fields.children.idField]?.string,
            followsParent: true)
        }
      } else {
        removed.append(parent)
        add(tree.children, rules, isLinked: false, includingClean: false)
      }
    case .send(let parent) where parent.action == .delete:
      if !rules.deletesChildren {
        add(tree.children, rules, isLinked: false, includingClean: false)
      }
      steps.append(Step(level: .parents, record: parent, isLinked: false))
    case .send(let parent):
      steps.append(Step(level: .parents, record: parent, isLinked: false))
      add(tree.children, rules, isLinked: true, includingClean: parent.makesRecord)
    case .nothing:
      add(tree.children, rules, isLinked: true, includingClean: false)
    case .refuse(let id, let error):
      refused.append(LocalStep(level: .parents, entryId: tree.parent.id, id: id, error: error))
      if !RecordFlags(of: tree.parent.record).created {
        add(tree.children, rules, isLinked: true, includingClean: false)
      }
    }
  }

  /// The work for a tree whose parent the server has lost: the parent is created again, and where the server deletes
  /// children with it, they are, too. Deletions stay deletions.
  ///
  /// The entries themselves stay as they are until the server has accepted something: if the run ends before that, the
  /// next one looks again at what the server has, since the parent may have been restored or replaced by then.
  ///
  /// - Parameter kept: The ids of children that are not lost.
  init(lost tree: LocalTree, keeping kept: Set<String>, _ rules: TreeRules) throws {
    func isLost(_ entry: LocalTree.Entry) -> Bool {
      rules.deletesChildren
        && entry.record[rules.fields.children.idField]?.string.map { !kept.contains($0) } ?? true
    }
    let lost = LocalTree(
      parent: (tree.parent.id, try Self.asLost(tree.parent.record)),
      children: try tree.children.map { entry in
        isLost(entry) ? (entry.id, try Self.asLost(entry.record)) : entry
      })
    self.init(lost, rules)
    let texts = Dictionary(
      tree.children.map { ($0.id, $0.record) }, uniquingKeysWith: { first, _ in first })
    steps = steps.map { step in
      var step = step
      let text = step.level == .parents ? tree.parent.record : texts[step.record.entryId]
      if let text { step.record = step.record.asStored(text) }
      return step
    }
  }

  private static func asLost(_ entry: JSONSlice) throws -> JSONSlice {
    var flags = RecordFlags(of: entry)
    flags.local = true
    flags.created = true
    return try entry.setting(flags.members)
  }

  /// Adds what children need.
  ///
  /// - Parameter includingClean: Whether clean children get their parent's id too.
  private mutating func add(
    _ children: [LocalTree.Entry], _ rules: TreeRules, isLinked: Bool, includingClean: Bool
  ) {
    for entry in children {
      switch Self.decision(entry, rules.fields.children) {
      case .removeEntry(let id):
        removed.append(LocalStep(level: .children, entryId: entry.id, id: id))
      case .send(let child):
        steps.append(
          Step(level: .children, record: child, isLinked: isLinked && child.action != .delete))
      case .nothing:
        // Others may have changed its fields: only the link is sent.
        if includingClean,
          let clean = Self.sending(entry, .update, rules.fields.children, fields: [])
        {
          steps.append(Step(level: .children, record: clean, isLinked: true))
        }
      case .refuse(let id, let error):
        refused.append(LocalStep(level: .children, entryId: entry.id, id: id, error: error))
      }
    }
  }

  /// Whether the server has the record, as far as is known here.
  static func isKnown(_ entry: LocalTree.Entry, _ fields: SyncUpFieldChoice) -> Bool {
    !RecordFlags(of: entry.record).created
      && entry.record[fields.idField]?.string.map { !SyncKeys.isLocalId($0) } ?? false
  }

  /// Adds the deletion of a child, whatever its flags say.
  private mutating func delete(_ entry: LocalTree.Entry, _ fields: SyncUpFieldChoice) {
    if let record = Self.sending(entry, .delete, fields) {
      steps.append(Step(level: .children, record: record, isLinked: false))
    } else {
      refused.append(
        LocalStep(
          level: .children, entryId: entry.id, id: entry.record[fields.idField]?.string,
          error: SyncUpDecision.noObjectType))
    }
  }

  private static func decision(
    _ entry: LocalTree.Entry, _ fields: SyncUpFieldChoice
  ) -> SyncUpDecision {
    guard RecordFlags(of: entry.record).local else { return .nothing }
    return SyncUpDecision(entryId: entry.id, record: entry.record, fields: fields)
  }

  /// An entry as a record to send whatever its flags say; nil without an object type.
  static func sending(
    _ entry: LocalTree.Entry, _ action: SyncUpAction, _ choice: SyncUpFieldChoice,
    fields: [String]? = nil
  ) -> SyncUpRecord? {
    guard let type = entry.record[SyncKeys.attributes]?[SyncKeys.type]?.string, !type.isEmpty else {
      return nil
    }
    return SyncUpRecord(
      entryId: entry.id, record: entry.record, action: action, objectType: type,
      id: entry.record[choice.idField]?.string, fieldNames: fields ?? choice.update,
      externalId: nil,
      unsentFields: [choice.idField, choice.dateField])
  }
}
