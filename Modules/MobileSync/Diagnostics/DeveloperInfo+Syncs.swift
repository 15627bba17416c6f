import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore

extension DeveloperInfo {
  /// Adds a section with the soups, the syncs and the unsynced work of a store: numbers, states and names, never values of
  /// records.
  ///
  /// - Parameter title: The title of the section. Default: the store's name.
  /// - Parameter countsEntries: Whether to count entries, which reads an index of each soup. Default: true.
  /// - Throws: ``SmartStoreError`` if the store cannot be read.
  public mutating func append(
    syncsOf store: SmartStore, titled title: String? = nil, countsEntries: Bool = true
  ) async throws {
    var rows: [(name: String, value: String)] = []
    for soup in try await store.allSoupNames() where !SyncManager.ownsSoup(named: soup) {
      let indices = try await store.indices(forSoupNamed: soup)
      var parts = ["\(indices.count) indexes"]
      if countsEntries {
        parts.insert("\(try await store.count("SELECT count(*) FROM {\(soup)}")) entries", at: 0)
        if indices.contains(where: { $0.path == SyncKeys.local }) {
          let unsynced = try await store.count(
            "SELECT count(*) FROM {\(soup)} WHERE {\(soup):\(SyncKeys.local)} IN ('1', 1, 'true')")
          parts.append("\(unsynced) unsynced")
        }
      }
      rows.append(("Soup \(soup)", parts.joined(separator: ", ")))
    }
    for sync in try await store.syncs() {
      rows.append(("Sync \(sync.name ?? "\(sync.id)")", Self.text(of: sync)))
    }
    if !rows.isEmpty { rows.append(("Conflicts", "\(try await store.conflicts().count)")) }
    append(section: title ?? "Store \(store.name)", rows)
  }

  private static func text(of sync: SyncState) -> String {
    var parts = [
      "\(sync.type.rawValue) of \(sync.soupName)", sync.status.rawValue, "\(sync.progress) %",
    ]
    if sync.totalSize >= 0 { parts.append("\(sync.totalSize) records") }
    if sync.endTime > 0 { parts.append("ended \(SalesforceDate(milliseconds: sync.endTime).text)") }
    // The message of an error may quote a value.
    if !sync.error.isEmpty { parts.append("with an error") }
    return parts.joined(separator: ", ")
  }
}

extension SmartStore {
  fileprivate func count(_ sql: String) async throws -> Int64 {
    try await query(sql).first?[0]?.int64 ?? 0
  }
}
