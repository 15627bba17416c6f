public import MobileSync
import SalesforceSDKCommon
import SalesforceSDKCore

/// A cache of descriptions of objects in the soup `sfdcMetadata`.
///
/// ```swift
/// let account = try await MetadataSyncManager(manager).fetchMetadata(forObject: "Account")
/// ```
public struct MetadataSyncManager: Sendable {
  /// The soup of the cache.
  public static let soupName = "sfdcMetadata"

  private let cache: SyncedCache

  /// Uses the store and the user of a sync manager.
  public init(_ manager: SyncManager) {
    cache = SyncedCache(soupName: Self.soupName, manager: manager)
    FeatureMarkers.shared.register("MD")
  }

  /// Returns the description of an object.
  ///
  /// - Parameter mode: Default: the cache, then the server if the cache has no description.
  /// - Returns: nil if only the cache was read and has no description.
  /// - Throws: `SyncError` of the fetch if the cache has no description, `store`.
  public func fetchMetadata(
    forObject objectType: String, mode: FetchMode = .cacheFirst
  ) async throws -> Metadata? {
    try await cache.entry(
      objectType, mode: mode, target: try MetadataSyncDownTarget(objectType: objectType)
    ).map(Metadata.init(rawData:))
  }

  /// Removes all cached descriptions of this store.
  public func reset() async throws { try await cache.clear() }
}
