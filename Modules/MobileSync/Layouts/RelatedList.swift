public import SalesforceSDKCommon
public import SalesforceSDKCore
public import SmartStore

/// A related list of a page layout: the records of another object that refer to a record, with the columns and the order that
/// an administrator chose (BX-113).
///
/// ```swift
/// let layout = try await client.send(RestRequest(path: "/{v}/sobjects/Account/describe/layouts/012000000000000AAA")).json()
/// for list in RelatedList.all(inLayout: layout) {
///   let soql = try list.query(parentType: "Account", parentId: account)
/// }
/// ```
public struct RelatedList: Sendable, Equatable {
  /// A field by which the list is sorted.
  public struct Sorting: Sendable, Equatable {
    /// The field, such as `LastName` or `Owner.Name`.
    public let field: String
    public let isAscending: Bool

    /// Creates a sorting.
    public init(field: String, isAscending: Bool) {
      self.field = field
      self.isAscending = isAscending
    }
  }

  /// The relationship from the parent, such as `Contacts`.
  public let name: String
  /// The title.
  public let label: String
  /// The object of the records.
  public let sobject: String
  /// The field that refers to the parent, such as `AccountId`; nil for lists such as the activity history, which have none.
  public let field: String?
  /// The columns as SOQL selects them, such as `Owner.Name` or `toLabel(Status)`.
  public let columns: [String]
  /// The order, the first field first.
  public let sorting: [Sorting]
  /// The number of records that the page shows; 0 for no limit.
  public let limit: Int

  /// Reads one related list; nil without a name, an object and a column.
  public init?(json: JSONSlice) {
    guard let name = json["name"]?.string, let sobject = json["sobject"]?.string,
      Self.isName(name), Self.isName(sobject)
    else { return nil }
    let columns = Self.list(json["columns"]).compactMap { $0["name"]?.string }
      .filter(Self.isColumn)
    guard !columns.isEmpty else { return nil }
    self.name = name
    self.sobject = sobject
    self.columns = columns
    label = json["label"]?.string ?? name
    field = json["field"]?.string.flatMap { Self.isName($0) ? $0 : nil }
    limit = max(0, Int(clamping: json["limitRows"]?.int64 ?? 0))
    sorting = Self.list(json["sort"]).compactMap { sort in
      guard let column = sort["column"]?.string, Self.isColumn(column) else { return nil }
      return Sorting(
        field: Self.fieldName(of: column), isAscending: sort["ascending"]?.bool ?? true)
    }
  }

  /// The related lists of a layout, in order: of one layout as `describe/layouts/RECORD_TYPE` returns it, or of the first of
  /// several, as `describe/layouts` does. A list that cannot be queried is left out.
  public static func all(inLayout layout: JSONSlice) -> [RelatedList] {
    let lists = layout["relatedLists"] ?? layout["layouts"]?[0]?["relatedLists"]
    return list(lists).compactMap(RelatedList.init(json:))
  }

  private static func list(_ json: JSONSlice?) -> [JSONSlice] {
    json.map { Array($0.elements) } ?? []
  }

  // MARK: Queries

  /// The SOQL query for the records of a parent, with their ids. A list without a ``field`` is a sub-select of the parent, in
  /// whose record the list stands under ``name``.
  ///
  /// - Throws: `RestError` `invalidRequest` if `parentType` is no name of an object.
  public func query(parentType: String, parentId: String) throws(RestError) -> String {
    guard Self.isName(parentType) else {
      throw RestError(.invalidRequest, "'\(parentType)' is no object. Give an API name.")
    }
    let order = sorting.map { "\($0.field)\($0.isAscending ? "" : " desc")" }
      .joined(separator: ", ")
    func select(from source: String) -> SOQLBuilder {
      SOQLBuilder(fields: ["Id"] + columns, from: source).orderBy(order).limit(limit)
    }
    if let field {
      return try select(from: sobject).where("\(field) = \(SOQLLiteral.text(parentId))").build()
    }
    let list = try select(from: name).build()
    return try SOQLBuilder(fields: ["Id", "(\(list))"], from: parentType)
      .where("Id = \(SOQLLiteral.text(parentId))").build()
  }

  /// The query for the same records in a soup; nil for a list without a ``field``. The soup needs ``soupIndices``.
  public func query(soupName: String, parentId: String) throws(SmartStoreError) -> QuerySpec? {
    guard let field else { return nil }
    let first = sorting.first
    return try QuerySpec.buildExactQuerySpec(
      soupName: soupName, path: field, matchKey: .string(parentId),
      orderPath: first?.field ?? field,
      order: first?.isAscending == false ? .descending : .ascending,
      pageSize: limit > 0 ? limit : 100)
  }

  /// The indexes that a soup with these records needs for ``query(soupName:parentId:)`` and for syncs.
  public var soupIndices: [SoupIndex] {
    var paths = [SyncKeys.defaultIdField]
    for path in [field].compactMap(\.self) + sorting.prefix(1).map(\.field)
    where !paths.contains(path) {
      paths.append(path)
    }
    return paths.map { SoupIndex(path: $0, type: .string) } + SoupIndex.ofSync
  }

  // MARK: Names

  /// Whether a text is an API name. Nothing else of a response becomes part of a query.
  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
  }

  /// Whether a text is a field, a path of fields, or one of these in `toLabel()`.
  private static func isColumn(_ text: String) -> Bool {
    fieldName(of: text).split(separator: ".", omittingEmptySubsequences: false)
      .allSatisfy { isName(String($0)) }
  }

  private static func fieldName(of column: String) -> String {
    guard column.hasPrefix("toLabel("), column.hasSuffix(")") else { return column }
    return String(column.dropFirst("toLabel(".count).dropLast())
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
