import SalesforceSDKCommon
public import SmartStore
import Synchronization

/// A record of the server that has several entries in a soup.
public struct DoubledRecord: Sendable, Hashable {
  /// The soup.
  public let soupName: String
  /// The field with the server's ids, according to the soup's syncs.
  public let idField: String
  /// The entries, by ascending entry id; the next sync of the soup unites them.
  public let entryIds: [Int64]
}

extension SmartStore {
  /// Returns the records that have several entries in a soup of a sync, by soup.
  ///
  /// Each soup is read once, from the index of its id field. Soups without a sync, and soups
  /// without that index, are omitted.
  ///
  /// - Parameter registry: The targets that syncs of this store may name; they define which soups a
  ///   sync fills.
  /// - Throws: ``SyncError`` `store`.
  public func doubledRecords(registry: SyncTargetRegistry) async throws -> [DoubledRecord] {
    let uses = SoupSyncIndex(try await syncs(), registry)
    return try await SyncManager.storeErrors {
      var found: [DoubledRecord] = []
      for soup in uses.soups {
        guard try await soupExists(forName: soup.soupName),
          try await soup.indexedPaths(in: self).contains(soup.idField)
        else { continue }
        let doubles = try await read { reader in try soup.doubles(in: reader) }
        found += doubles.map { entryIds in
          DoubledRecord(soupName: soup.soupName, idField: soup.names.id, entryIds: entryIds)
        }
      }
      return found
    }
  }
}

/// A search for records with several entries in a soup, which are united before a run uses the
/// soup.
///
/// A soup is searched when a process uses it first, and again whenever it has new entries: searching reads the index of
/// its ids, and a soup of 100,000 entries takes some hundredths of a second.
final class DoubleSearch: Sendable {
  /// The newest entry that each soup had when it was searched, and whether ids of other forms were left.
  private let searched = Mutex<[String: (newest: Int64, hasOtherForms: Bool)]>([:])

  /// Whether a soup had ids in other forms when it was searched last; true before that.
  func mayHaveOtherForms(_ soupName: String) -> Bool {
    searched.withLock { $0[soupName]?.hasOtherForms } ?? true
  }

  /// Unites what is to be united in a soup.
  func unite(_ union: EntryUnion, in store: SmartStore) async throws {
    let records = SyncSoup(soupName: union.soupName, names: union.names)
    let newest = try await store.read { reader in try records.newestEntryId(in: reader) }
    let known = searched.withLock { $0[union.soupName] }
    if known?.newest == newest { return }
    var hasOtherForms = false
    if try await records.indexedPaths(in: store).contains(records.idField) {
      let ids = try await store.read { reader in try records.doubledIds(in: reader) }
      for start in stride(from: 0, to: ids.count, by: SyncLimits.recordsPerRead) {
        let slice = ids[start..<min(start + SyncLimits.recordsPerRead, ids.count)]
        hasOtherForms = hasOtherForms || slice.contains(where: EntryUnion.isOtherForm)
        try await store.inTransaction { transaction in
          try union.unite(slice, in: transaction)
        }
      }
    }
    let found = hasOtherForms
    searched.withLock { $0[union.soupName] = (newest, found) }
  }
}

extension SyncSoup {
  /// The ids that several entries have, and those that may represent the record of another entry: as
  /// ``EntryUnion/isOtherForm(_:)`` finds them.
  func doubledIds(in reader: borrowing some StoreReading & ~Copyable) throws -> [String] {
    let id = "{\(soupName):\(idField)}"
    return try reader.rows(
      "SELECT \(id), count(*) FROM {\(soupName)} WHERE \(id) > '' GROUP BY \(id) "
        + "HAVING count(*) > 1 OR length(\(id)) = 15 "
        + "OR (length(\(id)) = 18 AND substr(\(id), 16) <> upper(substr(\(id), 16)))", [],
      limit: nil
    ).compactMap { row in row[0]?.string }.filter { !SyncKeys.isLocalId($0) }
  }

  /// The entry ids of records with several entries.
  func doubles(in reader: borrowing some StoreReading & ~Copyable) throws -> [[Int64]] {
    let ids = Set(try doubledIds(in: reader).flatMap(EntryUnion.forms))
    var groups: [String: [Int64]] = [:]
    for (id, entryId) in try entries(withIds: ids.sorted(), in: reader) {
      groups[EntryUnion.forms(of: id)[0], default: []].append(entryId)
    }
    return groups.values.filter { $0.count > 1 }.sorted { $0[0] < $1[0] }
  }
}
