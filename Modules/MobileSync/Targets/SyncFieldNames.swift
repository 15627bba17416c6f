public import SalesforceSDKCommon

/// The names of the two fields that a target needs of every record.
public struct SyncFieldNames: Sendable, Hashable {
  /// The field with a record's id.
  public let id: String
  /// The field with a record's modification date.
  public let modificationDate: String

  /// Names the fields; an empty name means `Id` or `LastModifiedDate`.
  public init(id: String = "", modificationDate: String = "") {
    self.id = id.isEmpty ? SyncKeys.defaultIdField : id
    self.modificationDate =
      modificationDate.isEmpty ? SyncKeys.defaultModificationDateField : modificationDate
  }

  /// Reads `idFieldName` and `modificationDateFieldName` from a target's configuration.
  public init(configuration: JSONObject) {
    self.init(
      id: configuration.syncText("idFieldName") ?? "",
      modificationDate: configuration.syncText("modificationDateFieldName") ?? "")
  }

  /// `fields`, with the two names appended if they are missing. Names are compared without regard to case, as
  /// the server compares them.
  public func completing(_ fields: [String]) -> [String] {
    SOQLNames.appending([id, modificationDate], to: fields)
  }
}

extension SyncFieldNames {
  /// Fields that the server alone sets, so that their change is no change by a user.
  private static let system: Set<String> = [
    "LastModifiedDate", "LastModifiedById", "SystemModstamp", "LastViewedDate",
    "LastReferencedDate",
  ]

  /// Whether the server alone sets the field.
  func isServers(_ key: String) -> Bool { key == modificationDate || Self.system.contains(key) }

  /// Whether the field holds a value that either side may change.
  func isData(_ key: String) -> Bool {
    key != id && !isServers(key) && !SyncKeys.neverSent.contains(key)
  }
}
