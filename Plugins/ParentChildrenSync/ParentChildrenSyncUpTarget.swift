public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that uploads parents together with their children, each tree with a separate composite
/// request.
///
/// JSON: `{"parent": {…}, "children": {…}, "createFieldlist": […], "updateFieldlist": […],
/// "childrenCreateFieldlist": […], "childrenUpdateFieldlist": […], "relationshipType": "LOOKUP"}`;
/// `parent` and `children` as ``ParentInfo`` and ``ChildrenInfo`` read them, lists optional.
///
/// A tree costs one request for each 25 of its changed records, and one more with conflict
/// detection. The server sets the parent's id in children that are created together with it. In
/// mode `LEAVE_IF_CHANGED`, a tree is uploaded only if none of its records changed on the server.
public struct ParentChildrenSyncUpTarget: TreeSyncUpTarget, RemoteRecordFetching,
  UnacknowledgedCreateFinding,
  ExternalIdFinding,
  Equatable
{
  public static let kind = SyncTargetKind(
    .syncUp, typeName: "parent_children", implementationName: "SFParentChildrenSyncUpTarget",
    aliases: [
      "parentChildren",
      "com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncUpTarget",
      "com.salesforce.androidsdk.smartsync.target.ParentChildrenSyncUpTarget",
    ],
    writtenTypeName: "rest")

  /// The parents.
  public let parent: ParentInfo
  /// The children.
  public let children: ChildrenInfo
  /// The relationship between children and parents.
  public let relationshipType: RelationshipType
  public let fields: SyncUpFields
  public let childFields: SyncUpFields

  public var idFieldName: String { parent.names.id }
  public var modificationDateFieldName: String { parent.names.modificationDate }

  /// Creates a target.
  ///
  /// - Parameters:
  ///   - createFieldlist: Fields of created parents; nil means those of the sync's options.
  ///   - updateFieldlist: Fields of updated parents; nil means those of the sync's options.
  ///   - childrenCreateFieldlist: Fields of created children; nil means only the parent's id.
  ///   - childrenUpdateFieldlist: Fields of updated children; nil as above.
  public init(
    parent: ParentInfo, children: ChildrenInfo, relationshipType: RelationshipType,
    createFieldlist: [String]? = nil, updateFieldlist: [String]? = nil,
    childrenCreateFieldlist: [String]? = nil, childrenUpdateFieldlist: [String]? = nil
  ) {
    self.parent = parent
    self.children = children
    self.relationshipType = relationshipType
    fields = SyncUpFields(
      createFieldlist: createFieldlist, updateFieldlist: updateFieldlist,
      externalIdFieldName: parent.externalIdFieldName, fillsExternalId: parent.fillsExternalId)
    childFields = SyncUpFields(
      createFieldlist: childrenCreateFieldlist, updateFieldlist: childrenUpdateFieldlist,
      externalIdFieldName: children.externalIdFieldName,
      fillsExternalId: children.fillsExternalId)
    FeatureMarkers.shared.register("RR")
  }

  /// Also reads the parents' lists under `parentCreateFieldlist` and `parentUpdateFieldlist`.
  public init(configuration: JSONObject) throws(SyncError) {
    let createFieldlist = try configuration.syncTexts("createFieldlist")
    let updateFieldlist = try configuration.syncTexts("updateFieldlist")
    let oldCreateFieldlist = try configuration.syncTexts("parentCreateFieldlist")
    let oldUpdateFieldlist = try configuration.syncTexts("parentUpdateFieldlist")
    self.init(
      parent: try ParentInfo(json: try configuration.requiredSyncObject("parent")),
      children: try ChildrenInfo(json: try configuration.requiredSyncObject("children")),
      relationshipType: try configuration.requiredRelationshipType(),
      createFieldlist: createFieldlist ?? oldCreateFieldlist,
      updateFieldlist: updateFieldlist ?? oldUpdateFieldlist,
      childrenCreateFieldlist: try configuration.syncTexts("childrenCreateFieldlist"),
      childrenUpdateFieldlist: try configuration.syncTexts("childrenUpdateFieldlist"))
  }

  public var configuration: JSONObject {
    var configuration: JSONObject = [
      "parent": .object(parent.json), "children": .object(children.json),
      "relationshipType": .string(relationshipType.rawValue),
    ]
    for (key, list) in [
      ("createFieldlist", fields.createFieldlist), ("updateFieldlist", fields.updateFieldlist),
      ("childrenCreateFieldlist", childFields.createFieldlist),
      ("childrenUpdateFieldlist", childFields.updateFieldlist),
    ] {
      if let list { configuration[key] = .array(list.map { .string($0) }) }
    }
    return configuration
  }

  // MARK: Trees

  public var parentSoup: SyncSoup { parent.soup }
  public var childSoup: SyncSoup { children.soup(of: parent) }
  public var deletesChildrenWithParent: Bool { relationshipType == .masterDetail }
  public var maxStepsPerRequest: Int { CompositeStep.maxPerRequest }

  public func send(
    steps: [CompositeStep], in context: SyncContext
  ) async throws -> [SyncUpOutcome] {
    var outcomes = try await CompositeStep.send(steps, in: context)
    for (index, step) in steps.enumerated()
    where step.record.action == .upsert && outcomes[index] == .succeeded(id: nil) {
      let names = step.link == nil ? parent.names : children.names
      outcomes[index] = .succeeded(
        id: await step.record.idAfterUpsert(idFieldName: names.id, in: context))
    }
    return outcomes
  }

  public func remoteDates(
    ofTreeWithParent id: String, in context: SyncContext
  ) async throws -> RemoteTreeDates? {
    let trees = TreeQuery(parent: parent, children: children)
    let soql = try trees.soql(
      parent.names.completing([]), children.names.completing([]),
      where: "\(parent.names.id) = \(SOQLLiteral.text(id))")
    let records: [JSONSlice]
    do {
      records = try await IdQuery.allRecords(of: .query(soql), in: context)
    } catch let error as SyncError where error.isRefusalOfRequest {
      return nil
    }
    guard let record = records.first else { return RemoteTreeDates(parent: .gone, children: [:]) }
    var dates: [String: RemoteDate] = [:]
    for child in trees.childRecords(of: record) {
      guard let id = child[children.names.id]?.string else { continue }
      dates[id] = RemoteDate(of: child, field: children.names.modificationDate)
    }
    return RemoteTreeDates(
      parent: RemoteDate(of: record, field: parent.names.modificationDate), children: dates)
  }

  public func remoteDates(
    of records: [SyncUpRecord], in context: SyncContext
  ) async throws -> [RemoteDate] {
    try await RemoteDate.inBulk(
      of: records, field: names(of: records.first?.objectType).modificationDate, in: context)
  }

  public func remoteRecords(
    of records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.inBulk(of: records, fields: fields, in: context)
  }

  public func remoteRecords(
    byExternalIdOf records: [SyncUpRecord], fields: [String], in context: SyncContext
  ) async throws -> [RemoteRecord] {
    try await RemoteRecord.byExternalId(
      of: records, fields: fields, idFieldName: names(of: records.first?.objectType).id, in: context
    )
  }

  public func candidates(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[String]] {
    try await UnacknowledgedCreateSearch.candidates(
      for: lost, idFieldName: names(of: lost.first?.record.objectType).id, in: context)
  }

  public func possibleRecords(
    for lost: [UnacknowledgedCreate], in context: SyncContext
  ) async throws -> [[UnacknowledgedCreateCandidate]?] {
    try await UnacknowledgedCreateSearch.possibleRecords(
      for: lost, idFieldName: names(of: lost.first?.record.objectType).id, in: context)
  }

  private func names(of objectType: String?) -> SyncFieldNames {
    objectType == children.sobjectType ? children.names : parent.names
  }
}
