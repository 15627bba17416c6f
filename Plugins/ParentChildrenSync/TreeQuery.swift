import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// Queries for parents with their children, and their responses.
struct TreeQuery: Sendable {
  let parent: ParentInfo
  let children: ChildrenInfo

  /// `select <parent fields>, (select <child fields> from <plural> …) from <type> …`.
  ///
  /// - Parameters:
  ///   - condition: On parents; empty for none.
  ///   - childCondition: On children; empty for none.
  ///   - order: Empty for none.
  /// - Throws: ``RestError`` `invalidRequest` if an object has no name.
  func soql(
    _ fields: [String], _ childFields: [String], where condition: String,
    children childCondition: String = "", orderBy order: String = ""
  ) throws(RestError) -> String {
    let nested = try SOQLBuilder(fields: childFields, from: children.sobjectTypePlural)
      .where(childCondition).build()
    return try SOQLBuilder(fields: fields + ["(\(nested))"], from: parent.sobjectType)
      .where(condition).orderBy(order).build()
  }

  /// A page of trees, each with all its children, also those that the server put on pages of their
  /// own.
  func page(_ request: RestRequest, in context: SyncContext) async throws -> SyncPage<String> {
    let page = try await SyncPage(request, in: context)
    var records: [JSONSlice] = []
    records.reserveCapacity(page.records.count)
    for record in page.records {
      guard let next = record[children.sobjectTypePlural]?[SyncKeys.nextRecordsURL]?.string else {
        records.append(record)
        continue
      }
      try context.checkStop()
      let rest = try await IdQuery.allRecords(of: .queryMore(nextRecordsURL: next), in: context)
      records.append(try adding(rest, to: record))
    }
    return SyncPage(records: records, totalSize: page.totalSize, next: page.next)
  }

  /// The trees of all pages.
  func all(_ request: RestRequest, in context: SyncContext) async throws -> [JSONSlice] {
    var page = try await page(request, in: context)
    var records = page.records
    var trail = PageTrail<String>()
    while let cursor = page.next {
      try trail.follow(cursor)
      page = try await self.page(.queryMore(nextRecordsURL: cursor), in: context)
      records += page.records
    }
    return records
  }

  /// A parent with further children.
  func adding(_ more: [JSONSlice], to record: JSONSlice) throws -> JSONSlice {
    if more.isEmpty { return record }
    let all = (childRecords(of: record) + more).map(\.value)
    let list: JSONValue = ["done": true, "records": .array(all)]
    return try record.setting([(children.sobjectTypePlural, list)])
  }

  /// The children that came with a parent.
  func childRecords(of record: JSONSlice) -> [JSONSlice] {
    record[children.sobjectTypePlural]?[SyncKeys.records].map { Array($0.elements) } ?? []
  }
}
