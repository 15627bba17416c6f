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

  /// A parent with further children.
  func adding(_ more: [JSONSlice], to record: JSONSlice) throws -> JSONSlice {
    if more.isEmpty { return record }
    return try setting(childRecords(of: record) + more, of: record)
  }

  /// A parent with these children alone.
  func setting(_ records: [JSONSlice], of record: JSONSlice) throws -> JSONSlice {
    let list: JSONValue = ["done": true, "records": .array(records.map(\.value))]
    return try record.setting([(children.sobjectTypePlural, list)])
  }

  /// The children that came with a parent.
  func childRecords(of record: JSONSlice) -> [JSONSlice] {
    record[children.sobjectTypePlural]?[SyncKeys.records].map { Array($0.elements) } ?? []
  }
}
