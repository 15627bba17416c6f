public import MobileSync
public import SalesforceSDKCommon
import SalesforceSDKCore

/// A target that downloads the description of an object.
///
/// JSON: `{"type": "metadata", "sobjectType": "Account"}`.
///
/// The soup gets one record: the whole description with the object's name as `Id`. Descriptions have
/// no modification date, so each run fetches again, and no ghosts.
public struct MetadataSyncDownTarget: ReadOnlySyncDownTarget, Equatable {
  public static let kind = SyncTargetKind(
    .syncDown, typeName: "metadata", implementationName: "SFMetadataSyncDownTarget",
    aliases: [
      "com.salesforce.androidsdk.mobilesync.target.MetadataSyncDownTarget",
      "com.salesforce.androidsdk.smartsync.target.MetadataSyncDownTarget",
    ])

  /// The object.
  public let objectType: String

  /// Creates a target.
  ///
  /// - Throws: `SyncError` `invalidTarget` without an object.
  public init(objectType: String) throws(SyncError) {
    try self.init(configuration: ["sobjectType": .string(objectType)])
  }

  public init(configuration: JSONObject) throws(SyncError) {
    objectType = try configuration.requiredSyncObjectType()
  }

  public var configuration: JSONObject { ["sobjectType": .string(objectType)] }

  public func startFetch(
    since maxTimeStamp: Int64, in context: SyncContext
  ) async throws -> SyncPage<Never>? {
    let request = RestRequest(path: "/{v}/sobjects/\(PercentEncoding.encode(objectType))/describe/")
    let json = try await context.json(for: request)
    guard json.kind == .object else {
      throw SyncContext.unexpectedForm(json, of: request, expected: "an object's description")
    }
    let record = try json.setting([(SyncKeys.defaultIdField, .string(objectType))])
    return SyncPage(records: [record], totalSize: 1, next: nil)
  }

  /// Never called: there is one page.
  public func continueFetch(
    _ cursor: Never, in context: SyncContext
  ) async throws -> SyncPage<Never>? {}
}
