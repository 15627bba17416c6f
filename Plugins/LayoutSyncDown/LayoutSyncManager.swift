public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// Fetches page layouts and keeps them in the soup `sfdcLayouts`.
///
/// ```swift
/// let fetched = try await LayoutSyncManager(manager).fetchLayout(forObjectAPIName: "Account")
/// ```
public struct LayoutSyncManager: Sendable {
  /// The soup of the cache.
  public static let soupName = "sfdcLayouts"

  private let cache: SyncedCache

  /// Uses the store and the user of a sync manager.
  public init(_ manager: SyncManager) {
    cache = SyncedCache(soupName: Self.soupName, manager: manager)
    FeatureMarkers.shared.register("LY")
  }

  /// A layout of an object.
  ///
  /// - Parameter fetchMode: Default: the cache, and the server if it has nothing.
  /// - Returns: The request and the layout; nil if only the cache was read and has nothing.
  /// - Throws: `SyncError` of the fetch if there is no cached layout either, `store`.
  public func fetchLayout(
    forObjectAPIName objectAPIName: String, formFactor: String? = "Large",
    layoutType: String? = "Full", mode: String? = "View", recordTypeId: String? = nil,
    fetchMode: FetchMode = .cacheFirst
  ) async throws -> (request: LayoutRequest, layout: Layout?) {
    let request = LayoutRequest(
      objectAPIName: objectAPIName, formFactor: formFactor, layoutType: layoutType, mode: mode,
      recordTypeId: recordTypeId)
    let entry = try await cache.entry(
      request.key, mode: fetchMode, target: try LayoutSyncDownTarget(request))
    return (request, entry.map(Layout.init(rawData:)))
  }

  /// Forgets all layouts of this store.
  public func reset() async throws { try await cache.clear() }
}
