import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// The children that the query of a re-sync leaves out although the device does not have them as they are.
///
/// That query brings changed parents with the children that changed after the watermark. A parent that was out of the
/// sync for a while, because it was deleted and restored or did not meet the filter, has a new date when it returns,
/// but its children have not: those that changed in between, or that ghost cleaning has removed here, are older than
/// the watermark. So are children that changed before the parents that an interrupted run has brought.
struct OlderChildren: Sendable {
  let trees: TreeQuery
  /// The fields to fetch of children.
  let fields: [String]
  /// The watermark, in milliseconds since 1970.
  let since: Int64

  private var children: ChildrenInfo { trees.children }

  /// Adds to the parents of a page the older children that the device lacks or has in another version.
  ///
  /// Costs one request for each 500 parents, which brings ids and dates, and one for each 500 such children.
  func completing(_ page: SyncPage<String>, in context: SyncContext) async throws -> SyncPage<
    String
  > {
    let parentIds = page.records.compactMap { $0[trees.parent.names.id]?.string }
    let server = try await versions(ofChildrenOf: parentIds, in: context)
    let here = try await ChildVersion.entries(
      of: Array(server.keys), children, in: context.store
    ).mapValues { ChildVersion($0, children) }
    let missing = server.filter { here[$0.key]?.isSame(as: $0.value) != true }.keys.sorted()
    if missing.isEmpty { return page }
    let link = children.parentIdFieldName
    let query = IdQuery(
      fields: children.names.completing(SOQLNames.appending([link], to: fields)),
      objectType: children.sobjectType, idField: children.names.id)
    let byParent = Dictionary(grouping: try await query.records(missing, in: context)) {
      $0[link]?.string ?? ""
    }
    return SyncPage(
      records: try page.records.map { record in
        let id = record[trees.parent.names.id]?.string ?? ""
        return try trees.adding(byParent[id] ?? [], to: record)
      }, totalSize: page.totalSize, next: page.next)
  }

  /// The server's older children of parents, by id.
  private func versions(
    ofChildrenOf parentIds: [String], in context: SyncContext
  ) async throws -> [String: ChildVersion] {
    let (id, date, link) = (
      children.names.id, children.names.modificationDate, children.parentIdFieldName
    )
    let query = IdQuery(
      fields: [id, date, link], objectType: children.sobjectType, idField: link)
    let condition = "\(date) <= \(SalesforceDate(milliseconds: since).text)"
    var versions: [String: ChildVersion] = [:]
    for slice in SOQLLiteral.slices(of: parentIds) {
      let records = try await IdQuery.allRecords(
        of: .query(query.soql(slice, and: condition)), in: context)
      for record in records {
        guard let id = record[id]?.string else { continue }
        versions[id] = ChildVersion(
          parentId: record[link]?.string, date: record[date]?.string)
      }
    }
    return versions
  }
}
