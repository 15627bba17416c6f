import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// A search on the platform for records that unacknowledged creates may have created.
///
/// For targets whose records are the platform's objects: they are queried by creation date and user, and compared
/// in the fields that were sent.
public enum UnacknowledgedCreateSearch: Sendable {
  /// What ``UnacknowledgedCreateFinding/candidates(for:in:)`` returns: as ``possibleRecords(for:idFieldName:in:)``, those
  /// that agree in every field alone.
  public static func candidates(
    for lost: [UnacknowledgedCreate], idFieldName: String,
    in context: SyncContext
  ) async throws -> [[String]] {
    try await possibleRecords(for: lost, idFieldName: idFieldName, in: context).map { found in
      (found ?? []).filter(\.agrees).map(\.id)
    }
  }

  /// What ``UnacknowledgedCreateFinding/possibleRecords(for:in:)`` returns.
  ///
  /// A record of this user's that was created since then is a candidate if it agrees in every field, or was
  /// changed since it was created, or agrees in most of the fields that were sent with a value, since the server
  /// may change values as it stores them. Costs one query per object type. Where the server does not know the
  /// fields, the result is nil.
  ///
  /// - Parameter idFieldName: The target's id field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func possibleRecords(
    for lost: [UnacknowledgedCreate], idFieldName: String,
    in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    var possible = lost.map { _ in [UnacknowledgedCreateCandidate]?.some([]) }
    for type in Set(lost.map(\.record.objectType)).sorted() {
      let indices = lost.indices.filter { lost[$0].record.objectType == type }
      let names = indices.reduce(into: [String]()) { names, index in
        for (name, _) in lost[index].record.values
        where !names.contains(name) && !name.contains(".") { names.append(name) }
      }
      let earliest = indices.map { lost[$0].sentAfter }.min() ?? 0
      var fields = [idFieldName]
      for name in names + [created, modified] where !fields.contains(name) { fields.append(name) }
      let query = query(type, since: earliest, fields: fields, context.userId)
      guard let records = try await records(query, in: context) else {
        for index in indices { possible[index] = nil }
        continue
      }
      for index in indices {
        possible[index] = ranked(records, for: lost[index], idFieldName)
      }
    }
    return possible
  }

  private static let created = "CreatedDate"
  private static let modified = "LastModifiedDate"

  /// Those among records that may be the one that was sent: the ones that agree in order of creation, then the
  /// others, those first that agree in more fields.
  private static func ranked(
    _ records: [JSONSlice], for lost: UnacknowledgedCreate, _ idFieldName: String
  ) -> [UnacknowledgedCreateCandidate] {
    let sent = lost.record.values
    var exact: [UnacknowledgedCreateCandidate] = []
    var others: [(agreement: Int, candidate: UnacknowledgedCreateCandidate)] = []
    for made in records {
      guard let id = made[idFieldName]?.string,
        // One query serves records that were sent at different times.
        ServerDate.milliseconds(of: made[created]).map({ $0 >= lost.sentAfter / 1_000 * 1_000 })
          ?? true
      else { continue }
      var values: JSONObject = [:]
      for (name, _) in sent where !name.contains(".") { values[name] = made[name]?.value }
      values[modified] = made[modified]?.value
      if FieldAgreement.holds(sent, made) {
        exact.append(UnacknowledgedCreateCandidate(id: id, agrees: true, values: values))
        continue
      }
      let (agreeing, counted) = FieldAgreement.extent(sent, made)
      let isTouched =
        ServerDate.milliseconds(of: made[modified]) != ServerDate.milliseconds(of: made[created])
      if isTouched || (counted > 0 && agreeing * 2 >= counted) {
        others.append(
          (agreeing, UnacknowledgedCreateCandidate(id: id, agrees: false, values: values)))
      }
    }
    return exact + others.sorted { $0.agreement > $1.agreement }.map(\.candidate)
  }

  /// Records of one type that this user made, by their creation.
  private static func query(
    _ type: String, since time: Int64, fields: [String], _ userId: String?
  ) -> String {
    var conditions = ["CreatedDate >= \(SalesforceDate(milliseconds: max(time, 0)).text)"]
    if let userId { conditions.append("CreatedById = \(SOQLLiteral.text(userId))") }
    return "select \(fields.joined(separator: ",")) from \(type) "
      + "where \(conditions.joined(separator: " and ")) order by CreatedDate"
  }

  /// All pages of a query; nil if the server cannot tell.
  private static func records(
    _ query: String, in context: SyncContext
  ) async throws -> [JSONSlice]? {
    do {
      return try await IdQuery.allRecords(of: .query(query), in: context)
    } catch let error as SyncError
      where error.code == .server && (error.status == 400 || error.status == 404)
    {
      // An object without these fields. Any other failure may pass, so it ends the run.
      return nil
    }
  }
}
