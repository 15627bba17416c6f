import MobileSync
import SalesforceSDKCommon
import SmartStore

extension SmartStore {
  /// The names of the soups with the user's data, without the metadata soups of sync.
  func dataSoups() async throws -> [String] {
    try await allSoupNames().filter { !SyncManager.ownsSoup(named: $0) }
  }

  /// The condition of Smart SQL that a record has local changes, in the forms that an index of any type gives the
  /// flag.
  func isDirty(_ soup: String) -> String { "{\(soup):\(SyncKeys.local)} IN ('1', 1, 'true')" }

  /// The numbers of records with local changes that were not uploaded, by soup; soups without any are left out, and
  /// so are soups that cannot be synced up.
  func unsyncedCounts() async throws -> [(soup: String, count: Int)] {
    var counts: [(soup: String, count: Int)] = []
    for soup in try await dataSoups() {
      guard try await indices(forSoupNamed: soup).contains(where: { $0.path == SyncKeys.local })
      else { continue }
      let rows = try await query("SELECT count(*) FROM {\(soup)} WHERE \(isDirty(soup))")
      let count = rows.first?[0]?.int64.map(Int.init(clamping:)) ?? 0
      if count > 0 { counts.append((soup, count)) }
    }
    return counts
  }
}
