public import SalesforceSDKCommon

/// The description of an object. Missing members read as false, nil or empty.
public struct Metadata: Sendable, Equatable {
  /// The whole description, including members without a property.
  public let rawData: JSONSlice

  /// Reads a description.
  public init(rawData: JSONSlice) {
    self.rawData = rawData
  }

  private func flag(_ key: String) -> Bool { rawData[key]?.bool ?? false }
  private func text(_ key: String) -> String? { rawData[key]?.string }
  private func list(_ key: String) -> [JSONSlice] { rawData[key].map { Array($0.elements) } ?? [] }

  /// The object's API name.
  public var name: String? { text("name") }
  /// The label of one record.
  public var label: String? { text("label") }
  /// The label of several records.
  public var labelPlural: String? { text("labelPlural") }
  /// The first three characters of the records' ids.
  public var keyPrefix: String? { text("keyPrefix") }
  /// The field with a record's community.
  public var networkScopeFieldName: String? { text("networkScopeFieldName") }
  /// The fields, each as the server describes it.
  public var fields: [JSONSlice] { list("fields") }
  /// The relationships to child objects, each as the server describes it.
  public var childRelationships: [JSONSlice] { list("childRelationships") }
  /// The addresses of the object's resources.
  public var urls: JSONSlice? { rawData["urls"] }
  /// Whether it can be activated.
  public var activateable: Bool { flag("activateable") }
  /// Whether it has compact layouts.
  public var compactLayoutable: Bool { flag("compactLayoutable") }
  /// Whether the user may create records.
  public var createable: Bool { flag("createable") }
  /// Whether it is a custom object of the org.
  public var custom: Bool { flag("custom") }
  /// Whether it is a custom setting.
  public var customSetting: Bool { flag("customSetting") }
  /// Whether the user may delete records.
  public var deletable: Bool { flag("deletable") }
  /// Whether it is out of use.
  public var deprecatedAndHidden: Bool { flag("deprecatedAndHidden") }
  /// Whether its records have feeds.
  public var feedEnabled: Bool { flag("feedEnabled") }
  /// Whether other objects are kinds of it.
  public var hasSubtypes: Bool { flag("hasSubtypes") }
  /// Whether it is a kind of another object.
  public var isSubtype: Bool { flag("isSubtype") }
  /// Whether it has layouts.
  public var layoutable: Bool { flag("layoutable") }
  /// Whether records can be merged.
  public var mergeable: Bool { flag("mergeable") }
  /// Whether recently used records are tracked.
  public var mruEnabled: Bool { flag("mruEnabled") }
  /// Whether it can be queried.
  public var queryable: Bool { flag("queryable") }
  /// Whether changes can be queried by time.
  public var replicateable: Bool { flag("replicateable") }
  /// Whether records can be fetched by id.
  public var retrieveable: Bool { flag("retrieveable") }
  /// Whether it has search layouts.
  public var searchLayoutable: Bool { flag("searchLayoutable") }
  /// Whether it can be searched.
  public var searchable: Bool { flag("searchable") }
  /// Whether it can have triggers.
  public var triggerable: Bool { flag("triggerable") }
  /// Whether deleted records can be restored.
  public var undeletable: Bool { flag("undeletable") }
  /// Whether the user may change records.
  public var updateable: Bool { flag("updateable") }
}
