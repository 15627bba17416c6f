import MobileSync
import SalesforceSDKCommon
import SmartStore

/// The ingest jobs of a soup that may still matter: the soup `syncs_bulk_jobs`.
///
/// ```json
/// { "key": "750…", "soupName": "accounts", "action": "create", "objectType": "Account",
///   "externalIdField": null, "entryIds": [1, 2], "read": false }
/// ```
struct BulkJobLog: Sendable {
  private static let soup = "syncs_bulk_jobs"

  /// A job that was created.
  struct Job: Sendable {
    let id: String
    let subject: BulkFile.Subject
    /// The entries that were sent.
    let entryIds: Set<Int64>
    /// Whether its results came.
    let isRead: Bool
  }

  private let store: SmartStore
  private let soupName: String

  /// The jobs of a run's soup.
  init(of context: SyncContext) {
    store = context.store
    soupName = context.soupName
  }

  /// The jobs, oldest first.
  func jobs() async throws -> [Job] {
    guard try await store.soupExists(forName: Self.soup) else { return [] }
    let name = soupName
    return try await store.read { reader in
      try Self.entries(where: "soupName", name, in: reader).compactMap { entry in
        guard let id = entry["key"]?.string, let subject = BulkFile.Subject(json: entry) else {
          return nil
        }
        return Job(
          id: id, subject: subject,
          entryIds: Set((entry["entryIds"]?.array ?? []).compactMap(\.int64)),
          isRead: entry["read"]?.bool ?? false)
      }
    }
  }

  /// The stored jobs with a value at a path, oldest first.
  private static func entries(
    where path: String, _ value: String, in reader: borrowing some StoreReading & ~Copyable
  ) throws -> [JSONValue] {
    let query = try QuerySpec.buildSmartQuerySpec(
      smartSql: "SELECT {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):\(path)} = ? "
        + "ORDER BY {\(soup):_soupEntryId}", pageSize: 1_000)
    return try reader.query(using: query, startingFromPageIndex: 0, whereArgs: [.string(value)])
      .compactMap { $0[0] }
  }

  /// Stores a job. On return it is on disk.
  func add(_ id: String, _ subject: BulkFile.Subject, entryIds: [Int64]) async throws {
    if try await !store.soupExists(forName: Self.soup) {
      try await store.registerSoup(
        withName: Self.soup,
        withIndices: [
          SoupIndex(path: "key", type: .string), SoupIndex(path: "soupName", type: .string),
        ])
    }
    var entry = subject.json
    entry["key"] = .string(id)
    entry["soupName"] = .string(soupName)
    entry["entryIds"] = .array(entryIds.map { .integer($0) })
    entry["read"] = false
    let stored = JSONValue.object(entry)
    try await store.inTransaction { transaction in
      try transaction.upsert(
        entries: [stored], forSoupNamed: Self.soup, withExternalIdPath: "key")
    }
  }

  /// Records that the results of a job were received.
  func markRead(_ id: String) async throws {
    try await store.inTransaction { transaction in
      for var entry in try Self.entries(where: "key", id, in: transaction) {
        entry["read"] = true
        try transaction.upsert(entries: [entry], forSoupNamed: Self.soup)
      }
    }
  }

  /// Removes a job.
  func remove(_ id: String) async throws {
    try await store.inTransaction { transaction in
      let entries = try Self.entries(where: "key", id, in: transaction)
      try transaction.remove(
        entryIds: entries.compactMap { $0["_soupEntryId"]?.int64 }, forSoupNamed: Self.soup)
    }
  }
}
