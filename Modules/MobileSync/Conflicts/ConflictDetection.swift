import SalesforceSDKCommon
import SmartStore

/// The stage of a sync up that finds the entries which may not be sent, since their records were changed on the server.
///
/// | merge mode | compares | writes |
/// | --- | --- | --- |
/// | ``SyncMergeMode/overwrite`` | nothing | nothing |
/// | ``SyncMergeMode/leaveIfChanged`` | dates and values: ``LeaveIfChangedDetection`` | conflicts |
/// | ``SyncMergeMode/mergeFields`` | values: ``MergeFieldsDetection`` | merged entries, base versions, conflicts |
struct ConflictDetection: Sendable {
  let scope: SyncUpScope

  /// The entries to compare.
  struct Input: Sendable {
    /// Dirty entries.
    let ids: [Int64]
    /// Those of them that are in doubt.
    var inDoubt: [Int64: SyncRecordOutcome] = [:]
    /// Of parents that are deleted locally: their children on the server that were created or changed there, as
    /// ``SyncKeys/treeChildren`` has them, by the parent's id.
    var changedChildren: [String: JSONObject] = [:]
  }

  /// Compares entries with the server's records.
  ///
  /// - Parameter visit: As ``SyncUpScope/forEachGroup(of:visiting:_:)`` passes the entries; not called in mode
  ///   overwrite.
  /// - Returns: The entries that are not sent: those in conflict, and those whose server version is
  ///   unknown.
  func compare(
    _ input: Input, on target: some SyncUpTarget,
    visiting visit: ([Int64], [(id: Int64, record: JSONSlice)]) -> Void = { _, _ in }
  ) async throws -> HeldEntries {
    switch scope.context.mergeMode {
    case .leaveIfChanged:
      try await scope.soup.adoptBases(in: scope.store)
      return try await LeaveIfChangedDetection(scope: scope).compare(
        input, on: target, visiting: visit)
    case .mergeFields:
      guard let merge = scope.merge else { return HeldEntries() }
      return try await MergeFieldsDetection(scope: scope, merge: merge).compare(
        input, on: target, visiting: visit)
    default: return HeldEntries()
    }
  }

  /// The entries of open conflicts, except those that this run's mode resolves. Whether a whole
  /// tree is skipped is decided for each tree.
  func open() async throws -> HeldEntries {
    let conflicts = try await scope.store.read { reader in
      try ConflictStore.open(in: scope.context.soupName, reader)
    }
    var held = HeldEntries()
    for conflict in conflicts {
      if scope.context.mergeMode == .overwrite, conflict.mergeMode == .leaveIfChanged,
        conflict.kind != .inDoubt, conflict.kind != .parentMissing
      {
        held.overruled.insert(conflict.entryId)
      } else if !conflict.isOfTree {
        held.conflicts.insert(conflict.entryId)
      }
    }
    return held
  }
}
