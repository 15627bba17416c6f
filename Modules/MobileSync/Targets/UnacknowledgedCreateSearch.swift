import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// A search on the platform for records that unacknowledged creates may have created.
///
/// It is for targets whose records are the platform's objects. It queries records by creation date
/// and user, and compares them in the sent fields.
public enum UnacknowledgedCreateSearch: Sendable {
  /// Implements ``UnacknowledgedCreateFinding/candidates(for:in:)``: the records of
  /// ``possibleRecords(for:idFieldName:in:)`` that agree in every field.
  public static func candidates(
    for lost: [UnacknowledgedCreate], idFieldName: String,
    in context: SyncContext
  ) async throws -> [[String]] {
    try await possibleRecords(for: lost, idFieldName: idFieldName, in: context).map { found in
      (found ?? []).filter(\.agrees).map(\.id)
    }
  }

  /// Implements ``UnacknowledgedCreateFinding/possibleRecords(for:in:)``.
  ///
  /// A record that this user created while the request could arrive is a candidate if it agrees in every field, up to
  /// the forms that the server gives to values. Another one is a candidate only if it was changed after its creation:
  /// its modification date differs from its creation date. Then it has to agree in the fields that tell records apart:
  /// its names, its subject, its title and the external id. If none of them was sent, it has to agree in most of the
  /// values that no other record of the response has. It costs one query for each object type. If the server does not
  /// know the fields, the result is nil.
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
      let earliest = indices.map { lost[$0].earliest }.min() ?? 0
      let fields = SOQLNames.appending(names + [created, modified], to: [idFieldName])
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
      let time = ServerDate.milliseconds(of: made[created])
      guard let id = made[idFieldName]?.string,
        // One query serves records that were sent at different times.
        time.map({ lost.mayHaveBeenCreated(at: $0) }) ?? true
      else { continue }
      var values: JSONObject = [:]
      for (name, _) in sent where !name.contains(".") { values[name] = made[name]?.value }
      values[modified] = made[modified]?.value
      if FieldAgreement.holds(sent, made) {
        exact.append(UnacknowledgedCreateCandidate(id: id, agrees: true, values: values))
        continue
      }
      var candidate = UnacknowledgedCreateCandidate(id: id, agrees: false, values: values)
      candidate.agreesInForm = FieldAgreement.mayHold(sent, made)
      if candidate.agreesInForm || mayBeChanged(made, of: records, lost) {
        others.append((FieldAgreement.extent(sent, made).agreeing, candidate))
      }
    }
    return exact + others.sorted { $0.agreement > $1.agreement }.map(\.candidate)
  }

  /// The fields by which users tell records of the platform's objects apart.
  private static let tellingFields = ["Name", "FirstName", "LastName", "Subject", "Title"]

  /// Whether a record of a response may be the one that was sent, with other values by now. One that is as it was
  /// created is not: it never had what was sent.
  private static func mayBeChanged(
    _ made: JSONSlice, of records: [JSONSlice], _ lost: UnacknowledgedCreate
  ) -> Bool {
    if made[created]?.string == made[modified]?.string { return false }
    let sent = lost.record.values.filter { name, value in
      !name.contains(".") && !FieldAgreement.isEmpty(value)
    }
    let keys = tellingFields + [lost.record.externalId?.field].compactMap(\.self)
    let telling = sent.filter { SOQLNames.contains($0.name, in: keys) }
    if !telling.isEmpty { return telling.allSatisfy { FieldAgreement.mayAgree($0, made) } }
    let unshared = sent.filter { field in
      records.count { FieldAgreement.mayAgree(field, $0) } < 2
    }
    return unshared.count { FieldAgreement.mayAgree($0, made) } * 2 > unshared.count
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

  /// All pages of a query; nil if the server cannot determine them.
  private static func records(
    _ query: String, in context: SyncContext
  ) async throws -> [JSONSlice]? {
    do {
      return try await IdQuery.allRecords(of: .query(query), in: context)
    } catch let error as SyncError
      where error.code == .server && (error.status == 400 || error.status == 404)
    {
      // The object lacks these fields. Any other failure may be temporary, so it ends the run.
      return nil
    }
  }
}
