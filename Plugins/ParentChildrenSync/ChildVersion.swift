import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore
import SmartStore

/// The values that distinguish versions of a child without its fields.
struct ChildVersion: Sendable {
  private let parentId: String?
  /// In milliseconds since 1970; nil if there is none.
  private let date: Int64?
  /// Whether the user has changed the entry, and with it maybe its parent.
  private let isEdited: Bool

  /// - Parameter date: The modification date as the record has it.
  init(parentId: String?, date: String?, isEdited: Bool = false) {
    self.parentId = parentId
    self.date = date.flatMap(SalesforceDate.parse)?.milliseconds
    self.isEdited = isEdited
  }

  /// Reads an entry.
  init(_ entry: JSONValue, _ children: ChildrenInfo) {
    self.init(
      parentId: entry[children.parentIdFieldName]?.string,
      date: entry[children.names.modificationDate]?.string,
      isEdited: entry[SyncKeys.local]?.bool == true)
  }

  /// Whether this entry is as the server's record.
  func isSame(as server: ChildVersion) -> Bool {
    date != nil && date == server.date && (isEdited || parentId == server.parentId)
  }

  /// Whether an entry is as the record of the server, also in its values: two changes in one second have one date. Of
  /// an edited entry only the date counts.
  static func isSame(
    _ entry: JSONValue, as record: JSONSlice, of parentId: String?, _ children: ChildrenInfo
  ) -> Bool {
    let here = ChildVersion(entry, children)
    let server = ChildVersion(
      parentId: parentId, date: record[children.names.modificationDate]?.string)
    guard here.isSame(as: server) else { return false }
    return here.isEdited
      || record.members.allSatisfy { (entry[$0.key] ?? .null) == $0.value.value }
  }

  /// The device's entries of children, by id.
  static func entries(
    of ids: [String], _ children: ChildrenInfo, in store: SmartStore
  ) async throws -> [String: JSONValue] {
    let soup = children.soupName
    var entries: [String: JSONValue] = [:]
    for slice in SOQLLiteral.slices(of: ids) {
      let places = slice.map { _ in "?" }.joined(separator: ", ")
      let spec = try QuerySpec.buildSmartQuerySpec(
        smartSql: "SELECT {\(soup):\(children.names.id)}, {\(soup):_soup} FROM {\(soup)} "
          + "WHERE {\(soup):\(children.names.id)} IN (\(places))",
        pageSize: Int(Int32.max))
      let rows = try await store.read { reader in
        try reader.query(
          using: spec, startingFromPageIndex: 0, whereArgs: slice.map { .string($0) })
      }
      for row in rows {
        if let id = row[0]?.string, let entry = row[1] { entries[id] = entry }
      }
    }
    return entries
  }
}
