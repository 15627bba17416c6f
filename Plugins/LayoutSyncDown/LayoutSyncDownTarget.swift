public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads a page layout.
///
/// JSON: `{"type": "layout", "sobjectType": "Account", "formFactor": "Large", "layoutType": "Full",
/// "mode": "View", "recordTypeId": null}`; only the object is required.
///
/// The soup gets one record: the whole layout with ``LayoutRequest/key`` as `Id`. Layouts have no
/// modification date, so each run fetches again, and no ghosts.
public struct LayoutSyncDownTarget: ReadOnlySyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "layout", implementationName: "SFLayoutSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.LayoutSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.LayoutSyncDownTarget",
    ])

  /// The requested layout.
  public let request: LayoutRequest

  /// Creates a target.
  ///
  /// - Throws: `SyncError` `invalidTarget` without an object.
  public init(_ request: LayoutRequest) throws(SyncError) {
    try self.init(configuration: request.json)
  }

  public init(configuration: JSONObject) throws(SyncError) {
    request = LayoutRequest(
      objectAPIName: try configuration.requiredSyncObjectType(),
      formFactor: configuration.syncText("formFactor"),
      layoutType: configuration.syncText("layoutType"), mode: configuration.syncText("mode"),
      recordTypeId: configuration.syncText("recordTypeId"))
  }

  public var configuration: JSONObject { request.json }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Never>? {
    let rest = RestRequest(
      path: "/{v}/ui-api/layout/\(PercentEncoding.encode(request.objectAPIName))",
      query: request.parameters.compactMap { name, value in
        value.map { RestQueryItem(name, $0) }
      })
    let json = try await context.json(for: rest)
    guard json.kind == .object else {
      throw SyncContext.unexpectedForm(json, of: rest, expected: "a layout")
    }
    let record = try json.setting([(SyncKeys.defaultIdField, .string(request.key))])
    return SyncPage(records: [record], totalSize: 1, next: nil)
  }

  /// Never called: there is one page.
  public func continueFetch(
    _ cursor: Never, in context: SyncContext
  ) async throws -> SyncPage<Never>? {}
}

/// A selection of one of an object's layouts. The server chooses values that are nil.
public struct LayoutRequest: Sendable, Hashable {
  /// The object.
  public let objectAPIName: String
  /// `Large`, `Medium` or `Small`.
  public let formFactor: String?
  /// `Full` or `Compact`.
  public let layoutType: String?
  /// `Create`, `Edit` or `View`.
  public let mode: String?
  /// The record type's id.
  public let recordTypeId: String?

  /// Describes a layout; empty texts mean nil.
  public init(
    objectAPIName: String, formFactor: String? = nil, layoutType: String? = nil,
    mode: String? = nil, recordTypeId: String? = nil
  ) {
    func given(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
    self.objectAPIName = objectAPIName
    self.formFactor = given(formFactor)
    self.layoutType = given(layoutType)
    self.mode = given(mode)
    self.recordTypeId = given(recordTypeId)
  }

  var parameters: [(name: String, value: String?)] {
    [
      ("formFactor", formFactor), ("layoutType", layoutType), ("mode", mode),
      ("recordTypeId", recordTypeId),
    ]
  }

  /// The `Id` of the stored layout: `<object>-<form factor>-<type>-<mode>-<record type>`, with
  /// `null` for nil values.
  public var key: String {
    ([objectAPIName] + parameters.map { $0.value ?? "null" }).joined(separator: "-")
  }

  /// The stored form.
  var json: JSONObject {
    var json: JSONObject = ["sobjectType": .string(objectAPIName)]
    for (name, value) in parameters { json[name] = value.map { .string($0) } ?? .null }
    return json
  }
}
