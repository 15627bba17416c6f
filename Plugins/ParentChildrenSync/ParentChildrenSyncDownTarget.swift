public import MobileSync
public import SalesforceSDKCommon
public import SalesforceSDKCore

/// Brings down records of one object together with their children of another.
///
/// JSON: `{"type": "parent_children", "parent": {…}, "parentFieldlist": ["Name"],
/// "parentSoqlFilter": "Name like 'A%'", "children": {…}, "childrenFieldlist": ["LastName"],
/// "relationshipType": "MASTER_DETAIL"}`; `parent` and `children` as ``ParentInfo`` and
/// ``ChildrenInfo`` read them.
///
/// Parents and children come with one query and go to their soups in one transaction. In mode
/// `LEAVE_IF_CHANGED` a tree of which anything was edited here is left alone as a whole. A re-sync
/// brings the parents that changed, with their changed children; a changed child of an unchanged
/// parent is not seen.
public struct ParentChildrenSyncDownTarget: MultiSoupSyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "parent_children", implementationName: "SFParentChildrenSyncDownTarget",
    aliases: [
      "parentChildren",
      "com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.ParentChildrenSyncDownTarget",
    ])

  /// How many parents a page has unless a target says otherwise, which is also the most.
  public static let defaultMaxBatchSize = RestRequest.maxBatchSize

  /// The parents.
  public let parent: ParentInfo
  /// The fields of parents, as given; the id and the modification date come with them.
  public let parentFieldlist: [String]
  /// The condition on parents; empty for none.
  public let parentSoqlFilter: String
  /// The children.
  public let children: ChildrenInfo
  /// The fields of children, as given; the id and the modification date come with them.
  public let childrenFieldlist: [String]
  /// How children belong to their parents.
  public let relationshipType: RelationshipType
  /// How many parents a page is to have; the server takes 200 to 2,000 and may give fewer.
  public let maxBatchSize: Int

  public var idFieldName: String { parent.names.id }
  public var modificationDateFieldName: String { parent.names.modificationDate }

  /// Makes a target.
  ///
  /// - Parameters:
  ///   - parentSoqlFilter: What stands behind `where`, values quoted with `SOQLLiteral`.
  ///   - maxBatchSize: Values outside of 200 to 2,000 are sent as the nearest of these.
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

  /// True: trees come in the order of their parents' dates.
  public var isSortedByModificationDate: Bool { true }

  private var trees: TreeQuery { TreeQuery(parent: parent, children: children) }

  /// The query for what changed after `maxTimeStamp`, in milliseconds since 1970; for everything if
  /// that is not greater than 0.
  ///
  /// - Throws: `RestError` `invalidRequest` if an object has no name.
  public func query(since maxTimeStamp: Int64) throws(RestError) -> String {
    var condition = parentSoqlFilter
    var childCondition = ""
    if maxTimeStamp > 0 {
      let date = SalesforceDate(milliseconds: maxTimeStamp).text
      childCondition = "\(children.names.modificationDate) > \(date)"
      let changed = "\(parent.names.modificationDate) > \(date)"
      condition = condition.isEmpty ? changed : "\(changed) and \(parenthesised(condition))"
    }
    return try trees.soql(
      parent.names.completing(parentFieldlist), children.names.completing(childrenFieldlist),
      where: condition, children: childCondition, orderBy: parent.names.modificationDate)
  }

  /// The condition, in parentheses if it has alternatives: the date has to hold for each of them.
  private func parenthesised(_ condition: String) -> String {
    let query = SOQLMutator("select Id from \(parent.sobjectType) where \(condition)")
    return query.hasAlternatives ? "(\(condition))" : condition
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<String>? {
    try await trees.page(
      .query(try query(since: maxTimeStamp), batchSize: maxBatchSize), in: context)
  }

  public func continueFetch(
    _ cursor: String, in context: SyncContext
  ) async throws -> SyncPage<String>? {
    try await trees.page(.queryMore(nextRecordsURL: cursor), in: context)
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
    let records = try await trees.all(request, in: context)
    return [
      try SyncContext.ids(of: records, in: parent.names.id, from: request),
      try SyncContext.ids(
        of: records.flatMap(trees.childRecords), in: children.names.id, from: request),
    ]
  }
}
