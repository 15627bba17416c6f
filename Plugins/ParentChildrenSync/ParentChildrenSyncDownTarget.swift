public import MobileSync
public import SalesforceSDKCommon
public import SalesforceSDKCore

/// A target that downloads records of one object together with their children of another.
///
/// JSON: `{"type": "parent_children", "parent": {…}, "parentFieldlist": ["Name"],
/// "parentSoqlFilter": "Name like 'A%'", "children": {…}, "childrenFieldlist": ["LastName"],
/// "relationshipType": "MASTER_DETAIL"}`; `parent` and `children` as ``ParentInfo`` and
/// ``ChildrenInfo`` read them.
///
/// One query downloads parents and children, and one transaction stores them in their soups. In
/// mode `LEAVE_IF_CHANGED`, a tree with any local edit is skipped as a whole. A re-sync downloads
/// the parents that changed, with their changed children. For each page of parents, one more
/// request finds older children that the device lacks, as after a parent was deleted and restored.
/// A changed child of an unchanged parent is not detected.
public struct ParentChildrenSyncDownTarget: MultiSoupSyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "parent_children", implementationName: "SFParentChildrenSyncDownTarget",
    aliases: [
      "parentChildren",
      "com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.ParentChildrenSyncDownTarget",
    ])

  /// The default and maximum number of parents per page.
  public static let defaultMaxBatchSize = RestRequest.maxBatchSize

  /// The parents.
  public let parent: ParentInfo
  /// The fields of parents, as given; the id and the modification date are added.
  public let parentFieldlist: [String]
  /// The condition on parents; empty for none.
  public let parentSoqlFilter: String
  /// The children.
  public let children: ChildrenInfo
  /// The fields of children, as given; the id and the modification date are added.
  public let childrenFieldlist: [String]
  /// The relationship between children and parents.
  public let relationshipType: RelationshipType
  /// The requested number of parents per page; the server accepts 200 to 2,000 and may return
  /// fewer.
  public let maxBatchSize: Int

  public var idFieldName: String { parent.names.id }
  public var modificationDateFieldName: String { parent.names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - parentSoqlFilter: The condition after `where`, with values quoted by `SOQLLiteral`.
  ///   - maxBatchSize: Values are clamped to 200 to 2,000.
  public init(
    parent: ParentInfo, parentFieldlist: [String], parentSoqlFilter: String = "",
    children: ChildrenInfo, childrenFieldlist: [String], relationshipType: RelationshipType,
    maxBatchSize: Int = defaultMaxBatchSize
  ) {
    self.parent = parent
    self.parentFieldlist = parentFieldlist
    self.parentSoqlFilter = parentSoqlFilter
    self.children = children
    self.childrenFieldlist = childrenFieldlist
    self.relationshipType = relationshipType
    self.maxBatchSize = maxBatchSize
    FeatureMarkers.shared.register("RR")
  }

  public init(configuration: JSONObject) throws(SyncError) {
    self.init(
      parent: try ParentInfo(json: try configuration.requiredSyncObject("parent")),
      parentFieldlist: try configuration.requiredSyncTexts("parentFieldlist"),
      parentSoqlFilter: configuration.syncText("parentSoqlFilter") ?? "",
      children: try ChildrenInfo(json: try configuration.requiredSyncObject("children")),
      childrenFieldlist: try configuration.requiredSyncTexts("childrenFieldlist"),
      relationshipType: try configuration.requiredRelationshipType(),
      maxBatchSize: configuration.syncCount("maxBatchSize") ?? Self.defaultMaxBatchSize)
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = [
      "parent": .object(parent.json),
      "parentFieldlist": .array(parentFieldlist.map { .string($0) }),
      "parentSoqlFilter": .string(parentSoqlFilter), "children": .object(children.json),
      "childrenFieldlist": .array(childrenFieldlist.map { .string($0) }),
      "relationshipType": .string(relationshipType.rawValue),
    ]
    if maxBatchSize != Self.defaultMaxBatchSize {
      configuration["maxBatchSize"] = .integer(Int64(maxBatchSize))
    }
    return configuration
  }

  // MARK: Fetching

  /// True: trees are in the order of their parents' dates.
  public var isSortedByModificationDate: Bool { true }

  private var trees: TreeQuery { TreeQuery(parent: parent, children: children) }

  /// Returns the query for records that changed after `maxTimeStamp`, in milliseconds since 1970;
  /// for all records if that is not greater than 0.
  ///
  /// - Throws: `RestError` `invalidRequest` if an object has no name.
  public func query(since maxTimeStamp: Int64) throws(RestError) -> String {
    try query(since: maxTimeStamp, childrenSince: maxTimeStamp)
  }

  private func query(
    since maxTimeStamp: Int64, childrenSince childTimeStamp: Int64
  ) throws(RestError) -> String {
    func isChanged(_ names: SyncFieldNames, since time: Int64) -> String {
      time > 0 ? "\(names.modificationDate) > \(SalesforceDate(milliseconds: time).text)" : ""
    }
    var condition = parentSoqlFilter
    let changed = isChanged(parent.names, since: maxTimeStamp)
    if !changed.isEmpty {
      condition = condition.isEmpty ? changed : "\(changed) and \(parenthesised(condition))"
    }
    return try trees.soql(
      parent.names.completing(parentFieldlist), children.names.completing(childrenFieldlist),
      where: condition, children: isChanged(children.names, since: childTimeStamp),
      orderBy: parent.names.modificationDate)
  }

  /// The condition, in parentheses if it has alternatives: the date has to hold for each of them.
  private func parenthesised(_ condition: String) -> String {
    let query = SOQLMutator("select Id from \(parent.sobjectType) where \(condition)")
    return query.hasAlternatives ? "(\(condition))" : condition
  }

  /// The position of a run.
  public struct Cursor: Sendable, Hashable {
    fileprivate let nextRecordsURL: String
    /// The watermark of the run, in milliseconds since 1970; 0 or less if the run downloads all
    /// children.
    fileprivate let childrenSince: Int64
  }

  /// The state that is stored when a run is complete. Until then a parent may come for the first
  /// time after the watermark of an interrupted run, and its children may be older than that, so
  /// all of them are fetched.
  private static let completed: JSONObject = ["completed": true]

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let childrenSince = context.targetState == nil ? -1 : maxTimeStamp
    let soql = try query(since: maxTimeStamp, childrenSince: childrenSince)
    return try await page(
      .query(soql, batchSize: maxBatchSize), childrenSince: childrenSince, in: context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    try await page(
      .queryMore(nextRecordsURL: cursor.nextRecordsURL), childrenSince: cursor.childrenSince,
      in: context)
  }

  private func page(
    _ request: RestRequest, childrenSince: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    var page = try await SyncPage(request, in: context)
    if childrenSince > 0 {
      page = try await OlderChildren(
        trees: trees, fields: childrenFieldlist, since: childrenSince
      ).completing(page, in: context)
    }
    return SyncPage(
      records: page.records, totalSize: page.totalSize, targetState: Self.completed,
      next: page.next.map { Cursor(nextRecordsURL: $0, childrenSince: childrenSince) })
  }

  // MARK: Entries

  public var soups: [SyncSoup] { [parent.soup, children.soup(of: parent)] }

  public func entries(of record: JSONSlice) throws -> [SyncEntry] {
    let id = record[parent.names.id]?.string ?? ""
    var entries = [
      SyncEntry(
        soup: 0, record: try record.setting([], removing: [children.sobjectTypePlural]))
    ]
    for child in trees.childRecords(of: record) {
      entries.append(
        SyncEntry(
          soup: 1, record: try child.setting([(children.parentIdFieldName, .string(id))])))
    }
    return entries
  }

  // MARK: Ghosts

  public func remoteIds(
    inSoups localIds: [[String]], in context: SyncContext
  ) async throws -> [Set<String>]? {
    guard localIds.count > 1, !localIds[1].isEmpty else {
      let soql = try SOQLBuilder(fields: [parent.names.id], from: parent.sobjectType)
        .where(parentSoqlFilter).build()
      return [
        try await IdQuery.allIds(of: .query(soql), field: parent.names.id, in: context), [],
      ]
    }
    let request = RestRequest.query(
      try trees.soql([parent.names.id], [children.names.id], where: parentSoqlFilter))
    let records = try await IdQuery.allRecords(of: request, in: context)
    return [
      try SyncContext.ids(of: records, in: parent.names.id, from: request),
      try SyncContext.ids(
        of: records.flatMap(trees.childRecords), in: children.names.id, from: request),
    ]
  }
}
