package import SalesforceSDKCommon
package import SmartStore

/// The metadata that sync stores about one entry.
package struct InspectedRecord: Sendable {
  /// The base version, as it is stored; nil if none is kept.
  package let base: JSONSlice?
  /// The open conflict.
  package let conflict: SyncConflict?
  /// The outcome of the record in the last sync up that included it.
  package let outcome: SyncRecordOutcome?
}

extension SmartStore {
  /// Returns the metadata that sync stores about an entry.
  ///
  /// - Parameter recordId: The value of the entry's id field; nil if there is none.
  /// - Throws: ``SyncError`` `store`.
  package func inspectedRecord(
    entryId: Int64, recordId: String?, in soupName: String
  ) async throws -> InspectedRecord {
    try await SyncManager.storeErrors {
      try await read { reader in
        let key = "\(soupName)/\(entryId)"
        var base: JSONSlice?
        if let recordId, reader.soupExists(forName: MetadataSoup.bases.name) {
          base = try MetadataSoup.bases.entries(["\(soupName)/\(recordId)"], in: reader)
            .first?.record["base"]
        }
        var conflict: SyncConflict?
        if reader.soupExists(forName: MetadataSoup.conflicts.name) {
          conflict = try ConflictStore.open(in: soupName, reader).first { $0.id == key }
        }
        var outcome: SyncRecordOutcome?
        if reader.soupExists(forName: OutcomeStore.soupName) {
          outcome = try OutcomeStore.outcome(key, in: reader)
        }
        return InspectedRecord(base: base, conflict: conflict, outcome: outcome)
      }
    }
  }

  /// The kinds of the open conflicts among entries of a soup, by entry id.
  ///
  /// - Throws: ``SyncError`` `store`.
  package func conflictKinds(
    of entryIds: [Int64], in soupName: String
  ) async throws -> [Int64: SyncConflict.Kind] {
    try await SyncManager.storeErrors {
      try await read { reader in
        guard reader.soupExists(forName: MetadataSoup.conflicts.name) else { return [:] }
        let stored = try ConflictStore.kinds(of: entryIds, in: soupName, reader)
        if stored.isEmpty { return [:] }
        let open = Set(try ConflictStore.open(in: soupName, reader).map(\.entryId))
        return stored.filter { open.contains($0.key) }
      }
    }
  }
}

/// The sync in whose run a task works, for programs that show requests as they happen.
package struct RunningSync: Sendable {
  /// The store of the sync.
  package let store: SmartStore
  package let id: Int64

  /// Nil outside of a run.
  @TaskLocal package static var current: RunningSync?
}
