import SalesforceSDKCommon
import SmartStore

/// The application of a decision about a child whose parent is missing to the store.
struct ParentResolution {
  let conflict: SyncConflict
  let entry: JSONSlice

  private var names: SyncFieldNames { conflict.names }

  func apply(
    _ choice: SyncResolution.Choice, in transaction: borrowing StoreTransaction
  ) throws {
    guard let parent = conflict.missingParent else { return }
    switch choice {
    case .detach: try detach(from: parent, in: transaction)
    case .recreateParent: try recreate(parent, in: transaction)
    case .theirs: try dropEdit(in: transaction)
    case .mine, .values, .record, .create:
      throw SyncError(
        .invalidResolution,
        "The parent of \(conflict.id) is missing. Resolve the conflict with detach, recreateParent or theirs."
      )
    }
  }

  private func detach(
    from parent: SyncConflict.MissingParent, in transaction: borrowing StoreTransaction
  ) throws {
    if parent.isRequired {
      throw SyncError(
        .invalidResolution,
        "The server keeps no record of '\(conflict.soupName)' without a parent, so \(conflict.id) cannot be "
          + "detached. Resolve the conflict with recreateParent or theirs.")
    }
    var flags = RecordFlags(of: entry)
    flags.updated = flags.updated || !(flags.created || flags.deleted)
    flags.local = true
    try transaction.upsert(
      slices: [
        try entry.setting(
          flags.members + [(parent.field, .null)], removing: [SyncKeys.lastError])
      ], soup: conflict.soupName)
  }

  /// Flags the parent as one that is to be created, and with it the children that the server has deleted too.
  private func recreate(
    _ parent: SyncConflict.MissingParent, in transaction: borrowing StoreTransaction
  ) throws {
    let parents = SyncSoup(soupName: parent.soupName, idField: parent.names.id)
    let ids = try parents.entryIds(of: [parent.recordId], in: transaction)
    let entries = try transaction.entries(Array(ids.values), of: parent.soupName)
    if entries.isEmpty {
      throw SyncError(
        .invalidResolution,
        "The soup '\(parent.soupName)' has no entry of the parent \(parent.recordId) of \(conflict.id). Resolve the "
          + "conflict with detach or theirs, or give the child another parent.")
    }
    let created = RecordFlags(local: true, created: true, updated: false, deleted: false).members
    try transaction.upsert(
      slices: entries.map { _, entry in
        try entry.setting(created, removing: [SyncKeys.lastError, parent.names.modificationDate])
      }, soup: parent.soupName)
    try BaseVersionStore(soupName: parent.soupName).remove([parent.recordId], in: transaction)
    let children = SyncSoup(soupName: conflict.soupName, idField: names.id)
    let siblings = try transaction.entries(
      try children.entryIds(where: parent.field, is: parent.recordId, in: transaction),
      of: conflict.soupName)
    if parent.isRequired {
      let lost = siblings.filter { !RecordFlags(of: $0.record).deleted }
      try transaction.upsert(
        slices: lost.map { _, entry in
          try entry.setting(created, removing: [SyncKeys.lastError, names.modificationDate])
        }, soup: conflict.soupName)
      try BaseVersionStore(soupName: conflict.soupName).remove(
        lost.compactMap { $0.record[names.id]?.string }, in: transaction)
    }
    let known = try ConflictStore.conflicts(
      of: siblings.map(\.id), in: conflict.soupName, transaction)
    try ConflictStore.remove(
      known.values.filter { $0.missingParent?.recordId == parent.recordId }.map(\.entryId),
      of: conflict.soupName, in: transaction)
  }

  /// Removes a record that the server does not have, and gives another the values that both sides agreed on.
  private func dropEdit(in transaction: borrowing StoreTransaction) throws {
    let store = BaseVersionStore(soupName: conflict.soupName)
    if RecordFlags(of: entry).created || SyncKeys.isLocalId(conflict.recordId) {
      try transaction.remove(entryIds: [conflict.entryId], forSoupNamed: conflict.soupName)
      return try store.remove([conflict.recordId], in: transaction)
    }
    let base = try store.bases(of: [conflict.recordId], in: transaction)[conflict.recordId] ?? [:]
    let values = base.filter { names.isData($0.key) && entry[$0.key] != nil }
      .map { (key: $0.key, value: $0.value) }
    try transaction.upsert(
      slices: [
        try entry.setting(values + RecordFlags.clean.members, removing: [SyncKeys.lastError])
      ], soup: conflict.soupName)
  }
}
