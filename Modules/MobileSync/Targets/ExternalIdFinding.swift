import SalesforceSDKCommon
import SalesforceSDKCore

/// A sync up target that finds the server's records by their external ids.
///
/// An upsert replaces another user's values in the record with that external id. In modes
/// ``SyncMergeMode/mergeFields`` and ``SyncMergeMode/leaveIfChanged``, a sync up therefore searches
/// for such records first: the entry takes the record's id, and is then compared with it like any
/// edit. Without this protocol, the upsert is sent without a search.
public protocol ExternalIdFinding: SyncUpTarget {
  /// Fetches the server's records that have the external ids of locally created records.
  ///
  /// - Parameters:
  ///   - records: Records of one object type, each with an ``SyncUpRecord/externalId``; at most
  ///     2,000.
  ///   - fields: The fields that are needed; the id field is needed in addition.
  /// - Returns: One for each record, in the same order: ``RemoteRecord/gone`` if the server has none or several
  ///   with that external id.
  /// - Throws: As ``SyncUpTarget/send(_:in:)``.
  func remoteRecords(
    byExternalIdOf records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord]
}

extension RemoteRecord {
  /// Queries records of one object type by their external ids, for targets whose records are the platform's
  /// objects.
  ///
  /// One query finds 500 records, fewer if the ids are long. The platform treats external ids that
  /// differ only in case as equal, unless the field is case-sensitive: a returned record matches in
  /// any case. If the server refuses the fields, only the id is fetched; if it refuses that, too,
  /// the records are unknown.
  ///
  /// - Parameter idFieldName: The target's id field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func byExternalId(
    of records: [SyncUpRecord], fields: [String], idFieldName: String, in context: SyncContext
  ) async throws -> [RemoteRecord] {
    guard let first = records.first, let field = first.externalId?.field else {
      return records.map { _ in .gone }
    }
    let needed = SOQLNames.appending([field] + fields, to: [idFieldName])
    var found: [JSONSlice] = []
    do {
      found = try await Self.records(of: records, needed, field, in: context)
    } catch let error as SyncError where error.isRefusalOfRequest {
      do {
        found = try await Self.records(of: records, [idFieldName, field], field, in: context)
      } catch let error as SyncError where error.isRefusalOfRequest {
        return records.map { _ in .unknown }
      }
    }
    let byValue = Dictionary(grouping: found) {
      SyncUpRecord.ExternalId.text(of: $0[field]) ?? ""
    }
    let byAnyCase = Dictionary(grouping: found) {
      (SyncUpRecord.ExternalId.text(of: $0[field]) ?? "").lowercased()
    }
    return records.map { record in
      let value = record.externalId?.value ?? ""
      let same = byValue[value] ?? byAnyCase[value.lowercased()] ?? []
      return same.count == 1 ? .record(same[0]) : .gone
    }
  }

  private static func records(
    of records: [SyncUpRecord], _ fields: [String], _ field: String, in context: SyncContext
  ) async throws -> [JSONSlice] {
    var found: [JSONSlice] = []
    // A number stands in a query without quotes.
    for isNumber in [false, true] {
      let values = Set(
        records.filter { ($0.record[field]?.kind == .number) == isNumber }
          .compactMap(\.externalId?.value)
      ).sorted()
      for slice in SOQLLiteral.slices(of: values) {
        let list = isNumber ? "(\(slice.joined(separator: ", ")))" : SOQLLiteral.list(slice)
        found += try await IdQuery.allRecords(
          of: .query(
            "select \(fields.joined(separator: ", ")) from \(records[0].objectType) "
              + "where \(field) IN \(list)"), in: context)
      }
    }
    return found
  }
}
