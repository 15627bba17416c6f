import Foundation
import SalesforceSDKCommon
import SalesforceSDKCore

/// Looks on the platform for records that unanswered creates may have made.
///
/// For targets whose records are the platform's objects: they are asked for by creation date and
/// user, and compared in the fields that were sent.
public enum LostCreateSearch: Sendable {
  /// What ``LostCreateFinding/candidates(for:in:)`` is to give.
  ///
  /// Costs one query per object type. Where the server does not know the fields, there are no
  /// candidates and the record is sent again.
  ///
  /// - Parameter idFieldName: The target's id field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func candidates(
    for lost: [LostCreate], idFieldName: String,
    in context: SyncContext
  ) async throws -> [[String]] {
    var candidates = lost.map { _ in [String]() }
    for type in Set(lost.map(\.record.objectType)).sorted() {
      let indices = lost.indices.filter { lost[$0].record.objectType == type }
      let names = indices.reduce(into: [String]()) { names, index in
        for (name, _) in lost[index].record.values
        where !names.contains(name) && !name.contains(".") { names.append(name) }
      }
      let earliest = indices.map { lost[$0].sentAfter }.min() ?? 0
      let query = query(type, since: earliest, fields: [idFieldName] + names, context.userId)
      for made in try await records(query, in: context) {
        guard let id = made[idFieldName]?.string else { continue }
        for index in indices where FieldAgreement.holds(lost[index].record.values, made) {
          candidates[index].append(id)
        }
      }
    }
    return candidates
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

  /// All pages of a query; nothing if the server cannot tell.
  private static func records(
    _ query: String, in context: SyncContext
  ) async throws -> [JSONSlice] {
    do {
      return try await IdQuery.allRecords(of: .query(query), in: context)
    } catch let error as SyncError
      where error.code == .server && (error.status == 400 || error.status == 404)
    {
      // An object without these fields: the record is sent again. Any other failure says nothing
      // about the record, so it ends the run instead of making a double.
      return []
    }
  }
}

/// Whether a record of the server is the one that was sent.
enum FieldAgreement {
  /// Whether every value that was sent is the server's too, as the server keeps values. False if
  /// nothing but empty values was sent, since those say nothing.
  static func holds(_ sent: [(name: String, value: JSONSlice)], _ made: JSONSlice) -> Bool {
    var evidence = false
    for (name, value) in sent where !name.contains(".") {
      guard agrees(value, made[name]) else { return false }
      evidence = evidence || !isEmpty(value)
    }
    return evidence
  }

  /// Whether every value that was sent is the server's too, as the server keeps values, and there is
  /// none that cannot be compared. False if nothing was sent.
  static func isComplete(
    _ sent: [(name: String, value: JSONSlice)], _ made: JSONSlice
  ) -> Bool {
    !sent.isEmpty
      && sent.allSatisfy { name, value in
        !name.contains(".") && value.kind != .array && value.kind != .object
          && agrees(value, made[name])
      }
  }

  private static func agrees(_ sent: JSONSlice, _ made: JSONSlice?) -> Bool {
    guard let made, !isEmpty(made) else { return isEmpty(sent) }
    switch sent.kind {
    case .string:
      guard let text = sent.string, let other = made.string else { return false }
      if trimmed(text) == trimmed(other) { return true }
      // A date and time may come back in another zone.
      guard let date = SalesforceDate.parse(text) else { return false }
      return date == SalesforceDate.parse(other)
    case .number: return sent.double != nil && sent.double == made.double
    case .bool: return sent.bool == made.bool
    case .null: return false
    case .array, .object: return true
    }
  }

  /// The server keeps an empty text as null.
  private static func isEmpty(_ value: JSONSlice) -> Bool {
    value.isNull || value.string.map { trimmed($0).isEmpty } ?? false
  }

  /// The server cuts blanks off the ends of texts.
  private static func trimmed(_ text: String) -> String {
    text.trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
