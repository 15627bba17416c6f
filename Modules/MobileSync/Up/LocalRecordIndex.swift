import SalesforceSDKCommon
import SmartStore

/// The records of a store that the server does not have, and the entries that refer to them, in all its soups.
///
/// Soups without an index on `__local__` cannot be synced up and are ignored.
struct LocalRecordIndex: Sendable {
  /// The soups with the names of their id fields.
  private let soups: [SyncSoup]

  /// Creates the index for the existing soups.
  init(_ store: SmartStore, _ uses: SoupSyncIndex) async throws {
    var soups: [SyncSoup] = []
    for name in try await store.allSoupNames() where !MetadataSoup.isOwn(name) {
      let idField = uses.idField(of: name)
      let records = SyncSoup(soupName: name, idField: idField)
      let indexed = try await records.indexedPaths(in: store)
      if indexed.contains(SyncKeys.local), indexed.contains(idField) { soups.append(records) }
    }
    self.soups = soups
  }

  /// An entry of one of the soups.
  struct Place: Sendable, Hashable {
    let soupName: String
    let entryId: Int64
  }

  /// The dirty entries that refer to records by ids which the server does not have, by id.
  func references(
    in store: SmartStore, _ wanted: LocalIdIndex.Wanted
  ) async throws -> [String: [Place]] {
    var references: [String: [Place]] = [:]
    for soup in soups {
      try await soup.forEachDirty(in: store) { entryId, entry in
        for id in LocalIdIndex.references(in: entry, idField: soup.idField, wanted) {
          references[id, default: []].append(Place(soupName: soup.soupName, entryId: entryId))
        }
      }
    }
    return references
  }

  /// The ids in `ids` of records that are not uploaded yet, with their soups.
  func unsent(
    _ ids: Set<String>, in store: SmartStore
  ) async throws -> [String: String] {
    if ids.isEmpty { return [:] }
    return try await store.read { reader in
      var unsent: [String: String] = [:]
      for soup in soups {
        for id in try soup.dirty(
          with: soup.idField, among: ids.sorted(), in: reader
        ).compactMap(\.id) {
          unsent[id] = soup.soupName
        }
      }
      return unsent
    }
  }

  /// Replaces ids that the server does not have with its ids, in the given entries as they are now.
  ///
  /// A reference to a lost record that was not set here stays.
  func rewrite(
    _ places: some Sequence<Place>, with ids: [String: String],
    in transaction: borrowing StoreTransaction
  ) throws {
    for (soupName, group) in Dictionary(grouping: Set(places), by: \.soupName) {
      guard let soup = soups.first(where: { $0.soupName == soupName }) else { continue }
      let entries = try transaction.entries(group.map(\.entryId), of: soupName).map(\.record)
      try LocalIdIndex.rewrite(
        entries, of: soupName, idField: soup.idField, with: ids, in: transaction)
    }
  }

  /// The soups of the records that the dirty records of `soupName` refer to.
  func soupsReferred(
    from soupName: String, in store: SmartStore
  ) async throws -> Set<String> {
    guard let soup = soups.first(where: { $0.soupName == soupName }) else { return [] }
    var ids: Set<String> = []
    try await soup.forEachDirty(in: store) { _, entry in
      ids.formUnion(LocalIdIndex.references(in: entry, idField: soup.idField))
    }
    return Set(try await unsent(ids, in: store).values).subtracting([soupName])
  }
}
