import SalesforceSDKCommon
import SmartStore

// Other entries of the soup that have the same external id.
extension ExternalIdRecovery {
  /// Unites entries that were created locally with entries of the soup that have a record with the
  /// same external id, so that neither overwrites the other on the server.
  ///
  /// An entry that was sent and not acknowledged is compared with all entries, and so is every one in the modes that
  /// compare, if the external id is indexed. Else the server's upsert decides, and an entry that was edited locally is
  /// compared.
  func unite() async throws {
    guard let field = scope.fields.externalIdField, scope.hasIdIndex else { return }
    var created: [(entryId: Int64, value: String, isDeleted: Bool)] = []
    var ids: [String: Set<String>] = [:]
    try await scope.soup.forEachDirty(in: scope.store) { entryId, entry in
      guard let value = scope.fields.externalId(of: entry)?.value else { return }
      let flags = RecordFlags(of: entry)
      let id = entry[scope.fields.idField]?.string
      if flags.created || id.map(SyncKeys.isLocalId) ?? true {
        created.append((entryId, value, flags.deleted))
      } else if let id {
        ids[value, default: []].insert(id)
      }
    }
    if created.isEmpty { return }
    let store = OutcomeStore(store: scope.store)
    let marks = try await store.lost(.upsert, in: scope.context.soupName)
    // The server never had what was created and deleted between two runs.
    created.removeAll { $0.isDeleted && marks[$0.entryId] == nil }
    let isIndexed = try await scope.soup.indexedPaths(in: scope.store).contains(field)
    let compared = created.filter {
      marks[$0.entryId] != nil || (isIndexed && scope.context.mergeMode != .overwrite)
    }.map(\.value)
    let own = Set(created.map(\.entryId))
    for known in try await known(compared, field) where !own.contains(known.entryId) {
      ids[known.value, default: []].insert(known.id)
    }
    let found = created.compactMap { entryId, value, _ -> EntryAdoption.Found? in
      // Of two records with one external id the server knows which one is meant.
      guard let known = ids[value], known.count == 1, let id = known.first else { return nil }
      return EntryAdoption.Found(
        entryId: entryId, id: id, origin: marks[entryId].map { .sent($0) } ?? .nothing,
        fields: scope.fields.all)
    }
    if found.isEmpty { return }
    let adoption = EntryAdoption(union: scope.union)
    try await scope.store.inTransaction { transaction in
      _ = try adoption.adopt(found, in: transaction)
    }
  }

  /// The results for entries whose records are gone on the server.
  struct UnitedLost {
    /// The entries of the others' records that they are now, by the entries that they were.
    var entries: [Int64: Int64] = [:]
    /// The entries that wait for a decision.
    var inConflict: Set<Int64> = []
  }

  /// Makes entries whose records no longer exist represent the records that other entries of the
  /// soup have under the same external ids. If such an entry were created again, it would overwrite
  /// the values of those entries, including edits.
  ///
  /// Costs one query of the store if there are external ids.
  ///
  /// - Parameters:
  ///   - lost: Records that are to be created again.
  ///   - accepted: The entries that the server has accepted in this run.
  func uniteLost(
    _ lost: [SyncUpRecord], accepted: Set<Int64>
  ) async throws -> UnitedLost {
    let byValue = Dictionary(
      lost.filter(\.hasServersId).compactMap { record in
        record.externalId.map { ($0.value, record) }
      }, uniquingKeysWith: { first, _ in first })
    guard let field = scope.fields.externalIdField, scope.hasIdIndex, !byValue.isEmpty else {
      return UnitedLost()
    }
    let own = Set(lost.map(\.entryId))
    var ids: [String: Set<String>] = [:]
    for known in try await known(Array(byValue.keys), field)
    where !own.contains(known.entryId) {
      ids[known.value, default: []].insert(known.id)
    }
    let bases = try await scope.store.read { reader in
      try BaseVersionStore(soupName: scope.context.soupName).bases(
        of: lost.compactMap(\.id), in: reader)
    }
    let found = byValue.compactMap { value, record -> EntryAdoption.Found? in
      // Of two records with one external id the server knows which one is meant.
      guard let old = record.id, let others = ids[value], others.count == 1, let id = others.first,
        id != old
      else { return nil }
      return EntryAdoption.Found(
        entryId: record.entryId, id: id, origin: .lost(id: old, base: bases[old] ?? [:]),
        fields: scope.fields.all)
    }
    if found.isEmpty { return UnitedLost() }
    let adoption = EntryAdoption(union: scope.union)
    let united = try await scope.store.inTransaction { transaction in
      try adoption.adopt(found, accepted: accepted, in: transaction)
    }
    return UnitedLost(
      entries: Dictionary(
        found.map { ($0.entryId, united.survivors[$0.entryId] ?? $0.entryId) },
        uniquingKeysWith: { first, _ in first }), inConflict: united.inConflict)
  }

  /// The entries with a server id that have one of `values` in the external id field.
  private func known(
    _ values: [String], _ field: String
  ) async throws -> [(entryId: Int64, value: String, id: String)] {
    if values.isEmpty { return [] }
    let soup = scope.context.soupName
    return try await scope.store.read { reader in
      try reader.rows(among: Set(values).sorted()) { list in
        "SELECT {\(soup):\(SyncKeys.soupEntryId)}, {\(soup):\(field)}, "
          + "{\(soup):\(scope.fields.idField)} FROM {\(soup)} WHERE {\(soup):\(field)} IN \(list)"
      }
    }.compactMap { row in
      guard let entryId = row[0]?.int64, let value = row[1]?.string, let id = row[2]?.string,
        !id.isEmpty, !SyncKeys.isLocalId(id)
      else { return nil }
      return (entryId, value, id)
    }
  }
}
