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
/// One request more in each re-sync finds the children that changed under an unchanged parent.
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
    try query(
      where: changed(parent.names, since: maxTimeStamp),
      children: changed(children.names, since: childTimeStamp))
  }

  /// The query for parents that have not changed after `maxTimeStamp`, with their children that have changed after
  /// `childTimeStamp`.
  private func queryOfUnchangedParents(
    since maxTimeStamp: Int64, childrenSince childTimeStamp: Int64
  ) throws(RestError) -> String {
    let date = SalesforceDate(milliseconds: maxTimeStamp).text
    let changed = changed(children.names, since: childTimeStamp)
    return try query(
      where: "\(parent.names.modificationDate) <= \(date) and \(parent.names.id) in "
        + "(select \(children.parentIdFieldName) from \(children.sobjectType) where \(changed))",
      children: changed)
  }

  private func query(
    where condition: String, children childCondition: String
  ) throws(RestError) -> String {
    let both =
      condition.isEmpty || parentSoqlFilter.isEmpty
      ? condition + parentSoqlFilter : "\(condition) and \(parenthesised(parentSoqlFilter))"
    return try trees.soql(
      parent.names.completing(parentFieldlist), children.names.completing(childrenFieldlist),
      where: both, children: childCondition, orderBy: parent.names.modificationDate)
  }

  /// The condition that a record changed after a time; empty for all records.
  private func changed(_ names: SyncFieldNames, since time: Int64) -> String {
    time > 0 ? "\(names.modificationDate) > \(SalesforceDate(milliseconds: time).text)" : ""
  }

  /// The condition, in parentheses if it has alternatives: the date has to hold for each of them.
  private func parenthesised(_ condition: String) -> String {
    let query = SOQLMutator("select Id from \(parent.sobjectType) where \(condition)")
    return query.hasAlternatives ? "(\(condition))" : condition
  }

  /// The position of a run.
  public struct Cursor: Sendable, Hashable {
    fileprivate enum Place: Sendable, Hashable {
      /// A further page of unchanged parents with changed children.
      case unchangedParents(nextRecordsURL: String)
      /// The first page of changed parents.
      case changedParents
      /// A further page of them.
      case more(nextRecordsURL: String)
    }
    fileprivate let place: Place
    fileprivate let run: Run
    /// The number of unchanged parents that have come.
    fileprivate let unchanged: Int
  }

  /// The values that stay the same in a run. Times are in milliseconds since 1970.
  fileprivate struct Run: Sendable, Hashable {
    /// The watermark; 0 or less if the run downloads all parents.
    let since: Int64
    /// The time after which children of changed parents have changed; 0 or less if the run downloads all of them.
    let childrenSince: Int64
    /// The time after which children of unchanged parents have changed; 0 or less in a run that downloads all parents.
    let alone: Int64

    /// The state that is stored when the run is complete.
    ///
    /// Until then a parent may come for the first time after the watermark of an interrupted run, and its children may
    /// be older than that, so all of them are fetched.
    var completed: JSONObject { ["completed": true, "since": .integer(since)] }

    /// - Parameter state: The state of the last complete run.
    init(since: Int64, after state: JSONObject?) {
      self.since = since
      childrenSince = state == nil ? -1 : since
      // A child that changed after the last run had looked for such children can be older than the parents that this run
      // brought then, and so than its watermark. It is newer than the watermark with which that run began.
      let last = state?["since"]?.int64 ?? since
      alone = last > 0 ? min(last, since) : since
    }
  }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let run = Run(since: maxTimeStamp, after: context.targetState)
    if run.alone > 0 {
      let soql = try queryOfUnchangedParents(since: run.since, childrenSince: run.alone)
      do {
        let page = try await unchangedParents(
          .query(soql, batchSize: maxBatchSize), run, after: 0, context)
        if !page.records.isEmpty || page.next?.place != .changedParents { return page }
      } catch let error as SyncError where error.code == .server && error.status == 400 {
        // The parents' condition may have the most sub-selects that a query may have.
        MobileSyncLogger.log.warning(
          "Children that change under an unchanged parent are not downloaded: the server refuses the query for them. "
            + "Use fewer sub-selects in parentSoqlFilter.", error: error)
      }
    }
    return try await changedParents(run, after: 0, context)
  }

  public func continueFetch(
    _ cursor: Cursor, in context: SyncContext
  ) async throws -> SyncPage<Cursor>? {
    let (run, unchanged) = (cursor.run, cursor.unchanged)
    switch cursor.place {
    case .unchangedParents(let url):
      return try await unchangedParents(
        .queryMore(nextRecordsURL: url), run, after: unchanged, context)
    case .changedParents: return try await changedParents(run, after: unchanged, context)
    case .more(let url):
      return try await changedParents(
        .queryMore(nextRecordsURL: url), run, after: unchanged, context)
    }
  }

  /// A page of unchanged parents with the changed children that the device has not.
  private func unchangedParents(
    _ request: RestRequest, _ run: Run, after count: Int, _ context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let page = try await SyncPage(request, in: context)
    let ids = page.records.flatMap(trees.childRecords).compactMap {
      $0[children.names.id]?.string
    }
    let here = try await ChildVersion.entries(of: ids, children, in: context.store)
    var records: [JSONSlice] = []
    for record in page.records {
      let parentId = record[parent.names.id]?.string
      let changed = trees.childRecords(of: record).filter { child in
        let entry = here[child[children.names.id]?.string ?? ""]
        return entry.map { ChildVersion.isSame($0, as: child, of: parentId, children) } != true
      }
      if !changed.isEmpty { records.append(try trees.setting(changed, of: record)) }
    }
    let place = page.next.map { Cursor.Place.unchangedParents(nextRecordsURL: $0) }
    return SyncPage(
      records: records,
      next: Cursor(
        place: place ?? .changedParents, run: run, unchanged: count + records.count))
  }

  private func changedParents(
    _ run: Run, after count: Int, _ context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    let soql = try query(since: run.since, childrenSince: run.childrenSince)
    return try await changedParents(
      .query(soql, batchSize: maxBatchSize), run, after: count, context)
  }

  private func changedParents(
    _ request: RestRequest, _ run: Run, after count: Int, _ context: SyncContext
  ) async throws -> SyncPage<Cursor> {
    var page = try await SyncPage(request, in: context)
    if run.childrenSince > 0 {
      page = try await OlderChildren(
        trees: trees, fields: childrenFieldlist, since: run.childrenSince
      ).completing(page, in: context)
    }
    return SyncPage(
      records: page.records, totalSize: page.totalSize.map { $0 + count },
      targetState: run.completed,
      next: page.next.map {
        Cursor(place: .more(nextRecordsURL: $0), run: run, unchanged: count)
      })
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
