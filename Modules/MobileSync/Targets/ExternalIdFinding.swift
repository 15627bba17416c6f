import SalesforceSDKCommon
import SalesforceSDKCore

/// A sync up target that finds the server's records by their external ids.
///
/// An upsert replaces what another user wrote into the record that has the external id. In the modes that compare,
/// ``SyncMergeMode/mergeFields`` and ``SyncMergeMode/leaveIfChanged``, a sync up looks for such records first: the entry
/// takes the record's id and is compared with it as every edit is. With a target that cannot find them the upsert
/// decides.
public protocol ExternalIdFinding: SyncUpTarget {
  /// Fetches the records that the server has under the external ids of records that were created locally.
  ///
  /// - Parameters:
  ///   - records: Records of one object type, each with an ``SyncUpRecord/externalId``; at most 2,000.
  ///   - fields: The fields that are needed; the id field is needed besides.
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
  /// One query finds 500 records, fewer if the ids are long. External ids that differ in case alone are the same for
  /// the platform unless the field is marked as case-sensitive: a record is found by such an id if the server returns
  /// it. Where the server refuses the fields, the id is fetched alone; where it refuses that too, the records are
  /// unknown.
  ///
  /// - Parameter idFieldName: The target's id field.
  /// - Throws: As ``SyncContext/json(for:)``.
  public static func byExternalId(
    of records: [SyncUpRecord], fields: [String], idFieldName: String, in context: SyncContext
  ) async throws -> [RemoteRecord] {
    guard let first = records.first, let field = first.externalId?.field else {
      return records.map { _ in .gone }
    }
    var needed = [idFieldName]
    for name in [field] + fields where !needed.contains(name) { needed.append(name) }
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
