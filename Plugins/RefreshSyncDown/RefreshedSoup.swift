import MobileSync
import SalesforceSDKCommon
import SmartStore

/// The soup whose records are refreshed, as far as the server can know them.
struct RefreshedSoup: Sendable {
  let soupName: String
  let names: SyncFieldNames

  /// A record's id and its modification date in milliseconds since 1970; -1 if it has none, or if
  /// dates are not wanted.
  struct Known: Sendable {
    let id: String
    let date: Int64
  }

  private var id: String { "{\(soupName):\(names.id)}" }
  /// Everything but ids that were created locally.
  private var isOnServer: String {
    "\(id) > ? AND (\(id) < '\(SyncKeys.localIdPrefix)' OR \(id) >= '\(Self.afterLocalIds)')"
  }
  /// The text after all texts that begin with the prefix of local ids: its last character raised by
  /// one.
  private static var afterLocalIds: String {
    var text = SyncKeys.localIdPrefix.unicodeScalars
    if let last = text.popLast(), let next = Unicode.Scalar(last.value + 1) { text.append(next) }
    return String(text)
  }

  /// The number of records that the server may have.
  func count(in store: SmartStore) async throws -> Int {
    let spec = try QuerySpec.buildSmartQuerySpec(
      smartSql: "SELECT count(*) FROM {\(soupName)} WHERE \(isOnServer)", pageSize: 1)
    let rows = try await store.read { reader in
      try reader.query(using: spec, startingFromPageIndex: 0, whereArgs: [.string("")])
    }
    return rows.first?[0]?.int64.map(Int.init(clamping:)) ?? 0
  }

  /// The records with the smallest ids behind `lastId`, by id.
  func records(
    after lastId: String, count: Int, withDates: Bool, in store: SmartStore
  ) async throws -> [Known] {
    let columns = withDates ? "\(id), {\(soupName):_soup}" : id
    let spec = try QuerySpec.buildSmartQuerySpec(
      smartSql: "SELECT \(columns) FROM {\(soupName)} WHERE \(isOnServer) ORDER BY \(id)",
      pageSize: count)
    let rows = try await store.read { reader in
      try reader.query(using: spec, startingFromPageIndex: 0, whereArgs: [.string(lastId)])
    }
    return rows.compactMap { row in
      guard let id = row[0]?.string else { return nil }
      let date = row[1]?[names.modificationDate]?.string.flatMap(SalesforceDate.parse)
      return Known(id: id, date: date?.milliseconds ?? -1)
    }
  }
}
