public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// A cache of page layouts in the soup `sfdcLayouts`.
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

  /// Returns a layout of an object.
  ///
  /// - Parameter fetchMode: Default: the cache, then the server if the cache has no layout.
  /// - Returns: The request and the layout; nil if only the cache was read and has no layout.
  /// - Throws: `SyncError` of the fetch if the cache has no layout, `store`.
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

  /// Removes all cached layouts of this store.
  public func reset() async throws { try await cache.clear() }
}
