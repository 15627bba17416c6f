public import SalesforceSDKCommon

/// The names under which a kind of target is registered and stored.
public struct SyncTargetKind: Sendable, Hashable {
  /// The direction of syncs that use it.
  public let direction: SyncType
  /// The name that a target's JSON gives under `type`, such as `soql`.
  public let typeName: String
  /// The text written as `type`; ``typeName`` unless the platform specifies another text.
  public let writtenTypeName: String
  /// The text written as `iOSImpl`, and read from there or from `androidImpl`.
  public let implementationName: String
  /// Further accepted names in `type`, `iOSImpl` or `androidImpl`.
  public let aliases: [String]

  /// Names a kind of target.
  ///
  /// - Parameter writtenTypeName: Pass `custom` if files are to be read by the platform's own SDKs,
  ///   which know their own type names only.
  public init(
    _ direction: SyncType, typeName: String, implementationName: String, aliases: [String] = [],
    writtenTypeName: String? = nil
  ) {
    self.direction = direction
    self.typeName = typeName
    self.writtenTypeName = writtenTypeName ?? typeName
    self.implementationName = implementationName
    self.aliases = aliases
  }

  /// Every name that leads to this kind.
  var names: Set<String> {
    Set([typeName, implementationName] + aliases)
  }
}

/// The part of a target that both directions have in common: names, fields, and a JSON form.
///
/// A target is a value that contains its configuration and no state of a run. Each run reads the
/// target from the stored JSON.
public protocol SyncTarget: Sendable {
  /// The names it is registered under.
  static var kind: SyncTargetKind { get }

  /// Reads a target from its JSON.
  ///
  /// Ignore unknown keys.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, naming the key that is missing or wrong.
  init(configuration: JSONObject) throws

  /// The target's own keys, from which ``init(configuration:)`` creates an equal target. A key of a
  /// sync configuration file that is not among them is reported as unknown (``SyncsConfig``).
  ///
  /// The engine adds `type`, `iOSImpl`, `idFieldName` and `modificationDateFieldName`.
  var configuration: JSONObject { get }

  /// The field with a record's id. Default: `Id`.
  var idFieldName: String { get }

  /// The field with a record's modification date. Default: `LastModifiedDate`.
  var modificationDateFieldName: String { get }
}

extension SyncTarget {
  /// `Id`.
  public var idFieldName: String { SyncKeys.defaultIdField }
  /// `LastModifiedDate`.
  public var modificationDateFieldName: String { SyncKeys.defaultModificationDateField }

  /// The complete JSON form, as it is stored with a sync.
  public var json: JSONObject {
    var object = configuration
    object["type"] = .string(Self.kind.writtenTypeName)
    object["iOSImpl"] = .string(Self.kind.implementationName)
    object["idFieldName"] = .string(idFieldName)
    object["modificationDateFieldName"] = .string(modificationDateFieldName)
    return object
  }
}

extension JSONObject {
  /// Returns the non-empty text under `key`, else nil. For reading a target's configuration.
  public func syncText(_ key: String) -> String? {
    guard let text = self[key]?.string, !text.isEmpty else { return nil }
    return text
  }

  /// Returns the text under `key`, which is required and must not be empty.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, naming the key.
  public func requiredSyncText(_ key: String) throws(SyncError) -> String {
    guard let text = syncText(key) else {
      throw SyncError(
        .invalidTarget,
        "The target has no text under the key '\(key)'. Add it to the target's JSON.")
    }
    return text
  }

  /// Returns the texts under `key`, nil if it is absent or null.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, naming the key, if it has another type.
  public func syncTexts(_ key: String) throws(SyncError) -> [String]? {
    guard let value = self[key], !value.isNull else { return nil }
    let texts = value.array?.compactMap(\.string)
    guard let texts, texts.count == value.array?.count else {
      throw SyncError(
        .invalidTarget,
        "The target's key '\(key)' is not a list of texts. Correct the target's JSON.")
    }
    return texts
  }

  /// Returns the texts under `key`, which is required.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, naming the key.
  public func requiredSyncTexts(_ key: String) throws(SyncError) -> [String] {
    guard let texts = try syncTexts(key) else {
      throw SyncError(
        .invalidTarget,
        "The target has no list of texts under the key '\(key)'. Add it to the target's JSON.")
    }
    return texts
  }

  /// Returns the object type under `sobjectType`, or `sObjectType` as some files spell it.
  ///
  /// - Throws: ``SyncError`` `invalidTarget`, naming the key.
  public func requiredSyncObjectType() throws(SyncError) -> String {
    if let type = syncText("sObjectType"), syncText("sobjectType") == nil { return type }
    return try requiredSyncText("sobjectType")
  }

  /// Returns the whole number under `key`; nil if there is none.
  public func syncCount(_ key: String) -> Int? {
    self[key]?.int64.map(Int.init(clamping:))
  }
}
