public import MobileSync
public import SalesforceSDKCommon

/// The parents of a parent-children target.
///
/// JSON: `{"sobjectType": "Account", "soupName": "accounts", "idFieldName": "Id",
/// "modificationDateFieldName": "LastModifiedDate", "externalIdFieldName": "…", "fillsExternalId": false}`, the
/// first two required.
public struct ParentInfo: Sendable, Equatable {
  /// The object.
  public let sobjectType: String
  /// The soup.
  public let soupName: String
  /// The id and the modification date field.
  public let names: SyncFieldNames
  /// The field by which the server finds a record that was created locally.
  public let externalIdFieldName: String?
  /// Whether a record that was created locally and has no external id gets a UUID there before it is sent, as
  /// `SyncUpFields.fillsExternalId` says. Default: false.
  public let fillsExternalId: Bool

  /// Describes parents.
  public init(
    sobjectType: String, soupName: String, names: SyncFieldNames = SyncFieldNames(),
    externalIdFieldName: String? = nil, fillsExternalId: Bool = false
  ) {
    self.sobjectType = sobjectType
    self.soupName = soupName
    self.names = names
    self.externalIdFieldName = externalIdFieldName
    self.fillsExternalId = fillsExternalId
  }

  /// Reads the JSON form.
  ///
  /// - Throws: `SyncError` `invalidTarget`, naming the missing key.
  public init(json: JSONObject) throws(SyncError) {
    self.init(
      sobjectType: try json.requiredSyncObjectType(),
      soupName: try json.requiredSyncText("soupName"), names: SyncFieldNames(configuration: json),
      externalIdFieldName: json.syncText("externalIdFieldName"),
      fillsExternalId: json["fillsExternalId"]?.bool ?? false)
  }

  /// The JSON form.
  public var json: JSONObject {
    var json: JSONObject = [
      "sobjectType": .string(sobjectType), "soupName": .string(soupName),
      "idFieldName": .string(names.id),
      "modificationDateFieldName": .string(names.modificationDate),
    ]
    if let externalIdFieldName { json["externalIdFieldName"] = .string(externalIdFieldName) }
    if fillsExternalId { json["fillsExternalId"] = true }
    return json
  }

  /// The soup, as the engine needs it.
  var soup: SyncSoup { SyncSoup(soupName: soupName, names: names) }
}

/// The children of a parent-children target.
///
/// JSON: as ``ParentInfo``, with `"sobjectTypePlural": "Contacts"`, the relationship's name, and
/// `"parentIdFieldName": "AccountId"`, both required.
public struct ChildrenInfo: Sendable, Equatable {
  /// The object.
  public let sobjectType: String
  /// The name of the relationship from the parents, such as `Contacts`.
  public let sobjectTypePlural: String
  /// The soup.
  public let soupName: String
  /// The field with the parent's id. The soup needs an index on it.
  public let parentIdFieldName: String
  /// The id and the modification date field.
  public let names: SyncFieldNames
  /// The field by which the server finds a record that was created locally.
  public let externalIdFieldName: String?
  /// Whether a record that was created locally and has no external id gets a UUID there before it is sent, as
  /// `SyncUpFields.fillsExternalId` says. Default: false.
  public let fillsExternalId: Bool

  /// Describes children.
  public init(
    sobjectType: String, sobjectTypePlural: String, soupName: String, parentIdFieldName: String,
    names: SyncFieldNames = SyncFieldNames(), externalIdFieldName: String? = nil,
    fillsExternalId: Bool = false
  ) {
    self.sobjectType = sobjectType
    self.sobjectTypePlural = sobjectTypePlural
    self.soupName = soupName
    self.parentIdFieldName = parentIdFieldName
    self.names = names
    self.externalIdFieldName = externalIdFieldName
    self.fillsExternalId = fillsExternalId
  }

  /// Reads the JSON form.
  ///
  /// - Throws: `SyncError` `invalidTarget`, naming the missing key.
  public init(json: JSONObject) throws(SyncError) {
    self.init(
      sobjectType: try json.requiredSyncObjectType(),
      sobjectTypePlural: try json.requiredSyncText("sobjectTypePlural"),
      soupName: try json.requiredSyncText("soupName"),
      parentIdFieldName: try json.requiredSyncText("parentIdFieldName"),
      names: SyncFieldNames(configuration: json),
      externalIdFieldName: json.syncText("externalIdFieldName"),
      fillsExternalId: json["fillsExternalId"]?.bool ?? false)
  }

  /// The JSON form.
  public var json: JSONObject {
    var json: JSONObject = [
      "sobjectType": .string(sobjectType), "sobjectTypePlural": .string(sobjectTypePlural),
      "soupName": .string(soupName), "parentIdFieldName": .string(parentIdFieldName),
      "idFieldName": .string(names.id),
      "modificationDateFieldName": .string(names.modificationDate),
    ]
    if let externalIdFieldName { json["externalIdFieldName"] = .string(externalIdFieldName) }
    if fillsExternalId { json["fillsExternalId"] = true }
    return json
  }

  /// The soup, as the engine needs it.
  func soup(of parent: ParentInfo) -> SyncSoup {
    SyncSoup(
      soupName: soupName, names: names,
      parent: SyncSoup.Parent(soupName: parent.soupName, fieldName: parentIdFieldName))
  }
}

/// The relationship between children and parents.
public enum RelationshipType: String, Sendable, Hashable {
  /// A master-detail relationship: children require their parent, and the server deletes them with
  /// it.
  case masterDetail = "MASTER_DETAIL"
  /// Children refer to a parent, and stay when it is deleted.
  case lookup = "LOOKUP"
}

extension JSONObject {
  /// The object under `key`, which must be there.
  func requiredSyncObject(_ key: String) throws(SyncError) -> JSONObject {
    guard let object = self[key]?.object else {
      throw SyncError(
        .invalidTarget,
        "The target has no object under the key '\(key)'. Add it to the target's JSON."
      )
    }
    return object
  }

  /// The relationship under `relationshipType`.
  func requiredRelationshipType() throws(SyncError) -> RelationshipType {
    let text = try requiredSyncText("relationshipType")
    guard let type = RelationshipType(rawValue: text) else {
      throw SyncError(
        .invalidTarget,
        "The target's key 'relationshipType' is '\(text)'. Write MASTER_DETAIL or LOOKUP.")
    }
    return type
  }
}
