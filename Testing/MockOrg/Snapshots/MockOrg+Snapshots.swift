import GRDB

/// The records and objects of an org at one time, to restore.
///
/// It lives in memory and belongs to no org: it can be restored as often as one likes, also in another
/// org with the same options.
public struct MockOrgSnapshot: Sendable {
  fileprivate let database: DatabaseQueue
  fileprivate let schema: OrgSchema
  fileprivate let ids: [String: Int]
  fileprivate let briefcase: [MockOrgBriefcaseRule]
  fileprivate let duplicateRules: [MockOrgDuplicateRule]
}

/// Saving, restoring and resetting, so that each test starts clean. SQLite copies its pages, so this
/// takes a millisecond or two for the few records of a test, and about a second for a million.
extension MockOrg {
  /// Keeps the org's records and objects as they are now.
  ///
  /// - Throws: ``MockOrgError`` `storage`.
  public func snapshot() async throws(MockOrgError) -> MockOrgSnapshot {
    do {
      let copy = try DatabaseQueue()
      try copyDatabase(from: database, to: copy)
      return MockOrgSnapshot(
        database: copy, schema: schema, ids: ids.numbers, briefcase: briefcase,
        duplicateRules: duplicateRules.all)
    } catch {
      throw MockOrgError(.storage, "The org's records cannot be copied.", cause: error)
    }
  }

  /// Goes back to the records and objects of a snapshot. Jobs, recent items, notifications and the
  /// cursors of queries are forgotten; tokens, faults, the log and the clock stay as they are.
  ///
  /// - Throws: ``MockOrgError`` `storage`.
  public func restore(_ snapshot: MockOrgSnapshot) async throws(MockOrgError) {
    do {
      try copyDatabase(from: snapshot.database, to: database)
    } catch {
      throw MockOrgError(.storage, "The snapshot's records cannot be copied.", cause: error)
    }
    schemas.replace(by: snapshot.schema, at: options.clock.now)
    ids.numbers = snapshot.ids
    briefcase = snapshot.briefcase
    duplicateRules.replace(by: snapshot.duplicateRules)
    cursors.removeAll()
    jobs.removeAll()
    recents.removeAll()
    notifications.removeAll()
  }

  /// Goes back to an org as ``init(_:)`` makes it, without faults and with an empty log. Tokens stay
  /// good, so that clients need not log in again.
  ///
  /// - Throws: ``MockOrgError`` `storage`.
  public func reset() async throws(MockOrgError) {
    var fresh = options
    fresh.database = nil
    try await restore(MockOrg(fresh).snapshot())
    removeAllFaults()
    clearRequestLog()
    clearAnalyticsLines()
  }

  private func copyDatabase(
    from source: DatabaseQueue, to target: DatabaseQueue
  ) throws {
    try source.backup(to: target)
  }
}
